#include "tests/op_cases/signature.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/op_cases/golden.h"

namespace thalweg::testing {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

// What stands between two marks; `at` moves behind the second.
std::string between(const std::string& line, const char* open, const char* close, size_t& at) {
  size_t begin = line.find(open, at);
  if (begin == line.npos) return "";
  begin += std::char_traits<char>::length(open);
  size_t end = line.find(close, begin);
  if (end == line.npos) throw std::runtime_error("unreadable signature: " + line);
  at = end + std::char_traits<char>::length(close);
  return line.substr(begin, end - begin);
}

SignatureAttr read_attr(const std::string& text) {
  SignatureAttr attr;
  size_t colon = text.find(':'), equals = text.find(" = "), end = text.find(' ');
  attr.name = text.substr(0, colon);
  attr.kind = text.substr(colon + 1, end == text.npos ? end : end - colon - 1);
  attr.has_default = equals != text.npos;
  if (attr.has_default) attr.default_text = text.substr(equals + 3);
  size_t in = text.find(" in [");
  if (attr.kind == "type" && in != text.npos) {
    attr.any_type = false;
    size_t at = in;
    for (const std::string& type : split(between(text, " in [", "]", at), " "))
      if (dtype_named(type) != DType::invalid)
        attr.allowed = attr.allowed | types(dtype_named(type));  // none of the quantised
  }
  return attr;
}

Signature read_signature(const std::string& line) {
  Signature s;
  s.name = line.substr(0, line.find('('));
  size_t at = 0;
  s.inputs = split(between(line, "(", ")", at), ", ");
  s.outputs = split(between(line, "-> (", ")", at), ", ");
  for (const std::string& text : split(between(line, "{", "}", at), "; ")) s.attrs.push_back(read_attr(text));
  s.stateful = line.find("stateful", at) != line.npos;
  return s;
}

// half, float and double are float16, float32 and float64.
std::string plain_type(const std::string& type) {
  DType dtype = dtype_named(type);
  return dtype == DType::invalid ? type : std::string(name_of(dtype));
}
std::string plain_arg(const std::string& arg) {
  size_t colon = arg.find(':'), star = arg.find('*');
  size_t type = star == arg.npos ? colon + 1 : star + 1;
  return arg.substr(0, type) + plain_type(arg.substr(type));
}
std::string text_of(const Arg& a) {
  std::string type = a.type_attr.empty() ? std::string(name_of(a.dtype)) : a.type_attr;
  return a.name + ":" + (a.mixed ? "list " : a.number_attr.empty() ? "" : a.number_attr + "*") + type;
}

template <class F> std::string joined(size_t count, F text) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list.append(i ? ", " : "").append(text(i));
  return list;
}

// A default in the words of the listing.
struct DefaultText {
  std::string operator()(std::monostate) const { return "<unknown>"; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const {
    std::ostringstream text;
    text << v;  // six digits, as the listing
    return text.str();
  }
  std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  std::string operator()(DType v) const { return std::string(name_of(v)); }
  std::string operator()(const Shape& v) const { return v.has_rank() ? v.brackets() : "<unknown>"; }
  std::string operator()(const Tensor& v) const { return v.str(); }
  std::string operator()(const FunctionAttr&) const { return "<unknown>"; }
  template <class T> std::string operator()(const std::vector<T>& v) const {
    std::string text = "[";
    text.append(joined(v.size(), [&](size_t i) { return (*this)(v[i]); })).append("]");
    return text;
  }
};

// Whether inputs decide an attribute, so that a record has no member for it.
bool is_derived(const Op& op, const std::string& name) {
  return std::any_of(op.args.begin(), op.args.end(),
                     [&](const Arg& a) { return a.type_attr == name || a.number_attr == name; });
}

void compare_types(const Op& op, const SignatureAttr& theirs, std::vector<std::string>& differences) {
  for (const TypeAttr& ours : op.type_attrs) {
    if (ours.name != theirs.name) continue;
    constexpr TypeSet handles = types(resource, variant);
    TypeSet may = theirs.any_type ? all_types : theirs.allowed | handles, must = may - handles;
    auto found = types_without_kernel().find(op.name);
    if (found != types_without_kernel().end()) must = must - found->second;
    if (TypeSet missing = must - ours.allowed; !missing.empty())
      differences.push_back(theirs.name + " lacks " + to_string(missing));
    if (TypeSet more = ours.allowed - may; !more.empty())
      differences.push_back(theirs.name + " has also " + to_string(more));
  }
}

}  // namespace

const std::vector<Signature>& tensorflow_signatures() {
  static const std::vector<Signature> signatures = [] {
    std::vector<Signature> list;
    std::ifstream file("tests/golden/op_signatures.txt");
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) list.push_back(read_signature(line));
    if (list.empty()) throw std::runtime_error("tests/golden/op_signatures.txt is missing or empty");
    return list;
  }();
  return signatures;
}

std::vector<std::string> compare(const Op& op, const Signature& signature) {
  std::vector<std::string> differences;
  auto expect = [&](const std::string& what, const std::string& ours, const std::string& theirs) {
    if (ours != theirs) differences.push_back(what + " (" + ours + "), TensorFlow's (" + theirs + ")");
  };
  auto args = [](const std::vector<Arg>& list) {
    return joined(list.size(), [&](size_t i) { return text_of(list[i]); });
  };
  auto lines = [](const std::vector<std::string>& list) {
    return joined(list.size(), [&](size_t i) { return plain_arg(list[i]); });
  };
  expect("inputs", args(op.args), lines(signature.inputs));
  expect("outputs", args(op.results), lines(signature.outputs));
  std::string our_names, their_names;
  for (size_t i = 0; op.attrs && i < op.attrs->rows.size(); ++i)
    our_names.append(i ? ", " : "").append(op.attrs->rows[i].name);
  for (const SignatureAttr& attr : signature.attrs) {
    if (attr.kind == "type") compare_types(op, attr, differences);
    if (is_derived(op, attr.name)) continue;
    their_names.append(their_names.empty() ? "" : ", ").append(attr.name);
    int row = op.attrs ? op.attrs->find(attr.name) : -1;
    if (row < 0 || !attr.has_default) continue;
    std::string ours = std::visit(DefaultText{}, op.attrs->get(op.attrs->defaults, row));
    std::string theirs = attr.kind == "type" ? plain_type(attr.default_text) : attr.default_text;
    expect("default of " + attr.name, ours, theirs);
  }
  expect("attributes", our_names, their_names);
  if (op.traits.stateful != signature.stateful)
    differences.push_back(signature.stateful ? "TensorFlow's is stateful" : "stateful, TensorFlow's is not");
  return differences;
}

}  // namespace thalweg::testing
