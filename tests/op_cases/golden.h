// The rows of tests/op_cases with what TensorFlow gives for them, as tools/make_goldens wrote them.
#pragma once
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "thalweg/ops/function.h"
#include "thalweg/ops/op.h"

namespace thalweg::testing {

/// One input or attribute tensor list of a row; a single tensor is a list of one.
struct CaseInput {
  enum Kind : uint8_t { tensor, list, tensor_list, unset_tensor_list, variable, uninitialized_variable };
  std::string name;
  std::vector<Tensor> tensors;  // of a variable: the value it begins with; of a tensor list: its rows
  Kind kind = tensor;
  Tensor after = {};        // what a variable holds after the call; undefined: nothing
  int64_t batch = unknown;  // how many tensor lists; unknown: one, by a scalar
  bool is_variable() const { return kind >= variable; }
  bool is_tensor_list() const { return kind == tensor_list || kind == unset_tensor_list; }
};

/// The gradient of one input, with output gradients as gradient_weights makes them; None where there is none.
struct GoldenGradient {
  std::string input;
  size_t place = 0;  // in a list
  Tensor gradient;
};

/// One row: a call and what it must give.
struct Case {
  std::string family, op, variant;
  int row = 0;
  bool is_function = false;
  std::vector<CaseInput> inputs;
  nlohmann::json attrs;
  std::vector<Tensor> outputs;
  double tolerance = -1;  // negative: the dtype's
  std::string error;      // the exception it must raise
  bool shape_only = false;
  std::vector<bool> unset;  // outputs that TensorFlow leaves unset: only their shape counts
  bool has_gradients = false;
  std::vector<GoldenGradient> gradients;  // of floating inputs
  bool gradients_refused = false;         // TensorFlow has none, or raises an error

  /// "Exp row 3 [float64]", for messages.
  std::string describe() const;
};

/// A call ready to be made: inputs in the signature's order, and attributes.
struct Call {
  const Op* op = nullptr;
  std::vector<Tensor> inputs;
  Attrs attrs;
};

/// Every row of every family, read once.
const std::vector<Case>& all_cases();
/// The rows of one op or function.
std::vector<const Case*> cases_of(const std::string& name, bool is_function);
/// The dtypes, by op, that TensorFlow's signature allows but no CPU kernel of its takes.
const std::map<std::string, TypeSet>& types_without_kernel();
/// The names that have rows.
std::vector<std::string> names_with_cases(bool is_function);
/// The names of records that have rows.
std::vector<std::string> ops_with_cases();

/// Every variable of a call is a fresh one.
Call make_call(const Case& c);
/// Empty, or how the variables of the call differ from what the row says of them afterwards.
std::string difference_of_variables(const Case& c, const Call& call);

/// What the variables among some inputs hold, bit for bit.
class VariableValues {
 public:
  explicit VariableValues(std::span<const Tensor> inputs);
  /// Whether they hold the same now.
  bool are_kept() const;

 private:
  std::vector<std::pair<Tensor, Tensor>> handles_and_values_;
};

/// Makes the call; throws what the op throws.
std::vector<Tensor> run_op(const Op& op, const std::vector<Tensor>& inputs, AttrsRef attrs);
std::vector<Tensor> run_function(const Case& c);

/// The attribute value that a JSON value means for a member of this kind.
AttrValue attr_from_json(const nlohmann::json& json, AttrKind kind, const std::string& family);

/// What the gradient of an output starts with; tools/golden_gradients.py has the same numbers.
Tensor gradient_weights(const Tensor& output);

/// Whether it says that a window does not fit its input, for which the call itself gives nothing: TensorFlow's graphs
/// refuse what its kernels take.
bool is_refused_by_graphs_alone(const std::exception& error, const Call& call);

/// Empty, or what differs: dtype, shape, or the worst element.
std::string difference(const Tensor& got, const Tensor& expected, double tolerance);

}  // namespace thalweg::testing
