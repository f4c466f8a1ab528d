// Ops on tensors of models in C++: public functions are not seen there, so the op says which function it stands for.
#include "thalweg/keras/attr_config.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/keras/op_layer.h"

namespace thalweg::keras {
namespace {

/// An op that is the whole of a function. Inputs behind the first have the names of arguments, and so have attributes;
/// an attribute without one must have its usual value.
struct Whole {
  std::string_view op, symbol;
  std::vector<std::string_view> inputs = {};
  std::vector<std::pair<std::string_view, std::string_view>> attrs = {};
  bool takes_list = false;  // the last input is an argument, the others are the list in front of it
};

const Whole* find_whole(std::string_view op) {
  static const std::vector<Whole> all = {
      {"AddV2", "__operators__.add", {"y"}},
      {"Sub", "math.subtract", {"y"}},
      {"Mul", "math.multiply", {"y"}},
      {"RealDiv", "math.truediv", {"y"}},
      {"FloorDiv", "compat.v1.floor_div", {"y"}},
      {"FloorMod", "math.floormod", {"y"}},
      {"Pow", "math.pow", {"y"}},
      {"Neg", "math.negative"},
      {"Abs", "math.abs"},
      {"Maximum", "math.maximum", {"y"}},
      {"Minimum", "math.minimum", {"y"}},
      {"SquaredDifference", "math.squared_difference", {"y"}},
      {"Less", "math.less", {"y"}},
      {"LessEqual", "math.less_equal", {"y"}},
      {"Greater", "math.greater", {"y"}},
      {"GreaterEqual", "math.greater_equal", {"y"}},
      {"Equal", "math.equal", {"y"}},
      {"NotEqual", "math.not_equal", {"y"}},
      {"LogicalAnd", "math.logical_and", {"y"}},
      {"LogicalOr", "math.logical_or", {"y"}},
      {"LogicalNot", "math.logical_not"},
      {"MatMul", "linalg.matmul", {"b"}, {{"transpose_a", "transpose_a"}, {"transpose_b", "transpose_b"}}},
      {"BatchMatMulV2", "linalg.matmul", {"b"}, {{"adj_x", "adjoint_a"}, {"adj_y", "adjoint_b"}}},
      {"Mean", "math.reduce_mean", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Sum", "math.reduce_sum", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Max", "math.reduce_max", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Min", "math.reduce_min", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Prod", "math.reduce_prod", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"All", "math.reduce_all", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Any", "math.reduce_any", {"axis"}, {{"keep_dims", "keepdims"}}},
      {"Exp", "math.exp"},
      {"Log", "math.log"},
      {"Log1p", "math.log1p"},
      {"Sqrt", "math.sqrt"},
      {"Rsqrt", "math.rsqrt"},
      {"Square", "math.square"},
      {"Sin", "math.sin"},
      {"Cos", "math.cos"},
      {"Sign", "math.sign"},
      {"Floor", "math.floor"},
      {"Ceil", "math.ceil"},
      {"Erf", "math.erf"},
      {"Tanh", "math.tanh"},
      {"Sigmoid", "math.sigmoid"},
      {"Softplus", "math.softplus"},
      {"Relu", "nn.relu"},
      {"Relu6", "nn.relu6"},
      {"Elu", "nn.elu"},
      {"Selu", "nn.selu"},
      {"Softsign", "nn.softsign"},
      {"Softmax", "nn.softmax"},
      {"LogSoftmax", "nn.log_softmax"},
      {"Cast", "cast", {}, {{"DstT", "dtype"}}},
      {"Identity", "identity"},
      {"StopGradient", "stop_gradient"},
      {"ZerosLike", "zeros_like"},
      {"OnesLike", "ones_like"},
      {"Reshape", "reshape", {"shape"}},
      {"ExpandDims", "expand_dims", {"axis"}},
      {"Squeeze", "compat.v1.squeeze", {}, {{"squeeze_dims", "axis"}}},
      {"Transpose", "compat.v1.transpose", {"perm"}},
      {"Shape", "compat.v1.shape", {}, {{"out_type", "out_type"}}},
      {"Tile", "tile", {"multiples"}},
      {"SelectV2", "where", {"x", "y"}},
      {"GatherV2", "compat.v1.gather", {"indices", "axis"}, {{"batch_dims", "batch_dims"}}},
      {"ConcatV2", "concat", {"axis"}, {}, true},
      {"Pack", "stack", {}, {{"axis", "axis"}}, true},
      {"AddN", "math.add_n", {}, {}, true},
  };
  for (const Whole& whole : all)
    if (whole.op == op) return &whole;
  return nullptr;
}

bool read_attrs(const Whole& whole, const Op& op, AttrsRef attrs, Value& named) {
  for (int row = 0; op.attrs && row < static_cast<int>(op.attrs->rows.size()); ++row) {
    const AttrValue given = op.attrs->get(attrs.p, row);
    const bool is_usual = to_string(given) == to_string(op.attrs->get(op.attrs->defaults, row));
    std::string_view argument;
    for (const auto& [attr, name] : whole.attrs)
      if (attr == op.attrs->rows[static_cast<size_t>(row)].name) argument = name;
    if (argument.empty() && !is_usual) return false;
    if (!argument.empty() && !is_usual) named.set(argument, attr_to_value(given, op.name));
  }
  return true;
}

/// x(...) as the list between Python's brackets; None where its numbers are not known.
Value slice_spec(const Op& op, std::span<const TensorRef> in, AttrsRef attrs) {
  std::vector<int64_t> bounds[3];  // where slices begin and end, and their steps
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& t = in[i + 1].tensor();
    if (t.is_symbolic()) return {};
    from_value(bounds[i], to_value(t));
  }
  auto bit = [&](const char* mask, size_t i) {
    const AttrValue held = op.attrs->get(attrs.p, op.attrs->find(mask));
    return (std::get<int64_t>(held) >> i & 1) != 0;
  };
  Value::List spec;
  for (size_t i = 0; i < bounds[0].size(); ++i) {
    if (bit("ellipsis_mask", i)) {
      spec.push_back(Value::map({{"class_name", "__ellipsis__"}}));
    } else if (bit("new_axis_mask", i)) {
      spec.emplace_back();
    } else if (bit("shrink_axis_mask", i)) {
      spec.emplace_back(bounds[0][i]);
    } else {
      spec.push_back(Value::map({{"start", bit("begin_mask", i) ? Value() : Value(bounds[0][i])},
                                 {"stop", bit("end_mask", i) ? Value() : Value(bounds[1][i])},
                                 {"step", bounds[2][i] == 1 ? Value() : Value(bounds[2][i])}}));
    }
  }
  return spec.size() == 1 ? spec[0] : Value(spec);
}

}  // namespace

std::optional<Tensor> call_as_function(const Op& op, std::span<const TensorRef> in, AttrsRef attrs) {
  Value named = Value::Map();
  if (std::string_view(op.name) == "StridedSlice") {
    const Value spec = slice_spec(op, in, attrs);
    if (spec.is_none()) return {};
    named.set("slice_spec", spec);
    return call_symbol("__operators__.getitem", Nest(in[0].tensor()), named, {}).tensor();
  }
  const Whole* whole = find_whole(op.name);
  if (!whole || in.size() < whole->inputs.size() || !read_attrs(*whole, op, attrs, named)) return {};
  const size_t first_argument = in.size() - whole->inputs.size();
  if (!whole->takes_list && first_argument != 1) return {};
  std::vector<Nest> tensors, list;
  for (size_t i = 0; i < first_argument; ++i) list.emplace_back(in[i].tensor());
  for (size_t i = 0; i < whole->inputs.size(); ++i) {
    named.set(whole->inputs[i], make_place(i));
    tensors.emplace_back(in[first_argument + i].tensor());
  }
  FunctionStyle style;
  if (!function_named(whole->symbol, style)) return {};
  for (const auto& [key, value] : style.always)
    if (!named.contains(key)) named.set(key, value);
  const Nest first = whole->takes_list ? Nest::list(std::move(list)) : list[0];
  return call_symbol(std::string(whole->symbol), first, named, std::move(tensors)).tensor();
}

}  // namespace thalweg::keras
