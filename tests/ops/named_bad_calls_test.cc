// Calls that crashed TensorFlow once, each by name, and lies about sizes: refused with a typed error that names the op
// and the argument, quickly and without memory, or answered rightly.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>

#include "thalweg/core/allocator.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/counting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/masking.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/signal.h"

namespace thalweg {
namespace {

using Ints = std::vector<int64_t>;
using AttrList = std::vector<std::pair<std::string, AttrValue>>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct BadCall {
  const char* title;
  const char* op;
  std::vector<Tensor> inputs;
  AttrList attrs;
  const char* word;  // what the message says besides the op: the argument, as a rule
};

std::vector<Tensor> make(const BadCall& call) {
  if (!find_op(call.op)) throw std::logic_error(std::string(call.op) + " is no op");
  const Op& op = *find_op(call.op);
  Attrs attrs;
  if (op.attrs) attrs = Attrs(*op.attrs);
  for (const auto& [name, value] : call.attrs)
    if (!op.attrs->set(attrs.get(), op.attrs->find(name), value)) throw std::logic_error(name + " is no attribute");
  std::vector<TensorRef> refs(call.inputs.begin(), call.inputs.end());
  return apply_list(op, refs, attrs, op.count_outputs(refs.size(), attrs));
}

// Of a tensor without memory of its own: what shapes alone decide.
Tensor zeros_of(const Shape& shape, DType dtype = DType::float32) {
  Tensor t = Tensor::empty(dtype, shape);
  if (!is_object(dtype)) std::memset(t.impl()->data, 0, t.nbytes());
  return t;
}
Tensor ints(const std::vector<int32_t>& values) { return Tensor(values); }
Tensor longs(const Ints& values) { return Tensor(values); }
Tensor floats(const std::vector<float>& values) { return Tensor(values); }
Tensor scalar64(int64_t value) { return Tensor(value); }
Tensor matrix(const Ints& values, int64_t rows) {
  return Tensor(values, Shape{rows, static_cast<int64_t>(values.size()) / rows});
}

AttrList conv(const char* padding = "VALID", Ints strides = {1, 1, 1, 1}, Ints dilations = {1, 1, 1, 1},
              const char* format = "NHWC") {
  return {{"padding", std::string(padding)},
          {"strides", strides},
          {"dilations", dilations},
          {"data_format", std::string(format)}};
}
AttrList pool(Ints size, const char* padding = "VALID", Ints strides = {1, 1, 1, 1}, const char* format = "NHWC") {
  return {
      {"ksize", size}, {"strides", strides}, {"padding", std::string(padding)}, {"data_format", std::string(format)}};
}

void expect_refused(const BadCall& call) {
  try {
    make(call);
    ADD_FAILURE() << call.title << ": " << call.op << " was answered";
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_NE(text.find(call.op), std::string::npos) << call.title << ": " << text;
    EXPECT_NE(text.find(call.word), std::string::npos) << call.title << ": " << text;
    bool typed = dynamic_cast<const InvalidArgumentError*>(&error) ||
                 dynamic_cast<const ResourceExhaustedError*>(&error) || dynamic_cast<const OutOfRangeError*>(&error) ||
                 dynamic_cast<const ValueError*>(&error);
    EXPECT_TRUE(typed) << call.title << ": " << error.type();
  }
}

TEST(NamedBadCalls, AreRefusedByName) {
  const Tensor image = zeros_of({1, 4, 4, 2}), filter = zeros_of({2, 2, 2, 3}), eight = zeros_of({8}),
               square = zeros_of({2, 2});
  const std::string many = [] {
    std::string labels;
    for (char c = 'a'; c <= 'z'; ++c) labels += c;
    for (char c = 'A'; c <= 'Z'; ++c) labels += c;
    return labels + "01234567";
  }();
  const BadCall calls[] = {
      {"convolution of nothing with nothing",
       "Conv2D",
       {zeros_of({0, 0, 0, 0}), zeros_of({0, 0, 0, 0})},
       conv(),
       "filter"},
      {"filter with a zero channel", "Conv2D", {image, zeros_of({2, 2, 0, 3})}, conv(), "filter"},
      {"stride 0", "Conv2D", {image, filter}, conv("VALID", {1, 0, 1, 1}), "stride"},
      {"dilation 0", "Conv2D", {image, filter}, conv("VALID", {1, 1, 1, 1}, {1, 0, 1, 1}), "dilation"},
      {"three strides", "Conv2D", {image, filter}, conv("VALID", {1, 1, 1}), "strides"},
      {"data_format HHHH", "Conv2D", {image, filter}, conv("VALID", {1, 1, 1, 1}, {1, 1, 1, 1}, "HHHH"), "data_format"},
      {"padding FOO", "Conv2D", {image, filter}, conv("FOO"), "padding"},
      {"backprop that does not fit, input",
       "Conv2DBackpropInput",
       {ints({1, 4, 4, 2}), filter, zeros_of({1, 9, 9, 3})},
       conv(),
       "out_backprop"},
      {"backprop that does not fit, filter",
       "Conv2DBackpropFilter",
       {image, ints({2, 2, 2, 3}), zeros_of({1, 9, 9, 3})},
       conv(),
       "out_backprop"},
      {"pool window larger than its input", "MaxPool", {image}, pool({1, 9, 9, 1}), "input"},
      {"average window larger than its input", "AvgPool", {image}, pool({1, 9, 9, 1}), "input"},
      {"pool stride 0", "MaxPool", {image}, pool({1, 2, 2, 1}, "VALID", {1, 0, 1, 1}), "stride"},
      {"MaxPoolGrad with an empty gradient",
       "MaxPoolGrad",
       {image, zeros_of({1, 3, 3, 2}), zeros_of({0, 0, 0, 0})},
       pool({1, 2, 2, 1}),
       "grad"},
      {"batch norm with another length",
       "FusedBatchNormV3",
       {image, floats({1, 1, 1}), floats({0, 0}), floats({}), floats({})},
       {},
       "scale"},
      {"range from -1e38", "Range", {Tensor(-1e38f), Tensor(1.0f), Tensor(1.0f)}, {}, "limit"},
      {"range by 0", "Range", {Tensor(0), Tensor(1), Tensor(0)}, {}, "delta"},
      {"range by NaN", "Range", {Tensor(0.0f), Tensor(1.0f), Tensor(nan)}, {}, "delta"},
      {"transpose with a repeated axis", "Transpose", {square, ints({0, 0})}, {}, "perm"},
      {"transpose with an axis out of range", "Transpose", {square, ints({0, 2})}, {}, "perm"},
      {"split sizes -1 and -2",
       "SplitV",
       {eight, ints({-1, -2}), Tensor(0)},
       {{"num_split", int64_t{2}}},
       "size_splits"},
      {"gather at -1", "GatherV2", {eight, ints({-1}), Tensor(0)}, {}, "indices"},
      {"gather past the end", "GatherV2", {eight, ints({8}), Tensor(0)}, {}, "indices"},
      {"scatter updates of another length",
       "ScatterNd",
       {Tensor(std::vector<int32_t>{0, 1}, Shape{2, 1}), floats({1, 2, 3}), ints({4})},
       {},
       "updates"},
      {"segment id of a fuzzer",
       "SegmentSum",
       {eight, longs({0, 0, 0, 0, 0, 0, 0, 1676240524292489355})},
       {},
       "segment_ids"},
      {"unsorted segment id of a fuzzer",
       "UnsortedSegmentSum",
       {eight, longs({0, 0, 0, 0, 0, 0, 0, 1676240524292489355}), Tensor(3)},
       {},
       "segment_ids"},
      {"label -1", "SparseSoftmaxCrossEntropyWithLogits", {square, ints({0, -1})}, {}, "label"},
      {"label past the classes", "SparseSoftmaxCrossEntropyWithLogits", {square, ints({0, 2})}, {}, "label"},
      {"bincount of a negative size", "Bincount", {ints({1, 2}), Tensor(-1), floats({})}, {}, "size"},
      {"dense bincount of a negative size", "DenseBincount", {ints({1, 2}), Tensor(-1), floats({})}, {}, "size"},
      {"reverse_sequence past the dimension",
       "ReverseSequence",
       {square, longs({1, 3})},
       {{"seq_dim", int64_t{1}}, {"batch_dim", int64_t{0}}},
       "seq_lengths"},
      {"depth_to_space block 0", "DepthToSpace", {image}, {{"block_size", int64_t{0}}}, "block_size"},
      {"mirror padding past the size",
       "MirrorPad",
       {floats({1, 2}), Tensor(std::vector<int32_t>{0, 5}, Shape{1, 2})},
       {{"mode", std::string("REFLECT")}},
       "paddings"},
      {"einsum without an arrow", "Einsum", {square, square}, {{"equation", std::string("ij,jk")}}, "->"},
      {"einsum with an unknown label", "Einsum", {square}, {{"equation", std::string("ij->ik")}}, "label"},
      {"einsum with 60 labels", "Einsum", {square}, {{"equation", many + "->" + many}}, "equation"},
      {"concat of different ranks", "ConcatV2", {square, eight, Tensor(0)}, {}, "values"},
      {"minval above maxval",
       "StatelessRandomUniformIntV2",
       {ints({2}), Tensor(std::vector<uint64_t>{1}), Tensor(std::vector<uint64_t>{1, 2}), Tensor(1), Tensor(5),
        Tensor(3)},
       {},
       "minval"},
      {"minval above maxval, stateful", "RandomUniformInt", {ints({2}), Tensor(5), Tensor(3)}, {}, "minval"},
      {"%n as a format", "AsString", {eight}, {{"fill", std::string("%n")}}, "fill"},
  };
  for (const BadCall& call : calls) expect_refused(call);
}

TEST(NamedBadCalls, CastsOfWhatNoIntegerHoldsAreTensorFlows) {
  // What TensorFlow's CPU kernels give: the smallest integer of the converting instruction, cut to the type.
  Tensor x = std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f};
  const Tensor narrow = cast(x, int32), wide = cast(x, int64);
  for (int32_t v : narrow.span<int32_t>()) EXPECT_EQ(v, INT32_MIN);
  for (int64_t v : wide.span<int64_t>()) EXPECT_EQ(v, INT64_MIN);
}

int64_t resident_kilobytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(NamedBadCalls, LiesAboutSizesCostNothing) {
  constexpr int64_t huge = int64_t{1} << 50, large = int64_t{1} << 31;
  const Tensor one(1.0f), three = floats({1, 2, 3}), counter = Tensor(std::vector<uint64_t>{1, 2}),
                          key = Tensor(std::vector<uint64_t>{1});
  const Tensor signal = Tensor::empty(DType::complex64, {4});
  std::memset(signal.impl()->data, 0, signal.nbytes());
  const BadCall lies[] = {
      {"fill", "Fill", {longs({huge, huge}), one}, {}, ""},
      {"fill of one large dimension", "Fill", {longs({huge}), one}, {}, ""},
      {"tile by [1e8, 1e8, 1e8]", "Tile", {zeros_of({1, 1, 1}), ints({100'000'000, 100'000'000, 100'000'000})}, {}, ""},
      {"range", "Range", {scalar64(0), scalar64(INT64_MAX), scalar64(1)}, {}, ""},
      {"range down", "Range", {scalar64(INT64_MAX), scalar64(INT64_MIN), scalar64(-1)}, {}, ""},
      {"range of reals", "Range", {Tensor(0.0f), Tensor(1e30f), Tensor(1e-5f)}, {}, ""},
      {"one_hot", "OneHot", {zeros_of({1 << 12}, int64), Tensor(INT32_MAX), one, one}, {{"axis", int64_t{-1}}}, ""},
      {"diag", "MatrixDiagV3", {three, Tensor(0), Tensor(INT32_MAX), Tensor(INT32_MAX), one}, {}, ""},
      {"broadcast_to", "BroadcastTo", {one, longs({huge, 4})}, {}, ""},
      {"pad", "Pad", {three, matrix({huge, huge}, 1)}, {}, ""},
      {"pad past 2^63", "Pad", {three, matrix({INT64_MAX, INT64_MAX}, 1)}, {}, ""},
      {"pad with a value", "PadV2", {three, matrix({huge, 0}, 1), one}, {}, ""},
      {"mirror pad", "MirrorPad", {three, matrix({huge, 0}, 1)}, {{"mode", std::string("SYMMETRIC")}}, ""},
      {"bincount", "Bincount", {ints({1}), Tensor(INT32_MAX), Tensor(std::vector<int64_t>{})}, {}, ""},
      {"dense bincount", "DenseBincount", {Tensor(Ints{1}), scalar64(huge), Tensor(std::vector<float>{})}, {}, ""},
      {"linspace", "LinSpace", {Tensor(0.0f), one, scalar64(huge)}, {}, ""},
      {"random uniform", "RandomUniform", {longs({huge, huge})}, {{"dtype", float32}}, ""},
      {"random normal", "RandomStandardNormal", {longs({huge})}, {{"dtype", float32}}, ""},
      {"random integers", "RandomUniformInt", {longs({huge}), Tensor(0), Tensor(9)}, {}, ""},
      {"truncated normal", "TruncatedNormal", {longs({huge})}, {{"dtype", float32}}, ""},
      {"gamma", "RandomGamma", {longs({huge}), three}, {}, ""},
      {"poisson", "RandomPoissonV2", {longs({huge}), three}, {}, ""},
      {"stateless uniform", "StatelessRandomUniformV2", {longs({huge}), key, counter, Tensor(1)}, {}, ""},
      {"stateless normal", "StatelessRandomNormal", {longs({huge, huge}), longs({1, 2})}, {}, ""},
      {"stateless gamma", "StatelessRandomGammaV2", {longs({huge}), longs({1, 2}), one}, {}, ""},
      {"multinomial", "Multinomial", {zeros_of({1 << 12, 2}), Tensor(INT32_MAX)}, {}, ""},
      {"unpredictable integers", "NonDeterministicInts", {longs({huge})}, {}, ""},
      {"scatter_nd", "ScatterNd", {matrix({0}, 1), floats({1}), longs({huge})}, {}, ""},
      {"scatter_nd past 2^63", "ScatterNd", {matrix({0, 0}, 1), floats({1}), longs({huge, huge})}, {}, ""},
      {"unsorted segment sum", "UnsortedSegmentSum", {three, ints({0, 0, 0}), scalar64(huge)}, {}, ""},
      {"unsorted segment max", "UnsortedSegmentMax", {three, ints({0, 0, 0}), scalar64(huge)}, {}, ""},
      {"segment ids", "SegmentSum", {three, longs({0, 0, huge})}, {}, ""},
      {"sparse segment gradient",
       "SparseSegmentSumGrad",
       {three, ints({0, 1, 2}), ints({0, 1, 2}), Tensor(INT32_MAX)},
       {},
       ""},
      {"reshape", "Reshape", {three, longs({huge, huge})}, {}, ""},
      {"irfft", "IRFFT", {signal, ints({INT32_MAX})}, {}, ""},
      {"irfft2d", "IRFFT2D", {Tensor::empty(DType::complex64, {1, 1}), ints({INT32_MAX, INT32_MAX})}, {}, ""},
      {"rfft", "RFFT", {three, ints({INT32_MAX})}, {}, ""},
      {"conv input_sizes",
       "Conv2DBackpropInput",
       {ints({INT32_MAX, INT32_MAX, INT32_MAX, 1}), zeros_of({1, 1, 1, 1}), zeros_of({1, 1, 1, 1})},
       conv("SAME"),
       ""},
      {"conv filter_sizes",
       "Conv2DBackpropFilter",
       {zeros_of({1, 1, 1, 1}), ints({INT32_MAX, INT32_MAX, 1, 1}), zeros_of({1, 1, 1, 1})},
       conv("SAME"),
       ""},
      {"depthwise input_sizes",
       "DepthwiseConv2dNativeBackpropInput",
       {ints({INT32_MAX, INT32_MAX, INT32_MAX, 1}), zeros_of({1, 1, 1, 1}), zeros_of({1, 1, 1, 1})},
       conv("SAME"),
       ""},
      {"top_k", "TopKV2", {three, Tensor(INT32_MAX)}, {}, ""},
      {"batch_to_space", "BatchToSpaceND", {zeros_of({1, 1, 1}), longs({huge}), matrix({0, 0}, 1)}, {}, ""},
      {"space_to_batch", "SpaceToBatchND", {zeros_of({1, 1, 1}), longs({huge}), matrix({0, huge - 1}, 1)}, {}, ""},
      {"depth_to_space", "DepthToSpace", {zeros_of({1, 1, 1, 1})}, {{"block_size", large}}, ""},
      {"strided_slice gradient",
       "StridedSliceGrad",
       {longs({huge}), longs({0}), longs({1}), longs({1}), floats({1})},
       {},
       ""},
      {"empty", "Empty", {ints({INT32_MAX, INT32_MAX, INT32_MAX})}, {{"dtype", float32}}, ""},
      {"roll", "Roll", {three, longs({INT64_MIN}), ints({1})}, {}, "axis"},
      {"n-grams",
       "StringNGrams",
       {Tensor(std::vector<std::string>{"a"}), longs({0, 1})},
       {{"ngram_widths", Ints{INT32_MAX}}, {"pad_width", int64_t{-1}}},
       ""},
      {"average pool gradient",
       "AvgPoolGrad",
       {ints({INT32_MAX, INT32_MAX, INT32_MAX, 1}), zeros_of({1, 1, 1, 1})},
       pool({1, 1, 1, 1}),
       ""},
  };
  set_memory_limit(0, memory_info(0).current + (int64_t{1} << 30));  // what int32 can ask for is too much too
  for (const BadCall& lie : lies) {
    SCOPED_TRACE(lie.title);
    if (std::getenv("THALWEG_TRACE_CALLS")) std::cerr << lie.title << std::endl;
    release_cached_memory();
    reset_peak_memory(0);
    const int64_t current = memory_info(0).current, resident = resident_kilobytes();
    auto start = std::chrono::steady_clock::now();
    expect_refused(lie);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, 0.1) << lie.title;
    EXPECT_LT(memory_info(0).peak - current, 64 << 20) << lie.title;
    EXPECT_LT(resident_kilobytes() - resident, 64 << 10) << lie.title;
  }
  set_memory_limit(0, 0);
}

