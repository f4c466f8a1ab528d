// A battery of bad calls, made from each record and its rows: every one is refused with a typed error or answered, and
// none crashes, hangs, or costs much. The seed depends on the op alone.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

#include "tests/op_cases/golden.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/core/variable_resource.h"

namespace thalweg::testing {
namespace {

constexpr int calls_per_op = 240;
constexpr int64_t memory_for_calls = 64 << 20;

/// Something that a handle may lead to and that is no variable.
class OtherResource : public Resource {
 public:
  std::string describe() const override { return "something else"; }
};

class Mutator {
 public:
  explicit Mutator(const std::string& op) : random_(std::hash<std::string>{}(op)) {}

  template <class T> const T& pick(const std::vector<T>& from) { return from[random_() % from.size()]; }
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }

  Tensor filled(DType dtype, const Shape& shape) {
    Tensor t = Tensor::empty(dtype, shape);
    int64_t n = t.size();
    static const std::vector<double> reals = {0,
                                              1,
                                              -1,
                                              0.5,
                                              1e30,
                                              -1e30,
                                              1e-30,
                                              std::numeric_limits<double>::quiet_NaN(),
                                              std::numeric_limits<double>::infinity(),
                                              -std::numeric_limits<double>::infinity()};
    static const std::vector<int64_t> integers = {0,
                                                  1,
                                                  -1,
                                                  2,
                                                  3,
                                                  -2,
                                                  7,
                                                  127,
                                                  255,
                                                  65536,
                                                  INT32_MAX,
                                                  INT32_MIN,
                                                  INT64_MAX,
                                                  INT64_MIN,
                                                  1676240524292489355,
                                                  int64_t{1} << 40};
    static const std::vector<std::string> texts = {
        "", "a", "%n", std::string("\0\xff", 2), "[a-", "(((((", std::string(300, 'x'), "->", "abc,ab->c", "0x", "-"};
    for (int64_t i = 0; i < n; ++i) {
      if (dtype == DType::string) t.mutable_data<std::string>()[i] = pick(texts);
      else if (is_object(dtype)) continue;
      else {
        char* to = t.mutable_data<char>() + i * static_cast<int64_t>(size_of(dtype));
        if (is_integer(dtype) || dtype == DType::bool_) {
          int64_t v = pick(integers);
          convert_elements(DType::int64, &v, dtype, to, 1);
        } else {
          double v = pick(reals);
          convert_elements(DType::float64, &v, dtype, to, 1);
        }
      }
    }
    return t;
  }

  Shape some_shape(const Shape& from) {
    static const std::vector<Shape> odd = {
        {},     {0}, {1},       {0, 0},       {3, 0}, {0, 0, 0, 0},    {1, 1, 1, 1},
        {2, 3}, {5}, {2, 2, 2}, {1, 0, 3, 2}, {7, 1}, {2, 2, 2, 2, 2}, {3, 1, 2, 1, 1, 1, 2, 1, 2}};
    if (chance(50) || from.rank() == 0) return pick(odd);
    Shape s = from;
    int i = static_cast<int>(random_() % static_cast<unsigned>(s.rank()));
    switch (random_() % 5) {
      case 0:
        s[i] = 0;
        break;
      case 1:
        s[i] += 1;
        break;
      case 2:
        s[i] = 1;
        break;
      case 3:
        s.erase(i);
        break;
      default:
        if (s.rank() < Shape::max_rank) s.insert(i, 1 + static_cast<int64_t>(random_() % 3));
        break;
    }
    return s;
  }

  /// A handle that leads nowhere, to something else, or to a variable of another shape, dtype or state.
  Tensor other_handle(DType dtype, Shape shape) {
    static const std::vector<DType> dtypes = {float32, float64, int32, string, complex64, bfloat16, bool_};
    if (!shape.is_fully_defined() || chance(50)) shape = some_shape({2, 3});
    if (chance(50)) dtype = pick(dtypes);
    switch (random_() % 6) {
      case 0:
        return make_handle(nullptr);
      case 1:
        return make_handle(std::make_shared<OtherResource>());
      case 2:
        return make_handle(std::make_shared<VariableResource>("uninitialized", dtype, shape));
      case 3:
        return make_handle(
            std::make_shared<VariableResource>("of any shape", dtype, Shape::unknown_rank(), filled(dtype, shape)));
      default:
        return make_handle(std::make_shared<VariableResource>("other", dtype, shape, filled(dtype, shape)));
    }
  }

