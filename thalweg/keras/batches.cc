#include "thalweg/keras/batches.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/data/rows.h"
#include "thalweg/data/stage.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/random.h"

namespace thalweg::keras {
namespace {

/// Orders of rows, one for each epoch. Keras draws them in a graph of its own, in which shuffling is the one random op:
/// the same seed gives its orders, and other random numbers do not depend on whether rows are shuffled.
class RowOrders {
 public:
  std::vector<int64_t> next(int64_t rows) {
    RandomStreamScope stream(stream_);
    random::SeedOptions first_op = {};
    if (seed_state().global_seed()) first_op.seed = 0;
    const Tensor order = random::shuffle(range(rows, {.dtype = int64}), first_op);
    const std::span<const int64_t> numbers = order.span<int64_t>();
    return {numbers.begin(), numbers.end()};
  }

 private:
  RandomStream stream_;
};

/// How many rows each part has, as Keras lists them.
std::string list_rows(const Nest& data) {
  static constexpr const char* names[] = {"x", "y", "sample_weight"};
  const bool is_named = data.kind() == Nest::Kind::tuple && data.size() <= std::size(names);
  std::string text;
  auto add = [&](const char* name, const Nest& part) {
    std::string sizes;
    for (const Tensor& t : part.flatten()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(t.shape()[0]);
    text += "  " + std::string(name) + " sizes: " + sizes + "\n";
  };
  if (!is_named) add("data", data);
  else
    for (size_t i = 0; i < data.size(); ++i) add(names[i], data[i]);
  return text;
}

}  // namespace

bool is_batches(const Nest& data) {
  const auto items = data.items();
  return data.kind() == Nest::Kind::list && !items.empty() &&
         std::all_of(items.begin(), items.end(), [](const Nest& item) { return item.kind() == Nest::Kind::tuple; });
}

Batches Batches::of_list(const Nest& list) {
  return Batches(
      [list](int) -> NextBatch {
        return [list, i = size_t{0}](Nest& batch) mutable {
          if (i == list.size()) return false;
          batch = list[i++];
          return true;
        };
      },
      static_cast<int64_t>(list.size()));
}

int64_t count_rows(const Nest& data) {
  int64_t rows = -1;
  bool differ = false;
  for (const Tensor& t : data.flatten()) {
    if (t.rank() < 1)
      throw ValueError("data for training has one row for each example; a tensor of shape " + t.shape().str() +
                       " has none");
    differ |= rows >= 0 && t.shape()[0] != rows;
    rows = t.shape()[0];
  }
  if (differ)
    throw ValueError("Data cardinality is ambiguous:\n" + list_rows(data) +
                     "Make sure all arrays contain the same number of samples.");
  return std::max<int64_t>(rows, 0);
}

Nest slice_rows(const Nest& data, int64_t first, int64_t last) {
  return data.map([&](const Tensor& t) { return data::slice_rows(t, first, last); });
}
Nest take_rows(const Nest& data, std::span<const int64_t> rows) {
  return data.map([&](const Tensor& t) { return data::take_rows(t, rows); });
}

int64_t Batches::steps(int64_t asked) const {
  if (asked > 0) return asked;
  if (steps_ == endless)
    throw ValueError(
        "When providing an infinite dataset, you must specify the number of steps to run (if you did not intend to "
        "create an infinite dataset, make sure to not call `repeat()` on the dataset).");
  return steps_;
}

Batches Batches::of_stage(const std::shared_ptr<const data::Stage>& stage) {
  const int64_t steps = stage->cardinality();
  const int64_t known = steps == data::INFINITE_CARDINALITY  ? endless
                        : steps == data::UNKNOWN_CARDINALITY ? unknown_steps
                                                             : steps;
  return Batches(
      [stage](int) -> NextBatch {
        std::shared_ptr<data::Iterator> pass = stage->iterate();
        return [stage, pass, element = std::vector<Tensor>()](Nest& batch) mutable {
          if (!pass->next(element)) return false;
          batch = stage->structure().pack(element);
          return true;
        };
      },
      known);
}

Batches Batches::of_arrays(const Nest& data, const ArrayOptions& options) {
  const int64_t rows = count_rows(data), size = options.batch_size;
  if (size < 1) throw ValueError("batch_size must be positive, got " + std::to_string(size));
  const bool shuffle = options.shuffle;
  // The structure of a batch and the list of its tensors serve for all of them.
  const auto orders = std::make_shared<RowOrders>();
  auto start = [data, arrays = data.flatten(), rows, size, shuffle, orders](int) -> NextBatch {
    std::vector<int64_t> order;
    if (shuffle) order = orders->next(rows);
    return [made = data, arrays, parts = arrays, rows, size, order = std::move(order),
            at = int64_t{0}](Nest& batch) mutable {
      if (at >= rows) return false;
      const int64_t end = std::min(rows, at + size);
      for (size_t i = 0; i < arrays.size(); ++i)
        parts[i] = order.empty() ? data::slice_rows(arrays[i], at, end)
                                 : data::take_rows(arrays[i], std::span(order).subspan(static_cast<size_t>(at),
                                                                                       static_cast<size_t>(end - at)));
      batch = Nest();
      made.refill(parts);
      batch = made;
      at = end;
      return true;
    };
  };
  Batches made(start, (rows + size - 1) / size);
  made.arrays_ = data;
  return made;
}

}  // namespace thalweg::keras
