// How each op works on all rows of its inputs at once.
#pragma once
#include <string_view>

#include "thalweg/graph/graph.h"

namespace thalweg::graph {

/// One value of the function that is mapped: all its rows, or the one value that they share.
struct Rows {
  Tensor tensor = {};
  bool batched = false;
};

/// One call of an op, which a rule makes for all rows.
class RowsCall {
 public:
  RowsCall(const Node& node, std::vector<Rows> inputs, const Tensor& count)
      : node(node), inputs(std::move(inputs)), count_(count) {}

  const Node& node;
  std::vector<Rows> inputs;
  std::vector<Tensor> outputs = {};
  bool batched = true;  // whether the outputs have rows

  size_t num_inputs() const { return inputs.size(); }
  const Tensor& tensor(size_t i) const { return inputs[i].tensor; }
  bool is_batched(size_t i) const { return inputs[i].batched; }
  /// The rank of one row of an input; -1 where it is not known.
  int row_rank(size_t i) const;
  const Tensor& count() const { return count_; }

  /// The attributes of the node, to be changed.
  Attrs attrs() const;
  template <class T> T attr(const char* name) const { return get_attr<T>(node, name); }
  /// Changes one of them.
  void set(const Attrs& attrs, const char* name, const AttrValue& value) const {
    set_attr(*node.op, attrs, name, value);
  }
  /// The op itself, or another one, on these tensors.
  void apply(const std::vector<Tensor>& in);
  void apply(const std::vector<Tensor>& in, const Attrs& attrs);
  void apply(const char* op, const std::vector<Tensor>& in, const Attrs& attrs);
  std::vector<Tensor> tensors() const;

  /// Repeats a value that all rows share.
  void give_rows(size_t i);
  void give_rows_to_all();
  /// Dimensions of length 1 in front of each row, until it has this rank.
  void raise(size_t i, int rank);
  /// An input that says axes: those from the front move back by one. False where it has no value or differs by row.
  bool shift_axes(size_t i);
  /// A vector with an entry for each dimension, with one more in front; false where rows have vectors of their own.
  bool prepend(size_t i, const Tensor& entry);

 private:
  const Tensor& count_;
};

/// Calls the op for all rows at once; false where there is no rule for it, or not for such a call.
using RowsRule = bool (*)(RowsCall& call);
/// The rule of an op, by its name or its traits; null where there is none.
RowsRule find_rows_rule(const Op& op);

}  // namespace thalweg::graph