TEST(NamedBadCalls, LiesToFunctionsCostNothing) {
  set_memory_limit(0, memory_info(0).current + (int64_t{1} << 30));
  auto refused = [](const char* title, auto&& call) {
    release_cached_memory();
    reset_peak_memory(0);
    const int64_t current = memory_info(0).current, resident = resident_kilobytes();
    auto start = std::chrono::steady_clock::now();
    try {
      call();
      ADD_FAILURE() << title << " was answered";
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0.1) << title;
    EXPECT_LT(memory_info(0).peak - current, 64 << 20) << title;
    EXPECT_LT(resident_kilobytes() - resident, 64 << 10) << title;
  };
  constexpr int64_t huge = int64_t{1} << 50;
  refused("zeros", [] { zeros(Ints{huge, huge}); });
  refused("ones", [] { ones(Ints{huge}); });
  refused("eye", [] { eye(huge); });
  refused("range", [] { range(Tensor(int64_t{0}), Tensor(huge)); });
  refused("uniform", [] { random::uniform(Ints{huge, huge}); });
  refused("repeat", [] { repeat(Tensor({1, 2}), Tensor(huge)); });
  refused("repeat of each", [] { repeat(Tensor({1, 2}), Tensor(Ints{huge, huge}), {.axis = 0}); });
  refused("sequence_mask", [] { sequence_mask(Tensor(Ints{huge})); });
  refused("sequence_mask of a length", [] { sequence_mask(Tensor(Ints{1}), {.maxlen = Tensor(huge)}); });
  refused("linspace", [] { linspace(0.0f, 1.0f, huge); });
  refused("bincount", [] { math::bincount(Tensor({1, 2}), {.minlength = Tensor(INT32_MAX)}); });
  refused("hann_window", [] { signal::hann_window(huge); });
  set_memory_limit(0, 0);
}

