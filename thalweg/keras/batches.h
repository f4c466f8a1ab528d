// What training goes through: batches of (x, y, sample_weight), from arrays or from anything that can be iterated.
#pragma once
#include <functional>
#include <memory>

#include "thalweg/graph/nest.h"

namespace thalweg::data {
class Stage;
}

namespace thalweg::keras {

/// Gives one batch after the other: false at the end.
using NextBatch = std::function<bool(Nest& batch)>;

/// A source of batches that can be gone through again and again. Each batch is a tuple (x, y) or (x, y, sample_weight),
/// or x alone.
class THALWEG_API Batches {
 public:
  Batches() = default;
  /// `start` begins a pass; `steps` is the number of batches in one, `unknown_steps` where nobody knows, `endless`
  /// where there is no end.
  static constexpr int64_t unknown_steps = -1, endless = -2;
  explicit Batches(std::function<NextBatch(int epoch)> start, int64_t steps = unknown_steps)
      : start_(std::move(start)), steps_(steps) {}

  /// The elements of a tf::data::Dataset.
  template <class D>
    requires requires(const D& dataset) {
      { dataset.stage() } -> std::convertible_to<std::shared_ptr<const data::Stage>>;
    }
  Batches(const D& dataset) : Batches(of_stage(dataset.stage())) {}  // NOLINT

  bool defined() const { return start_ != nullptr; }
  NextBatch start(int epoch) const { return start_(epoch); }
  int64_t known_steps() const { return steps_; }
  /// How many to take: as many as are asked for (none: 0), or all, -1 where nobody knows how many that is. ValueError
  /// where that has no end.
  int64_t steps(int64_t asked = 0) const;

  /// Rows of arrays that have the same first dimension.
  struct ArrayOptions {
    int64_t batch_size = 32;
    bool shuffle = false;
  };
  static Batches of_arrays(const Nest& data, const ArrayOptions& options);
  /// The items of a list, one batch each.
  static Batches of_list(const Nest& list);
  static Batches of_stage(const std::shared_ptr<const data::Stage>& stage);
  /// The arrays that they are rows of; None where they come from elsewhere.
  const Nest& arrays() const { return arrays_; }

 private:
  std::function<NextBatch(int)> start_;
  Nest arrays_;
  int64_t steps_ = unknown_steps;
};

/// The batches of a range, such as a vector of pairs of tensors: `model.fit(keras::batches(list))`. The range is kept.
template <class R> Batches batches(R range) {
  auto kept = std::make_shared<R>(std::move(range));
  int64_t steps = Batches::unknown_steps;
  if constexpr (requires { std::size(*kept); }) steps = static_cast<int64_t>(std::size(*kept));
  return Batches(
      [kept](int) -> NextBatch {
        return [kept, at = std::begin(*kept)](Nest& batch) mutable {
          if (at == std::end(*kept)) return false;
          batch = Nest::of(*at);
          ++at;
          return true;
        };
      },
      steps);
}

/// Whether it is a list of tuples, as a vector of pairs (x, y) makes one: batches, since no array is of that kind.
THALWEG_API bool is_batches(const Nest& data);

/// The first dimension of all tensors of a structure; ValueError in Keras's words where they differ.
THALWEG_API int64_t count_rows(const Nest& data);
/// Rows [first, last) of every tensor, without a copy.
THALWEG_API Nest slice_rows(const Nest& data, int64_t first, int64_t last);
/// The rows with these numbers.
THALWEG_API Nest take_rows(const Nest& data, std::span<const int64_t> rows);

}  // namespace thalweg::keras
