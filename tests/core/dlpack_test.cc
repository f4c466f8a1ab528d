#include "thalweg/core/dlpack.h"

#include <gtest/gtest.h>

#include <numeric>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"

namespace thalweg {
namespace {

/// Memory that plays the part of another library's array, and counts how often it was released.
struct Foreign {
  std::vector<float> data = std::vector<float>(24);
  std::vector<int64_t> shape, strides;
  DLManagedTensor managed = {};
  int released = 0;

  explicit Foreign(std::vector<int64_t> dims, std::vector<int64_t> steps = {})
      : shape(std::move(dims)), strides(std::move(steps)) {
    std::iota(data.begin(), data.end(), 0.0f);
    managed.dl_tensor = {data.data(),
                         {1, 0},
                         static_cast<int32_t>(shape.size()),
                         {2, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->released; };
  }
};

TEST(DLPack, SharesMemoryBothWays) {
  Tensor x = {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  const float* memory = x.data<float>();
  DLManagedTensor* managed = to_dlpack(x);
  x = Tensor();
  const DLTensor& t = managed->dl_tensor;
  EXPECT_EQ(t.data, memory);
  EXPECT_EQ(t.ndim, 2);
  EXPECT_TRUE(t.shape[0] == 2 && t.shape[1] == 3 && t.strides[0] == 3 && t.strides[1] == 1);
  EXPECT_TRUE(t.dtype.code == 2 && t.dtype.bits == 32 && t.dtype.lanes == 1);
  Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.data<float>(), memory);
  EXPECT_EQ(back.shape(), Shape({2, 3}));
  EXPECT_EQ(back.span<float>()[5], 6.0f);
}

TEST(DLPack, KeepsEveryDtype) {
  for (int i = 1; i < num_dtypes; ++i) {
    auto dtype = static_cast<DType>(i);
    if (!all_types.has(dtype)) continue;
    Tensor x = Tensor::empty(dtype, {2, 2});
    if (!plain_types.has(dtype)) {
      EXPECT_THROW(to_dlpack(x), TypeError);
      continue;
    }
    std::memset(x.mutable_data<void>(), 0, x.nbytes());
    Tensor back = from_dlpack(to_dlpack(x));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), x.shape());
  }
}

TEST(DLPack, ReleasesWhenTheLastTensorGoes) {
  Foreign foreign({2, 3, 4});
  {
    Tensor x = from_dlpack(&foreign.managed);
    EXPECT_EQ(x.data<float>(), foreign.data.data());
    Tensor y = x;
    x = Tensor();
    EXPECT_EQ(foreign.released, 0);
    EXPECT_EQ(y.span<float>()[23], 23.0f);
  }
  EXPECT_EQ(foreign.released, 1);
}

TEST(DLPack, CopiesStridedMemory) {
  Foreign transposed({4, 6}, {1, 4});
  Tensor x = from_dlpack(&transposed.managed);
  EXPECT_EQ(transposed.released, 1);
  EXPECT_EQ(x.shape(), Shape({4, 6}));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) EXPECT_EQ(x.data<float>()[i * 6 + j], static_cast<float>(i + 4 * j));

  Foreign reversed({3}, {-1});
  reversed.managed.dl_tensor.byte_offset = 2 * sizeof(float);
  Tensor y = from_dlpack(&reversed.managed);
  EXPECT_EQ(y.data<float>()[0], 2.0f);
  EXPECT_EQ(y.data<float>()[2], 0.0f);

  Foreign repeated({2, 2}, {0, 1});
  const Tensor taken = from_dlpack(&repeated.managed);
  EXPECT_EQ(taken.data<float>()[3], 1.0f);

  Foreign ones({1, 4}, {77, 1});  // the stride of a dimension of one means nothing
  const Tensor shared = from_dlpack(&ones.managed);
  EXPECT_EQ(shared.data<float>(), ones.data.data());
}

TEST(DLPack, HandlesEmptyAndScalarTensors) {
  Foreign empty({0, 3});
  empty.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(&empty.managed).shape(), Shape({0, 3}));
  EXPECT_EQ(empty.released, 1);
  Foreign scalar({});
  EXPECT_EQ(from_dlpack(&scalar.managed).item<float>(), 0.0f);
  EXPECT_EQ(from_dlpack(to_dlpack(Tensor::empty(DType::int32, {0, 5}))).shape(), Shape({0, 5}));
}

TEST(DLPack, CopiesWhatCannotBeShared) {
  Foreign skewed({3});
  skewed.managed.dl_tensor.byte_offset = 2;
  EXPECT_EQ(from_dlpack(&skewed.managed).size(), 3);
  EXPECT_EQ(skewed.released, 1);
  Foreign truths({24});
  auto* bytes = reinterpret_cast<uint8_t*>(truths.data.data());
  for (uint8_t i = 0; i < 24; ++i) bytes[i] = i;
  truths.managed.dl_tensor.dtype = {6, 8, 1};
  Tensor x = from_dlpack(&truths.managed);
  EXPECT_FALSE(x.data<bool>()[0]);
  EXPECT_TRUE(x.data<bool>()[23]);
}

TEST(DLPack, RefusesWhatItCannotHold) {
  EXPECT_THROW(from_dlpack(nullptr), ValueError);
  EXPECT_THROW(to_dlpack(Tensor()), ValueError);
  auto refused = [](auto change) {
    Foreign foreign({2, 3});
    change(foreign);
    EXPECT_THROW(from_dlpack(&foreign.managed), Error);
    EXPECT_EQ(foreign.released, 0);  // still the caller's
  };
  refused([](Foreign& f) { f.managed.dl_tensor.device.device_type = 2; });
  refused([](Foreign& f) { f.managed.dl_tensor.dtype.lanes = 4; });
  refused([](Foreign& f) { f.managed.dl_tensor.dtype = {2, 8, 1}; });
  refused([](Foreign& f) { f.managed.dl_tensor.ndim = 13; });
  refused([](Foreign& f) { f.managed.dl_tensor.ndim = -1; });
  refused([](Foreign& f) { f.managed.dl_tensor.shape = nullptr; });
  refused([](Foreign& f) { f.managed.dl_tensor.data = nullptr; });
  refused([](Foreign& f) { f.shape[0] = -1; });
  refused([](Foreign& f) {
    f.shape = {int64_t{1} << 62, 4};
    f.managed.dl_tensor.shape = f.shape.data();
  });
}

}  // namespace
}  // namespace thalweg
