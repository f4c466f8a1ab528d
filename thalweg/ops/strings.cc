#include "thalweg/ops/strings.h"

#include <algorithm>

#include "thalweg/kernels/unicode.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct JoinAttrs {
  std::string separator = "";
};
struct UnitAttrs {
  std::string unit = "BYTE";
};
struct EncodingAttrs {
  std::string encoding = "";
};

bool counts_characters(const InferCall& c) {
  const std::string& unit = c.attrs<UnitAttrs>().unit;
  if (unit != "BYTE" && unit != "UTF8_CHAR") c.fail("unit must be BYTE or UTF8_CHAR, got \"" + unit + "\"");
  return unit == "UTF8_CHAR";
}

void infer_join(InferCall& c) {
  Shape result;
  bool open = false;
  for (const TensorRef& input : c.argument(0)) {
    const Shape& shape = input.p->shape;
    if (!shape.has_rank()) open = true;
    else if (shape.rank() == 0) continue;
    else if (result.rank() == 0) result = shape;
    else if (!result.is_compatible_with(shape))
      c.fail("Input shapes do not match: " + result.brackets() + " vs. " + shape.brackets());
    else result = result.merge_with(shape);
  }
  // An input of unknown rank may be a scalar, or say the shape of a result that only scalars were seen for.
  c.output(0, open && result.rank() == 0 ? Shape::unknown_rank() : result);
}

void run_join(const KernelCall& c) {
  std::span<const TensorRef> inputs = c.argument(0);
  const std::string& separator = c.attrs<JoinAttrs>().separator;
  std::string* out = c.output<std::string>();
  for_each_string(c.output_shape().count(), [&](int64_t i) {
    std::string joined;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k > 0) joined += separator;
      joined += static_cast<const std::string*>(inputs[k].p->data)[inputs[k].p->shape.rank() == 0 ? 0 : i];
    }
    out[i] = std::move(joined);
  });
}

const Op& StringJoin = define_op({
    .name = "StringJoin",
    .doc = "Strings put one after the other, element by element; scalars go with every element.",
    .signature = "inputs: N * string -> output: string",
    .attrs = attrs_of<JoinAttrs>(),
    .infer = infer_join,
    .kernel = {run_join},
    .traits = text_traits,
});

// Where the element of a broadcast operand lies for each element of the result.
class BroadcastOffset {
 public:
  BroadcastOffset(const Shape& from, const Shape& to) : to_(to) {
    int64_t stride = 1;
    for (int i = to.rank() - 1, k = from.rank() - 1; i >= 0; --i, --k) {
      stride_[i] = k >= 0 && from[k] != 1 ? stride : 0;
      if (k >= 0) stride *= from[k];
    }
  }
  int64_t operator()(int64_t element) const {
    int64_t offset = 0;
    for (int i = to_.rank() - 1; i >= 0; --i) {
      offset += element % to_[i] * stride_[i];
      element /= to_[i];
    }
    return offset;
  }

 private:
  const Shape& to_;
  int64_t stride_[Shape::max_rank] = {};
};

// The part in bytes; false when the position is past either end.
bool cut_bytes(const std::string& text, int64_t position, int64_t length, std::string& part) {
  int64_t size = static_cast<int64_t>(text.size());
  if (position < 0) position += size;
  if (position < 0 || position > size) return false;
  // TensorFlow reads a negative length as one without end.
  part = text.substr(static_cast<size_t>(position), length < 0 ? text.npos : static_cast<size_t>(length));
  return true;
}

// Moves past `count` characters, at most to the end; returns how many there were.
int64_t skip_characters(const std::string& text, size_t& position, int64_t count) {
  int64_t skipped = 0;
  for (; skipped < count && position < text.size(); ++skipped) {
    ++position;
    while (position < text.size() && kernels::is_utf8_trail(text[position])) ++position;
  }
  return skipped;
}

// TensorFlow reads a negative length as 0, but beside a position from the end as a mistake.
bool cut_characters(const std::string& text, int64_t position, int64_t length, std::string& part) {
  if (position < 0 && length < 0) return false;
  if (position < 0) position += kernels::count_utf8(text);
  if (position < 0) return false;
  size_t begin = 0;
  if (skip_characters(text, begin, position) < position) return false;
  size_t end = begin;
  skip_characters(text, end, length);
  part = text.substr(begin, end - begin);
  return true;
}

template <class T> void run_substr_of(const KernelCall& c) {
  bool characters = c.attrs<UnitAttrs>().unit == "UTF8_CHAR";
  const std::string* in = c.input<std::string>(0);
  const T *positions = c.input<T>(1), *lengths = c.input<T>(2);
  std::string* out = c.output<std::string>();
  BroadcastOffset text_offset(c.shape(0), c.output_shape()), position_offset(c.shape(1), c.output_shape());
  for_each_string(c.output_shape().count(), [&](int64_t i) {
    const std::string& text = in[text_offset(i)];
    int64_t k = position_offset(i), position = positions[k], length = lengths[k];
    if (!(characters ? cut_characters(text, position, length, out[i]) : cut_bytes(text, position, length, out[i])))
      c.fail("pos " + std::to_string(position) + " out of range for string at index " + std::to_string(i));
  });
}

