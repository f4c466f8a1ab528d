#include "thalweg/data/dataset.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"

namespace thalweg::data {
namespace {

std::vector<int64_t> numbers(const Dataset<Tensor>& dataset) {
  std::vector<int64_t> all;
  for (const Tensor& t : dataset) {
    const auto* values = t.data<int64_t>();
    all.insert(all.end(), values, values + t.size());
  }
  return all;
}
std::vector<Shape> shapes(const Dataset<Tensor>& dataset) {
  std::vector<Shape> all;
  for (const Tensor& t : dataset) all.push_back(t.shape());
  return all;
}

struct Row {
  const char* what;
  Dataset<Tensor> dataset;
  std::vector<int64_t> expected;
  int64_t cardinality;
};

TEST(Dataset, Tables) {
  const Row rows[] = {
      {"range", range(4), {0, 1, 2, 3}, 4},
      {"range down", range(5, -2, -3), {5, 2, -1}, 3},
      {"nothing", range(3, 1), {}, 0},
      {"take", range(9).take(2), {0, 1}, 2},
      {"take more", range(2).take(5), {0, 1}, 2},
      {"take all", range(3).take(-1), {0, 1, 2}, 3},
      {"skip", range(5).skip(3), {3, 4}, 2},
      {"skip more", range(2).skip(5), {}, 0},
      {"skip all", range(2).skip(-1), {}, 0},
      {"repeat", range(2).repeat(3), {0, 1, 0, 1, 0, 1}, 6},
      {"repeat nothing", range(0).repeat(), {}, 0},
      {"repeat never", range(3).repeat(0), {}, 0},
      {"endless", range(2).repeat().take(5), {0, 1, 0, 1, 0}, 5},
      {"batch", range(5).batch(2), {0, 1, 2, 3, 4}, 3},
      {"whole batches", range(5).batch(2, {.drop_remainder = true}), {0, 1, 2, 3}, 2},
      {"batch of batches", range(8).batch(2).batch(2).skip(1), {4, 5, 6, 7}, 1},
      {"prefetch", range(5).prefetch(), {0, 1, 2, 3, 4}, 5},
      {"prefetch nothing", range(5).prefetch(0), {0, 1, 2, 3, 4}, 5},
      {"prefetch one", range(3).prefetch(1).repeat(2), {0, 1, 2, 0, 1, 2}, 6},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(numbers(row.dataset), row.expected) << row.what;
    EXPECT_EQ(numbers(row.dataset), row.expected) << row.what << ", again";
    EXPECT_EQ(row.dataset.cardinality(), row.cardinality) << row.what;
  }
  EXPECT_EQ(range(2).repeat().cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(range(INT64_MAX).repeat(3).cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(range(INT64_MIN, INT64_MAX, INT64_MAX).cardinality(), 3);
  EXPECT_EQ(numbers(range(INT64_MIN, INT64_MAX, INT64_MAX)), (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Dataset, BatchesHaveANewFirstDimension) {
  EXPECT_EQ(shapes(range(5).batch(2)), (std::vector<Shape>{{2}, {2}, {1}}));
  EXPECT_EQ(shapes(range(8).batch(2).batch(3)), (std::vector<Shape>{{3, 2}, {1, 2}}));
  EXPECT_EQ(range(5).batch(2).element_spec()[0].shape, Shape({unknown}));
  EXPECT_EQ(range(5).batch(2, {.drop_remainder = true}).element_spec()[0].shape, Shape({2}));
}

// The orders that TensorFlow 2.15 gives.
TEST(Shuffle, DrawsWhatTensorFlowDraws) {
  seed_state().set_global_seed({});
  using Order = std::vector<int64_t>;
  auto anew = range(10).shuffle(4, {.seed = 7});
  EXPECT_EQ(numbers(anew), (Order{0, 4, 2, 3, 5, 6, 1, 8, 7, 9}));
  EXPECT_EQ(numbers(anew), (Order{1, 3, 0, 4, 6, 5, 7, 8, 9, 2}));
  auto same = range(10).shuffle(4, {.seed = 7, .reshuffle_each_iteration = false});
  EXPECT_EQ(numbers(same), (Order{3, 4, 0, 5, 1, 8, 2, 7, 6, 9}));
  EXPECT_EQ(numbers(same), (Order{3, 4, 0, 5, 1, 8, 2, 7, 6, 9}));
  EXPECT_EQ(numbers(range(10).shuffle(20, {.seed = 7})), (Order{2, 8, 6, 5, 9, 1, 0, 3, 7, 4}));
  seed_state().set_global_seed(3);
  auto global = range(10).shuffle(4);
  EXPECT_EQ(numbers(global), (Order{3, 0, 1, 4, 6, 7, 5, 2, 8, 9}));
  EXPECT_EQ(numbers(global), (Order{0, 3, 2, 5, 1, 7, 8, 9, 4, 6}));
  seed_state().set_global_seed(3);
  EXPECT_EQ(numbers(range(10).shuffle(4, {.seed = 0})), (Order{1, 3, 5, 0, 4, 7, 8, 9, 2, 6}));
  seed_state().set_global_seed(3);
  EXPECT_EQ(numbers(range(5).shuffle(4, {.seed = 1}).repeat(2)), (Order{3, 1, 4, 2, 0, 0, 3, 2, 4, 1}));
  seed_state().set_global_seed({});
}

TEST(Shuffle, LosesNothing) {
  std::vector<int64_t> drawn = numbers(range(1000).shuffle(INT64_MAX));
  EXPECT_NE(drawn, numbers(range(1000)));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, numbers(range(1000)));
}

TEST(Dataset, ElementsHaveTheTypesOfTheirTensors) {
  const Tensor images({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}), labels({7, 8, 9});
  int rows = 0;
  for (auto [x, y] : from_tensor_slices(images, labels)) {
    EXPECT_EQ(x.shape(), Shape({2}));
    EXPECT_EQ(y.item<int>(), 7 + rows++);
  }
  EXPECT_EQ(rows, 3);

  struct Example {
    Tensor zebra, apple;  // in another order than their names
  };
  for (const auto& [zebra, apple] : from_tensor_slices(Example{images, labels}).batch(3)) {
    EXPECT_EQ(zebra.shape(), Shape({3, 2}));
    EXPECT_EQ(apple.dtype(), int32);
  }
  for (auto& element : from_tensor_slices(std::map<std::string, Tensor>{{"a", images}, {"b", labels}}).take(1))
    EXPECT_EQ(element.at("b").item<int>(), 7);
  for (const Tensor& t : from_tensors(images)) EXPECT_EQ(t.shape(), Shape({3, 2}));

  Dataset<> erased = from_tensor_slices(images, labels).batch(2);
  for (const Nest& element : erased) EXPECT_EQ(element.str(), "(Tensor, Tensor)");
  auto typed = erased.as<std::tuple<Tensor, Tensor>>();
  for (auto [x, y] : typed) EXPECT_EQ(x.shape()[0], y.shape()[0]);
  EXPECT_THROW(erased.as<std::vector<std::tuple<Tensor>>>(), ValueError);
  std::ostringstream text;
  text << erased;
  EXPECT_EQ(text.str(),
            "<BatchDataset element_spec=(TensorSpec(shape=(None, 2), dtype=tf.float32, name=None), "
            "TensorSpec(shape=(None,), dtype=tf.int32, name=None))>");
}

TEST(Dataset, StringsAreCopiedByValue) {
  const Tensor words({"a", "a text that is longer than what fits beside a pointer", "c"});
  for (const Tensor& t : from_tensor_slices(words).shuffle(3).batch(3)) EXPECT_EQ(t.size(), 3);
}

TEST(Dataset, APassOutlivesItsDataset) {
  auto cursor = range(5).repeat(2).begin();
  int count = 0;
  for (; cursor != std::default_sentinel; ++cursor) ++count;
  EXPECT_EQ(count, 10);
}

TEST(Prefetch, CanBeLeftInTheMiddle) {
  for (const Tensor& t : range(1000000).prefetch(3)) {
    if (t.item<int64_t>() == 2) break;
  }
}

template <class E, class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Dataset, RefusesWhatCannotBe) {
  EXPECT_EQ(message_of<ValueError>([] { from_tensor_slices(Tensor(3)); }),
            "Unbatching a tensor is only supported for rank >= 1");
  EXPECT_EQ(message_of<ValueError>([] { from_tensor_slices(Tensor({1, 2}), Tensor({1})); }),
            "Dimensions 2 and 1 are not compatible");
  EXPECT_NE(message_of<InvalidArgumentError>([] { range(3).batch(0); }).find("greater than zero, got 0"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] { range(3).shuffle(-1); }).find("greater than zero, got -1"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] { range(1, 2, 0); }).find("non-zero"), std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] { range(3).prefetch(-2); }).find("AUTOTUNE"), std::string::npos);
  // Batches of 2 and 1 do not go together; also when a thread finds that out.
  auto uneven = range(3).batch(2).batch(2);
  EXPECT_NE(message_of<InvalidArgumentError>([&] { numbers(uneven); })
                .find("Cannot batch tensors with different shapes in component 0. First element had shape (2,) and "
                      "element 1 had shape (1,)."),
            std::string::npos);
  EXPECT_THROW(numbers(uneven.prefetch(2)), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg::data
