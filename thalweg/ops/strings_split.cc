#include <algorithm>
#include <string_view>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct SplitAttrs {
  bool skip_empty = true;
};
struct SplitV2Attrs {
  int64_t maxsplit = -1;
};

using Pieces = std::vector<std::string_view>;

std::string_view without_leading_space(std::string_view text) {
  auto begin = std::find_if_not(text.begin(), text.end(), is_white_space);
  return text.substr(static_cast<size_t>(begin - text.begin()));
}

// At any one of the delimiters; without delimiters into bytes.
void split_at_any(std::string_view text, std::string_view delimiters, bool skip_empty, Pieces& pieces) {
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
    return;
  }
  if (text.empty()) return;  // not one empty piece: TensorFlow's older split differs from Python's here
  while (true) {
    size_t end = text.find_first_of(delimiters);
    std::string_view piece = text.substr(0, end);
    if (!skip_empty || !piece.empty()) pieces.push_back(piece);
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

// At runs of white space. A limit that is reached keeps the rest, even an empty one.
void split_at_space(std::string_view text, int64_t limit, Pieces& pieces) {
  text = without_leading_space(text);
  for (int64_t count = 0; !text.empty(); ++count) {
    if (limit > 0 && count == limit) return pieces.push_back(text);
    auto end = std::find_if(text.begin(), text.end(), is_white_space);
    pieces.push_back(text.substr(0, static_cast<size_t>(end - text.begin())));
    text = without_leading_space(text.substr(pieces.back().size()));
    if (text.empty() && count + 1 == limit) pieces.push_back(text);
  }
}

void split_like_python(std::string_view text, std::string_view separator, int64_t limit, Pieces& pieces) {
  if (limit == 0) return pieces.push_back(text);
  if (separator.empty()) return split_at_space(text, limit, pieces);
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    size_t end = text.find(separator);
    if (end == text.npos) break;
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  pieces.push_back(text);
}

void infer_split(InferCall& c) {
  c.require_rank(0, 1);
  require_scalar(c, 1, c.op.args[1].name.c_str());
  c.output(0, Shape{unknown, 2});
  c.output(1, Shape{unknown});
  c.output(2, Shape{2});
}

// `split(text, pieces)` adds the pieces of one string.
template <class Split> void run_split(const KernelCall& c, const Split& split) {
  const std::string* in = c.input<std::string>(0);
  int64_t rows = c.count(0), most = 0;
  Pieces pieces;
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < rows; ++i) {
    size_t before = pieces.size();
    split(std::string_view(in[i]), pieces);
    most = std::max(most, static_cast<int64_t>(pieces.size() - before));
    ends.push_back(static_cast<int64_t>(pieces.size()));
  }
  int64_t count = static_cast<int64_t>(pieces.size());
  c.allocate(0, Shape{count, 2});
  c.allocate(1, Shape{count});
  int64_t* indices = c.output<int64_t>(0);
  for (int64_t i = 0, begin = 0; i < rows; begin = ends[static_cast<size_t>(i)], ++i)
    for (int64_t k = begin; k < ends[static_cast<size_t>(i)]; ++k) {
      *indices++ = i;
      *indices++ = k - begin;
    }
  std::copy(pieces.begin(), pieces.end(), c.output<std::string>(1));
  c.output<int64_t>(2)[0] = rows;
  c.output<int64_t>(2)[1] = most;
}

const Op& StringSplit = define_op({
    .name = "StringSplit",
    .doc = "The pieces of strings between any of the delimiters, as a sparse matrix.",
    .signature = "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    .attrs = attrs_of<SplitAttrs>(),
    .infer = infer_split,
    .kernel = {[](const KernelCall& c) {
      run_split(c, [&](std::string_view text, Pieces& pieces) {
        split_at_any(text, *c.input<std::string>(1), c.attrs<SplitAttrs>().skip_empty, pieces);
      });
    }},
    .traits = text_traits,
});

const Op& StringSplitV2 = define_op({
    .name = "StringSplitV2",
    .doc = "The pieces of strings as Python's str.split finds them, as a sparse matrix.",
    .signature = "input: string, sep: string -> indices: int64, values: string, shape: int64",
    .attrs = attrs_of<SplitV2Attrs>(),
    .infer = infer_split,
    .kernel = {[](const KernelCall& c) {
      run_split(c, [&](std::string_view text, Pieces& pieces) {
        split_like_python(text, *c.input<std::string>(1), c.attrs<SplitV2Attrs>().maxsplit, pieces);
      });
    }},
    .traits = text_traits,
});

// One string as a vector of one.
Tensor as_vector(const char* function, const TensorLike& input) {
  const Tensor& text = input.tensor();
  if (text.dtype() != DType::string)
    throw TypeError(std::string(function) + ": input must be a string, got " + std::string(name_of(text.dtype())));
  if (text.is_symbolic() || text.rank() != 0)
    throw UnimplementedError(
        std::string(function) +
        ": the pieces of several strings make a ragged tensor, which there is not yet; input has "
        "shape " +
        text.shape().brackets() +
        ". Split one string at a time, or call strings.split_v2 (raw_ops.StringSplitV2 in Python), "
        "which gives the pieces as a sparse matrix.");
  return std::vector<std::string>{text.item<std::string>()};
}

}  // namespace

SplitResult split_v2(const TensorLike& input, const SplitOptions& options) {
  auto [indices, values, shape] =
      apply_n<3>(StringSplitV2, {input, Tensor(options.sep)}, SplitV2Attrs{options.maxsplit});
  return {indices, values, shape};
}
Tensor split(const TensorLike& input, const SplitOptions& options) {
  return split_v2(as_vector("strings.split", input), options).values;
}
Tensor bytes_split(const TensorLike& input) {
  return apply_n<3>(StringSplit, {as_vector("strings.bytes_split", input), Tensor("")}, SplitAttrs{})[1];
}

namespace {
const FunctionDef* const strings_split_functions[] = {
    &define_function<Tensor(const TensorLike&, const strings::SplitOptions&), split>({"strings.split"}, {"input"}),
    &define_function<bytes_split>({"strings.bytes_split"}, {"input"}),
};
}  // namespace

}  // namespace thalweg::strings
