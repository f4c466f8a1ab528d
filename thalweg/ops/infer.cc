#include "thalweg/ops/infer.h"

namespace thalweg::infer {

void scalar(InferCall& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, Shape());
}

Shape broadcast_shape(InferCall& c) {
  Shape all = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i)
    if (!broadcast_shapes(all, c.shape(i), all))
      c.fail("the shapes " + all.brackets() + " and " + c.shape(i).brackets() +
             " do not broadcast: from the right, dimensions must be equal or 1");
  return all;
}

void broadcast(InferCall& c) {
  bool same = c.num_inputs() == 2 && c.shape(0) == c.shape(1) && c.shape(0).is_fully_defined();
  c.output(0, same ? c.shape(0) : broadcast_shape(c));
}

void same_shape(InferCall& c) {
  Shape all = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (!all.is_compatible_with(c.shape(i)))
      c.fail("all inputs must have the same shape; input " + std::to_string(i) + " has " + c.shape(i).brackets() +
             ", those before it " + all.brackets());
    all = all.merge_with(c.shape(i));
  }
  c.output(0, all);
}

}  // namespace thalweg::infer
