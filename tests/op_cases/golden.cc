#include "tests/op_cases/golden.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/io/npy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/parameter.h"

namespace thalweg::testing {
namespace {

using nlohmann::json;

Tensor read_tensor(const json& ref, const Tensor& data);

// A variant that leads to lists of the elements that TensorFlow has; null where one is not set.
Tensor read_lists(const json& ref, const Tensor& data) {
  Tensor handles = Tensor::empty(DType::variant, Shape(ref.at("shape").get<std::vector<int64_t>>()));
  auto* to = handles.mutable_data<ResourceHandle>();
  for (const json& elements : ref.at("lists")) {
    DType dtype = DType::float32;
    for (const json& element : elements)
      if (!element.is_null()) dtype = dtype_named(element.at("dtype").get<std::string>());
    auto list = std::make_shared<TensorListResource>(dtype, Shape::unknown_rank(), elements.size());
    int64_t i = 0;
    for (const json& element : elements) {
      if (!element.is_null()) list->set(i, read_tensor(element, data));
      ++i;
    }
    *to++ = std::move(list);
  }
  return handles;
}

Tensor read_tensor(const json& ref, const Tensor& data) {
  if (ref.contains("lists")) return read_lists(ref, data);
  Shape shape(ref.at("shape").get<std::vector<int64_t>>());
  Tensor t = Tensor::empty(dtype_named(ref.at("dtype").get<std::string>()), shape);
  const uint8_t* bytes = data.data<uint8_t>() + ref.at("offset").get<size_t>();
  if (t.dtype() == DType::string) {
    size_t i = 0;
    for (size_t length : ref.value("lengths", json::array())) {  // none where only the shape counts
      t.mutable_data<std::string>()[i++].assign(reinterpret_cast<const char*>(bytes), length);
      bytes += length;
    }
  } else if (t.nbytes() && ref.value("bytes", size_t{0}) == t.nbytes()) {
    std::memcpy(t.mutable_data<void>(), bytes, t.nbytes());
  }
  return t;
}

struct Family {
  Tensor data;
};
std::map<std::string, Family>& families() {
  static std::map<std::string, Family> f;
  return f;
}
std::map<std::string, TypeSet>& no_kernel() {
  static std::map<std::string, TypeSet> types_by_op;
  return types_by_op;
}

// Joins the gradients of a family to its cases.
void read_gradients(const std::string& path, std::span<Case> cases) {
  if (!std::filesystem::exists(path)) return;
  auto file = io::load_npz(path);
  Tensor manifest = file["manifest"], data = file["data"];
  auto text = manifest.span<uint8_t>();
  json all = json::parse(text.begin(), text.end());
  std::map<std::tuple<std::string, int, std::string>, Case*> found;
  for (Case& c : cases) found[{c.op, c.row, c.variant}] = &c;
  for (const json& j : all.at("cases")) {
    std::string variant = j.at("variant").is_null()  ? ""
                          : j["variant"].is_string() ? j["variant"].get<std::string>()
                                                     : j["variant"].dump();
    auto at = found.find({j.at("op").get<std::string>(), j.at("row").get<int>(), variant});
    if (at == found.end()) continue;
    at->second->gradients_refused = j.contains("missing");
    if (!j.contains("gradients")) continue;
    at->second->has_gradients = true;
    for (const json& g : j.at("gradients"))
      at->second->gradients.push_back({g[0], g[1], g[2].is_null() ? Tensor() : read_tensor(g[2], data)});
  }
}

void read_family(const std::string& name, const std::string& path, std::vector<Case>& cases) {
  auto file = io::load_npz(path);
  Tensor manifest = file["manifest"], data = file["data"];
  families()[name].data = data;
  auto text = manifest.span<uint8_t>();
  json all = json::parse(text.begin(), text.end());
  const json missing = all.value("no_kernel", json::object());
  for (const auto& [op, dtypes] : missing.items())
    for (const json& dtype : dtypes) no_kernel()[op] = no_kernel()[op] | types(dtype_named(dtype.get<std::string>()));
  for (const json& j : all.at("cases")) {
    Case c;
    c.family = name;
    c.op = j.at("op");
    c.row = j.at("row");
    if (j.at("variant").is_string()) c.variant = j["variant"];
    else if (!j.at("variant").is_null()) c.variant = j["variant"].dump();
    c.is_function = j.at("kind") == "function";
    for (const auto& [key, value] : j.at("inputs").items()) {
      CaseInput input{key, {}};
      if (value.is_array()) {
        input.kind = CaseInput::list;
        for (const json& item : value) input.tensors.push_back(read_tensor(item, data));
      } else {
        input.tensors.push_back(read_tensor(value, data));
        if (value.contains("variable"))
          input.kind = value["variable"] == "initialized" ? CaseInput::variable : CaseInput::uninitialized_variable;
        if (value.contains("list")) {
          input.kind = value["list"] == "initialized" ? CaseInput::tensor_list : CaseInput::unset_tensor_list;
          if (!value["batch"].is_null()) input.batch = value["batch"];
        }
      }
      if (j.contains("after") && j["after"].contains(key) && !j["after"][key].is_null())
        input.after = read_tensor(j["after"][key], data);
      c.inputs.push_back(std::move(input));
    }
    c.attrs = j.at("attrs");
    if (!j.at("outputs").is_null())
      for (const json& o : j.at("outputs")) {
        c.outputs.push_back(read_tensor(o, data));
        c.unset.push_back(o.value("check", "") == "shape" && !o.contains("lists"));
      }
    if (j.at("tolerance").is_number()) c.tolerance = j["tolerance"];
    if (j.at("error").is_string()) c.error = j["error"];
    c.shape_only = j.at("check") == "shape";
    cases.push_back(std::move(c));
  }
}

void flatten(const json& j, Shape& shape, int depth, std::vector<json>& leaves) {
  if (!j.is_array()) return leaves.push_back(j);
  if (depth == shape.rank()) shape.push_back(static_cast<int64_t>(j.size()));
  for (const json& item : j) flatten(item, shape, depth + 1, leaves);
}

double real_from_json(const json& j) {
  if (j.is_string()) return std::stod(j.get<std::string>());  // "nan", "inf"
  return j.get<double>();
}

// Numbers, texts and lists of them, as a caller would write them: bare.
Tensor literal_from_json(const json& j) {
  Shape shape;
  std::vector<json> leaves;
  flatten(j, shape, 0, leaves);
  if (shape.count() != static_cast<int64_t>(leaves.size())) throw ValueError("a list of literals is ragged");
  bool real = leaves.empty(), text = false, truth = false;
  for (const json& leaf : leaves) {
    bool special = leaf.is_string() && (leaf == "nan" || leaf == "inf" || leaf == "-inf");
    real |= leaf.is_number_float() || special;
    text |= leaf.is_string() && !special;
    truth |= leaf.is_boolean();
  }
  Tensor t = Tensor::empty(text ? DType::string : truth ? DType::bool_ : real ? DType::float64 : DType::int32, shape);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (text) t.mutable_data<std::string>()[i] = leaves[i].get<std::string>();
    else if (truth) t.mutable_data<bool>()[i] = leaves[i].get<bool>();
    else if (real) t.mutable_data<double>()[i] = real_from_json(leaves[i]);
    else t.mutable_data<int32_t>()[i] = leaves[i].get<int32_t>();
  }
  if (!text && !truth) t.impl()->weak = Weak::bare;
  return t;
}
// A tensor with memory of its own: what lies in the goldens must not change with the variable.
Tensor copy_of(const Tensor& t) {
  Tensor copy = Tensor::empty(t.dtype(), t.shape());
  copy_elements(t.dtype(), t.impl()->data, copy.impl()->data, t.size());
  return copy;
}
Tensor make_variable(const CaseInput& input) {
  const Tensor& value = input.tensors[0];
  return make_handle(std::make_shared<VariableResource>(input.name, value.dtype(), value.shape(),
                                                        input.kind == CaseInput::variable ? copy_of(value) : Tensor()));
}
Tensor make_tensor_list(const CaseInput& input) {
  const Tensor& rows = input.tensors[0];
  Shape element(rows.shape().dims().subspan(1));
  auto list = std::make_shared<TensorListResource>(rows.dtype(), element, rows.shape()[0]);
  for (int64_t i = 0; input.kind == CaseInput::tensor_list && i < rows.shape()[0]; ++i) {
    Tensor row = Tensor::empty(rows.dtype(), element);
    size_t bytes = static_cast<size_t>(element.count()) * size_of(rows.dtype());
    copy_elements(rows.dtype(), rows.mutable_data<char>() + static_cast<size_t>(i) * bytes, row.impl()->data,
                  row.size());
    list->set(i, row);
  }
  Tensor handles = Tensor::empty(DType::variant, input.batch == unknown ? Shape{} : Shape{input.batch});
  std::fill_n(handles.mutable_data<ResourceHandle>(), handles.size(), list);
  return handles;
}
// The variable an input leads to, or null.
VariableResource* variable_behind(const Tensor& input) {
  if (!input.defined() || input.dtype() != DType::resource || input.is_symbolic() || input.size() != 1) return nullptr;
  return dynamic_cast<VariableResource*>(input.mutable_data<ResourceHandle>()->get());
}
Tensor value_of(const VariableResource& variable) { return variable.is_initialized() ? variable.read() : Tensor(); }

Tensor strong(const Tensor& t) { return t.impl()->weak == Weak::strong ? t : strengthen(t, natural_dtype(*t.impl())); }

}  // namespace

