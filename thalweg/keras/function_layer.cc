#include "thalweg/keras/function_layer.h"

#include <algorithm>
#include <array>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/keras/attr_config.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/names.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/slice_spec.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/variable.h"

namespace thalweg::keras {
namespace {

constexpr std::string_view getitem = "__operators__.getitem";

/// A tensor as it is, and the value that a variable has now.
Tensor current(const Tensor& t) {
  return t.defined() && t.dtype() == DType::resource ? Variable::from_handle(t).value() : t;
}

/// The arguments of one call.
class Arguments {
 public:
  explicit Arguments(const CallArgs& args) : tensors_(args.more.flatten()) {}

  Tensor at(size_t place) const {
    if (place >= tensors_.size()) throw ValueError("a call of a layer lacks a tensor among its arguments");
    return current(tensors_[place]);
  }
  /// Tensors, literals, and lists that have tensors among their items.
  Tensor tensor(const Value& value) const {
    if (value.is_none()) return {};
    if (std::optional<size_t> place = place_in(value)) return at(*place);
    if (!has_places(value)) return literal_from_value(value);
    std::vector<Tensor> items;
    DType dtype = DType::invalid;
    for (const Value& item : value.list()) {
      items.push_back(tensor(item));
      if (items.back().impl()->weak == Weak::strong) dtype = items.back().dtype();
    }
    for (Tensor& item : items)
      if (item.impl()->weak != Weak::strong) item = strengthen(item, dtype);
    return stack(items);
  }
  std::vector<Tensor> list(const Value& value) const {
    if (place_in(value)) return unstack(tensor(value));
    std::vector<Tensor> items;
    for (const Value& item : value.list()) items.push_back(natural(tensor(item)));
    return items;
  }
  AttrValue attr(const Value& value, const MemberType& type) const {
    if (type.kind == AttrKind::tensor && has_places(value)) return tensor(value);
    AttrValue made = attr_from_value(plain(value), type);
    // Only a parameter takes its dtype from the call; other tensors among the options have their own.
    if (auto* t = std::get_if<Tensor>(&made); t && !type.optional) *t = natural(*t);
    return made;
  }
  static Tensor natural(const Tensor& t) {
    return t.defined() && t.impl()->weak != Weak::strong ? strengthen(t, natural_dtype(*t.impl())) : t;
  }
  /// Tensors with values where numbers are meant.
  Value plain(const Value& value) const {
    return map_places(value, [&](size_t place) { return to_value(at(place)); });
  }

