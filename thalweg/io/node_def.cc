#include "thalweg/io/node_def.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/io/attr_proto.h"

namespace thalweg::io {
namespace {

constexpr int64_t most_results = 1 << 20;

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// The part of `total` tensors that each argument (or result) is; all lists have the same length. Nothing where they
/// do not come out even.
std::optional<std::vector<int>> share_out(const std::vector<Arg>& args, size_t total) {
  auto lists = static_cast<size_t>(std::count_if(args.begin(), args.end(), [](const Arg& a) { return a.is_list(); }));
  const size_t singles = args.size() - lists;
  if (total < singles || (lists ? (total - singles) % lists : total - singles)) return std::nullopt;
  std::vector<int> counts;
  for (const Arg& a : args) counts.push_back(a.is_list() ? static_cast<int>((total - singles) / lists) : 1);
  return counts;
}

bool has_row(const Op& op, const std::string& name) { return op.attrs && op.attrs->find(name) >= 0; }

/// Sets the attributes that the types and numbers of some arguments (or results) decide, where nothing else has.
class DerivedWriter {
 public:
  DerivedWriter(const Op& op, const std::string& what, proto::NodeDef& node) : op_(op), what_(what), node_(node) {}

  void write(const std::vector<Arg>& args, std::span<const DType> types) {
    const auto counts = share_out(args, types.size());
    if (!counts)
      throw InvalidArgumentError(what_ + ": " + std::to_string(types.size()) + " tensors do not fit the signature " +
                                 op_.signature);
    for (size_t i = 0; i < args.size(); ++i) {
      const auto count = static_cast<size_t>((*counts)[i]);
      if (!args[i].number_attr.empty()) put(args[i].number_attr, static_cast<int64_t>(count));
      if (args[i].mixed) put(args[i].type_attr, std::vector<DType>(types.begin(), types.begin() + (*counts)[i]));
      else if (!args[i].type_attr.empty() && count) put(args[i].type_attr, types[0]);
      types = types.subspan(count);
    }
  }

 private:
  void put(const std::string& name, const AttrValue& value) {
    if (node_.attr.contains(name)) return;
    const AttrKind kind = std::holds_alternative<DType>(value) ? AttrKind::dtype : AttrKind::integer;
    node_.attr[name] = to_attr_proto(value, kind, {}, what_ + ", attribute " + quoted(name));
  }

  const Op& op_;
  const std::string& what_;
  proto::NodeDef& node_;
};

/// Reads the attributes of one node.
class CallReader {
 public:
  CallReader(const proto::NodeDef& node, std::span<const DType> inputs, const FunctionResolver& resolver)
      : node_(node), inputs_(inputs), resolver_(resolver), op_(find()) {}

  NodeCall read() {
    for (const auto& [name, value] : node_.attr)
      if (!name.starts_with('_') && !is_known(name)) fail(name, "is not one that the op has");
    NodeCall call;
    call.op = &op_;
    auto counts = share_out(op_.args, inputs_.size());
    if (!counts)
      throw InvalidArgumentError(where() + ": " + std::to_string(inputs_.size()) + " inputs do not fit the signature " +
                                 op_.signature);
    call.arg_counts = counts_ = *counts;
    if (op_.attrs) {
      call.attrs = Attrs(*op_.attrs);
      for (int row = 0; row < static_cast<int>(op_.attrs->rows.size()); ++row) read_row(row, call.attrs);
    }
    check_inputs();
    for (const Arg& result : op_.results) call.result_counts.push_back(count_of(result, call));
    return call;
  }

 private:
  std::string where() const { return "node " + quoted(node_.name) + " (" + node_.op + ")"; }
  std::string where(std::string_view attr) const { return where() + ": the attribute " + quoted(attr); }
  [[noreturn]] void fail(std::string_view attr, const std::string& why) const {
    throw InvalidArgumentError(where(attr) + " " + why);
  }

  const Op& find() const {
    const Op* op = find_op(node_.op);
    if (!op) throw InvalidArgumentError(where() + ": there is no op of this name");
    return *op;
  }

