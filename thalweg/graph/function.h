// tf::function: traced at the first call, then a compiled plan.
//   auto step = function([&](const Tensor& x, const Tensor& y) { ... return loss; });
#pragma once
#include "thalweg/graph/arguments.h"
#include "thalweg/graph/function_core.h"

namespace thalweg {

namespace graph {

template <class F> struct SignatureOf {
  static_assert(!std::is_class_v<F>,
                "tf::function cannot deduce the parameters: write their types ([](Tensor x), not [](auto x)), or give "
                "the signature, tf::Function<Tensor(Tensor)>(f)");
};
template <class R, class... A> struct SignatureOf<R (*)(A...)> {
  using type = R(A...);
};
template <class F>
  requires requires { &F::operator(); }
struct SignatureOf<F> : SignatureOf<decltype(&F::operator())> {};
template <class C, class R, class... A> struct SignatureOf<R (C::*)(A...)> {
  using type = R(A...);
};
template <class C, class R, class... A> struct SignatureOf<R (C::*)(A...) const> {
  using type = R(A...);
};

template <class R> struct ResultOf {
  using type = structure::of_tensors<R>;
};
template <> struct ResultOf<void> {
  using type = void;
};

}  // namespace graph

template <class Signature> class Function;

/// A function whose ops are traced into a graph at the first call for each kind of arguments, and run from a plan
/// afterwards. A handle: copies share their traces. Tensors are told apart by dtype and shape, variables by identity,
/// numbers and strings by value; what the function captures is taken by reference or value as its lambda says.
template <class R, class... A> class Function<R(A...)> {
 public:
  using Result = typename graph::ResultOf<R>::type;

  Function() = default;
  template <class F>
    requires(std::is_invocable_r_v<R, F&, A...> && !std::same_as<std::remove_cvref_t<F>, Function>)
  Function(F f, FunctionOptions options = {})  // NOLINT: like std::function
      : state_(std::make_shared<State>(std::move(f), std::move(options))) {}

  Result operator()(const std::remove_cvref_t<A>&... arguments) const {
    if (config::functions_run_eagerly()) return static_cast<Result>(state().f(arguments...));
    graph::Arguments call;
    (graph::collect(arguments, call), ...);
    std::span<const TensorRef> tensors = call.tensors();
    if constexpr (std::same_as<R, Tensor>)
      if (Tensor result = state().core.run_one(tensors, call.rest); result.defined()) [[likely]]
        return result;
    std::optional<graph::Traced> results = state().core.run_again(tensors, call.rest);
    if (!results) results = state().core.run(tensors, call.rest, tracer(arguments...));
    return results ? result_of(std::move(*results)) : static_cast<Result>(state().f(arguments...));
  }

  /// The trace for tensors like these: a TensorSpec for each tensor, other values as they are.
  template <class... S> ConcreteFunction get_concrete_function(const S&... arguments) const {
    auto example = [&]<class T>(const T& argument) -> decltype(auto) {
      if constexpr (std::same_as<T, TensorSpec>) return detail::stand_in(argument.dtype, argument.shape);
      else return argument;
    };
    auto examples = std::tuple<std::remove_cvref_t<A>...>(example(arguments)...);
    graph::Arguments call;
    std::apply([&](const auto&... a) { (graph::collect(a, call), ...); }, examples);
    auto body = std::apply([&](const auto&... a) { return tracer(a...); }, examples);
    return state().core.concrete(call.tensors(), call.rest, body);
  }

  bool defined() const { return state_ != nullptr; }
  /// How often it was traced.
  int experimental_get_tracing_count() const { return state().core.tracing_count(); }
  /// One line per trace: its arguments and results.
  std::string pretty_printed_concrete_signatures() const { return graph::describe(state().core); }
  /// The function as it is written.
  const std::function<R(A...)>& python_function() const { return state().f; }

 private:
  struct State {
    State(std::function<R(A...)> function, FunctionOptions options)
        : f(std::move(function)), core(std::move(options)) {}
    std::function<R(A...)> f;
    graph::FunctionCore core;
  };

  State& state() const {
    if (!state_) [[unlikely]]
      graph::refuse_empty_function();
    return *state_;
  }
  static Result result_of(graph::Traced&& traced) {
    if constexpr (!std::is_void_v<R>) {
      auto next = [i = size_t{0}, &traced]() mutable { return std::move(traced.tensors[i++]); };
      return structure::rebuild(*static_cast<const R*>(traced.structure.get()), next);
    }
  }
  graph::TraceBody tracer(const std::remove_cvref_t<A>&... arguments) const {
    return [&, own = state_.get()](std::span<const Tensor> symbolic) {
      [[maybe_unused]] auto next = [i = size_t{0}, symbolic]() mutable { return symbolic[i++]; };
      // Braces: in the order of the arguments.
      std::tuple<std::remove_cvref_t<A>...> traced{graph::with_tensors(arguments, next)...};
      graph::Traced result;
      if constexpr (std::is_void_v<R>) {
        std::apply(own->f, traced);
      } else {
        auto made = std::make_shared<R>(std::apply(own->f, traced));
        structure::for_each(*made, [&](const auto& leaf) { result.tensors.push_back(leaf); });
        result.structure = made;
      }
      return result;
    };
  }

  std::shared_ptr<State> state_;
};

/// Makes a traced function of a lambda or a function.
template <class F> auto function(F f, FunctionOptions options = {}) {
  using Signature = typename graph::SignatureOf<F>::type;
  return Function<Signature>(std::move(f), std::move(options));
}
/// A member function of an object, which must outlive it.
template <class C, class R, class... A> auto function(C& object, R (C::*method)(A...), FunctionOptions options = {}) {
  return Function<R(A...)>([&object, method](A... a) -> R { return (object.*method)(a...); }, std::move(options));
}

}  // namespace thalweg
