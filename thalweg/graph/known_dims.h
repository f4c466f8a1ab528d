// What a traced vector of integers is known to hold, when it is made from shapes: reshape(x, [shape(x)[0], -1]) has two
// dimensions, and one of them may be a number.
#pragma once
#include "thalweg/graph/graph.h"

namespace thalweg::graph {

/// Works out what the results of a fresh node hold, from what its inputs hold.
void infer_known_dims(Node& node);
/// The dimensions a value stands for; -1 where they are not known.
Shape known_dims(Value value);
/// The same for a tensor that has its value.
Shape dims_of_constant(const TensorImpl& t);

}  // namespace thalweg::graph