std::string Case::describe() const {
  return op + " row " + std::to_string(row) + (variant.empty() ? "" : " [" + variant + "]") + " of " + family;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> list;
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden"))
      if (entry.path().extension() == ".npz" &&
          std::filesystem::exists("tests/op_cases/" + entry.path().stem().string() + ".yaml"))
        paths.insert(entry.path().string());
    for (const std::string& path : paths) {
      std::string name = std::filesystem::path(path).stem();
      size_t before = list.size();
      read_family(name, path, list);
      read_gradients("tests/golden/gradients/" + name + ".npz", std::span(list).subspan(before));
    }
    return list;
  }();
  return cases;
}

const std::map<std::string, TypeSet>& types_without_kernel() {
  all_cases();
  return no_kernel();
}

std::vector<const Case*> cases_of(const std::string& name, bool is_function) {
  std::vector<const Case*> list;
  for (const Case& c : all_cases())
    if (c.op == name && c.is_function == is_function) list.push_back(&c);
  return list;
}

std::vector<std::string> names_with_cases(bool is_function) {
  std::set<std::string> names;
  for (const Case& c : all_cases())
    if (c.is_function == is_function) names.insert(c.op);
  return {names.begin(), names.end()};
}
std::vector<std::string> ops_with_cases() {
  std::vector<std::string> names;
  for (const std::string& name : names_with_cases(false))
    if (find_op(name)) names.push_back(name);
  return names;
}

