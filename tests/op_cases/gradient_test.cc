// Every gradient is TensorFlow's, and the derivative that differences of float64 values show: first and second order.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <set>

#include "tests/op_cases/golden.h"
#include "thalweg/autodiff/tape.h"
#include "thalweg/core/allocator.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::testing {
namespace {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

bool is_float(const Tensor& t) { return t.defined() && differentiable_types.has(t.dtype()); }
Tensors only_floats(const Tensors& all) {
  Tensors kept;
  for (const Tensor& t : all)
    if (is_float(t)) kept.push_back(t);
  return kept;
}
Tensors weights_of(const Tensors& outputs) {
  Tensors weights;
  for (const Tensor& t : outputs) weights.push_back(gradient_weights(t));
  return weights;
}

/// The gradients of the floating inputs that are asked for (None for others), as arrays.
Tensors gradients(const Function& f, const Tensors& inputs, const std::vector<bool>& left_out = {}) {
  autodiff::Tape tape({});
  tape.start();
  auto is_source = [&](size_t i) { return is_float(inputs[i]) && (i >= left_out.size() || !left_out[i]); };
  Tensors sources;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_source(i)) sources.push_back(inputs[i]);
  for (const Tensor& t : sources) tape.watch(t);
  Tensors outputs = only_floats(f(inputs));
  Tensors found = tape.gradient(outputs, sources, weights_of(outputs), UnconnectedGradients::none);
  Tensors all(inputs.size());
  for (size_t i = 0, k = 0; i < inputs.size(); ++i)
    if (is_source(i)) {
      all[i] = found[k++];
      if (all[i].defined()) all[i] = to_array(all[i]);
    }
  return all;
}

/// A float64 or complex128 tensor as real numbers: complex ones are pairs.
std::vector<double> reals(const Tensor& t) {
  Tensor wide = cast(t, is_complex(t.dtype()) ? DType::complex128 : DType::float64);
  const auto* first = static_cast<const double*>(wide.impl()->data);
  return {first, first + wide.size() * (is_complex(t.dtype()) ? 2 : 1)};
}
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i] != 0) sum += x[i] * y[i];  // along one element another may be infinite
  return sum;
}
// Of complex numbers Re(conj(weight) * output): gradients are then TensorFlow's, conjugates.
double weighted_sum(const Tensors& outputs) {
  double sum = 0;
  for (const Tensor& t : outputs)
    if (is_float(t)) sum += dot(reals(t), reals(gradient_weights(t)));
  return sum;
}

Tensor moved(const Tensor& x, const std::vector<double>& direction, double by) {
  std::vector<double> from = reals(x);
  Tensor y = Tensor::empty(x.dtype(), x.shape());
  for (size_t i = 0; i < from.size(); ++i) y.mutable_data<double>()[i] = from[i] + by * direction[i];
  return y;
}

/// How far differences can be trusted: in the numbers that the op computes with.
struct Precision {
  double step = 5e-4, side_step = 1e-4, agree = 1e-5, first = 1e-5, second = 1e-4;
};
constexpr Precision float32_precision{.step = 0.02, .side_step = 0.01, .agree = 5e-3, .first = 0.01, .second = 0.02};

/// The derivative along a direction by a 5-point stencil; NaN where two step sizes disagree: a kink, or the edge of the
/// domain, where there is none.
double difference_quotient(const std::function<double(double)>& f, const Precision& p) {
  auto stencil = [&](double h) { return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h); };
  double wide = stencil(p.step * (p.step < 0.01 ? 4 : 2)), narrow = stencil(p.step), here = f(0);
  double before = (here - f(-p.side_step)) / p.side_step, after = (f(p.side_step) - here) / p.side_step;
  bool agree = std::abs(wide - narrow) <= p.agree * (0.1 + std::abs(narrow));
  bool smooth = std::abs(after - before) <= 0.02 * (1 + std::abs(narrow));
  return agree && smooth ? narrow : std::nan("");
}

struct Tally {
  int checked = 0, kinks = 0;
};

