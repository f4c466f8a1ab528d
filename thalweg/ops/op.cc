#include "thalweg/ops/op.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/infer.h"

namespace thalweg {
namespace {

struct Registry {
  std::vector<const Op*> ops;
  std::map<std::string, const Op*, std::less<>> by_name;
};
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

std::string_view trim(std::string_view s) {
  size_t begin = s.find_first_not_of(' ');
  return begin == s.npos ? std::string_view() : s.substr(begin, s.find_last_not_of(' ') - begin + 1);
}

// "values: N * T, axis: Tidx" or "input: list T"
std::vector<Arg> parse_args(std::string_view text) {
  std::vector<Arg> args;
  while (!trim(text).empty()) {
    size_t comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
    size_t colon = one.find(':');
    std::string_view type = trim(one.substr(colon + 1));
    Arg arg;
    arg.name = trim(one.substr(0, colon));
    if (size_t star = type.find('*'); star != type.npos) {
      arg.number_attr = trim(type.substr(0, star));
      type = trim(type.substr(star + 1));
    } else if (type.starts_with("list ")) {
      arg.mixed = true;
      type = trim(type.substr(5));
    }
    arg.dtype = dtype_named(type);
    if (arg.dtype == DType::invalid) arg.type_attr = type;
    args.push_back(std::move(arg));
  }
  return args;
}

[[noreturn]] void bad_record(const char* name, const std::string& why) {
  throw std::logic_error(std::string("record of op ") + name + ": " + why);
}

void derive_types(Op& op) {
  auto note = [&](const std::string& name) {
    if (name.empty()) return;
    for (const TypeAttr& t : op.type_attrs)
      if (t.name == name) return;
    TypeSet allowed = all_types;
    if (op.type_attrs.empty() && !op.kernel.types.empty()) allowed = op.kernel.types;  // the first is the kernel's T
    for (const TypeRule& rule : op.types)
      if (rule.name && name == rule.name) allowed = rule.set;
    op.type_attrs.push_back({name, allowed});
  };
  for (const Arg& a : op.args) note(a.type_attr);
  for (const Arg& r : op.results) note(r.type_attr);
  for (const TypeRule& rule : op.types)
    if (rule.name) {
      bool used = op.attrs && op.attrs->find(rule.name) >= 0;
      for (const TypeAttr& t : op.type_attrs) used |= t.name == rule.name;
      bool kernels_own = op.kernel.loops && !op.args.empty() && op.args[0].type_attr == rule.name;
      if (kernels_own && !(rule.set - op.kernel.types).empty())
        bad_record(op.name, "types that the kernel was not compiled for");
      if (!used)
        bad_record(op.name, std::string("a rule for types of ") + rule.name + ", which the signature does not have");
    }
}

void derive_results(Op& op) {
  for (Arg& r : op.results) {
    if (r.type_attr.empty()) continue;
    if (op.attrs) r.from_attr = op.attrs->find(r.type_attr);
    // An input stands at a fixed place only if no list comes before it.
    for (size_t i = 0; i < op.args.size() && r.from_input < 0 && r.from_attr < 0; ++i) {
      if (op.args[i].type_attr == r.type_attr) r.from_input = static_cast<int>(i);
      if (op.args[i].is_list()) break;
    }
  }
  if (!op.results.empty() && !op.results[0].is_list()) op.first_result_input = op.results[0].from_input;
}

// The position and number of an argument's tensors. All lists of an op have the same length.
std::pair<size_t, size_t> argument_range(const Op& op, size_t num_inputs, int argument) {
  if (op.num_lists == 0) return {static_cast<size_t>(argument), 1};
  size_t lists = static_cast<size_t>(op.num_lists);
  size_t each = (num_inputs - (op.args.size() - lists)) / lists, begin = 0;
  for (int i = 0; i < argument; ++i) begin += op.args[static_cast<size_t>(i)].is_list() ? each : 1;
  return {begin, op.args[static_cast<size_t>(argument)].is_list() ? each : 1};
}

std::string describe_inputs(std::span<const TensorRef> in) {
  std::string text;
  for (const TensorRef& t : in) {
    if (!text.empty()) text += ", ";
    text += t.p ? std::string(name_of(t.p->dtype)) + t.p->shape.brackets() : "None";
    if (text.size() > 300) return text + ", ...";
  }
  return text;
}

std::vector<int64_t> read_values(const TensorImpl* t) {
  std::vector<int64_t> values(static_cast<size_t>(t->shape.count()));
  convert_elements(t->dtype, t->data, DType::int64, values.data(), static_cast<int64_t>(values.size()));
  return values;
}

std::string failure(const Op& op, std::span<const TensorRef> in, const std::string& why) {
  return std::string(op.name) + ": " + why + " (inputs: " + describe_inputs(in) + ")";
}

}  // namespace

const Op& define_op(const OpDef& def) {
  auto* op = new Op{def};
  std::string_view text = def.signature;
  size_t arrow = text.find("->");
  if (arrow == text.npos) bad_record(def.name, "the signature has no ->");
  op->args = parse_args(text.substr(0, arrow));
  op->results = parse_args(text.substr(arrow + 2));
  for (const Arg& a : op->args) op->num_lists += a.is_list();
  derive_types(*op);
  derive_results(*op);
  op->uniform = !op->args.empty() && op->num_lists == 0;
  for (const Arg& a : op->args) op->uniform &= !a.type_attr.empty() && a.type_attr == op->args[0].type_attr;
  if (op->uniform) op->uniform_types = op->type_attrs[0].allowed;
  op->traits.broadcasts |= def.infer == infer::broadcast;
  if (!def.infer || !def.kernel.run) bad_record(def.name, "infer and kernel are needed");
  Registry& r = registry();
  op->id = static_cast<int>(r.ops.size());
  if (!r.by_name.emplace(def.name, op).second) bad_record(def.name, "defined twice");
  r.ops.push_back(op);
  return *op;
}

std::span<const Op* const> all_ops() { return registry().ops; }

const Op* find_op(std::string_view name) {
  auto found = registry().by_name.find(name);
  return found == registry().by_name.end() ? nullptr : found->second;
}

const Op& required_op(std::string_view name) {
  const Op* found = find_op(name);
  if (!found) {
    std::fprintf(stderr, "thalweg: there is no op %.*s\n", static_cast<int>(name.size()), name.data());
    std::abort();
  }
  return *found;
}

int Op::count_outputs(size_t num_inputs, AttrsRef call_attrs) const {
  int count = 0;
  for (const Arg& r : results) {
    if (!r.is_list()) {
      ++count;
      continue;
    }
    if (r.mixed && r.from_attr >= 0) {  // one result for each type in a list
      count += static_cast<int>(std::get<std::vector<DType>>(attrs->get(call_attrs.p, r.from_attr)).size());
      continue;
    }
    int row = attrs && !r.number_attr.empty() ? attrs->find(r.number_attr) : -1;
    if (row >= 0) {
      int64_t n = std::get<int64_t>(attrs->get(call_attrs.p, row));
      if (n < 0 || n > 1 << 20)
        throw InvalidArgumentError(std::string(name) + ": " + r.number_attr + " must be between 0 and 1048576, got " +
                                   std::to_string(n));
      count += static_cast<int>(n);
    } else {
      count +=
          static_cast<int>(num_inputs - (args.size() - static_cast<size_t>(num_lists))) / (num_lists ? num_lists : 1);
    }
  }
  return count;
}

std::span<const TensorRef> InferCall::argument(int i) const {
  auto [begin, count] = argument_range(op, in_.size(), i);
  return in_.subspan(begin, count);
}
std::vector<int64_t> InferCall::values(int i) const { return read_values(in_[static_cast<size_t>(i)].p); }

int64_t InferCall::scalar(int i) const {
  if (shape(i).count() != 1)
    fail(op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + shape(i).brackets());
  return values(i)[0];
}

Shape InferCall::shape_value(int i) const {
  require_rank(i, 1);
  if (!has_value(i)) return partial_value(i);
  Shape result;
  for (int64_t d : values(i)) {
    if (d < 0) fail("the shape has a negative dimension, " + std::to_string(d));
    result.push_back(d);
  }
  return result;
}

Shape InferCall::partial_value(int i) const {
  if (thread_state.tracer) return thread_state.tracer->known_dims(*in_[static_cast<size_t>(i)].p);
  return shape(i).is_fully_defined() && shape(i)[0] <= Shape::max_rank ? Shape::of_rank(static_cast<int>(shape(i)[0]))
                                                                       : Shape::unknown_rank();
}

DType InferCall::find_result_dtype(int i) const {
  size_t k = static_cast<size_t>(i);
  if (k >= op.results.size()) k = op.results.size() - 1;  // a list of results is the last
  for (size_t r = 0; r < k; ++r)
    if (op.results[r].is_list()) k = r;
  const Arg& arg = op.results[k];
  if (arg.dtype != DType::invalid) return arg.dtype;
  if (arg.from_input >= 0) return arg.mixed ? dtype(i) : dtype(arg.from_input);
  if (arg.from_attr >= 0) {
    AttrValue value = op.attrs->get(attrs_.p, arg.from_attr);
    if (auto* list = std::get_if<std::vector<DType>>(&value)) return list->at(static_cast<size_t>(i) - k);
    if (auto* t = std::get_if<DType>(&value)) {
      for (const TypeAttr& a : op.type_attrs)
        if (a.name == arg.type_attr && !a.allowed.has(*t))
          fail(arg.type_attr + " cannot be " + std::string(name_of(*t)) + "; it is one of " + to_string(a.allowed));
      return *t;
    }
    fail("the attribute " + arg.type_attr + " is required");
  }
  for (size_t a = 0; a < op.args.size(); ++a)
    if (op.args[a].type_attr == arg.type_attr && !argument(static_cast<int>(a)).empty())
      return argument(static_cast<int>(a))[0].p->dtype;
  fail("cannot tell the dtype of " + arg.name);
}

// As in TensorFlow, a graph that cannot be made is a ValueError, and what a running op refuses an InvalidArgumentError.
void InferCall::fail(const std::string& why) const {
  const bool symbolic = thread_state.tracer || std::any_of(in_.begin(), in_.end(), [](const TensorRef& t) {
                          return t.p && t.p->form == Form::symbolic;
                        });
  if (symbolic) throw ValueError(failure(op, in_, why));
  throw InvalidArgumentError(failure(op, in_, why));
}

void InferCall::require_rank(int i, int rank) const {
  if (shape(i).has_rank() && shape(i).rank() != rank)
    fail(op.args[static_cast<size_t>(i)].name + " must have rank " + std::to_string(rank) + ", got shape " +
         shape(i).brackets());
}
void InferCall::require_rank_at_least(int i, int rank) const {
  if (shape(i).has_rank() && shape(i).rank() < rank)
    fail(op.args[static_cast<size_t>(i)].name + " must have rank " + std::to_string(rank) + " or more, got shape " +
         shape(i).brackets());
}

int InferCall::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank)
    fail("axis " + std::to_string(value) + " is out of range: with " + std::to_string(rank) +
         " dimensions it lies in [" + std::to_string(-rank) + ", " + std::to_string(rank) + ")");
  return static_cast<int>(value < 0 ? value + rank : value);
}

