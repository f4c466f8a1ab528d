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

thalweg::Shape thalweg::DimsCall::unknown() const { return dims::unknown(result_); }

namespace thalweg::dims {

Shape unknown(const Shape& of_vector) {
  if (!of_vector.has_rank() || !of_vector.is_fully_defined() || of_vector.rank() > 1) return Shape::unknown_rank();
  int64_t count = of_vector.rank() == 0 ? 1 : of_vector[0];
  return count <= Shape::max_rank ? Shape::of_rank(static_cast<int>(count)) : Shape::unknown_rank();
}

Shape joined(const DimsCall& c, int first, int end) {
  Shape all;
  for (int i = first; i < end; ++i) {
    const Shape& part = c.dims(i);
    if (!part.has_rank() || all.rank() + part.rank() > Shape::max_rank) return Shape::unknown_rank();
    for (int64_t d : part.dims()) all.push_back(d);
  }
  return all;
}

}  // namespace thalweg::dims