/// Compares the gradient of a scalar function with differences, along every element of an input or a few directions.
std::string check_directions(const std::function<double(const Tensors&)>& f, const Tensors& inputs, size_t which,
                             const Tensor& gradient, int64_t most_elements, const Precision& precision, double rtol,
                             Tally& tally) {
  const Tensor& x = inputs[which];
  auto n = static_cast<size_t>(x.size() * (is_complex(x.dtype()) ? 2 : 1));
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  size_t directions = static_cast<int64_t>(n) <= most_elements ? n : 6;
  for (size_t k = 0; k < directions; ++k) {
    std::vector<double> direction(n);
    if (directions == n) direction[k] = 1;
    else
      for (double& d : direction) d = normal(random) / std::sqrt(static_cast<double>(n));
    double size = 1;
    auto along = [&](double h) {
      Tensors at = inputs;
      at[which] = moved(x, direction, h);
      double value = f(at);
      size = std::max(size, std::abs(value));
      return value;
    };
    double expected = difference_quotient(along, precision),
           got = gradient.defined() ? dot(reals(gradient), direction) : 0;
    bool at_infinity = !std::isfinite(dot(reals(x), direction));  // where nothing moves
    if (!std::isfinite(expected) || at_infinity) {
      ++tally.kinks;
      continue;
    }
    ++tally.checked;
    if (!(std::abs(got - expected) <= rtol * (0.01 * size + std::abs(expected))))
      return "input " + std::to_string(which) + " along " + std::to_string(k) + ": " + std::to_string(got) +
             ", differences give " + std::to_string(expected);
  }
  return "";
}

DType wide_type(DType dtype) { return is_complex(dtype) ? DType::complex128 : DType::float64; }
bool is_wide(const Tensor& t) { return t.dtype() == wide_type(t.dtype()); }
/// The call in float64 and complex128 where its types allow that, else in float32; nothing where it has no such input.
std::optional<Call> in_wide_types(const Case& c) {
  Call call = make_call(c);
  const Op& op = *call.op;
  bool any = false, all_wide = true;
  size_t list = op.num_lists ? (call.inputs.size() + static_cast<size_t>(op.num_lists) - op.args.size()) /
                                   static_cast<size_t>(op.num_lists)
                             : 1;
  size_t i = 0;
  for (const Arg& arg : op.args)
    for (size_t k = arg.is_list() ? list : 1; k; --k, ++i) {
      Tensor& t = call.inputs[i];
      if (!is_float(t)) continue;
      any = true;
      DType wide = wide_type(t.dtype());
      TypeSet allowed = types(arg.dtype);
      for (const TypeAttr& a : op.type_attrs)
        if (a.name == arg.type_attr) allowed = a.allowed;
      if (!allowed.has(wide)) wide = DType::float32, all_wide = false;
      if (!allowed.has(wide)) return {};
      t = cast(t, wide);
    }
  if (!any) return {};
  if (op.attrs && all_wide)  // the types of results that inputs do not decide
    for (size_t row = 0; row < op.attrs->rows.size(); ++row) {
      int at = static_cast<int>(row);
      AttrValue value = op.attrs->get(call.attrs.get(), at);
      if (auto* dtype = std::get_if<DType>(&value); dtype && differentiable_types.has(*dtype))
        op.attrs->set(call.attrs.get(), at, wide_type(*dtype));
    }
  return call;
}

