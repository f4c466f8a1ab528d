#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct NGramsAttrs {
  std::string separator = "";
  std::vector<int64_t> ngram_widths = {};
  std::string left_pad = "";
  std::string right_pad = "";
  int64_t pad_width = 0;
  bool preserve_short_sequences = false;
};

// More pieces than this are a mistake in a width.
constexpr int64_t most_pieces = int64_t{1} << 28;

void infer_ngrams(InferCall& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  for (int64_t width : c.attrs<NGramsAttrs>().ngram_widths) {
    if (width <= 0) c.fail("ngram_widths must contain positive values");
    if (width > most_pieces) c.fail("the n-gram width " + std::to_string(width) + " is too large");
  }
  c.output(0, Shape{unknown});
  c.output(1, c.dtype(1), c.shape(1));
}

// One sequence, padded on both sides: windows over it are the n-grams.
class PaddedSequence {
 public:
  PaddedSequence(const NGramsAttrs& attrs, const std::string* data, int64_t length, int64_t width)
      : attrs_(attrs), data_(data), length_(length) {
    int64_t most = width - 1;
    pad_ = attrs.pad_width < 0 ? most : std::min(attrs.pad_width, most);
  }
  int64_t count(int64_t width) const { return std::max<int64_t>(0, length_ + 2 * pad_ - width + 1); }
  std::string window(int64_t begin, int64_t width) const {
    std::string text;
    for (int64_t i = begin; i < begin + width; ++i) {
      if (i > begin) text += attrs_.separator;
      text += i < pad_ ? attrs_.left_pad : i < pad_ + length_ ? data_[i - pad_] : attrs_.right_pad;
    }
    return text;
  }

 private:
  const NGramsAttrs& attrs_;
  const std::string* data_;
  int64_t length_, pad_;
};

std::vector<int64_t> checked_splits(const KernelCall& c) {
  std::vector<int64_t> splits = c.values(1);
  int64_t size = c.count(0);
  if (splits.empty()) return splits;
  if (splits[0] != 0) c.fail("First split value must be 0, got " + std::to_string(splits[0]));
  for (size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1] || splits[i] > size)
      c.fail("Invalid split value " + std::to_string(splits[i]) + ", must be in [" + std::to_string(splits[i - 1]) +
             ", " + std::to_string(size) + "]");
  if (splits.back() != size)
    c.fail("Last split value must be data size. Expected " + std::to_string(size) + ", got " +
           std::to_string(splits.back()));
  return splits;
}

// Calls `take(sequence, width, count)` for every group of n-grams of one sequence.
template <class Take>
void for_each_group(const NGramsAttrs& attrs, const std::string* data, int64_t length, const Take& take) {
  bool any = false;
  for (int64_t width : attrs.ngram_widths) {
    PaddedSequence sequence(attrs, data, length, width);
    if (int64_t count = sequence.count(width)) {
      take(sequence, width, count);
      any = true;
    }
  }
  // A sequence too short for every width is kept whole; with as much padding as it takes it never is too short.
  if (any || !attrs.preserve_short_sequences || length == 0 || attrs.pad_width < 0) return;
  int64_t width = length + 2 * std::min(attrs.pad_width, most_pieces);
  take(PaddedSequence(attrs, data, length, width), width, 1);
}