std::span<const TensorRef> KernelCall::argument(int i) const {
  auto [begin, count] = argument_range(op, in_.size(), i);
  return in_.subspan(begin, count);
}
std::vector<int64_t> KernelCall::values(int i) const { return read_values(in_[static_cast<size_t>(i)].p); }
int64_t KernelCall::scalar(int i) const { return values(i).at(0); }

void KernelCall::allocate(int i, const Shape& shape) const {
  TensorImpl* o = out_[static_cast<size_t>(i)];
  if (o->data) {  // infer knew the shape, and the memory is there
    if (o->shape == shape) return;
    fail("result " + std::to_string(i) + " was inferred as " + o->shape.brackets() + " but is " + shape.brackets());
  }
  o->shape = shape;
  o->allocate();
}

namespace {
void show_memory(TensorImpl* o, const TensorImpl* from) {
  if (!from->buffer) {  // small data lies in the block itself: a copy is cheaper than a count
    o->allocate();
    copy_elements(o->dtype, from->data, o->data, o->shape.count());
    return;
  }
  o->buffer = from->buffer;
  o->buffer->retain();
  o->data = from->data;
}
}  // namespace

void KernelCall::share(int i, int input) const {
  show_memory(out_[static_cast<size_t>(i)], in_[static_cast<size_t>(input)].p);
}
void KernelCall::adopt(int i, const Tensor& value) const {
  TensorImpl* o = out_[static_cast<size_t>(i)];
  if (!o->shape.is_compatible_with(value.shape()) || o->dtype != value.dtype())
    fail("result " + std::to_string(i) + " was inferred as " + o->shape.brackets() + " but is " +
         value.shape().brackets());
  o->shape = value.shape();
  show_memory(o, value.impl());
}

void KernelCall::fail(const std::string& why) const { throw InvalidArgumentError(failure(op, in_, why)); }

}  // namespace thalweg