Function as_function(const Call& call) {
  return [&call](const Tensors& inputs) {
    seed_state().set_global_seed(0);
    return run_op(*call.op, inputs, call.attrs);
  };
}
Tensors widened(Tensors tensors) {
  for (Tensor& t : tensors)
    if (is_float(t) && !is_wide(t)) t = cast(t, wide_type(t.dtype()));
  return tensors;
}
bool excepted(const std::string& op, const std::string& what);
/// A function of wide numbers, which become the op's own inside. Where the op reads one triangle of a matrix and the
/// gradient is spread over both, of the matrix's symmetric part; where only the first result has a gradient, that.
Function as_wide_function(const Call& call) {
  return [&call](const Tensors& inputs) {
    Tensors own = inputs;
    if (excepted(call.op->name, "symmetric")) own[0] = (own[0] + linalg::adjoint(own[0])) * 0.5;
    for (size_t i = 0; i < own.size(); ++i)
      if (is_float(own[i]) && own[i].dtype() != call.inputs[i].dtype()) own[i] = cast(own[i], call.inputs[i].dtype());
    Tensors outputs = as_function(call)(own);
    if (excepted(call.op->name, "one-result")) outputs.resize(1);
    return widened(outputs);
  };
}
Precision precision_of(const Call& call) {
  bool all_wide = true;
  for (const Tensor& t : call.inputs) all_wide &= !is_float(t) || is_wide(t);
  return all_wide ? Precision{} : float32_precision;
}

/// Lines "Op order reason": what this file may leave out.
const std::set<std::string>& exceptions() {
  static const std::set<std::string> lines = [] {
    std::set<std::string> read;
    std::ifstream file("tests/op_cases/gradient_exceptions.txt");
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') read.insert(line.substr(0, line.find(' ', line.find(' ') + 1)));
    return read;
  }();
  return lines;
}
bool excepted(const std::string& op, const std::string& what) { return exceptions().count(op + " " + what) != 0; }

std::vector<std::string> input_names(const Case& c, const Op& op) {
  std::vector<std::string> names;
  for (const Arg& arg : op.args)
    for (const CaseInput& input : c.inputs)
      if (input.name == arg.name) names.insert(names.end(), input.tensors.size(), arg.name);
  return names;
}

// Named as a whole, by row, or for complex numbers.
bool excepted(const Case& c, const std::string& what) {
  bool complex = false;
  for (const CaseInput& input : c.inputs)
    for (const Tensor& t : input.tensors) complex |= is_complex(t.dtype());
  return excepted(c.op, what) || excepted(c.op, what + "/" + std::to_string(c.row)) ||
         (complex && excepted(c.op, what + "/complex"));
}

std::vector<bool> inputs_left_out(const Case& c, const Call& call, const std::string& what) {
  std::vector<bool> left_out;
  for (const std::string& name : input_names(c, *call.op)) left_out.push_back(excepted(c.op, what + "/" + name));
  return left_out;
}

void check_first_order(const Case& c, const Call& call, Tally& tally) {
  Function f = as_wide_function(call);
  Precision p = precision_of(call);
  std::vector<bool> left_out = inputs_left_out(c, call, "first");
  Tensors at = widened(call.inputs), found = gradients(f, at, left_out);
  auto scalar = [&](const Tensors& inputs) { return weighted_sum(f(inputs)); };
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!is_float(call.inputs[i]) || left_out[i]) continue;
    std::string wrong = check_directions(scalar, at, i, found[i], 64, p, p.first, tally);
    EXPECT_TRUE(wrong.empty()) << c.describe() << ": " << wrong;
  }
}

// The gradient is itself a function: its weighted sum has derivatives too.
void check_second_order(const Case& c, const Call& call, Tally& tally) {
  Function f = as_wide_function(call);
  std::vector<bool> left_out_first = inputs_left_out(c, call, "first"), left_out = inputs_left_out(c, call, "second");
  Function first = [&](const Tensors& inputs) { return gradients(f, inputs, left_out_first); };
  for (size_t i = 0; i < left_out.size(); ++i) left_out[i] = left_out[i] || left_out_first[i];
  Precision p = precision_of(call);
  Tensors at = widened(call.inputs), found = gradients(first, at, left_out);
  auto scalar = [&](const Tensors& inputs) { return weighted_sum(first(inputs)); };
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!is_float(call.inputs[i]) || left_out[i]) continue;
    std::string wrong = check_directions(scalar, at, i, found[i], 12, p, p.second, tally);
    EXPECT_TRUE(wrong.empty()) << c.describe() << ", second order: " << wrong;
  }
}