  bool is_known(const std::string& name) const {
    auto derives = [&](const Arg& a) { return a.type_attr == name || a.number_attr == name; };
    return has_row(op_, name) || std::any_of(op_.args.begin(), op_.args.end(), derives) ||
           std::any_of(op_.results.begin(), op_.results.end(), derives);
  }

  TypeSet allowed(std::string_view attr) const {
    for (const TypeAttr& t : op_.type_attrs)
      if (t.name == attr) return t.allowed;
    for (const TypeRule& rule : op_.types)
      if (rule.name && rule.name == attr) return rule.set;
    return all_types;
  }
  void check_type(std::string_view attr, DType dtype) const {
    if (!allowed(attr).has(dtype))
      fail(attr, "cannot be " + std::string(name_of(dtype)) + "; it is one of " + to_string(allowed(attr)));
  }

  // Without a value in the node a member keeps its default; some have none that would mean anything. (`Tout` follows
  // from the inputs.)
  bool is_required(const AttrRow& row, int index) const {
    if (row.type->kind == AttrKind::function) return true;
    const bool none = std::holds_alternative<std::monostate>(op_.attrs->get(op_.attrs->defaults, index));
    if (none && row.type->kind == AttrKind::dtype) return row.name != "Tout";
    if (none && row.type->kind == AttrKind::tensor) return true;
    return std::any_of(op_.results.begin(), op_.results.end(),
                       [&](const Arg& result) { return result.number_attr == row.name; });
  }

  void read_row(int index, const Attrs& attrs) const {
    const AttrRow& row = op_.attrs->rows[static_cast<size_t>(index)];
    auto found = node_.attr.find(std::string(row.name));
    if (found == node_.attr.end()) {
      if (is_required(row, index)) fail(row.name, "is missing");
      return;
    }
    AttrValue value = value_of(found->second, row.type->kind, row.name);
    if (auto* dtype = std::get_if<DType>(&value)) check_type(row.name, *dtype);
    if (!op_.attrs->set(attrs.get(), index, value)) fail(row.name, "is out of range: " + to_string(value));
  }

  AttrValue value_of(const proto::AttrValue& message, AttrKind kind, std::string_view attr) const {
    try {
      return from_attr_proto(message, kind, resolver_, where(attr));
    } catch (const InvalidArgumentError& e) {
      const std::string why = e.what();
      if (why.starts_with("node ")) throw;
      throw InvalidArgumentError(where(attr) + ": " + why);
    }
  }

  /// The inputs must have the types and numbers that the attributes name.
  void check_inputs() const {
    std::span<const DType> rest = inputs_;
    for (size_t i = 0; i < op_.args.size(); ++i) {
      const Arg& arg = op_.args[i];
      const std::span<const DType> types = rest.first(static_cast<size_t>(counts_[i]));
      rest = rest.subspan(types.size());
      if (auto found = node_.attr.find(arg.number_attr); !arg.number_attr.empty() && found != node_.attr.end()) {
        const int64_t number = std::get<int64_t>(value_of(found->second, AttrKind::integer, arg.number_attr));
        if (number != counts_[i])
          fail(arg.number_attr, "is " + std::to_string(number) + ", but " + std::to_string(counts_[i]) +
                                    " tensors of " + quoted(arg.name) + " come in");
      }
      if (arg.mixed) check_mixed(arg, types);
      else check_uniform(arg, types);
    }
  }
  void check_mixed(const Arg& arg, std::span<const DType> types) const {
    for (DType t : types) check_type(arg.type_attr, t);
    auto found = node_.attr.find(arg.type_attr);
    if (found == node_.attr.end()) return;
    const AttrValue value = value_of(found->second, AttrKind::dtypes, arg.type_attr);
    if (!std::ranges::equal(std::get<std::vector<DType>>(value), types))
      fail(arg.type_attr, "is " + to_string(value) + ", but the inputs " + quoted(arg.name) + " are " +
                              to_string(std::vector<DType>(types.begin(), types.end())));
  }
  void check_uniform(const Arg& arg, std::span<const DType> types) const {
    DType wanted = arg.dtype;
    if (wanted == DType::invalid) {
      wanted = type_of(arg.type_attr);
      if (wanted != DType::invalid) check_type(arg.type_attr, wanted);
    }
    for (DType t : types)
      if (t != wanted)
        throw InvalidArgumentError(where() + ": the input " + quoted(arg.name) + " is " + std::string(name_of(t)) +
                                   ", expected " + std::string(name_of(wanted)) +
                                   (arg.type_attr.empty() ? "" : " (the attribute " + quoted(arg.type_attr) + ")"));
  }
  /// What a type attribute says or, where it is left out, the first input of that type.
  DType type_of(const std::string& attr) const {
    if (auto found = node_.attr.find(attr); found != node_.attr.end())
      return std::get<DType>(value_of(found->second, AttrKind::dtype, attr));
    for (size_t i = 0, at = 0; i < op_.args.size(); at += static_cast<size_t>(counts_[i++]))
      if (op_.args[i].type_attr == attr && counts_[i] > 0) return inputs_[at];
    return DType::invalid;
  }

