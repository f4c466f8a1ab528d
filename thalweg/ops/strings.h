// Tensors of strings: bytes, or text in UTF-8 where it is said.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg::strings {

struct JoinOptions {
  std::string separator = "";
};
/// Strings put one after the other, element by element; scalars go with every element.
THALWEG_API Tensor join(const std::vector<Tensor>& inputs, const JoinOptions& options = {});

struct UnitOptions {
  std::string unit = "BYTE";  // or "UTF8_CHAR"
};
/// The part of each string that begins at `pos` (from the end where negative) and has `len` units at most.
THALWEG_API Tensor substr(const TensorLike& input, const TensorLike& pos, const TensorLike& len,
                          const UnitOptions& options = {});
/// The length of each string, int32.
THALWEG_API Tensor length(const TensorLike& input, const UnitOptions& options = {});

struct EncodingOptions {
  std::string encoding = "";  // ASCII letters only, or "utf-8"
};
/// Each string in lower case.
THALWEG_API Tensor lower(const TensorLike& input, const EncodingOptions& options = {});
/// Each string in upper case.
THALWEG_API Tensor upper(const TensorLike& input, const EncodingOptions& options = {});
/// Each string without white space at its ends.
THALWEG_API Tensor strip(const TensorLike& input);

/// The pieces of a vector of strings: where each stands ([row, column]), the pieces, and [rows, most columns].
struct SplitResult {
  Tensor indices, values, shape;
};
struct SplitOptions {
  std::string sep = "";  // runs of white space where empty
  int64_t maxsplit = -1;
};
/// The pieces of every string of a vector, as the coordinates of a sparse matrix.
THALWEG_API SplitResult split_v2(const TensorLike& input, const SplitOptions& options = {});
/// The pieces of one string, as a vector. Python's `strings.split` answers with a ragged tensor for all but scalars.
THALWEG_API Tensor split(const TensorLike& input, const SplitOptions& options = {});
/// The bytes of one string, as a vector of strings.
THALWEG_API Tensor bytes_split(const TensorLike& input);

struct NgramsOptions {
  std::string separator = " ";
  std::vector<std::string> pad_values = {};   // one for both ends, or one for each; none where left out
  std::optional<int64_t> padding_width = {};  // at most this many at each end; as many as there is room where left out
  Flag preserve_short_sequences = {};         // a sequence shorter than every width is kept whole
};
/// All runs of neighbouring strings of these lengths along the last dimension, joined.
THALWEG_API Tensor ngrams(const TensorLike& data, const std::vector<int64_t>& ngram_width,
                          const NgramsOptions& options = {});

struct ToNumberOptions {
  DType out_type = DType::float32;
};
/// Numbers from text.
THALWEG_API Tensor to_number(const TensorLike& input, const ToNumberOptions& options = {});

struct AsStringOptions {
  int64_t precision = -1;
  Flag scientific = {};
  Flag shortest = {};
  int64_t width = -1;
  std::string fill = "";  // one of " ", "+", "-", "0", "#"
};
/// Numbers as text, as C's printf writes them.
THALWEG_API Tensor as_string(const TensorLike& input, const AsStringOptions& options = {});

/// A bucket for each string; use one of the other two where the hash must be good.
THALWEG_API Tensor to_hash_bucket(const TensorLike& input, int64_t num_buckets);
/// A bucket for each string by its fingerprint.
THALWEG_API Tensor to_hash_bucket_fast(const TensorLike& input, int64_t num_buckets);
/// A bucket for each string by a keyed hash that nobody without the key can steer; the key has two numbers.
THALWEG_API Tensor to_hash_bucket_strong(const TensorLike& input, int64_t num_buckets, const std::vector<int64_t>& key);

struct RegexReplaceOptions {
  Flag replace_global = true;  // else the first match only
};
/// What matches the pattern (RE2's syntax) is replaced; \1 to \9 in `rewrite` stand for the groups.
THALWEG_API Tensor regex_replace(const TensorLike& input, const TensorLike& pattern, const TensorLike& rewrite,
                                 const RegexReplaceOptions& options = {});
/// Whether the whole string matches the pattern.
THALWEG_API Tensor regex_full_match(const TensorLike& input, const TensorLike& pattern);

