// The tape itself, without the C++ user's types: what GradientTape and the Python package stand on.
#pragma once
#include <span>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

class Recorder;

/// What the gradient of something is that the target does not depend on.
enum class UnconnectedGradients : uint8_t { none, zero };

struct TapeOptions {
  bool persistent = false;               // gradients may be asked for more than once
  bool watch_accessed_variables = true;  // trainable variables are watched as soon as they are read
};

/// No tape of this thread that is open now records while this lives; tapes opened later do.
class THALWEG_API StopRecording {
 public:
  StopRecording();
  ~StopRecording();
  StopRecording(const StopRecording&) = delete;
  StopRecording& operator=(const StopRecording&) = delete;

 private:
  friend class RecordAgain;
  uint64_t paused_;
};

/// The tapes that something else stopped record while this lives, and those that were opened since do not.
class THALWEG_API RecordAgain {
 public:
  explicit RecordAgain(const StopRecording& stopped);
  ~RecordAgain();
  RecordAgain(const RecordAgain&) = delete;
  RecordAgain& operator=(const RecordAgain&) = delete;

 private:
  uint64_t paused_;
};

namespace autodiff {

class Log;

/// While one lives, this thread's tapes are out of sight: those opened meanwhile have nothing to do with them, and any
/// number of them may be kept.
class THALWEG_API SeparateTapes {
 public:
  SeparateTapes();
  ~SeparateTapes();
  SeparateTapes(const SeparateTapes&) = delete;
  SeparateTapes& operator=(const SeparateTapes&) = delete;

 private:
  Log* before_;
  Recorder* recorder_;
};

/// Sources are tensors or the handles of variables. Belongs to the thread that made it.
class THALWEG_API Tape {
 public:
  explicit Tape(const TapeOptions& options);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Begins to record, or goes on with it.
  void start();
  void stop();
  bool is_recording() const { return recording_; }
  /// Holds recording for a while.
  void pause();
  void resume();
  bool is_persistent() const { return options_.persistent; }
  void watch(const Tensor& source);
  /// Forgets everything, as if the tape had just been opened.
  void reset();
  /// The handles of the variables that it watches, in the order in which they were first read.
  std::vector<Tensor> watched_variables() const;

  /// One gradient per source; output_gradients may be empty, or have None for ones.
  std::vector<Tensor> gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                               std::span<const Tensor> output_gradients, UnconnectedGradients unconnected);
  /// d target[i] / d source[j], in the shape target.shape + source.shape.
  std::vector<Tensor> jacobian(const Tensor& target, std::span<const Tensor> sources, UnconnectedGradients unconnected);
  /// The same for each example of a batch: [batch] + target.shape[1:] + source.shape[1:].
  Tensor batch_jacobian(const Tensor& target, const Tensor& source, UnconnectedGradients unconnected);

 private:
  void begin_use();
  void end_use();
  std::vector<Tensor> pass(std::span<const Tensor> targets, std::span<const Tensor> sources,
                           std::span<const Tensor> output_gradients, bool consume);

  const TapeOptions options_;
  Log* log_ = nullptr;
  int tape_ = 0;
  bool recording_ = false, used_ = false;
};

}  // namespace autodiff
}  // namespace thalweg