const Op& Substr = define_op({
    .name = "Substr",
    .doc = "The part of each string that begins at pos and has len units at most.",
    .signature = "input: string, pos: T, len: T -> output: string",
    .types = {{"T", index_types}},
    .attrs = attrs_of<UnitAttrs>(),
    .infer =
        [](InferCall& c) {
          counts_characters(c);
          if (!c.shape(1).is_compatible_with(c.shape(2)))
            c.fail("pos and len should have the same shape, got: " + c.shape(1).brackets() + " vs. " +
                   c.shape(2).brackets());
          Shape result;
          if (!broadcast_shapes(c.shape(0), c.shape(1), result))
            c.fail("input and pos do not broadcast: " + c.shape(0).brackets() + " vs. " + c.shape(1).brackets());
          c.output(0, result);
        },
    .kernel = {[](const KernelCall& c) {
      c.dtype(1) == DType::int32 ? run_substr_of<int32_t>(c) : run_substr_of<int64_t>(c);
    }},
    .traits = text_traits,
});

const Op& StringLength = define_op({
    .name = "StringLength",
    .doc = "The length of each string in bytes or in code points.",
    .signature = "input: string -> output: int32",
    .attrs = attrs_of<UnitAttrs>(),
    .infer =
        [](InferCall& c) {
          counts_characters(c);
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      bool characters = c.attrs<UnitAttrs>().unit == "UTF8_CHAR";
      run_each<int32_t>(c, [&](const std::string& s) {
        return static_cast<int32_t>(characters ? kernels::count_utf8(s) : static_cast<int64_t>(s.size()));
      });
    }},
    .traits = text_traits,
});

void infer_case(InferCall& c) {
  const std::string& encoding = c.attrs<EncodingAttrs>().encoding;
  if (!encoding.empty() && encoding != "utf-8")
    c.fail("only utf-8 or '' (no encoding) is supported, received " + encoding);
  c.output(0, c.shape(0));
}

const Op& StringLower = define_op({
    .name = "StringLower",
    .doc = "Each string in lower case: ASCII letters alone, or all of Unicode's with encoding utf-8.",
    .signature = "input: string -> output: string",
    .attrs = attrs_of<EncodingAttrs>(),
    .infer = infer_case,
    .kernel = {[](const KernelCall& c) {
      if (!c.attrs<EncodingAttrs>().encoding.empty()) return run_each<std::string>(c, kernels::to_lower_utf8);
      run_each<std::string>(c, [](std::string s) {
        for (char& ch : s) ch = static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch);
        return s;
      });
    }},
    .traits = text_traits,
});

const Op& StringUpper = define_op({
    .name = "StringUpper",
    .doc = "Each string in upper case: ASCII letters alone, or all of Unicode's with encoding utf-8.",
    .signature = "input: string -> output: string",
    .attrs = attrs_of<EncodingAttrs>(),
    .infer = infer_case,
    .kernel = {[](const KernelCall& c) {
      if (!c.attrs<EncodingAttrs>().encoding.empty()) return run_each<std::string>(c, kernels::to_upper_utf8);
      run_each<std::string>(c, [](std::string s) {
        for (char& ch : s) ch = static_cast<char>(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
        return s;
      });
    }},
    .traits = text_traits,
});

const Op& StringStrip = define_op({
    .name = "StringStrip",
    .doc = "Each string without white space at its ends.",
    .signature = "input: string -> output: string",
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      run_each<std::string>(c, [](const std::string& s) {
        auto begin = std::find_if_not(s.begin(), s.end(), is_white_space);
        auto end = std::find_if_not(s.rbegin(), std::make_reverse_iterator(begin), is_white_space).base();
        return std::string(begin, end);
      });
    }},
    .traits = text_traits,
});

}  // namespace

Tensor join(const std::vector<Tensor>& inputs, const JoinOptions& options) {
  return apply_values(StringJoin, inputs, {}, JoinAttrs{options.separator});
}
Tensor substr(const TensorLike& input, const TensorLike& pos, const TensorLike& len, const UnitOptions& options) {
  return apply1(Substr, {input, pos, len}, UnitAttrs{options.unit});
}
Tensor length(const TensorLike& input, const UnitOptions& options) {
  return apply1(StringLength, {input}, UnitAttrs{options.unit});
}
Tensor lower(const TensorLike& input, const EncodingOptions& options) {
  return apply1(StringLower, {input}, EncodingAttrs{options.encoding});
}
Tensor upper(const TensorLike& input, const EncodingOptions& options) {
  return apply1(StringUpper, {input}, EncodingAttrs{options.encoding});
}
Tensor strip(const TensorLike& input) { return apply1(StringStrip, {input}); }

namespace {
const FunctionDef* const strings_functions[] = {
    &define_function<Tensor(const std::vector<Tensor>&, const strings::JoinOptions&), join>({"strings.join"},
                                                                                            {"inputs"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const TensorLike&, const strings::UnitOptions&),
                     substr>({"strings.substr"}, {"input", "pos", "len"}),
    &define_function<Tensor(const TensorLike&, const strings::UnitOptions&), length>({"strings.length"}, {"input"}),
    &define_function<Tensor(const TensorLike&, const strings::EncodingOptions&), lower>({"strings.lower"}, {"input"}),
    &define_function<Tensor(const TensorLike&, const strings::EncodingOptions&), upper>({"strings.upper"}, {"input"}),
    &define_function<strip>({"strings.strip"}, {"input"}),
};
}  // namespace

}  // namespace thalweg::strings