struct ReduceJoinOptions {
  Axis axis = {};
  Flag keepdims = {};
  std::string separator = "";
};
/// The strings along some axes (all when left out) joined into one.
THALWEG_API Tensor reduce_join(const TensorLike& inputs, const ReduceJoinOptions& options = {});
/// The strings of each segment joined into one.
THALWEG_API Tensor unsorted_segment_join(const TensorLike& inputs, const TensorLike& segment_ids,
                                         const TensorLike& num_segments, const JoinOptions& options = {});

struct FormatOptions {
  std::string placeholder = "{}";
  int64_t summarize = 3;
};
/// The text with each placeholder replaced by a tensor, as tf.print shows it.
THALWEG_API Tensor format(const std::string& template_, const std::vector<Tensor>& inputs,
                          const FormatOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::string> A = std::string>
Tensor join(const std::vector<Tensor>& inputs, const A& separator, JoinOptions options = {}) {
  return join(inputs, with(options, options.separator, separator));
}
template <As<std::string> A = std::string>
Tensor substr(const TensorLike& input, const TensorLike& pos, const TensorLike& len, const A& unit,
              UnitOptions options = {}) {
  return substr(input, pos, len, with(options, options.unit, unit));
}
template <As<std::string> A = std::string>
Tensor length(const TensorLike& input, const A& unit, UnitOptions options = {}) {
  return length(input, with(options, options.unit, unit));
}
template <As<std::string> A = std::string>
Tensor lower(const TensorLike& input, const A& encoding, EncodingOptions options = {}) {
  return lower(input, with(options, options.encoding, encoding));
}
template <As<std::string> A = std::string>
Tensor upper(const TensorLike& input, const A& encoding, EncodingOptions options = {}) {
  return upper(input, with(options, options.encoding, encoding));
}
template <As<std::string> A = std::string>
SplitResult split_v2(const TensorLike& input, const A& sep, SplitOptions options = {}) {
  return split_v2(input, with(options, options.sep, sep));
}
template <As<std::string> A = std::string>
Tensor split(const TensorLike& input, const A& sep, SplitOptions options = {}) {
  return split(input, with(options, options.sep, sep));
}
template <As<std::string> A = std::string>
Tensor ngrams(const TensorLike& data, const std::vector<int64_t>& ngram_width, const A& separator,
              NgramsOptions options = {}) {
  return ngrams(data, ngram_width, with(options, options.separator, separator));
}
template <As<DType> A = DType>
Tensor to_number(const TensorLike& input, const A& out_type, ToNumberOptions options = {}) {
  return to_number(input, with(options, options.out_type, out_type));
}
template <As<int64_t> A = int64_t>
Tensor as_string(const TensorLike& input, const A& precision, AsStringOptions options = {}) {
  return as_string(input, with(options, options.precision, precision));
}
template <As<Axis> A = Axis>
Tensor reduce_join(const TensorLike& inputs, const A& axis, ReduceJoinOptions options = {}) {
  return reduce_join(inputs, with(options, options.axis, axis));
}
template <As<std::string> A = std::string>
Tensor unsorted_segment_join(const TensorLike& inputs, const TensorLike& segment_ids, const TensorLike& num_segments,
                             const A& separator, JoinOptions options = {}) {
  return unsorted_segment_join(inputs, segment_ids, num_segments, with(options, options.separator, separator));
}

}  // namespace thalweg::strings

namespace thalweg {
using strings::as_string;

struct FingerprintOptions {
  std::string method = "farmhash64";
};
/// Eight bytes for each row of the data that never change between versions and machines: [rows, 8] of uint8.
THALWEG_API Tensor fingerprint(const TensorLike& data, const FingerprintOptions& options = {});

namespace io {
struct EncodeBase64Options {
  Flag pad = {};
};
/// Bytes as letters safe in addresses of the web.
THALWEG_API Tensor encode_base64(const TensorLike& input, const EncodeBase64Options& options = {});
/// Bytes from such letters.
THALWEG_API Tensor decode_base64(const TensorLike& input);

struct DecodeRawOptions {
  Flag little_endian = true;
  Tensor fixed_length = {};  // in bytes: longer strings are cut, shorter ones filled with zeros
};
/// The bytes of strings of one length as numbers, in a new last dimension.
THALWEG_API Tensor decode_raw(const TensorLike& input_bytes, DType out_type, const DecodeRawOptions& options = {});
}  // namespace io

}  // namespace thalweg