template <class T> void run_ngrams(const KernelCall& c, const std::vector<int64_t>& splits) {
  const auto& attrs = c.attrs<NGramsAttrs>();
  const std::string* data = c.input<std::string>(0);
  T* ngram_splits = c.output<T>(1);
  if (splits.empty() || c.count(0) == 0) {
    std::fill_n(ngram_splits, splits.size(), T{0});
    return c.allocate(0, c.shape(0));
  }
  int64_t total = 0, pieces = 0;
  ngram_splits[0] = 0;
  for (size_t i = 0; i + 1 < splits.size(); ++i) {
    for_each_group(attrs, data + splits[i], splits[i + 1] - splits[i],
                   [&](const PaddedSequence&, int64_t width, int64_t count) {
                     total += count;
                     bool fits = width <= most_pieces && count <= most_pieces;
                     if (fits) pieces += width * count;
                     if (!fits || pieces > most_pieces)
                       throw ResourceExhaustedError("StringNGrams: n-grams of width " + std::to_string(width) +
                                                    " need too much memory");
                   });
    ngram_splits[i + 1] = static_cast<T>(total);
  }
  c.allocate(0, Shape{total});
  std::string* out = c.output<std::string>(0);
  for (size_t i = 0; i + 1 < splits.size(); ++i)
    for_each_group(attrs, data + splits[i], splits[i + 1] - splits[i],
                   [&](const PaddedSequence& sequence, int64_t width, int64_t count) {
                     for (int64_t k = 0; k < count; ++k) *out++ = sequence.window(k, width);
                   });
}

const Op& StringNGrams = define_op({
    .name = "StringNGrams",
    .doc = "All runs of neighbouring strings of given widths in each sequence of a ragged vector, joined.",
    .signature = "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    .types = {{"Tsplits", index_types}},
    .attrs = attrs_of<NGramsAttrs>(),
    .infer = infer_ngrams,
    .kernel = {[](const KernelCall& c) {
      std::vector<int64_t> splits = checked_splits(c);
      c.dtype(1) == DType::int32 ? run_ngrams<int32_t>(c, splits) : run_ngrams<int64_t>(c, splits);
    }},
    .traits = text_traits,
});

NGramsAttrs ngrams_attrs(const std::vector<int64_t>& widths, const NgramsOptions& options) {
  if (options.padding_width && options.pad_values.empty())
    throw ValueError("strings.ngrams: pad_values must be provided if padding_width is set.");
  if (options.padding_width && *options.padding_width < 1)
    throw ValueError("strings.ngrams: padding_width must be greater than 0, got " +
                     std::to_string(*options.padding_width));
  for (int64_t width : widths)
    if (width < 1)
      throw ValueError("strings.ngrams: All ngram_widths must be greater than 0. Got " + std::to_string(width));
  NGramsAttrs attrs{.separator = options.separator, .ngram_widths = widths};
  attrs.preserve_short_sequences = options.preserve_short_sequences;
  if (options.pad_values.empty()) return attrs;
  attrs.left_pad = options.pad_values[0];
  attrs.right_pad = options.pad_values[options.pad_values.size() > 1 ? 1 : 0];
  attrs.pad_width = options.padding_width.value_or(-1);
  return attrs;
}

}  // namespace

Tensor ngrams(const TensorLike& data, const std::vector<int64_t>& ngram_width, const NgramsOptions& options) {
  Tensor x = data.own();
  if (x.dtype() != DType::string)
    throw TypeError("strings.ngrams: data must be a string, got " + std::string(name_of(x.dtype())));
  if (x.is_symbolic() || x.rank() < 1)
    throw ValueError("strings.ngrams: Data must have rank>0, got shape " + x.shape().brackets());
  const int64_t length = x.shape()[-1], rows = x.shape().count(0, x.rank() - 1);
  // Every row is a sequence, and all have as many n-grams as the first.
  std::vector<int64_t> splits(static_cast<size_t>(rows) + 1);
  for (size_t i = 0; i < splits.size(); ++i) splits[i] = static_cast<int64_t>(i) * length;
  auto [found, ends] = apply_n<2>(StringNGrams, {reshape(x, {-1}), Tensor(splits)}, ngrams_attrs(ngram_width, options));
  Shape shape = x.shape();
  shape[-1] = rows == 0 ? 0 : found.size() / rows;
  return reshape(found, Tensor(std::span<const int64_t>(shape.begin(), shape.end())));
}

namespace {
const FunctionDef& ngrams_function =
    define_function<Tensor(const TensorLike&, const std::vector<int64_t>&, const strings::NgramsOptions&), ngrams>(
        {"strings.ngrams"}, {"data", "ngram_width"});
}  // namespace

}  // namespace thalweg::strings
