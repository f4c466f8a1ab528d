// What the tests of losses and metrics share: one test for each golden case, errors, and functions by their names.
#pragma once
#include <gtest/gtest.h>

#include <map>

#include "tests/keras/cases.h"
#include "thalweg/keras/activations.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {

/// A case by its number, with a name for gtest: `Huber_3`.
struct CaseNumber {
  size_t index;
  std::string name;
  friend std::ostream& operator<<(std::ostream& out, const CaseNumber& number) { return out << number.name; }
};
inline std::vector<CaseNumber> case_numbers(const KerasCases& family) {
  std::vector<CaseNumber> numbers;
  for (size_t i = 0; i < family.cases().size(); ++i) {
    const keras::Value& one = family.cases()[i];
    numbers.push_back({i, one["class"].text() + "_" + std::to_string(one["row"].integer())});
  }
  return numbers;
}
inline std::string name_of_case(const ::testing::TestParamInfo<CaseNumber>& info) { return info.param.name; }

/// The predictions that a case makes of y_pred: by an activation of Keras, where it names one.
inline Tensor activated(const keras::Value& one, const Tensor& y_pred) {
  if (!one.contains("activation") || one["activation"].is_none() || !y_pred.defined()) return y_pred;
  return keras::Activation(one["activation"].text())(y_pred);
}

/// Calls what must be refused, and compares the class and, where Keras itself wrote it, the text of the error.
template <class F> void expect_refused(const keras::Value& error, const F& call) {
  const std::string& wanted = error["message"].text();
  // Texts of TensorFlow's ops have this engine's own words.
  const bool of_op = wanted.find("{{function_node") == 0 || wanted.find("Condition x < y") != std::string::npos;
  try {
    call();
    ADD_FAILURE() << "not refused: " << wanted;
  } catch (const Error& refused) {
    EXPECT_EQ(refused.type(), error["class"].text()) << refused.what();
    if (!of_op) {
      EXPECT_NE(std::string(refused.what()).find(wanted), std::string::npos) << refused.what() << "\n" << wanted;
    }
  }
}

/// A function of Keras with the options that a case gives.
using PairCaller = Tensor (*)(const Tensor& y_true, const Tensor& y_pred, const keras::Value& options);
template <auto F> struct Caller;
template <Tensor (*F)(const Tensor&, const Tensor&)> struct Caller<F> {
  static Tensor call(const Tensor& y_true, const Tensor& y_pred, const keras::Value&) { return F(y_true, y_pred); }
};
template <class Options, Tensor (*F)(const Tensor&, const Tensor&, const Options&)> struct Caller<F> {
  static Tensor call(const Tensor& y_true, const Tensor& y_pred, const keras::Value& given) {
    Options options;
    keras::rows_of(options).set(&options, given);
    return F(y_true, y_pred, options);
  }
};

/// The arguments of a case of a function: two tensors, the others by name.
struct FunctionCase {
  FunctionCase(const KerasCases& family, const keras::Value& one) {
    for (const auto& [name, value] : one["args"].map()) {
      if (name == "y_true") y_true = family.tensor(value["tensor"]);
      else if (name == "y_pred") y_pred = family.tensor(value["tensor"]);
      else options.set(name, value);
    }
  }
  Tensor y_true, y_pred;
  keras::Value options = keras::Value::Map();
};

}  // namespace thalweg::testing
