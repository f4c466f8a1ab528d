// Where nodes were made: errors lead back to the program.
#include "thalweg/graph/where.h"

#include <gtest/gtest.h>

#include "thalweg/graph/function_body.h"
#include "thalweg/thalweg.h"

namespace program {  // user code: outside of the library's namespace, and not inlined, so that names tell

using thalweg::Tensor;

[[gnu::noinline]] Tensor look_up(const Tensor& table, const Tensor& index) {
  Tensor doubled = thalweg::cumsum(table) * 2.0f;
  Tensor found = thalweg::gather(doubled, index);
  return found + 0.0f;
}

[[gnu::noinline]] Tensor derive(const Tensor& x) {
  thalweg::GradientTape tape;
  tape.watch(x);
  Tensor y = thalweg::reduce_sum(thalweg::matmul(x, x));
  Tensor gradient = tape.gradient(y, x);
  return gradient * 2.0f;
}

}  // namespace program

namespace thalweg {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

#if __has_include(<backtrace.h>)
constexpr bool has_names = true;
#else
constexpr bool has_names = false;
#endif

TEST(Where, ErrorsNameTheNodeAndItsMaker) {
  auto f = function([](const Tensor& x, const Tensor& i) { return program::look_up(x, i); });
  for (int i = 0; i < 3; ++i) {
    std::string text = message([&] { f(ones({4 + i, 2}), Tensor{77}); });
    EXPECT_NE(text.find("[[node GatherV2]]"), std::string::npos) << text;
    if (has_names) {
      EXPECT_NE(text.find("program::look_up("), std::string::npos) << text;
    }
  }
}

TEST(Where, GradientsNameTheOp) {
  auto f = function([](const Tensor& x) { return program::derive(x); });
  ConcreteFunction concrete = f.get_concrete_function(TensorSpec({3, 3}));
  int from_matmul = 0, plain = 0;
  for (const graph::Node& n : concrete.graph().nodes()) {
    std::string text = describe(n.where);
    from_matmul += text.ends_with(", for the gradient of MatMul");
    if (std::string_view(n.op->name) == "MatMul" && !n.where.gradient_of) ++plain;
    if (has_names && n.where.kind == graph::Where::address) {
      EXPECT_NE(text.find("program::derive("), std::string::npos) << n.name << ": " << text;
    }
  }
  if (has_names) {
    EXPECT_GE(from_matmul, 2);
  }
  EXPECT_EQ(plain, 1);
}

TEST(Where, SurvivesPasses) {
  auto f = function([](const Tensor& x, const Tensor& i) {
    Tensor y = tanh(x * 2.0f) + 1.0f;
    return program::look_up(y, i);
  });
  ConcreteFunction concrete = f.get_concrete_function(TensorSpec({8, 8}), TensorSpec(Shape{1}, DType::int32));
  for (const graph::Node& n : concrete.body()->optimized_graph().nodes())
    if (!n.is_constant() && !n.inputs.empty() && has_names) {
      EXPECT_NE(describe(n.where), "") << n.name;
    }
}

}  // namespace
}  // namespace thalweg