Shape shape_from_json(const json& j) {
  if (j.is_null()) return Shape::unknown_rank();
  Shape s;
  for (const json& d : j) s.push_back(d.is_null() ? -1 : d.get<int64_t>());
  return s;
}

AttrValue attr_from_json(const json& j, AttrKind kind, const std::string& family) {
  if (j.is_object() && j.contains("tensor")) return read_tensor(j["tensor"], families().at(family).data);
  if (j.is_null() && kind != AttrKind::shape) return {};
  switch (kind) {
    case AttrKind::boolean:
      return j.get<bool>();
    case AttrKind::integer:
      return j.get<int64_t>();
    case AttrKind::real:
      return real_from_json(j);
    case AttrKind::text:
      return j.get<std::string>();
    case AttrKind::dtype:
      return dtype_named(j.get<std::string>());
    case AttrKind::shape:
      return shape_from_json(j);
    case AttrKind::shapes: {
      std::vector<Shape> v;
      for (const json& s : j) v.push_back(shape_from_json(s));
      return v;
    }
    case AttrKind::integers:
      if (j.is_number()) return j.get<int64_t>();
      return j.get<std::vector<int64_t>>();
    case AttrKind::reals: {
      std::vector<double> v;
      for (const json& d : j) v.push_back(real_from_json(d));
      return v;
    }
    case AttrKind::texts:
      if (j.is_string()) return std::vector<std::string>{j.get<std::string>()};
      return j.get<std::vector<std::string>>();
    case AttrKind::dtypes: {
      std::vector<DType> v;
      for (const json& d : j) v.push_back(dtype_named(d.get<std::string>()));
      return v;
    }
    case AttrKind::tensor:
      return strong(literal_from_json(j));
    case AttrKind::function:
    case AttrKind::functions:
      throw std::runtime_error("a row cannot hold a function");
  }
  return {};
}