void compare_with_tensorflow(const Case& c, const Function& f, const Tensors& inputs,
                             const std::vector<std::string>& names) {
  Tensors found = gradients(f, inputs), again = gradients(f, inputs);
  for (size_t i = 0, place = 0; i < inputs.size(); ++i) {
    place = i && names[i] == names[i - 1] ? place + 1 : 0;
    if (found[i].defined()) {
      EXPECT_EQ(std::memcmp(found[i].impl()->data, again[i].impl()->data, found[i].nbytes()), 0)
          << c.describe() << ": the gradient of " << names[i] << " has other bits the second time";
    }
    for (const GoldenGradient& g : c.gradients) {
      if (g.input != names[i] || g.place != place) continue;
      if (!g.gradient.defined()) {
        EXPECT_FALSE(found[i].defined()) << c.describe() << ": TensorFlow gives no gradient of " << names[i];
      } else {
        std::string wrong = found[i].defined() ? difference(found[i], g.gradient, c.tolerance) : "None";
        EXPECT_TRUE(wrong.empty()) << c.describe() << ", gradient of " << names[i] << ": " << wrong;
      }
    }
  }
}

class OpGradients : public ::testing::TestWithParam<std::string> {};

bool has_gradient_rows(const Case& c) { return c.error.empty() && !c.shape_only; }

TEST_P(OpGradients, EqualTensorFlow) {
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!has_gradient_rows(*c) || !c->has_gradients || excepted(*c, "tensorflow")) continue;
    Call call = make_call(*c);
    try {
      compare_with_tensorflow(*c, as_function(call), call.inputs, input_names(*c, *call.op));
    } catch (const std::exception& e) {
      ADD_FAILURE() << c->describe() << " raised " << e.what();
    }
  }
}

/// Ops that have a gradient.
class OpDerivatives : public ::testing::TestWithParam<std::string> {};

TEST_P(OpDerivatives, AreRight) {
  Tally first, second;
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!c->error.empty()) continue;  // values that are not TensorFlow's, as the signs of vectors, have derivatives too
    try {
      std::optional<Call> call = in_wide_types(*c);
      if (!call) continue;
      if (!excepted(*c, "first")) check_first_order(*c, *call, first);
      if (!excepted(*c, "first") && !excepted(*c, "second")) check_second_order(*c, *call, second);
    } catch (const InvalidArgumentError& e) {
      // Where TensorFlow has no gradient either, a reason will do.
      EXPECT_TRUE(c->gradients_refused) << c->describe() << " raised " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << c->describe() << " raised " << e.what();
    }
  }
  EXPECT_TRUE(first.checked > 0 || excepted(GetParam(), "first")) << GetParam() << ": no row checks the gradient";
}

std::vector<std::string> ops(bool with_gradient) {
  std::vector<std::string> names;
  for (const Op* op : all_ops())
    if (op->grad || !with_gradient) names.push_back(op->name);
  return names;
}
std::string plain(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Ops, OpGradients, ::testing::ValuesIn(ops(false)), plain);
INSTANTIATE_TEST_SUITE_P(Ops, OpDerivatives, ::testing::ValuesIn(ops(true)), plain);

class FunctionGradients : public ::testing::TestWithParam<std::string> {};
TEST_P(FunctionGradients, EqualTensorFlow) {
  for (const Case* c : cases_of(GetParam(), true)) {
    if (!has_gradient_rows(*c) || !c->has_gradients || excepted(*c, "tensorflow")) continue;
    Tensors inputs;
    std::vector<std::string> names;
    for (const CaseInput& input : c->inputs)
      for (const Tensor& t : input.tensors) {
        inputs.push_back(t);
        names.push_back(input.name);
      }
    Function f = [&](const Tensors&) {
      seed_state().set_global_seed(0);
      return run_function(*c);
    };
    try {
      compare_with_tensorflow(*c, f, inputs, names);
    } catch (const std::exception& e) {
      ADD_FAILURE() << c->describe() << " raised " << e.what();
    }
  }
}
std::vector<std::string> functions_with_cases() {
  std::vector<std::string> names;
  for (const std::string& name : names_with_cases(true))
    if (find_function(name)) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Functions, FunctionGradients, ::testing::ValuesIn(functions_with_cases()), plain);

