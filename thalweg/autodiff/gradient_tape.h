// GradientTape: records what is computed while it is open, then goes back through it.
//   GradientTape tape;
//   Tensor loss = reduce_mean(square(x * w + b - y));
//   auto [dw, db] = tape.gradient(loss, w, b);
#pragma once
#include "thalweg/autodiff/structure.h"
#include "thalweg/autodiff/tape.h"

namespace thalweg {

struct GradientOptions {
  /// What the gradient starts with for each target; ones where left out.
  std::vector<Tensor> output_gradients = {};
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
};

/// Open from where it stands to the end of its scope, or until `gradient` is called on a tape that is not persistent.
/// Trainable variables are watched as they are read, tensors with `watch`. A tape belongs to its thread.
class GradientTape {
 public:
  [[nodiscard]] explicit GradientTape(const TapeOptions& options = {}) : tape_(options) { tape_.start(); }

  /// Follows tensors (or variables, when they are not watched by themselves).
  template <structure::Structured... S> void watch(const S&... sources) {
    (structure::for_each(sources, [&](const auto& leaf) { tape_.watch(source(leaf)); }), ...);
  }

  /// The gradient of a target (a tensor, or several in a structure: their sum) in the structure of the source; None
  /// (`!defined()`) where the target does not depend on it.
  template <structure::Structured T, structure::Structured S>
  [[nodiscard]] structure::of_tensors<S> gradient(const T& target, const S& sources,
                                                  const GradientOptions& options = {}) {
    std::vector<Tensor> found =
        tape_.gradient(values_of(target), sources_of(sources), options.output_gradients, options.unconnected_gradients);
    return rebuild(sources, found);
  }
  /// The gradients of several sources: `auto [dw, db] = tape.gradient(loss, w, b);`
  template <structure::Structured T, structure::Structured A, structure::Structured B, structure::Structured... C>
  [[nodiscard]] auto gradient(const T& target, const A& a, const B& b, const C&... c) {
    return gradient(target, std::tuple<A, B, C...>(a, b, c...));
  }

  /// d target / d source, every element by every element.
  template <structure::Structured S>
  [[nodiscard]] structure::of_tensors<S> jacobian(const Tensor& target, const S& sources,
                                                  const GradientOptions& options = {}) {
    std::vector<Tensor> found = tape_.jacobian(target, sources_of(sources), options.unconnected_gradients);
    return rebuild(sources, found);
  }
  /// The jacobian of each example of a batch by itself.
  template <class S>
    requires structure::is_leaf<S>
  [[nodiscard]] Tensor batch_jacobian(const Tensor& target, const S& of, const GradientOptions& options = {}) {
    return tape_.batch_jacobian(target, source(of), options.unconnected_gradients);
  }

  /// Nothing is recorded while the result lives: `auto pause = tape.stop_recording();`
  class Pause {
   public:
    explicit Pause(autodiff::Tape& tape) : tape_(tape) { tape_.pause(); }
    ~Pause() { tape_.resume(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    autodiff::Tape& tape_;
  };
  [[nodiscard]] Pause stop_recording() { return Pause(tape_); }
  /// Ends recording before the scope does; gradients can be asked for afterwards.
  void stop() { tape_.stop(); }
  /// Forgets what was recorded and watched.
  void reset() { tape_.reset(); }
  /// The variables it watches, in the order in which they were first read.
  std::vector<Variable> watched_variables() const {
    std::vector<Variable> variables;
    for (const Tensor& handle : tape_.watched_variables()) variables.push_back(Variable::from_handle(handle));
    return variables;
  }

 private:
  static Tensor source(const Tensor& t) { return t; }
  static Tensor source(const Variable& v) { return v.handle(); }
  template <class S> static std::vector<Tensor> sources_of(const S& s) {
    std::vector<Tensor> found;
    structure::for_each(s, [&](const auto& leaf) { found.push_back(source(leaf)); });
    return found;
  }
  template <class T> static std::vector<Tensor> values_of(const T& t) {
    std::vector<Tensor> found;
    structure::for_each(t, [&](const auto& leaf) { found.push_back(leaf); });
    return found;
  }
  template <class S> static structure::of_tensors<S> rebuild(const S& sources, std::vector<Tensor>& found) {
    auto next = [i = size_t{0}, &found]() mutable { return std::move(found[i++]); };
    return structure::rebuild(sources, next);
  }

  autodiff::Tape tape_;
};

}  // namespace thalweg
