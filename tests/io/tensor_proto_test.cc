// Tensors as TensorProtos: every dtype in every form comes back, lies are refused before they cost memory.
#include "thalweg/io/tensor_proto.h"

#include <gtest/gtest.h>

#include "tests/ops/outcome.h"
#include "thalweg/core/complex.h"
#include "thalweg/io/serialize_tensor.h"
#include "thalweg/ops/casting.h"

namespace thalweg::io {
namespace {

using proto::TensorProto;
using proto::TensorShapeProto;

constexpr DType value_dtypes[] = {float16, bfloat16, float32, float64, int8,  int16,     int32,      int64,
                                  uint8,   uint16,   uint32,  uint64,  bool_, complex64, complex128, DType::string};
constexpr TensorProtoForm forms[] = {TensorProtoForm::brief, TensorProtoForm::content, TensorProtoForm::list};

Tensor sample(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (dtype == DType::string) {
      tensor.mutable_data<std::string>()[i] = std::string(static_cast<size_t>(i) * 20, static_cast<char>('\0' + i));
    } else if (dtype == bool_) {
      tensor.mutable_data<bool>()[i] = i % 2 == 0;
    } else {
      for (size_t b = 0; b < size_of(dtype); ++b)
        tensor.mutable_data<uint8_t>()[static_cast<size_t>(i) * size_of(dtype) + b] =
            static_cast<uint8_t>(37 * i + 11 * b + 128);
    }
  }
  return tensor;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::string) return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  return a.size() == 0 || std::memcmp(a.impl()->data, b.impl()->data, a.nbytes()) == 0;
}

TensorShapeProto shape_of(std::initializer_list<int64_t> dims) {
  TensorShapeProto shape;
  for (int64_t d : dims) shape.dim.push_back({d, {}});
  return shape;
}
TensorProto message(DType dtype, std::initializer_list<int64_t> dims) {
  TensorProto m;
  m.dtype = static_cast<int32_t>(dtype);
  m.tensor_shape = shape_of(dims);
  return m;
}

TEST(TensorProtos, EveryDTypeComesBackInEveryForm) {
  for (DType dtype : value_dtypes)
    for (TensorProtoForm form : forms)
      for (const Shape& shape :
           {Shape{}, Shape{1}, Shape{2, 3}, Shape{0, 4}, Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7}}) {
        const Tensor tensor = sample(dtype, shape);
        const std::string bytes = proto::serialize(to_tensor_proto(tensor, form));
        EXPECT_TRUE(same_bits(from_tensor_proto(proto::parse<TensorProto>(bytes)), tensor))
            << name_of(dtype) << shape.brackets() << " in form " << static_cast<int>(form);
      }
}

TEST(TensorProtos, TheLastValueFillsTheRest) {
  for (DType dtype : value_dtypes) {
    const Tensor tensor = sample(dtype, {2});
    TensorProto m = to_tensor_proto(tensor, TensorProtoForm::list);
    m.tensor_shape = shape_of({5});
    const Tensor filled = from_tensor_proto(m);
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_TRUE(same_bits(filled[i], tensor[std::min<int64_t>(i, 1)])) << name_of(dtype);
    EXPECT_TRUE(same_bits(from_tensor_proto(message(dtype, {3})),
                          dtype == DType::string ? Tensor({"", "", ""}) : cast(Tensor({0, 0, 0}), dtype)))
        << name_of(dtype);
  }
}

TEST(TensorProtos, LiesAreRefusedBeforeTheyCostMemory) {
  std::vector<std::pair<TensorProto, const char*>> lies;
  auto add = [&](TensorProto m, const char* why) { lies.emplace_back(std::move(m), why); };
  TensorProto m = message(float32, {int64_t{1} << 40});
  m.float_val = {1};
  add(m, "64 MB");
  m.tensor_shape = shape_of({int64_t{1} << 40, int64_t{1} << 40});
  add(m, "no tensor has the shape");
  m.tensor_shape = shape_of({0, int64_t{1} << 62, 4});
  add(m, "no tensor has the shape");
  m.tensor_shape = shape_of({-1});
  add(m, "no tensor has the shape");
  m.tensor_shape = shape_of({-2});
  add(m, "a dimension of size -2");
  m.tensor_shape = {.unknown_rank = true};
  add(m, "no tensor has the shape");
  m.tensor_shape = shape_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  add(m, "13 dimensions");
  m = message(float32, {2});
  m.float_val = {1, 2, 3};
  add(m, "3 values for the 2 elements");
  m.tensor_content = "12345678901";
  add(m, "11 bytes");
  m = message(int8, {1});
  m.int_val = {128};
  add(m, "128 does not fit");
  m = message(uint8, {1});
  m.int_val = {-1};
  add(m, "-1 does not fit");
  m = message(float16, {1});
  m.half_val = {1 << 16};
  add(m, "65536 does not fit");
  m = message(complex128, {2});
  m.dcomplex_val = {1, 2, 3};
  add(m, "half of a complex number");
  m = message(bool_, {1});
  m.tensor_content = "\2";
  add(m, "neither 0 nor 1");
  m = message(DType::string, {2});
  m.tensor_content = std::string("\1\177a", 3);
  add(m, "bytes end too early");
  m.tensor_content = std::string("\1\1abc", 5);
  add(m, "after the last string");
  m.tensor_shape = shape_of({int64_t{1} << 50});
  add(m, "too few");
  m = message(DType::string, {1 << 20});
  m.string_val = {std::string(1000, 'x')};
  add(m, "64 MB");
  add(message(DType::resource, {}), "handle");
  add(message(DType::variant, {}), "handle");
  m = message(float32, {});
  for (int32_t number : {0, 11, 24, 101, -1}) {
    m.dtype = number;
    add(m, "which Thalweg does not have");
  }
  for (const auto& [lie, why] : lies) {
    reset_peak_memory(0);
    const MemoryInfo before = memory_info(0);
    const std::string got = outcome([&] { from_tensor_proto(proto::parse<TensorProto>(proto::serialize(lie))); });
    EXPECT_TRUE(got.starts_with("InvalidArgumentError: ") && got.find(why) != got.npos) << got << "\nexpected: " << why;
    EXPECT_LE(memory_info(0).peak, before.current + 64) << why;
  }
}