 private:
  std::vector<Tensor> tensors_;
};

bool is_ellipsis(const Value& value) { return value.is_map() && value["class_name"].is_text(); }

Index to_index(const Value& value, const Arguments& arguments) {
  if (value.is_none()) return Index(newaxis);
  if (std::optional<size_t> place = place_in(value)) return Index(arguments.at(*place));
  if (is_ellipsis(value)) return Index(ellipsis);
  if (value.is_map()) {
    auto end = [&](const char* name) {
      const Value number = arguments.plain(value[name]);
      return number.is_none() ? std::optional<int64_t>() : std::optional<int64_t>(number.integer());
    };
    return Index(Slice{end("start"), end("stop"), end("step").value_or(1)});
  }
  if (value.is_list()) return Index(Arguments::natural(literal_from_value(value)));  // a mask
  return Index(value.integer());
}

/// Whether a slice has an end that is known only when the model runs.
bool has_open_end(const Value& value, const Arguments& arguments) {
  if (value.is_list())
    return std::ranges::any_of(value.list(), [&](const Value& item) { return has_open_end(item, arguments); });
  if (!value.is_map() || is_ellipsis(value)) return false;
  return std::ranges::any_of(std::array{"start", "stop", "step"}, [&](const char* end) {
    std::optional<size_t> place = place_in(value[end]);
    return place && arguments.at(*place).is_symbolic();
  });
}

/// The same with ends that are tensors: entry by entry what `x[...]` means, as the op takes it.
Tensor slice_with_tensors(const Tensor& x, const Value::List& spec, const Arguments& arguments) {
  std::vector<Tensor> begin, end, strides;
  StridedSliceAttrs masks;
  auto number = [&](const Value& value, int64_t otherwise) {
    return value.is_none() ? Tensor(otherwise) : cast(arguments.tensor(value), DType::int64);
  };
  for (size_t i = 0; i < spec.size(); ++i) {
    const Value& entry = spec[i];
    const int64_t bit = int64_t{1} << i;
    const bool is_slice = entry.is_map() && !place_in(entry) && !is_ellipsis(entry);
    const bool is_number = !is_slice && !entry.is_none() && !is_ellipsis(entry);
    if (entry.is_none()) masks.new_axis_mask |= bit;
    else if (is_ellipsis(entry)) masks.ellipsis_mask |= bit;
    else if (is_number) masks.shrink_axis_mask |= bit;
    if (is_slice && entry["start"].is_none()) masks.begin_mask |= bit;
    if (is_slice && entry["stop"].is_none()) masks.end_mask |= bit;
    begin.push_back(is_slice ? number(entry["start"], 0) : is_number ? number(entry, 0) : Tensor(int64_t{0}));
    end.push_back(is_slice ? number(entry["stop"], 0) : is_number ? begin.back() + int64_t{1} : Tensor(int64_t{0}));
    strides.push_back(is_slice ? number(entry["step"], 1) : Tensor(int64_t{1}));
  }
  return strided_slice_by(x, stack(begin), stack(end), stack(strides), masks);
}

Tensor slice_of(const Tensor& x, const Value& spec, const Arguments& arguments) {
  if (has_open_end(spec, arguments))
    return slice_with_tensors(x, spec.is_list() ? spec.list() : Value::List{spec}, arguments);
  std::vector<Index> indices;
  if (spec.is_list()) {
    for (const Value& item : spec.list()) indices.push_back(to_index(item, arguments));
  } else {
    indices.push_back(to_index(spec, arguments));
  }
  return x.index(indices);
}

/// Where an argument goes: a parameter, or an option behind the parameters; -1 for neither.
int find_argument(const FunctionDef& function, const FunctionStyle& style, std::string_view name) {
  for (const auto& [ours, theirs] : style.renamed)
    if (theirs == name) name = ours;
  for (size_t i = 0; i < function.params.size(); ++i)
    if (function.params[i].name == name) return static_cast<int>(i);
  const int row = function.options ? function.options->find(name) : -1;
  return row < 0 ? -1 : static_cast<int>(function.params.size()) + row;
}

}  // namespace

FunctionLayer::FunctionLayer(const std::string& symbol, const std::string& given_name) : symbol_(symbol) {
  is_slicing_ = symbol == getitem || symbol.ends_with("boolean_mask");
  if (symbol != getitem) function_ = function_named(symbol, style_);
  if (symbol != getitem && !function_) throw ValueError("TF symbol `" + symbol + "` could not be found.");
  autocast = false;
  if (!given_name.empty()) observe_name(given_name);
  name = given_name.empty() ? unobserved_name("tf." + symbol) : given_name;
}

const std::string& FunctionLayer::first_name() const {
  static const std::string sliced = "tensor";
  return function_ ? function_->params[0].name : sliced;
}

std::string_view FunctionLayer::op_name() const {
  if (!function_) return "strided_slice";
  for (std::string_view named : {"concat", "stack", "transpose", "split", "unstack", "one_hot", "clip_by_value",
                                 "zeros_like", "ones_like", "truediv"})
    if (symbol_ == named || symbol_.ends_with("." + std::string(named))) return named;
  return symbol_ == "math.l2_normalize" ? "l2_normalize" : std::string_view();
}

std::string FunctionLayer::record_text(const Nest& results) const {
  if (!function_ || function_->result != ResultKind::record || results.size() != function_->result_names.size())
    return {};
  std::string text;
  for (size_t i = 0; i < results.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(function_->result_names[i]) + "=" + functional::shape_text(results[i]);
  std::string record;  // top_k: TopKV2, unique_with_counts: UniqueWithCounts
  bool begins = true;
  for (char c : symbol_.substr(symbol_.rfind('.') + 1)) {
    if (c != '_') record += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    begins = c == '_';
  }
  return (record == "TopK" ? "TopKV2" : record) + "(" + text + ")";
}

Nest FunctionLayer::call(const Nest& inputs, const CallArgs& args) {
  const Nest first = inputs.map(current);
  if (function_) return call_function(first, args);
  if (!args.rest || !args.rest->named.contains("slice_spec"))
    throw TypeError("layer '" + name + "': an index needs a `slice_spec`");
  return Nest(slice_of(first.tensor(), args.rest->named["slice_spec"], Arguments(args)));
}

Nest FunctionLayer::call_function(const Nest& first, const CallArgs& args) const {
  const FunctionDef& f = *function_;
  const Arguments given(args);
  std::vector<Argument> arguments(f.params.size());
  std::vector<Tensor> held(f.params.size());
  std::vector<bool> has(f.params.size());
  auto hold = [&](size_t i, Tensor t) {
    held[i] = f.params[i].kind == ParamKind::tensor ? Arguments::natural(t) : std::move(t);
    arguments[i].tensor = held[i].get();
    has[i] = true;
  };
  Attrs options;
  if (f.options) options = Attrs(*f.options);
  auto refuse = [&](const std::string& what) { throw TypeError("layer '" + name + "' (" + symbol_ + "): " + what); };
  auto put = [&](size_t i, const Value& value) {
    const Param& param = f.params[i];
    if (param.kind == ParamKind::tensor || param.kind == ParamKind::tensor_like) return hold(i, given.tensor(value));
    if (param.kind == ParamKind::tensors) arguments[i].tensors = given.list(value);
    else arguments[i].value = given.attr(value, *param.type);
    has[i] = true;
  };
  if (first.is_tensor() && f.params[0].kind == ParamKind::value) {
    put(0, to_value(first.tensor()));  // read from a configuration
  } else if (f.params[0].kind == ParamKind::tensors && !(first.is_sequence() && first.size() == 0)) {
    for (const Tensor& t : first.is_tensor() ? unstack(first.tensor()) : first.flatten())
      arguments[0].tensors.push_back(Arguments::natural(t));
    has[0] = true;
  } else if (first.is_tensor()) {
    hold(0, first.tensor());
  } else if (first.size() > 0) {
    hold(0, stack(first.flatten()));  // a list where one tensor is meant
  }
  if (args.rest)
    for (const auto& [key, value] : args.rest->named.map()) {
      const int place = find_argument(f, style_, key);
      const auto num_params = static_cast<int>(f.params.size());
      if (place >= num_params) {
        if (value.is_none() && !f.options->rows[static_cast<size_t>(place - num_params)].type->optional) continue;
        const AttrRow& row = f.options->rows[static_cast<size_t>(place - num_params)];
        if (!f.options->set(options.get(), place - num_params, given.attr(value, *row.type)))
          refuse("the argument '" + key + "' cannot be " + value.json());
      } else if (place >= 0) {
        put(static_cast<size_t>(place), value);
      } else if (key != "name" && !value.is_none()) {
        bool is_known = false;  // what only Keras's form has, with its usual value
        for (const auto& [usual, usual_value] : style_.always) is_known |= usual == key && usual_value == value;
        if (!is_known) refuse("it takes no argument '" + key + "'");
      }
    }
  for (size_t i = 0; i < f.params.size(); ++i)
    if (!has[i]) refuse("the argument '" + f.params[i].name + "' is missing");
  Results results;
  f.call(arguments.data(), options.get(), results);
  if (f.result == ResultKind::one) return Nest(results.one);
  return Nest::of(results.many);
}

Nest call_symbol(const std::string& symbol, const Nest& first, Value named, std::vector<Nest> tensors) {
  auto rest = std::make_shared<NamedArgs>();
  rest->named = std::move(named);
  CallArgs args;
  args.more = Nest::list(std::move(tensors));
  args.rest = std::move(rest);
  return functional::record(Layer(std::make_shared<FunctionLayer>(symbol)), first, args);
}

}  // namespace thalweg::keras