  /// Handles of lists that are empty, of another dtype, of mixed shapes, full, or no lists at all.
  Tensor other_lists(const Shape& shape) {
    static const std::vector<DType> dtypes = {float32, float64, int32, string, complex64, DType::variant};
    static const std::vector<Shape> shapes = {{}, {2}, {unknown, 2}, {0}, {3}, Shape::unknown_rank()};
    Tensor handles = Tensor::empty(DType::variant, shape);
    for (int64_t k = 0; k < handles.size(); ++k) {
      ResourceHandle& handle = handles.mutable_data<ResourceHandle>()[k];
      if (chance(10)) continue;
      if (chance(10)) {
        handle = std::make_shared<OtherResource>();
        continue;
      }
      DType dtype = chance(60) ? float32 : pick(dtypes);
      Shape element = pick(shapes);
      int64_t size = pick(std::vector<int64_t>{0, 1, 2, 3, 5, 40, INT32_MAX});
      auto list = std::make_shared<TensorListResource>(dtype, element, size, chance(80) ? -1 : size);
      for (int64_t i = 0; i < std::min<int64_t>(size, 5); ++i)
        if (chance(70)) list->set(i, filled(dtype, element.is_fully_defined() ? element : some_shape({2, 2})));
      handle = std::move(list);
    }
    return handles;
  }

  void mutate_input(std::vector<Tensor>& inputs) {
    if (inputs.empty()) return;
    Tensor& t = inputs[random_() % inputs.size()];
    if (!t.defined()) return;
    if (t.dtype() == DType::resource && t.size() == 1 && chance(60)) {
      auto* variable = dynamic_cast<const VariableResource*>(t.mutable_data<ResourceHandle>()->get());
      t = variable ? other_handle(variable->dtype(), variable->shape()) : other_handle(DType::float32, {});
      return;
    }
    if (t.dtype() == DType::variant && chance(60)) {
      t = other_lists(t.shape());
      return;
    }
    static const std::vector<DType> dtypes = {float32, float64,   int32,   int64,    int8,   uint8,   bool_,
                                              string,  complex64, float16, bfloat16, uint64, resource};
    switch (random_() % 8) {
      case 0:
        t = filled(t.dtype(), t.shape());
        break;  // wild values
      case 1:
      case 2:
        t = filled(t.dtype(), some_shape(t.shape()));
        break;  // wild shape and values
      case 3:
        t = filled(pick(dtypes), t.shape());
        break;
      case 4:
        t = filled(pick(dtypes), some_shape(t.shape()));
        break;
      case 5: {  // one wild element among good ones
        Tensor copy = Tensor::empty(t.dtype(), t.shape());
        copy_elements(t.dtype(), t.impl()->data, copy.impl()->data, t.size());
        if (copy.size() && !is_object(t.dtype())) {
          Tensor one = filled(t.dtype(), {});
          std::memcpy(copy.mutable_data<char>() + random_() % static_cast<uint64_t>(copy.size()) * size_of(t.dtype()),
                      one.impl()->data, size_of(t.dtype()));
        }
        t = copy;
        break;
      }
      case 6:
        t = Tensor();
        break;
      default:
        t = filled(t.dtype(), {0});
        break;
    }
  }