TEST(TensorProtos, HandlesAndNothingAreRefused) {
  EXPECT_EQ(outcome([] { to_tensor_proto(Tensor::empty(DType::resource, {})); }).substr(0, 20), "InvalidArgumentError");
  EXPECT_EQ(outcome([] { to_tensor_proto(Tensor()); }).substr(0, 10), "ValueError");
}

TEST(Wire, PassesOverWhatItDoesNotKnow) {
  // Field 1 as int32, field 99 in every wire type, and lists that are not packed.
  const std::string bytes = std::string("\x08\x03", 2) + std::string("\x98\x06\x05", 3) +
                            std::string("\x99\x06\1\2\3\4\5\6\7\x08", 10) + std::string("\x9a\x06\2ab", 5) +
                            std::string("\x9d\x06\1\2\3\4", 6) + std::string("\x38\x05\x38\x06", 4) +
                            std::string("\x12\x04\x12\x02\x08\x02", 6);
  EXPECT_TRUE(same_bits(from_tensor_proto(proto::parse<TensorProto>(bytes)), Tensor({5, 6})));
}

TEST(Wire, OfAFieldThatComesTwiceTheLastCounts) {
  proto::AttrValue value;
  value.value = true;
  std::string bytes = proto::serialize(value);
  value.value = int64_t{-3};
  bytes += proto::serialize(value);
  EXPECT_EQ(std::get<int64_t>(proto::parse<proto::AttrValue>(bytes).value), -3);
}

TEST(Wire, NestingHasABound) {
  proto::AttrValue value;
  value.value = int64_t{1};
  for (int i = 0; i < 40; ++i) {
    proto::NameAttrList function;
    function.attr["f"] = value;
    value.value = Boxed(function);
  }
  EXPECT_NE(outcome([&] { proto::parse<proto::AttrValue>(proto::serialize(value)); }).find("nested more than"),
            std::string::npos);
}

TEST(Wire, ManyTinyPartsHaveABound) {
  std::string bytes;
  for (int i = 0; i < 4'000'000; ++i) bytes += std::string("\x0a\x00", 2);  // nodes of nothing
  EXPECT_NE(outcome([&] { proto::parse<proto::GraphDef>(bytes); }).find("more parts than its size"), std::string::npos);
}

TEST(Wire, CutAndChangedBytesAreReadOrRefused) {
  proto::GraphDef graph;
  proto::NodeDef& node = graph.node.emplace_back();
  node = {.name = "x", .op = "Const", .input = {"a", "^b"}};
  node.attr["value"].value = Boxed(to_tensor_proto({1.0f, 2.0f}));
  node.attr["l"].value = Boxed(proto::ListValue{.s = {"a"}, .i = {1, -1}, .f = {1.5f}, .shape = {shape_of({1, -1})}});
  graph.library.emplace().function.emplace_back().ret["y"] = "x:output:0";
  graph.library->function[0].arg_attr[3].attr["_a"].value = std::string("b");
  graph.versions = proto::VersionDef{.producer = 1645, .bad_consumers = {1, 2}};
  const std::string bytes = proto::serialize(graph);
  EXPECT_EQ(proto::serialize(proto::parse<proto::GraphDef>(bytes)), bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    outcome([&] { proto::parse<proto::GraphDef>(std::string_view(bytes).substr(0, i)); });
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      outcome([&] { proto::parse<proto::GraphDef>(changed); });
    }
  }
}

}  // namespace
}  // namespace thalweg::io
