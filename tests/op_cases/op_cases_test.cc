// Every row gives TensorFlow's value, dtype and shape, or the error it names.
#include <gtest/gtest.h>

#include <set>

#include "tests/op_cases/golden.h"
#include "thalweg/core/allocator.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"

namespace thalweg::testing {
namespace {

// Names as gtest wants them.
std::string plain(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void check_case(const Case& c) {
  std::vector<Tensor> got;
  std::string changed;
  seed_state().set_global_seed(0);  // as tools/make_goldens does before each row
  try {
    if (c.is_function) {
      got = run_function(c);
    } else {
      Call call = make_call(c);
      const VariableValues before(call.inputs);
      try {
        got = run_op(*call.op, call.inputs, call.attrs);
      } catch (const Error&) {
        EXPECT_TRUE(before.are_kept()) << c.describe() << " was refused but changed a variable";
        throw;
      }
      if (c.error.empty()) changed = difference_of_variables(c, call);
    }
  } catch (const Error& e) {
    EXPECT_FALSE(c.error.empty()) << c.describe() << " raised " << e.type() << ": " << e.what();
    // A bad call is refused by type; which of the argument errors is a matter of taste between the two libraries.
    static const std::set<std::string> argument_errors = {
        "InvalidArgumentError", "ValueError",         "TypeError",
        "OutOfRangeError",      "UnimplementedError", "ResourceExhaustedError"};
    bool same = c.error == e.type() || (argument_errors.count(c.error) && argument_errors.count(e.type()));
    if (!c.error.empty()) {
      EXPECT_TRUE(same) << c.describe() << " raised " << e.type() << ", expected " << c.error << ": " << e.what();
    }
    return;
  } catch (const std::exception& e) {
    ADD_FAILURE() << c.describe() << " raised " << e.what();
    return;
  }
  if (!c.error.empty()) {
    ADD_FAILURE() << c.describe() << " was accepted, expected " << c.error;
    return;
  }
  EXPECT_TRUE(changed.empty()) << c.describe() << ", " << changed;
  ASSERT_EQ(got.size(), c.outputs.size()) << c.describe() << ": number of outputs";
  for (size_t i = 0; i < got.size(); ++i) {
    if (c.shape_only || c.unset[i]) {
      EXPECT_EQ(got[i].shape(), c.outputs[i].shape()) << c.describe();
      EXPECT_EQ(got[i].dtype(), c.outputs[i].dtype()) << c.describe();
      continue;
    }
    std::string found = difference(got[i], c.outputs[i], c.tolerance);
    EXPECT_TRUE(found.empty()) << c.describe() << ", output " << i << ": " << found;
  }
}

// The second time everything that stays has been made, so nothing may.
void check_cases(const std::vector<const Case*>& cases) {
  for (const Case* c : cases) check_case(*c);
  for (const Case* c : cases) {
    const int64_t before = memory_info(0).current;
    check_case(*c);
    EXPECT_EQ(memory_info(0).current, before) << c->describe() << " keeps memory";
  }
}

class OpValues : public ::testing::TestWithParam<std::string> {};
TEST_P(OpValues, EqualTensorFlow) { check_cases(cases_of(GetParam(), false)); }
// Rows may come before their op: those are counted by Coverage.
INSTANTIATE_TEST_SUITE_P(Ops, OpValues, ::testing::ValuesIn(ops_with_cases()), plain);

class FunctionValues : public ::testing::TestWithParam<std::string> {};
TEST_P(FunctionValues, EqualTensorFlow) { check_cases(cases_of(GetParam(), true)); }
std::vector<std::string> functions_with_cases() {
  std::vector<std::string> names;
  for (const std::string& name : names_with_cases(true))
    if (find_function(name)) names.push_back(name);
  return names;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FunctionValues);
INSTANTIATE_TEST_SUITE_P(Functions, FunctionValues, ::testing::ValuesIn(functions_with_cases()), plain);

}  // namespace
}  // namespace thalweg::testing