const Op& Greedy = define_op({
    .name = "GreedyForTests",
    .doc = "Asks the system for memory until it has none.",
    .signature = "x: float -> y: float",
    .infer = [](InferCall& c) { c.output(0, Shape{}); },
    .kernel = {[](const KernelCall& c) {
      if (*c.input<float>(0) > 0) throw std::bad_alloc();
      std::vector<char>().reserve(static_cast<size_t>(-1));
    }},
});

TEST(OutOfMemory, OfTheSystemNamesTheOp) {
  for (float x : {1.0f, -1.0f}) expect_refused({"working memory", "GreedyForTests", {Tensor(x)}, {}, "out of memory"});
  EXPECT_EQ(apply1(*find_op("Neg"), {Tensor(1.0f)}).item<float>(), -1);
}

TEST(OutOfMemory, LeavesTheNextStepWorking) {
  Tensor a = zeros_of({300, 300}), image = zeros_of({1, 64, 64, 8}), filter = zeros_of({3, 3, 8, 8});
  for (int i = 0; i < 300; ++i) a.mutable_data<float>()[i * 301] = 2;
  const BadCall calls[] = {
      {"decomposition", "Svd", {a}, {}, "out of memory"},
      {"eigenvalues", "SelfAdjointEigV2", {a}, {}, "out of memory"},
      {"solution", "MatrixSolve", {a, a}, {}, "out of memory"},
      {"convolution", "Conv2D", {image, filter}, conv("SAME"), "out of memory"},
  };
  for (const BadCall& call : calls) {
    for (int64_t room : {1 << 10, 200 << 10}) {  // for not even the output, for perhaps the output alone
      set_memory_limit(0, memory_info(0).current + room);
      try {
        make(call);
      } catch (const ResourceExhaustedError& error) {
        EXPECT_NE(std::string(error.what()).find(call.op), std::string::npos) << error.what();
      }
      set_memory_limit(0, 0);
      EXPECT_FALSE(make(call).empty()) << call.title;
    }
  }
}

}  // namespace
}  // namespace thalweg