  int count_of(const Arg& result, const NodeCall& call) const {
    if (!result.is_list()) return 1;
    const std::string& attr = result.mixed ? result.type_attr : result.number_attr;
    for (size_t i = 0; i < op_.args.size(); ++i)
      if (attr == (result.mixed ? op_.args[i].type_attr : op_.args[i].number_attr)) return call.arg_counts[i];
    const int row = op_.attrs ? op_.attrs->find(attr) : -1;
    if (row < 0) fail(attr, "cannot be told");
    const AttrValue value = op_.attrs->get(call.attrs.get(), row);
    int64_t count = -1;
    if (auto* number = std::get_if<int64_t>(&value)) count = *number;
    if (auto* types = std::get_if<std::vector<DType>>(&value)) count = static_cast<int64_t>(types->size());
    if (count < 0 || count > most_results) fail(attr, "is out of range: " + to_string(value));
    return static_cast<int>(count);
  }

  const proto::NodeDef& node_;
  std::span<const DType> inputs_;
  const FunctionResolver& resolver_;
  const Op& op_;
  std::vector<int> counts_;  // of tensors, by argument
};

}  // namespace

void write_call(const Op& op, AttrsRef attrs, std::span<const DType> inputs, std::span<const DType> outputs,
                const FunctionNamer& namer, proto::NodeDef& node) {
  const std::string what = "node " + quoted(node.name) + " (" + op.name + ")";
  node.op = op.name;
  for (int row = 0; op.attrs && row < static_cast<int>(op.attrs->rows.size()); ++row) {
    const AttrRow& r = op.attrs->rows[static_cast<size_t>(row)];
    AttrValue value = op.attrs->get(attrs.p ? attrs.p : op.attrs->defaults, row);
    if (r.type->kind == AttrKind::dtype && std::holds_alternative<std::monostate>(value)) continue;  // from the outputs
    node.attr[std::string(r.name)] =
        to_attr_proto(value, r.type->kind, namer, what + ": the attribute " + quoted(r.name));
  }
  DerivedWriter derived(op, what, node);
  derived.write(op.args, inputs);
  derived.write(op.results, outputs);
  auto require = [&](std::string_view attr) {
    if (!node.attr.contains(std::string(attr)))
      throw InvalidArgumentError(what + ": the attribute " + quoted(attr) + " has no value, and no tensor tells it");
  };
  for (const TypeAttr& type : op.type_attrs) require(type.name);
  for (int row = 0; op.attrs && row < static_cast<int>(op.attrs->rows.size()); ++row)
    require(op.attrs->rows[static_cast<size_t>(row)].name);
}

NodeCall read_call(const proto::NodeDef& node, std::span<const DType> inputs, const FunctionResolver& resolver) {
  return CallReader(node, inputs, resolver).read();
}

}  // namespace thalweg::io
