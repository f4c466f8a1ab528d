// Host functions: code that runs with the values, in the middle of a traced function.
//   Tensor y = host_function([](const Tensor& x) { std::cout << x; return x * 2.0f; }, {x}, float32);
#pragma once
#include "thalweg/autodiff/structure.h"
#include "thalweg/graph/function.h"

namespace thalweg {

namespace graph {

/// Takes the values of the inputs, gives those of the results.
using HostCall = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;

class HostFunction;
using HostFunctionRef = std::shared_ptr<const HostFunction>;
/// Code with a name, its token, under which ops of files find it in this process. It lives as long as somebody holds
/// it: whoever made it, and the graphs whose nodes call it.
class THALWEG_API HostFunction {
 public:
  /// `inner` is the function that this one calls in its turn.
  explicit HostFunction(HostCall call, HostFunctionRef inner = {});
  virtual ~HostFunction();
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;

  const std::string& token() const { return token_; }
  const HostCall& call() const { return call_; }
  const HostFunctionRef& inner() const { return inner_; }

 private:
  std::string token_;
  HostCall call_;
  HostFunctionRef inner_;
};
/// Puts it where its token finds it.
THALWEG_API HostFunctionRef register_host_function(std::shared_ptr<HostFunction> function);

/// How a host function is called.
enum class HostKind : uint8_t {
  differentiable,  // EagerPyFunc: tapes go back through the ops it applies to its inputs
  stateful,        // PyFunc: called once per run, in program order
  stateless,       // PyFuncStateless: called when somebody needs its results
};
/// Calls it now, or adds the call to the function that is being traced.
THALWEG_API std::vector<Tensor> call_host(const HostFunctionRef& function, std::span<const Tensor> inputs,
                                          const std::vector<DType>& output_types, HostKind kind);

/// The host functions that a graph calls, itself or through functions inside.
THALWEG_API std::vector<HostFunctionRef> host_functions_of(const Graph& graph);

template <class Signature> struct HostParameters;
template <class R, class... A> struct HostParameters<R(A...)> {
  static constexpr size_t count = sizeof...(A);
};
[[noreturn]] THALWEG_API void refuse_host_inputs(size_t parameters, size_t inputs);

/// A lambda over tensors as a HostCall.
template <class F> HostCall host_call(F f) {
  return [f = std::move(f)](std::span<const Tensor> inputs) mutable -> std::vector<Tensor> {
    auto finish = [](auto&& call) -> std::vector<Tensor> {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
      } else {
        std::vector<Tensor> leaves;
        auto result = call();
        structure::for_each(result, [&](const auto& leaf) { leaves.push_back(leaf); });
        return leaves;
      }
    };
    if constexpr (std::is_invocable_v<F&, std::span<const Tensor>>) {
      return finish([&] { return f(inputs); });
    } else {
      constexpr size_t count = HostParameters<typename SignatureOf<F>::type>::count;
      if (inputs.size() != count) refuse_host_inputs(count, inputs.size());
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return finish([&] { return f(inputs[I]...); });
      }(std::make_index_sequence<count>{});
    }
  };
}

}  // namespace graph

struct HostFunctionOptions {
  bool stateful = true;        // called exactly once per run, in program order; else only when its results are used
  bool differentiable = true;  // tapes go back through the ops it applies; needs `stateful`
};

/// Calls `f` with the values of the inputs: now, or, inside of a traced function, each time that it runs. `f` takes one
/// tensor per input (or a `std::span<const Tensor>`) and returns a tensor, a structure of tensors or nothing; results
/// must have the dtypes that are named here, one for each. What it throws arrives where the function was called.
template <class F>
std::vector<Tensor> host_function(F f, const std::vector<Tensor>& inputs, const std::vector<DType>& output_types,
                                  const HostFunctionOptions& options = {}) {
  auto made = graph::register_host_function(std::make_shared<graph::HostFunction>(graph::host_call(std::move(f))));
  graph::HostKind kind = !options.stateful        ? graph::HostKind::stateless
                         : options.differentiable ? graph::HostKind::differentiable
                                                  : graph::HostKind::stateful;
  return graph::call_host(made, inputs, output_types, kind);
}
/// The same with one result.
template <class F>
Tensor host_function(F f, const std::vector<Tensor>& inputs, DType output_type,
                     const HostFunctionOptions& options = {}) {
  return host_function(std::move(f), inputs, std::vector<DType>{output_type}, options)[0];
}

}  // namespace thalweg
