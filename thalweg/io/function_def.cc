#include "thalweg/io/function_def.h"

#include <charconv>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/io/tensor_proto.h"

namespace thalweg::io {
namespace {

[[noreturn]] void refuse_text(std::string_view text, const char* why) {
  throw InvalidArgumentError("the input '" + std::string(text) + "' " + why);
}

int number_of(std::string_view digits, std::string_view text) {
  int value = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
    refuse_text(text, "does not end with the number of an output");
  return value;
}

/// "^node"; false for other texts.
bool read_control(std::string_view text, NodeInput& input) {
  if (text.empty()) refuse_text(text, "names no node");
  if (text[0] != '^') return false;
  input.node = text.substr(1);
  input.is_control = true;
  if (input.node.empty() || input.node.find(':') != input.node.npos) refuse_text(text, "names no node");
  return true;
}

std::vector<FunctionSignature::Arg> read_args(const proto::OpDef& function,
                                              const std::vector<proto::OpDef::ArgDef>& args) {
  std::vector<FunctionSignature::Arg> list;
  std::set<std::string> names;
  for (const proto::OpDef::ArgDef& arg : args) {
    const std::string what = "function '" + function.name + "': the argument '" + arg.name + "'";
    if (arg.name.empty() || !names.insert(arg.name).second)
      throw InvalidArgumentError(what + " has no name, or that of another");
    if (!arg.type_attr.empty() || !arg.number_attr.empty() || !arg.type_list_attr.empty())
      throw InvalidArgumentError(what + " has a type that attributes decide: functions here have fixed types");
    list.push_back({arg.name, dtype_of_number(arg.is_ref ? arg.type + 100 : arg.type, what)});
  }
  return list;
}

}  // namespace

proto::OpDef to_op_def(const FunctionSignature& signature) {
  proto::OpDef message;
  message.name = signature.name;
  for (const auto& [name, dtype] : signature.inputs)
    message.input_arg.push_back({.name = name, .type = static_cast<int32_t>(dtype)});
  for (const auto& [name, dtype] : signature.outputs)
    message.output_arg.push_back({.name = name, .type = static_cast<int32_t>(dtype)});
  message.control_output = signature.control_outputs;
  message.is_stateful = signature.stateful;
  return message;
}

FunctionSignature from_op_def(const proto::OpDef& message) {
  if (message.name.empty()) throw InvalidArgumentError("a function of the library has no name");
  if (!message.attr.empty())
    throw InvalidArgumentError("function '" + message.name + "' has the attribute '" + message.attr[0].name +
                               "': functions here have fixed types");
  return {message.name, read_args(message, message.input_arg), read_args(message, message.output_arg),
          message.control_output, message.is_stateful};
}

NodeInput parse_graph_input(std::string_view text) {
  NodeInput input;
  if (read_control(text, input)) return input;
  const size_t colon = text.rfind(':');
  input.node = text.substr(0, colon);
  if (colon != text.npos) input.index = number_of(text.substr(colon + 1), text);
  if (input.node.empty()) refuse_text(text, "names no node");
  return input;
}

NodeInput parse_function_input(std::string_view text) {
  NodeInput input;
  if (read_control(text, input)) return input;
  const size_t first = text.find(':'), second = first == text.npos ? first : text.find(':', first + 1);
  input.node = text.substr(0, first);
  if (input.node.empty()) refuse_text(text, "names no node");
  if (first == text.npos) return input;
  input.output = text.substr(first + 1, second == text.npos ? second : second - first - 1);
  if (input.output.empty()) refuse_text(text, "names no output");
  if (second != text.npos) input.index = number_of(text.substr(second + 1), text);
  return input;
}

std::string graph_input(const std::string& node, int output) {
  return output == 0 ? node : node + ":" + std::to_string(output);
}

std::string function_input(const std::string& node, const Op& op, std::span<const int> result_counts, int output) {
  int index = output;
  for (size_t r = 0; r < op.results.size() && r < result_counts.size(); index -= result_counts[r++])
    if (index < result_counts[r]) return node + ":" + op.results[r].name + ":" + std::to_string(index);
  throw InvalidArgumentError("node '" + node + "' (" + op.name + ") has no output " + std::to_string(output));
}

int output_position(const NodeInput& input, const Op& op, std::span<const int> result_counts) {
  int before = 0;
  for (size_t r = 0; r < op.results.size() && r < result_counts.size(); before += result_counts[r++])
    if (op.results[r].name == input.output && input.index < result_counts[r]) return before + input.index;
  throw InvalidArgumentError("node '" + input.node + "' (" + op.name + ") has no output '" + input.output + ":" +
                             std::to_string(input.index) + "'");
}

}  // namespace thalweg::io