TEST(Gradients, EveryRecordHasOneOrSaysWhyNot) {
  for (const Op* op : all_ops())
    EXPECT_TRUE((op->grad != nullptr) != (op->traits.not_differentiable != nullptr))
        << op->name
        << (op->grad ? " has a gradient and says that it has none" : " has no gradient and does not say why");
}

// A tape keeps what grad_reads names: the gradient must do with that, and should not ask for more than it needs.
Tensor outline(const Tensor& t) {
  Tensor o(TensorImpl::make());
  o.impl()->dtype = t.dtype();
  o.impl()->shape = t.shape();
  o.impl()->form = Form::outline;
  return o;
}
bool runs_with(const Call& call, const Tensors& outputs, uint32_t kept_inputs, uint32_t kept_outputs) {
  Tensors in = call.inputs, out = outputs, given = outputs, made(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    if (!Reads::has(kept_inputs, i)) in[i] = outline(in[i]);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!Reads::has(kept_outputs, i)) out[i] = outline(out[i]);
    given[i] = is_float(outputs[i])           ? gradient_weights(outputs[i])
               : only_floats(outputs).empty() ? outputs[i]  // of a list: one of the same elements
                                              : Tensor();
  }
  GradCall g(*call.op, in, out, given, call.attrs, made, ~uint64_t{0});
  try {
    call.op->grad(g);
  } catch (const errors::InternalError&) {
    return false;
  } catch (const TypeError&) {
    return false;
  } catch (const InvalidArgumentError&) {  // there is none, whatever it reads
    return true;
  }
  return true;
}
TEST_P(OpDerivatives, KeepWhatTheyRead) {
  const Op& op = *find_op(GetParam());
  Reads least{0, 0};
  bool any = false;
  size_t most_inputs = 0, most_outputs = 0;
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!has_gradient_rows(*c)) continue;
    Call call = make_call(*c);
    bool differentiable = false;
    for (const Tensor& t : call.inputs) differentiable |= is_float(t) || is_object(t.dtype());
    if (!differentiable) continue;
    Tensors outputs = run_op(op, call.inputs, call.attrs);
    auto is_list = [](const Tensor& t) { return t.dtype() == DType::variant; };
    if (only_floats(outputs).empty() && std::none_of(outputs.begin(), outputs.end(), is_list)) continue;
    any = true;
    most_inputs = std::max(most_inputs, std::min<size_t>(call.inputs.size(), 32));
    most_outputs = std::max(most_outputs, std::min<size_t>(outputs.size(), 32));
    EXPECT_TRUE(runs_with(call, outputs, op.grad_reads.inputs, op.grad_reads.outputs))
        << c->describe() << ": the gradient reads more than grad_reads names";
    for (uint32_t i = 0; i < most_inputs; ++i)
      if (!(least.inputs >> i & 1) && !runs_with(call, outputs, ~(1u << i), ~0u)) least.inputs |= 1u << i;
    for (uint32_t i = 0; i < most_outputs; ++i)
      if (!(least.outputs >> i & 1) && !runs_with(call, outputs, ~0u, ~(1u << i))) least.outputs |= 1u << i;
  }
  EXPECT_TRUE(any) << op.name << ": no row shows what the gradient reads";
  auto mask = [](size_t n) { return n >= 32 ? ~0u : (1u << n) - 1; };
  EXPECT_EQ(op.grad_reads.inputs & mask(most_inputs), least.inputs)
      << op.name << ": grad_reads should name just the inputs (bits) that the gradient reads";
  EXPECT_EQ(op.grad_reads.outputs & mask(most_outputs), least.outputs)
      << op.name << ": grad_reads should name just the outputs (bits) that the gradient reads";
}

}  // namespace
}  // namespace thalweg::testing
