// What a dataset is behind its types: a stage that can be gone through again and again.
#pragma once
#include <memory>
#include <optional>

#include "thalweg/core/tensor_spec.h"
#include "thalweg/graph/nest.h"

namespace thalweg::data {

/// Cardinalities that are no number of elements.
inline constexpr int64_t INFINITE_CARDINALITY = -1, UNKNOWN_CARDINALITY = -2;  // NOLINT: TensorFlow's names
/// For buffers and parallel calls: as many as serve.
inline constexpr int64_t AUTOTUNE = -1;  // NOLINT: TensorFlow's name

/// One pass through a dataset. Used by one thread at a time.
class THALWEG_API Iterator {
 public:
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  virtual ~Iterator();
  /// The tensors of the next element, in the order of its structure; false at the end, and from then on.
  virtual bool next(std::vector<Tensor>& element) = 0;
};

/// A source, or a transformation of other stages. Never changed once it is made; threads share it.
class THALWEG_API Stage {
 public:
  /// `structure` is that of one element: its tensors have a dtype, a shape that may be partly unknown, and no value.
  explicit Stage(Nest structure) : structure_(std::move(structure)) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage();

  virtual std::unique_ptr<Iterator> iterate() const = 0;
  /// How many elements a pass gives, or one of the names above.
  virtual int64_t cardinality() const = 0;
  /// `RepeatDataset`
  virtual const char* name() const = 0;

  const Nest& structure() const { return structure_; }
  /// What is known of the tensors of an element, in order.
  std::vector<TensorSpec> specs() const;

 private:
  Nest structure_;
};
using StagePtr = std::shared_ptr<const Stage>;

struct ShuffleOptions {
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct BatchOptions {
  bool drop_remainder = false;  // a last batch with fewer elements is left out
};

/// A stage that takes elements from another one, and gives elements like them, or of another structure.
class THALWEG_API Transformation : public Stage {
 public:
  explicit Transformation(const StagePtr& input) : Stage(input->structure()), input_(input) {}
  Transformation(const StagePtr& input, Nest structure) : Stage(std::move(structure)), input_(input) {}
  const Stage& input() const { return *input_; }

 private:
  StagePtr input_;
};

/// One function for each source and transformation; what they mean stands at Dataset.
namespace stages {
THALWEG_API StagePtr from_tensors(const Nest& tensors);
THALWEG_API StagePtr from_tensor_slices(const Nest& tensors);
THALWEG_API StagePtr range(int64_t start, int64_t stop, int64_t step);
THALWEG_API StagePtr batch(const StagePtr& input, int64_t batch_size, const BatchOptions& options);
THALWEG_API StagePtr repeat(const StagePtr& input, int64_t count);
THALWEG_API StagePtr take(const StagePtr& input, int64_t count);
THALWEG_API StagePtr skip(const StagePtr& input, int64_t count);
THALWEG_API StagePtr shuffle(const StagePtr& input, int64_t buffer_size, const ShuffleOptions& options);
THALWEG_API StagePtr prefetch(const StagePtr& input, int64_t buffer_size);
}  // namespace stages

/// A dataset in words: `<RepeatDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>`.
THALWEG_API std::string describe(const Stage& stage);

}  // namespace thalweg::data