Call make_call(const Case& c) {
  Call call;
  call.op = find_op(c.op);
  if (!call.op) throw std::runtime_error("no op is called " + c.op);
  const Op& op = *call.op;
  for (const Arg& arg : op.args) {
    bool found = false;
    for (const CaseInput& input : c.inputs)
      if (input.name == arg.name) {
        if (input.is_variable()) call.inputs.push_back(make_variable(input));
        else if (input.is_tensor_list()) call.inputs.push_back(make_tensor_list(input));
        else call.inputs.insert(call.inputs.end(), input.tensors.begin(), input.tensors.end());
        found = true;
      }
    if (!found) throw std::runtime_error(c.describe() + ": the row has no input " + arg.name);
  }
  if (op.attrs) call.attrs = Attrs(*op.attrs);
  for (const auto& [name, value] : c.attrs.items()) {
    int row = op.attrs ? op.attrs->find(name) : -1;
    if (row < 0) {  // N and the types that inputs decide are not attributes of ours
      bool derived = false;
      for (const TypeAttr& t : op.type_attrs) derived |= t.name == name;
      for (const Arg& a : op.args) derived |= a.number_attr == name;
      if (!derived) throw std::runtime_error(c.describe() + ": the op has no attribute " + name);
      continue;
    }
    const MemberType& type = *op.attrs->rows[static_cast<size_t>(row)].type;
    if (!op.attrs->set(call.attrs.get(), row, attr_from_json(value, type.kind, c.family)))
      throw InvalidArgumentError(c.op + ": attribute " + name + " cannot be " + value.dump());
  }
  return call;
}

std::string difference_of_variables(const Case& c, const Call& call) {
  // Ops on variables take no lists, so that arguments and inputs go together.
  for (size_t i = 0; i < call.op->args.size() && i < call.inputs.size(); ++i) {
    const VariableResource* variable = variable_behind(call.inputs[i]);
    if (!variable) continue;
    for (const CaseInput& input : c.inputs) {
      if (input.name != call.op->args[i].name) continue;
      Tensor value = value_of(*variable);
      std::string found = value.defined() && input.after.defined() ? difference(value, input.after, c.tolerance)
                          : value.defined()                        ? "a value where none is expected"
                          : input.after.defined()                  ? "no value"
                                                                   : "";
      if (!found.empty()) return input.name + " after the call: " + found;
    }
  }
  return "";
}

VariableValues::VariableValues(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (const VariableResource* variable = variable_behind(input)) {
      Tensor value = value_of(*variable);
      handles_and_values_.emplace_back(input, value.defined() ? copy_of(value) : value);
    }
}
bool VariableValues::are_kept() const {
  for (const auto& [handle, before] : handles_and_values_) {
    Tensor now = value_of(*variable_behind(handle));
    if (now.defined() != before.defined()) return false;
    if (!now.defined()) continue;
    if (now.dtype() != before.dtype() || !(now.shape() == before.shape())) return false;
    if (is_object(now.dtype()) ? !difference(now, before, -1).empty()
                               : now.nbytes() && std::memcmp(now.impl()->data, before.impl()->data, now.nbytes()) != 0)
      return false;
  }
  return true;
}

std::vector<Tensor> run_op(const Op& op, const std::vector<Tensor>& inputs, AttrsRef attrs) {
  std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  return apply_list(op, refs, attrs, op.count_outputs(inputs.size(), attrs));
}

