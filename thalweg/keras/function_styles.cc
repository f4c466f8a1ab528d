// How Keras writes calls of public functions. It makes a layer of the innermost of TensorFlow's functions that knows
// nothing of models: for some that is another function than the one which was called, with all arguments spelled out.
#include <algorithm>

#include "thalweg/keras/function_layer.h"

namespace thalweg::keras {
namespace {

/// Functions that TensorFlow generates from its ops: they pass on all of their arguments, `name` too.
constexpr std::string_view generated[] = {
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitcast",
    "bitwise.bitwise_and",
    "bitwise.bitwise_or",
    "bitwise.bitwise_xor",
    "bitwise.invert",
    "bitwise.left_shift",
    "bitwise.right_shift",
    "broadcast_to",
    "cos",
    "cosh",
    "debugging.check_numerics",
    "dynamic_partition",
    "dynamic_stitch",
    "greater",
    "greater_equal",
    "identity_n",
    "io.decode_base64",
    "io.encode_base64",
    "io.parse_tensor",
    "less",
    "less_equal",
    "linalg.band_part",
    "linalg.cholesky",
    "linalg.cross",
    "linalg.det",
    "linalg.logm",
    "linalg.slogdet",
    "linalg.sqrtm",
    "linalg.tensor_diag",
    "logical_and",
    "logical_not",
    "logical_or",
    "math.betainc",
    "math.digamma",
    "math.erf",
    "math.erfc",
    "math.expm1",
    "math.floormod",
    "math.igamma",
    "math.igammac",
    "math.invert_permutation",
    "math.is_finite",
    "math.is_inf",
    "math.is_nan",
    "math.lgamma",
    "math.log",
    "math.log1p",
    "math.nextafter",
    "math.polygamma",
    "math.reciprocal",
    "math.rint",
    "math.segment_max",
    "math.segment_mean",
    "math.segment_min",
    "math.segment_prod",
    "math.segment_sum",
    "math.squared_difference",
    "math.unsorted_segment_max",
    "math.unsorted_segment_min",
    "math.unsorted_segment_prod",
    "math.unsorted_segment_sum",
    "math.xlogy",
    "math.zeta",
    "maximum",
    "minimum",
    "negative",
    "nn.elu",
    "nn.l2_loss",
    "nn.relu",
    "nn.selu",
    "nn.softsign",
    "reverse",
    "scatter_nd",
    "signal.fft",
    "signal.fft2d",
    "signal.fft3d",
    "signal.ifft",
    "signal.ifft2d",
    "signal.ifft3d",
    "sin",
    "sinh",
    "space_to_batch_nd",
    "square",
    "strings.strip",
    "strings.to_hash_bucket_fast",
    "strings.to_hash_bucket_strong",
    "tan",
    "tanh",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tile",
    "truncatediv",
    "truncatemod",
    "unravel_index",
};

struct Special {
  std::string_view function, symbol, always;           // always: JSON
  std::string_view parameter = {}, called_there = {};  // a parameter that has another name there
};
constexpr Special specials[] = {
    {"linalg.inv", "linalg.inv", R"({"adjoint": false, "name": null})"},
    {"linalg.solve", "linalg.solve", R"({"adjoint": false, "name": null})"},
    {"linalg.qr", "linalg.qr", R"({"full_matrices": false, "name": null})"},
    {"linalg.lu", "linalg.lu", R"({"output_idx_type": "int32", "name": null})"},
    {"nn.local_response_normalization", "nn.local_response_normalization",
     R"({"depth_radius": 5, "bias": 1, "alpha": 1, "beta": 0.5, "name": null})"},
    {"strings.lower", "strings.lower", R"({"encoding": "", "name": null})"},
    {"strings.upper", "strings.upper", R"({"encoding": "", "name": null})"},
    {"strings.as_string", "strings.as_string",
     R"({"precision": -1, "scientific": false, "shortest": false, "width": -1, "fill": "", "name": null})"},
    {"scalar_mul", "compat.v1.math.scalar_mul", R"({"name": null})"},
    {"divide", "math.truediv", R"({"name": null})"},
    {"math.floordiv", "compat.v1.floor_div", R"({"name": null})"},
    {"norm", "compat.v1.norm", R"({"ord": "euclidean", "axis": null, "keepdims": null, "name": null})"},
    {"nn.crelu", "compat.v1.nn.crelu", R"({"name": null, "axis": -1})"},
    {"nn.weighted_moments", "compat.v1.nn.weighted_moments", R"({"name": null, "keep_dims": false})", "keepdims",
     "keep_dims"},
    {"nn.sigmoid_cross_entropy_with_logits", "compat.v1.nn.sigmoid_cross_entropy_with_logits", R"({"name": null})"},
    {"nn.softmax_cross_entropy_with_logits", "compat.v1.nn.softmax_cross_entropy_with_logits_v2",
     R"({"axis": -1, "name": null})"},
    {"nn.sparse_softmax_cross_entropy_with_logits", "compat.v1.nn.sparse_softmax_cross_entropy_with_logits",
     R"({"name": null})"},
    {"nn.embedding_lookup", "compat.v1.nn.embedding_lookup",
     R"({"partition_strategy": "div", "name": null, "max_norm": null})"},
    {"nn.conv1d", "compat.v1.nn.conv1d",
     R"({"use_cudnn_on_gpu": true, "data_format": "NWC", "name": null, "dilations": null})"},
    {"nn.conv2d", "compat.v1.nn.conv2d",
     R"({"use_cudnn_on_gpu": true, "data_format": "NHWC", "dilations": null, "name": null})", "filters", "filter"},
    {"nn.depthwise_conv2d", "compat.v1.nn.depthwise_conv2d", R"({"rate": null, "name": null, "data_format": null})",
     "dilations", "rate"},
    {"nn.separable_conv2d", "compat.v1.nn.separable_conv2d", R"({"rate": null, "name": null, "data_format": null})",
     "dilations", "rate"},
    {"nn.pool", "compat.v1.nn.pool",
     R"({"padding": "VALID", "dilation_rate": null, "strides": null, "name": null, "data_format": null})", "dilations",
     "dilation_rate"},
    {"squeeze", "compat.v1.squeeze", R"({"axis": null, "name": null})"},
    {"transpose", "compat.v1.transpose", R"({"perm": null, "name": "transpose", "conjugate": false})"},
    {"pad", "compat.v1.pad", R"({"mode": "CONSTANT", "name": null, "constant_values": 0})"},
    {"gather", "compat.v1.gather", R"({"validate_indices": null, "name": null, "axis": null, "batch_dims": 0})"},
    {"gather_nd", "compat.v1.gather_nd", R"({"name": null, "batch_dims": 0})"},
    {"boolean_mask", "compat.v1.boolean_mask", R"({"name": "boolean_mask", "axis": null})"},
    {"shape", "compat.v1.shape", R"({"name": null, "out_type": "int32"})"},
    {"size", "compat.v1.size", R"({"name": null, "out_type": "int32"})"},
    {"space_to_batch", "space_to_batch_nd", R"({"name": null})"},
    {"batch_to_space", "compat.v1.batch_to_space_nd", R"({"name": null})"},
    {"add", "__operators__.add", "{}"},
    {"equal", "__operators__.eq", "{}", "y", "other"},
    {"not_equal", "__operators__.ne", "{}", "y", "other"},
};
/// The operators that have a name of their own: functions that are called by theirs keep it.
bool is_operator(const Special& special) { return special.symbol.starts_with("__operators__."); }

FunctionStyle to_style(const Special& special) {
  FunctionStyle style;
  style.symbol = special.symbol;
  style.always = Value::parse(special.always).map();
  if (!special.parameter.empty()) style.renamed.emplace_back(special.parameter, special.called_there);
  return style;
}

/// TensorFlow's own choice among the names of a function: one with a module in it, save for a few.
const std::string& main_name(const FunctionDef& function) {
  for (std::string_view plain : {"cast", "einsum", "eye", "tensordot"})
    if (function.names[0] == plain) return function.names[0];
  for (const std::string& name : function.names)
    if (name.starts_with("keras.metrics.")) return name;
  for (const std::string& name : function.names)
    if (name.find('.') != name.npos) return name;
  return function.names[0];
}

}  // namespace

FunctionStyle style_of(const FunctionDef& function) {
  for (const Special& special : specials)
    if (special.function == function.names[0] && !is_operator(special)) return to_style(special);
  FunctionStyle style;
  style.symbol = main_name(function);
  if (std::find(std::begin(generated), std::end(generated), function.names[0]) != std::end(generated))
    style.always.emplace_back("name", Value());
  return style;
}

const FunctionDef* function_named(std::string_view symbol, FunctionStyle& style) {
  for (const Special& special : specials)
    if (special.symbol == symbol) {
      style = to_style(special);
      return find_function(special.function);
    }
  const FunctionDef* found = find_function(symbol);
  constexpr std::string_view old = "compat.v1.";
  if (!found && symbol.starts_with(old)) found = find_function(symbol.substr(old.size()));
  if (found) style = style_of(*found);
  return found;
}

}  // namespace thalweg::keras