  void mutate_attr(const AttrType& type, void* attrs) {
    if (type.rows.empty()) return;
    int row = static_cast<int>(random_() % type.rows.size());
    static const std::vector<int64_t> integers = {0, 1, -1, 2, -2, 5, 100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    AttrValue v = type.get(attrs, row);
    switch (type.rows[static_cast<size_t>(row)].type->kind) {
      case AttrKind::boolean:
        v = chance(50);
        break;
      case AttrKind::integer:
        v = pick(integers);
        break;
      case AttrKind::real:
        v = pick(std::vector<double>{0, -1, 1e30, std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::infinity()});
        break;
      case AttrKind::text:
        v = pick(std::vector<std::string>{"", "FOO", "SAME", "VALID", "EXPLICIT", "NCHW", "HHHH", "%n", "ij,jk->ik",
                                          "...", std::string(200, 'a')});
        break;
      case AttrKind::dtype:
        v = pick(std::vector<DType>{float32, int32, string, bool_, complex64, DType::invalid});
        break;
      case AttrKind::shape:
        v = pick(std::vector<Shape>{{}, {0}, {-1}, {2, 3}, {INT64_MAX, 2}, Shape::unknown_rank()});
        break;
      case AttrKind::integers: {
        auto* list = std::get_if<std::vector<int64_t>>(&v);
        std::vector<int64_t> l = list ? *list : std::vector<int64_t>{};
        if (l.empty() || chance(30)) l.push_back(pick(integers));
        else if (chance(30)) l.pop_back();
        else l[random_() % l.size()] = pick(integers);
        v = l;
        break;
      }
      case AttrKind::reals:
        v = std::vector<double>(random_() % 4,
                                pick(std::vector<double>{0, -1, std::numeric_limits<double>::quiet_NaN()}));
        break;
      case AttrKind::texts:
        v = std::vector<std::string>(random_() % 3, "x");
        break;
      case AttrKind::dtypes:
        v = std::vector<DType>(random_() % 3, string);
        break;
      case AttrKind::tensor:
        v = Tensor();
        break;
      case AttrKind::shapes:
        v = std::vector<Shape>(random_() % 3, pick(std::vector<Shape>{{}, {-1}, {INT64_MAX, 2}}));
        break;
      case AttrKind::function:
        v = FunctionAttr();
        break;
      case AttrKind::functions:
        v = std::vector<FunctionAttr>(random_() % 3);
        break;
    }
    type.set(attrs, row, v);
  }

 private:
  std::mt19937_64 random_;
};

class BadCalls : public ::testing::TestWithParam<std::string> {};

TEST_P(BadCalls, AreRefusedOrAnswered) {
  const Op& op = *find_op(GetParam());
  std::vector<const Case*> cases;
  for (const Case* c : cases_of(op.name, false))
    if (c->error.empty()) cases.push_back(c);
  Mutator mutator(op.name);
  set_memory_limit(0, memory_info(0).current + memory_for_calls);
  int refused = 0, answered = 0;
  for (int i = 0; i < calls_per_op; ++i) {
    std::vector<Tensor> inputs;
    Attrs attrs;
    if (!cases.empty()) {
      Call call = make_call(*mutator.pick(cases));
      inputs = std::move(call.inputs);
      attrs = std::move(call.attrs);
    } else if (op.attrs) {
      attrs = Attrs(*op.attrs);
    }
    for (int m = mutator.chance(60) ? 1 : 2; m; --m) {
      if (op.attrs && mutator.chance(30)) mutator.mutate_attr(*op.attrs, attrs.get());
      else mutator.mutate_input(inputs);
    }
    if (mutator.chance(4) && !inputs.empty()) inputs.pop_back();
    if (mutator.chance(2)) inputs.push_back(Tensor(1.0f));
    const VariableValues before(inputs);
    auto start = std::chrono::steady_clock::now();
    if (std::getenv("THALWEG_TRACE_CALLS")) {  // to find the call that crashes
      std::cerr << op.name << " call " << i << ":";
      for (const Tensor& t : inputs)
        std::cerr << " " << (t.defined() ? std::string(name_of(t.dtype())) + t.shape().brackets() : "None");
      std::cerr << std::endl;
    }
    try {
      run_op(op, inputs, attrs);
      ++answered;
    } catch (const Error&) {
      ++refused;
      EXPECT_TRUE(before.are_kept()) << op.name << " call " << i << " was refused but changed a variable";
    } catch (const std::exception& e) {
      ADD_FAILURE() << op.name << " call " << i << " raised an untyped exception: " << e.what();
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, 10) << op.name << " call " << i;
  }
  set_memory_limit(0, 0);
  RecordProperty("refused", refused);
  RecordProperty("answered", answered);
}
std::vector<std::string> every_op() {
  std::vector<std::string> names;
  for (const Op* op : all_ops()) names.emplace_back(op->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Ops, BadCalls, ::testing::ValuesIn(every_op()));

}  // namespace
}  // namespace thalweg::testing