std::vector<Tensor> run_function(const Case& c) {
  const FunctionDef* f = find_function(c.op);
  if (!f) throw std::runtime_error("no function is called " + c.op);
  std::vector<Argument> arguments(f->params.size() + 1);
  std::vector<Tensor> held;
  held.reserve(64);
  Attrs options;
  if (f->options) options = Attrs(*f->options);
  auto param = [&](const std::string& name) {
    for (size_t i = 0; i < f->params.size(); ++i)
      if (f->params[i].name == name) return static_cast<int>(i);
    return -1;
  };
  auto refuse = [&](const std::string& name) { throw InvalidArgumentError(c.op + " takes no such " + name); };
  std::set<std::string> given;
  for (const CaseInput& input : c.inputs) {
    given.insert(input.name);
    int i = param(input.name);
    // A tensor where a list of numbers is meant: its values.
    auto as_value = [&](AttrKind kind) -> AttrValue {
      const Tensor& t = input.tensors.at(0);
      if (kind == AttrKind::tensor || !is_integer(t.dtype())) return t;
      std::vector<int64_t> v(static_cast<size_t>(t.size()));
      convert_elements(t.dtype(), t.impl()->data, DType::int64, v.data(), t.size());
      if (kind == AttrKind::integer && v.size() == 1) return v[0];
      return v;
    };
    if (i >= 0) {
      const Param& p = f->params[static_cast<size_t>(i)];
      Argument& a = arguments[static_cast<size_t>(i)];
      if (p.kind == ParamKind::tensors) a.tensors = input.tensors;
      else if (p.kind == ParamKind::value) a.value = as_value(p.type->kind);
      else {
        held.push_back(input.tensors.at(0));
        a.tensor = held.back().get();
      }
    } else {
      int row = f->options ? f->options->find(input.name) : -1;
      if (row < 0 ||
          !f->options->set(options.get(), row, as_value(f->options->rows[static_cast<size_t>(row)].type->kind)))
        refuse(input.name);
    }
  }
  for (const auto& [name, value] : c.attrs.items()) {
    given.insert(name);
    int i = param(name);
    if (i >= 0) {
      const Param& p = f->params[static_cast<size_t>(i)];
      Argument& a = arguments[static_cast<size_t>(i)];
      if (p.kind == ParamKind::value) {
        a.value = attr_from_json(value, p.type->kind, c.family);
        if (auto* one = std::get_if<int64_t>(&a.value); one && p.type == &member_type<std::vector<int64_t>>())
          a.value = std::vector<int64_t>{*one};
      } else {
        bool whole = value.is_object();  // a tensor of its own
        Tensor t = whole             ? std::get<Tensor>(attr_from_json(value, AttrKind::tensor, c.family))
                   : value.is_null() ? Tensor()
                                     : literal_from_json(value);
        if (p.kind == ParamKind::tensors) {
          for (const json& item : value) a.tensors.push_back(strong(literal_from_json(item)));
          continue;
        }
        if (p.kind == ParamKind::tensor && t.defined()) t = strong(t);
        held.push_back(t);
        a.tensor = held.back().get();
      }
    } else {
      int row = f->options ? f->options->find(name) : -1;
      if (row < 0) refuse(name);
      const MemberType& type = *f->options->rows[static_cast<size_t>(row)].type;
      bool bare = &type == &member_type<Parameter>() && !value.is_null() && !value.is_object();
      AttrValue converted = bare ? AttrValue(literal_from_json(value)) : attr_from_json(value, type.kind, c.family);
      if (!f->options->set(options.get(), row, converted)) refuse(name + " = " + value.dump());
    }
  }
  for (const Param& p : f->params)
    if (!given.count(p.name)) throw std::runtime_error(c.describe() + ": the row has no " + p.name);
  Results results;
  f->call(arguments.data(), options.get(), results);
  if (f->result == ResultKind::one) return {results.one};
  std::erase_if(results.many, [](const Tensor& t) { return !t.defined(); });  // the goldens leave out None
  return results.many;
}

}  // namespace thalweg::testing
