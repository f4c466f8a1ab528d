#include "thalweg/ops/elementwise.h"

namespace thalweg::kernel {

void run_unary(const KernelCall& c) {
  kernels::run_unary(*static_cast<const kernels::UnaryLoops*>(c.op.kernel.loops), c.dtype(), c.input(0), c.output(),
                     c.count(0), c.attrs().p);
}

void run_binary(const KernelCall& c) {
  kernels::run_binary(*static_cast<const kernels::BinaryLoops*>(c.op.kernel.loops), c.dtype(), c.shape(0), c.input(0),
                      c.shape(1), c.input(1), c.output_shape(), c.output(), c.attrs().p);
}

void run_ternary(const KernelCall& c) {
  const Shape* shapes[3] = {&c.shape(0), &c.shape(1), &c.shape(2)};
  const void* operands[3] = {c.input(0), c.input(1), c.input(2)};
  kernels::run_ternary(*static_cast<const kernels::TernaryLoops*>(c.op.kernel.loops), c.dtype(), shapes, operands,
                       c.output_shape(), c.output(), c.attrs().p);
}

}  // namespace thalweg::kernel
