// The one shape rule of each op, on known, partly unknown and unknown shapes: never wrong, and whole when all is known.
#include <gtest/gtest.h>

#include "tests/op_cases/golden.h"
#include "thalweg/core/error.h"

namespace thalweg::testing {
namespace {

/// The same tensor as tracing sees it: a shape, no value. Handles of variables keep theirs.
Tensor symbolic(const Tensor& t, const Shape& shape) {
  if (t.dtype() == DType::resource) return t;
  Tensor s(TensorImpl::make());
  s.impl()->dtype = t.dtype();
  s.impl()->shape = shape;
  s.impl()->form = Form::symbolic;
  return s;
}

void check_infer(const Case& c, const Op& op, const std::vector<Tensor>& inputs, AttrsRef attrs, const char* how,
                 bool whole) {
  std::vector<Tensor> outputs;
  std::vector<TensorImpl*> out;
  for (size_t i = 0; i < c.outputs.size(); ++i) out.push_back(outputs.emplace_back(TensorImpl::make()).get());
  std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  InferCall call(op, refs, attrs, out);
  try {
    op.infer(call);
  } catch (const std::exception& e) {
    ADD_FAILURE() << c.describe() << ", " << how << ": infer raised " << e.what();
    return;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorImpl* o = out[i];
    EXPECT_EQ(o->dtype, c.outputs[i].dtype()) << c.describe() << ", " << how << ": dtype of output " << i;
    EXPECT_TRUE(o->shape.is_compatible_with(c.outputs[i].shape()))
        << c.describe() << ", " << how << ": infer says " << o->shape.brackets() << ", the result is "
        << c.outputs[i].shape().brackets();
    if (whole && o->shape.is_fully_defined()) {
      EXPECT_EQ(o->shape, c.outputs[i].shape()) << c.describe();
    }
  }
  // Outputs were described but hold nothing: they must not be destroyed as strings.
  for (TensorImpl* o : out) o->dtype = DType::invalid;
}

class Infer : public ::testing::TestWithParam<std::string> {};
TEST_P(Infer, AgreesWithResults) {
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!c->error.empty()) continue;
    Call call = make_call(*c);
    if (static_cast<size_t>(call.op->count_outputs(call.inputs.size(), call.attrs)) != c->outputs.size()) continue;
    check_infer(*c, *call.op, call.inputs, call.attrs, "values known", true);
    std::vector<Tensor> known, partial, no_rank;
    for (const Tensor& t : call.inputs) {
      known.push_back(symbolic(t, t.shape()));
      no_rank.push_back(symbolic(t, Shape::unknown_rank()));
    }
    check_infer(*c, *call.op, known, call.attrs, "shapes known", false);
    check_infer(*c, *call.op, no_rank, call.attrs, "ranks unknown", false);
    for (int d = 0; d < 3; ++d) {  // one dimension of each input unknown, then all
      partial.clear();
      for (const Tensor& t : call.inputs) {
        Shape s = t.shape();
        if (d == 2) s = Shape::of_rank(s.rank());
        else if (s.rank()) s[d == 0 ? 0 : -1] = unknown;
        partial.push_back(symbolic(t, s));
      }
      check_infer(*c, *call.op, partial, call.attrs, "dimensions unknown", false);
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {  // one input without a value among others with one
      partial = call.inputs;
      partial[i] = symbolic(call.inputs[i], Shape::unknown_rank());
      check_infer(*c, *call.op, partial, call.attrs, "one input unknown", false);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, Infer, ::testing::ValuesIn(ops_with_cases()));

}  // namespace
}  // namespace thalweg::testing
