// Layers that make categories of values, and numbers that models understand of categories.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

struct CategoryEncodingOptions {
  std::optional<int64_t> num_tokens = {};  // always given: integers are below it
  std::string output_mode = "multi_hot";   // or "one_hot", "count"
  Flag sparse = false;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// One place for each of `num_tokens` integers: 1 for those that occur in an example, or how often they do. With
/// `output_mode` "one_hot" each integer has places of its own. `more` of a call weighs what is counted.
THALWEG_API Layer CategoryEncoding(const CategoryEncodingOptions& options = {});

struct DiscretizationOptions {
  std::optional<std::vector<double>> bin_boundaries = {};  // in ascending order; left out: `adapt` finds them
  std::optional<int64_t> num_bins = {};                    // for `adapt`
  double epsilon = 0.01;                                   // how far the boundaries may be off, as a share of the data
  std::string output_mode = "int";                         // or "one_hot", "multi_hot", "count"
  Flag sparse = false;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The handle of a Discretization: `bins->adapt(data)`, `bins->bin_boundaries()`.
class THALWEG_API DiscretizationHandle : public Layer {
 public:
  explicit DiscretizationHandle(const Layer& layer) : Layer(layer) {}
  const DiscretizationHandle* operator->() const { return this; }
  /// Those given, or those that `adapt` found.
  std::vector<float> bin_boundaries() const;
};
/// Which bin each number falls in, with the boundaries given, or found by `adapt` so that about as many numbers fall in
/// each: numbers at a boundary belong to the bin above.
THALWEG_API DiscretizationHandle Discretization(const DiscretizationOptions& options = {});

/// A text or an integer, or nothing.
class THALWEG_API Token {
 public:
  Token() = default;
  Token(const char* text) : value_(text) {}         // NOLINT: `.mask_value = ""`
  Token(const std::string& text) : value_(text) {}  // NOLINT
  Token(int64_t number) : value_(number) {}         // NOLINT
  Token(int number) : value_(number) {}             // NOLINT
  bool given() const { return !value_.is_none(); }
  /// Where it stands in a tensor, which is a tensor of texts or of integers as it is.
  Tensor equals(const Tensor& values) const;

  friend Value to_value(const Token& token) { return token.value_; }
  friend THALWEG_API void from_value(Token& token, const Value& value);

 private:
  Value value_;
};

/// The key of a hash that nobody without it can steer: two numbers, or one for both.
class THALWEG_API Salt {
 public:
  Salt() = default;
  Salt(int64_t both) : Salt(both, both) {}                          // NOLINT: `.salt = 133`
  Salt(int64_t first, int64_t second) : words_({first, second}) {}  // NOLINT: `.salt = {133, 137}`
  bool given() const { return !words_.empty(); }
  const std::vector<int64_t>& words() const { return words_; }

  friend THALWEG_API Value to_value(const Salt& salt);
  friend THALWEG_API void from_value(Salt& salt, const Value& value);

 private:
  std::vector<int64_t> words_;
};

struct HashingOptions {
  Token mask_value = {};  // has bin 0 to itself
  Salt salt = {};
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count"
  Flag sparse = false;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// One of `num_bins` bins for each text or integer, by a hash that is the same everywhere.
THALWEG_API Layer Hashing(int64_t num_bins, const HashingOptions& options = {});

struct HashedCrossingOptions {
  std::string output_mode = "int";  // or "one_hot"
  Flag sparse = false;
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// One of `num_bins` bins for each combination of the values of two inputs or more, of shape [batch] or [batch, 1].
THALWEG_API Layer HashedCrossing(int64_t num_bins, const HashedCrossingOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Layer CategoryEncoding(const A& num_tokens, CategoryEncodingOptions options = {}) {
  return CategoryEncoding(with(options, options.num_tokens, num_tokens));
}
template <As<std::optional<std::vector<double>>> A = std::optional<std::vector<double>>>
DiscretizationHandle Discretization(const A& bin_boundaries, DiscretizationOptions options = {}) {
  return Discretization(with(options, options.bin_boundaries, bin_boundaries));
}

}  // namespace thalweg::keras::layers
