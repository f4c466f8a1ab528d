#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/categorical.h"
#include "thalweg/keras/layers/encoding.h"
#include "thalweg/ops/bitwise.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/strings.h"

namespace thalweg::keras::layers {

Tensor Token::equals(const Tensor& values) const {
  if (value_.is_text() != (values.dtype() == DType::string))
    throw ValueError("mask_value=" + value_.json() + " is never among inputs of " +
                     std::string(name_of(values.dtype())) + ": it must be a text for texts, a number for numbers");
  return equal(values, value_.is_text() ? Tensor(value_.text()) : cast(Tensor(value_.integer()), values.dtype()));
}
void from_value(Token& token, const Value& value) {
  if (!value.is_none() && !value.is_text() && !value.is_integer())
    throw ValueError("a text or an integer was expected, got " + value.json());
  token.value_ = value;
}

Value to_value(const Salt& salt) { return salt.given() ? keras::to_value(salt.words_) : Value(); }
void from_value(Salt& salt, const Value& value) {
  const bool is_pair =
      value.is_list() && value.list().size() == 2 && value.list()[0].is_integer() && value.list()[1].is_integer();
  if (value.is_none()) salt = Salt();
  else if (value.is_integer()) salt = Salt(value.integer());
  else if (is_pair) salt = Salt(value.list()[0].integer(), value.list()[1].integer());
  else
    throw ValueError(
        "The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single integer. Received: "
        "salt=" +
        value.json() + ".");
}

namespace {

struct HashingLayer {
  int64_t num_bins = 1;
  HashingOptions options = {};

  void check() {
    if (num_bins <= 0)
      throw ValueError("The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: num_bins=" +
                       std::to_string(num_bins) + ".");
    check_output_mode("Hashing", options.output_mode, options.sparse, {"int", "one_hot", "multi_hot", "count"});
    // Categories are integers, whatever dtype is asked for.
    if (options.output_mode == "int" && !is_integer(options.dtype.compute_dtype())) options.dtype = Policy();
    complete_dtype(options.dtype, options.output_mode);
  }
  Tensor call(const Tensor& x) {
    return encode(bins_of(x),
                  {.output_mode = options.output_mode, .depth = num_bins, .dtype = keras::detail::own_dtype()});
  }
  Shape compute_output_shape(const Shape& input) { return encoded_shape(input, options.output_mode, num_bins); }

  Tensor bins_of(const Tensor& x) const {
    const bool has_mask = options.mask_value.given() && num_bins > 1;
    const int64_t bins = num_bins - has_mask;
    Tensor texts = is_integer(x.dtype()) ? as_string(x) : x;
    Tensor found = options.salt.given() ? strings::to_hash_bucket_strong(texts, bins, options.salt.words())
                                        : strings::to_hash_bucket_fast(texts, bins);
    if (!has_mask) return found;
    return where(options.mask_value.equals(x), zeros_like(found), found + 1);
  }
};

/// Joins two hashes to one: FarmHash's way to go on from a fingerprint.
Tensor join_hashes(const Tensor& hash, const Tensor& next) {
  const Tensor multiplier(uint64_t{0xc6a4a7935bd1e995}), distance(uint64_t{47});
  auto fold = [&](const Tensor& x) { return bitwise::bitwise_xor(x, bitwise::right_shift(x, distance)); };
  Tensor joined = bitwise::bitwise_xor(bitwise::bitwise_xor(hash, multiplier), fold(next * multiplier) * multiplier);
  return fold(fold(joined * multiplier) * multiplier);
}

struct HashedCrossingLayer {
  int64_t num_bins = 1;
  HashedCrossingOptions options = {};

  void check() {
    if (num_bins <= 0)
      throw ValueError("`num_bins` of a HashedCrossing must be positive. Received: num_bins=" +
                       std::to_string(num_bins));
    if (options.output_mode == "int" && options.dtype.given() && !is_integer(options.dtype.compute_dtype()))
      throw ValueError("When `output_mode='int'`, `dtype` should be an integer type. Received: dtype=" +
                       options.dtype.name());
    // Without places there is nothing that could be sparse.
    check_output_mode("HashedCrossing", options.output_mode, options.sparse && options.output_mode != "int",
                      {"int", "one_hot"});
    complete_dtype(options.dtype, options.output_mode);
  }
  Tensor call(const Nest& given) {
    check_inputs(given);
    const Tensor bins(static_cast<uint64_t>(num_bins));
    Tensor hash(uint64_t{0xDECAFCAFFE});  // the key that TensorFlow's crosses begin with
    for (size_t i = 0; i < given.size(); ++i) hash = join_hashes(hash, print_of(given[i].tensor()));
    Tensor crossed = cast(floormod(hash, bins), DType::int64);
    const Tensor& first = given[0].tensor();
    Tensor shaped = first.rank() == 1 ? crossed : reshape(crossed, shape(first));
    return encode(shaped, {.output_mode = options.output_mode, .depth = num_bins, .dtype = keras::detail::own_dtype()});
  }
  Shape compute_output_shape(const std::vector<Shape>& inputs) {
    return encoded_shape(inputs.at(0), options.output_mode, num_bins);
  }

  // 64 bits for each value: an integer is its own.
  static Tensor print_of(const Tensor& x) {
    Tensor flat = x.rank() == 1 ? x : reshape(x, {-1});
    if (x.dtype() != DType::string) return bitcast(cast(flat, DType::int64), DType::uint64);
    return bitcast(fingerprint(flat), DType::uint64);
  }
  static void check_inputs(const Nest& given) {
    if (!given.is_sequence())
      throw ValueError("`HashedCrossing` should be called on a list or tuple of inputs. Received: inputs=" +
                       received(given));
    if (given.size() < 2)
      throw ValueError("`HashedCrossing` should be called on at least two inputs. Received: inputs=" + received(given));
    const Shape& first = given[0].tensor().shape();
    if (first.rank() > 2 || (first.rank() == 2 && first[-1] != 1))
      throw ValueError(
          "All `HashedCrossing` inputs should have shape `[]`, `[batch_size]` or `[batch_size, 1]`. Received: inputs=" +
          received(given));
    for (size_t i = 0; i < given.size(); ++i) {
      const Tensor& t = given[i].tensor();
      if (!(t.shape() == first))
        throw ValueError("All `HashedCrossing` inputs should have equal shape. Received: inputs=" + received(given));
      if (!is_integer(t.dtype()) && t.dtype() != DType::string)
        throw ValueError("All `HashedCrossing` inputs should have an integer or string dtype. Received: inputs=" +
                         received(given));
    }
  }
  /// The values of one tensor, or what several are.
  static std::string received(const Nest& given) {
    if (!given.is_tensor() || given.tensor().is_symbolic()) return given.str();
    return given.tensor().str();
  }
};

}  // namespace

Layer Hashing(int64_t num_bins, const HashingOptions& options) { return HashingLayer{num_bins, options}; }
Layer HashedCrossing(int64_t num_bins, const HashedCrossingOptions& options) {
  return HashedCrossingLayer{num_bins, options};
}

}  // namespace thalweg::keras::layers
