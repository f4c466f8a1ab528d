// What a gradient sees. Gradients call public ops only, and never read a shape or a value on the host.
#pragma once
#include <span>

#include "thalweg/ops/op.h"

namespace thalweg {

class GradCall {
 public:
  GradCall(const Op& op, std::span<const Tensor> in, std::span<const Tensor> out, std::span<Tensor> output_grads,
           AttrsRef attrs, std::span<Tensor> input_grads, uint64_t wanted)
      : op(op),
        in_(in),
        out_(out),
        output_grads_(output_grads),
        input_grads_(input_grads),
        attrs_(attrs),
        wanted_(wanted) {}

  const Op& op;
  template <class A> const A& attrs() const { return attrs_.as<A>(); }
  AttrsRef attrs() const { return attrs_; }
  /// An input; its value only if the record's `grad_reads` names it, else dtype and shape alone.
  const Tensor& input(int i = 0) const { return in_[static_cast<size_t>(i)]; }
  std::span<const Tensor> inputs() const { return in_; }
  int num_inputs() const { return static_cast<int>(in_.size()); }
  const Tensor& output(int i = 0) const { return out_[static_cast<size_t>(i)]; }
  int num_outputs() const { return static_cast<int>(out_.size()); }
  /// The gradient of an output: zeros where nothing depends on it.
  const Tensor& output_grad(int i = 0) {
    const Tensor& grad = output_grads_[static_cast<size_t>(i)];
    return grad.defined() ? grad : make_zeros(i);
  }
  /// Whether something depends on output i.
  bool has_output_grad(int i) const { return output_grads_[static_cast<size_t>(i)].defined(); }
  /// Whether anyone needs the gradient of input i.
  bool wants(int i) const { return i >= 64 || (wanted_ >> i & 1) != 0; }
  /// The gradient of input i; whoever collects it sums over what was broadcast.
  void input_grad(int i, Tensor grad) { input_grads_[static_cast<size_t>(i)] = std::move(grad); }

 private:
  const Tensor& make_zeros(int i);  // grad_call.cc

  std::span<const Tensor> in_, out_;
  std::span<Tensor> output_grads_;
  std::span<Tensor> input_grads_;
  AttrsRef attrs_;
  uint64_t wanted_;
};

}  // namespace thalweg
