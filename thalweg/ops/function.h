// Public functions as records, beside the ops: what Python, the docs and the tests call by name.
//   const auto& relu_function = define_function<nn::relu>({"nn.relu"}, {"features"});
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/ops/attrs.h"

namespace thalweg {

/// What a required parameter takes.
enum class ParamKind : uint8_t { tensor, tensor_like, tensors, value };

/// One argument of a generic call.
struct Argument {
  TensorImpl* tensor = nullptr;  // borrowed; tensor and tensor_like
  std::vector<Tensor> tensors;
  AttrValue value;
};
/// The results of a generic call: one tensor, or several.
struct Results {
  Tensor one;
  std::vector<Tensor> many;
};
enum class ResultKind : uint8_t { none, one, list, record };

struct Param {
  std::string name;
  ParamKind kind = ParamKind::tensor;
  const MemberType* type = nullptr;  // of a value
};

/// A public function: its names in TensorFlow's Python tree, its parameters, and how to call it.
struct FunctionDef {
  std::vector<std::string> names;     // "nn.relu"; the first is the main one
  std::vector<Param> params;          // required, positional
  const AttrType* options = nullptr;  // the rest, in TensorFlow's order
  ResultKind result = ResultKind::one;
  std::vector<std::string_view> result_names;  // of a record
  void (*call)(Argument* arguments, const void* options, Results& results) = nullptr;
};
const FunctionDef& register_function(FunctionDef def);
THALWEG_API std::span<const FunctionDef* const> all_functions();
THALWEG_API const FunctionDef* find_function(std::string_view name);

namespace detail {

template <class P> using Bare = std::remove_cvref_t<P>;
template <class P>
inline constexpr bool is_tensor_list =
    std::is_same_v<Bare<P>, std::span<const Tensor>> || std::is_same_v<Bare<P>, std::vector<Tensor>>;
/// An options struct: an aggregate of members, always the last parameter.
template <class P> inline constexpr bool is_options = std::is_aggregate_v<Bare<P>> && std::is_class_v<Bare<P>>;

template <class P> decltype(auto) pass(Argument& a, const void* options) {
  using T = Bare<P>;
  if constexpr (is_options<P>) return *static_cast<const T*>(options);
  else if constexpr (std::is_same_v<T, Tensor>) return reinterpret_cast<const Tensor&>(a.tensor);
  else if constexpr (std::is_same_v<T, TensorLike>) return reinterpret_cast<const Tensor&>(a.tensor);
  else if constexpr (std::is_same_v<T, std::span<const Tensor>>) return std::span<const Tensor>(a.tensors);
  else if constexpr (std::is_same_v<T, std::vector<Tensor>>) return static_cast<const std::vector<Tensor>&>(a.tensors);
  else {
    using V = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;
    V value{};
    member_type<V>().set(&value, a.value);  // the caller has checked the kind
    return value;
  }
}
template <class P> Param make_param(std::string_view name) {
  using T = Bare<P>;
  if constexpr (std::is_same_v<T, Tensor>) return {std::string(name), ParamKind::tensor};
  else if constexpr (std::is_same_v<T, TensorLike>) return {std::string(name), ParamKind::tensor_like};
  else if constexpr (is_tensor_list<P>) return {std::string(name), ParamKind::tensors};
  else
    return {std::string(name), ParamKind::value,
            &member_type<std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>>()};
}

template <class R> void describe_result(FunctionDef& def) {
  if constexpr (std::is_void_v<R>) def.result = ResultKind::none;
  else if constexpr (std::is_same_v<R, Tensor>) def.result = ResultKind::one;
  else if constexpr (std::is_same_v<R, std::vector<Tensor>>) def.result = ResultKind::list;
  else {
    def.result = ResultKind::record;
    [&]<size_t... I>(std::index_sequence<I...>) {
      def.result_names = {reflect::member_name<R, I>()...};
    }(std::make_index_sequence<reflect::count_members<R>()>{});
  }
}
template <class R> void keep_result(R result, Results& results) {
  if constexpr (std::is_same_v<R, Tensor>) results.one = std::move(result);
  else if constexpr (std::is_same_v<R, std::vector<Tensor>>) results.many = std::move(result);
  else
    std::apply([&](auto*... member) { (results.many.push_back(std::move(*member)), ...); }, reflect::members(result));
}

}  // namespace detail

/// Registers a function under its names; parameters, options and results are read off its C++ type, which is written
/// out where an option may be given by position and the name stands for two functions:
///   define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_sum>({"reduce_sum"}, {"input_tensor"});
template <auto F>
const FunctionDef& define_function(std::initializer_list<const char*> names,
                                   std::initializer_list<const char*> params) {
  return []<class R, class... P>(R (*)(P...), auto names, auto params) -> const FunctionDef& {
    FunctionDef def;
    def.names.assign(names.begin(), names.end());
    [[maybe_unused]] auto name = params.begin();  // some functions have no parameters
    (
        [&] {
          if constexpr (detail::is_options<P>) def.options = attrs_of<detail::Bare<P>>();
          else def.params.push_back(detail::make_param<P>(name < params.end() ? *name++ : ""));
        }(),
        ...);
    detail::describe_result<R>(def);
    def.call = [](Argument* a, const void* options, Results& results) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (std::is_void_v<R>) F(detail::pass<P>(a[I], options)...);
        else detail::keep_result(F(detail::pass<P>(a[I], options)...), results);
      }(std::index_sequence_for<P...>{});
    };
    return register_function(std::move(def));
  }(F, names, params);
}
template <class Signature, Signature* F>
const FunctionDef& define_function(std::initializer_list<const char*> names,
                                   std::initializer_list<const char*> params) {
  return define_function<F>(names, params);
}

}  // namespace thalweg
