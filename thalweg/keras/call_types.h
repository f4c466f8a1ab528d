// What the calls of layers take, and how the types of a struct's own `call` and steps are read.
#pragma once
#include "thalweg/graph/nest.h"
#include "thalweg/ops/options.h"

namespace thalweg::keras {

class Model;
struct NamedArgs;

/// A truth value that may be left open. Only a bool makes one.
class Choice {
 public:
  constexpr Choice() = default;
  template <std::same_as<bool> B> constexpr Choice(B value) : value_(value), given_(true) {}  // NOLINT
  constexpr bool given() const { return given_; }
  /// False where it is open.
  constexpr operator bool() const { return value_; }  // NOLINT

 private:
  bool value_ = false, given_ = false;
};

/// What a call of a layer takes besides its inputs.
struct CallArgs {
  Choice training = {};                        // left out: as in the call around it
  Nest mask = {};                              // left out: the masks that the inputs carry
  Flag ignores_masks = false;                  // even those count for nothing
  Nest initial_state = {};                     // of recurrent layers
  Nest constants = {};                         // for the cells of recurrent layers
  Nest attention_mask = {};                    // of attention layers
  Flag return_attention_scores = false;        // of attention layers: the scores too
  Flag use_causal_mask = false;                // of attention layers: no step sees a later one
  Nest more = {};                              // tensors among the other arguments, which the class of the layer knows
  std::shared_ptr<const NamedArgs> rest = {};  // and those arguments: call_arguments.h
};

namespace detail {

template <class M> struct CallTraits {
  static_assert(sizeof(M) == 0,
                "call() must be one member function with known parameter types: `Tensor call(const Tensor& x)`, or "
                "`Tensor call(const Tensor& x, const CallArgs& args)`");
};
/// The last type of a tuple; void where there is none.
template <class T> struct Last {
  using type = void;
};
template <class... A>
  requires(sizeof...(A) > 0)
struct Last<std::tuple<A...>> : std::tuple_element<sizeof...(A) - 1, std::tuple<A...>> {};
template <class R, class... P> struct CallTypes {
  using Result = std::remove_cvref_t<R>;
  using All = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr size_t count = sizeof...(P);
  static_assert(count > 0, "call() takes at least the inputs: `Tensor call(const Tensor& x)`");
  template <class A>
  static constexpr bool is_changed = std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;
  static_assert(!(is_changed<P> || ...),
                "call() takes its inputs by value or by reference to const, for they are the caller's: "
                "`Tensor call(const Tensor& x, const CallArgs& args)`");
  static constexpr bool takes_args = std::is_same_v<typename Last<All>::type, CallArgs>;
  template <size_t... I> static std::tuple<std::tuple_element_t<I, All>...> first(std::index_sequence<I...>);
  using Inputs = decltype(first(std::make_index_sequence<count - takes_args>{}));
};
template <class C, class R, class... P> struct CallTraits<R (C::*)(P...)> : CallTypes<R, P...> {};
template <class C, class R, class... P> struct CallTraits<R (C::*)(P...) const> : CallTypes<R, P...> {};
template <class R, class... P> struct CallTraits<R (*)(P...)> : CallTypes<R, P...> {};
template <class T> auto call_pointer() {
  if constexpr (requires { &T::call; }) return &T::call;
  else if constexpr (std::is_pointer_v<T>) return T{};
  else return &T::operator();
}
template <class T> using CallOf = CallTraits<decltype(call_pointer<T>())>;
// Sizes of states as cells write them.
inline std::vector<Shape> to_sizes(int64_t size) { return {Shape{size}}; }
inline std::vector<Shape> to_sizes(const Shape& size) { return {size}; }
inline std::vector<Shape> to_sizes(std::vector<Shape> sizes) { return sizes; }
inline std::vector<Shape> to_sizes(const std::vector<int64_t>& sizes) {
  std::vector<Shape> made;
  for (int64_t size : sizes) made.push_back(Shape{size});
  return made;
}
template <class T> inline constexpr bool is_structure = structure::Structured<T> || std::same_as<T, Nest>;
/// Whether a method is a step of training, testing or predicting.
template <class S> inline constexpr bool is_step = false;
template <class C, class R, class... P> inline constexpr bool is_step<R (C::*)(Model&, P...)> = is_structure<R>;

}  // namespace detail
}  // namespace thalweg::keras
