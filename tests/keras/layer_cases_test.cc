// Every layer against Keras: each row of tests/keras_cases/layers_*.yaml is one test, `--gtest_filter=*Conv2D*`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "tests/keras/cases.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/functional.h"
#include "thalweg/keras/layers.h"
#include "thalweg/keras/step_function.h"
#include "thalweg/keras/utils.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"

namespace thalweg::testing {
namespace {

using keras::CallArgs;
using keras::Layer;
using keras::Value;

/// One row of a family.
struct LayerCase {
  std::shared_ptr<const KerasCases> family;
  size_t index;
  std::string label;  // conv_Conv2D_3

  const Value& value() const { return family->cases()[index]; }
};
void PrintTo(const LayerCase& one, std::ostream* out) { *out << KerasCases::describe(one.value()); }

std::vector<LayerCase> all_layer_cases() {
  std::vector<std::string> families;
  const std::filesystem::path folder = "tests/golden/keras";
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (std::string name = entry.path().stem().string(); name.starts_with("layers_")) families.push_back(name);
  std::sort(families.begin(), families.end());
  std::vector<LayerCase> all;
  for (const std::string& name : families) {
    auto family = std::make_shared<const KerasCases>(name);
    for (size_t i = 0; i < family->cases().size(); ++i) {
      const Value& one = family->cases()[i];
      all.push_back(
          {family, i,
           name.substr(name.find('_') + 1) + "_" + one["class"].text() + "_" + std::to_string(one["row"].integer())});
    }
  }
  return all;
}

/// What goes into one call, made anew for each so that masks stay apart.
struct Call {
  Nest inputs;
  CallArgs args;
  std::vector<std::pair<Tensor, Tensor>> masks;       // of tensors among the inputs
  std::vector<std::pair<std::string, Nest>> tensors;  // the arguments with tensors in them, by name
};

void list_masks(const Nest& tensors, const Nest& masks, Call& call) {
  if (masks.is_none()) return;
  if (tensors.is_tensor()) call.masks.emplace_back(tensors.tensor(), masks.tensor());
  for (size_t i = 0; i < tensors.size() && i < masks.size(); ++i) list_masks(tensors[i], masks[i], call);
}

Nest argument(const KerasCases& family, const Value& value) {
  if (value.is_map()) return Nest(family.tensor(value["tensor"]));
  if (!value.is_list()) return {};
  std::vector<Nest> items;
  for (const Value& item : value.list()) items.push_back(argument(family, item));
  return Nest::list(std::move(items));
}

Call make_call(const KerasCases& family, const Value& given) {
  Call call;
  call.inputs = family.nest(given["inputs"]);
  list_masks(call.inputs, family.nest(given["input_masks"]), call);
  std::vector<Nest> inputs = {call.inputs};
  for (const auto& [name, value] : given["args"].map()) {
    Nest tensors = argument(family, value);
    if (!tensors.is_none()) call.tensors.emplace_back(name, tensors);
    if (given["arg_masks"].is_map()) list_masks(tensors, family.nest(given["arg_masks"][name]), call);
    if (name == "training") call.args.training = value.is_none() ? keras::Choice() : keras::Choice(value.boolean());
    else if (name == "mask") call.args.mask = tensors;
    else if (name == "initial_state" || name == "states") call.args.initial_state = tensors;
    else if (name == "constants") call.args.constants = tensors;
    else if (name == "attention_mask") call.args.attention_mask = tensors;
    else if (name == "return_attention_scores") call.args.return_attention_scores = value.boolean();
    else if (name == "use_causal_mask") call.args.use_causal_mask = value.boolean();
    else if (name == "value" || name == "key") inputs.push_back(tensors);
    else if (name == "count_weights") call.args.more = tensors;
    else ADD_FAILURE() << "the harness does not know the argument " << name;
  }
  if (inputs.size() > 1) call.inputs = Nest::list(std::move(inputs));  // query, value, key
  return call;
}

/// All tensors of a call that gradients are asked for, and the same call with others in their places.
std::vector<Tensor> sources_of(const Call& call) {
  std::vector<Tensor> all = call.inputs.flatten();
  for (const auto& [name, tensors] : call.tensors) {
    if (name == "value" || name == "key") continue;
    for (const Tensor& t : tensors.flatten()) all.push_back(t);
  }
  return all;
}
Call with_tensors(const Call& call, std::span<const Tensor> replaced) {
  std::map<const TensorImpl*, Tensor> to;
  std::vector<Tensor> from = sources_of(call);
  for (size_t i = 0; i < from.size(); ++i) to[from[i].get()] = replaced[i];
  auto replace = [&](const Tensor& t) { return to.contains(t.get()) ? to.at(t.get()) : t; };
  Call made = call;
  made.inputs = call.inputs.map(replace);
  keras::functional::for_each_nest(made.args, [&](Nest& nest) { nest = nest.map(replace); });
  for (auto& [tensor, mask] : made.masks) tensor = replace(tensor);
  for (auto& [name, tensors] : made.tensors) tensors = tensors.map(replace);
  return made;
}

/// What one call gives.
struct Outcome {
  std::vector<Tensor> outputs, losses, gradients;  // gradients: of the sources, then of the trainable weights
  std::vector<Tensor> masks;                       // of the outputs
};
Outcome run(const Layer& layer, const Call& call, bool wants_gradients) {
  for (const auto& [tensor, mask] : call.masks) set_companion(tensor, mask);
  Outcome outcome;
  GradientTape tape;
  std::vector<Tensor> sources = sources_of(call);
  for (const Tensor& t : sources)
    if (is_floating(t.dtype())) tape.watch(t);
  outcome.outputs = layer.invoke(call.inputs, call.args).flatten();
  for (const Tensor& t : outcome.outputs) outcome.masks.push_back(companion_of(t));
  Tensor sum = wants_gradients ? weighted_sum(outcome.outputs) : Tensor();
  tape.stop();
  outcome.losses = layer.losses();
  if (sum.defined()) {
    std::vector<Variable> weights = layer.trainable_weights();
    auto [of_sources, of_weights] = tape.gradient(sum, sources, weights);
    outcome.gradients = of_sources;
    outcome.gradients.insert(outcome.gradients.end(), of_weights.begin(), of_weights.end());
    for (Tensor& t : outcome.gradients)
      if (t.defined()) t = to_array(t);
  }
  return outcome;
}
/// The same in a traced function.
Outcome run_traced(const Layer& layer, const Call& call, bool wants_gradients) {
  keras::StepFunction step(
      [&](const Nest& data) {
        Outcome outcome = run(layer, with_tensors(call, data.flatten()), wants_gradients);
        auto list = [](const std::vector<Tensor>& tensors) {
          return Nest::list(std::vector<Nest>(tensors.begin(), tensors.end()));
        };
        return Nest::list({list(outcome.outputs), list(outcome.masks), list(outcome.losses), list(outcome.gradients)});
      },
      false, false, "run_layer");
  std::vector<Tensor> sources = sources_of(call);
  Nest all = step(Nest::of(sources));
  auto tensors = [&](size_t i) {
    std::vector<Tensor> found;
    for (const Nest& item : all[i].items()) found.push_back(item.is_none() ? Tensor() : item.tensor());
    return found;
  };
  return {tensors(0), tensors(2), tensors(3), tensors(1)};
}

class LayerCases : public ::testing::TestWithParam<LayerCase> {
 protected:
  const KerasCases& family() const { return *GetParam().family; }
  const Value& one() const { return GetParam().value(); }
  double tolerance() const { return one()["tolerance"].is_none() ? -1 : one()["tolerance"].number(); }

  void expect_same(const Tensor& got, const Value& expected, const std::string& what) const {
    Tensor wanted = family().tensor(expected);
    const bool only_shape = one()["check"].text() == "shape" || (expected.is_map() && expected["check"].is_text());
    if (only_shape && got.defined() && wanted.defined()) {
      EXPECT_EQ(got.dtype(), wanted.dtype()) << what;
      EXPECT_EQ(got.shape().str(), wanted.shape().str()) << what;
      return;
    }
    std::string text = difference(got, wanted, tolerance());
    EXPECT_TRUE(text.empty()) << what << ": " << text;
  }
  void expect_same(const std::vector<Tensor>& got, const Value& expected, const std::string& what) const {
    ASSERT_EQ(got.size(), expected.list().size()) << what;
    for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], expected.list()[i], what + " " + std::to_string(i));
  }

  void check_error(const Value& error);
  void check_row();
  void check_weights(const Layer& layer) const;
  void check_call(const Outcome& outcome, const Layer& layer, const Value& expected, const Call& call,
                  const std::string& what) const;
  bool infer_first_call(const Layer& layer) const;
  void check_calls(const Layer& layer, bool traced) const;
  void check_shapes(const Layer& layer) const;
  void check_statistics(const Tensor& output, const Value& statistics) const;
};

/// Keras's message as far as it is about the case: without the frame around errors in calls; its first sentence.
std::string first_sentence(std::string text) {
  if (text.starts_with("Exception encountered when calling layer")) {
    text = text.substr(text.find("\n\n") + 2);
    text = text.substr(0, text.find("\n\nCall arguments"));
  }
  if (text.find("[Op:") != text.npos) return {};                   // a kernel's own words
  if (text.starts_with("The truth value of an array")) return {};  // NumPy's, where Keras forgot to look
  return text.substr(0, text.find(". "));
}

void LayerCases::check_error(const Value& error) {
  try {
    Layer layer = Layer::from_config(one()["class"].text(), one()["config"]);
    EXPECT_NE(error["stage"].text(), "construct") << "it was made; Keras says: " << error["message"].text();
    if (error["stage"].text() == "construct") return;
    for (const Value& given : one()["calls"].list()) {
      Call call = make_call(family(), given);
      for (const auto& [tensor, mask] : call.masks) set_companion(tensor, mask);
      layer.invoke(call.inputs, call.args);
    }
    FAIL() << "it was called; Keras says: " << error["message"].text();
  } catch (const Error& raised) {
    const std::string wanted = error["class"].text(), text = raised.what();
    if (wanted == "IndexError") return;  // Python's own, where Keras forgot to look
    EXPECT_EQ(raised.type(), wanted == "NotImplementedError" ? "UnimplementedError" : wanted) << text;
    EXPECT_NE(text.find(first_sentence(error["message"].text())), text.npos)
        << "it says: " << text << "\nKeras: " << error["message"].text();
  }
}

void LayerCases::check_weights(const Layer& layer) const {
  std::vector<Variable> weights = layer.weights(), trainable = layer.trainable_weights();
  const Value::List& expected = one()["weights"].list();
  ASSERT_EQ(weights.size(), expected.size()) << "weights";
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string what = "weight " + std::to_string(i);
    Tensor value = family().tensor(expected[i]["value"]);
    EXPECT_EQ(weights[i].name(), expected[i]["name"].text()) << what;
    const bool is_trainable = std::any_of(trainable.begin(), trainable.end(), [&](const Variable& v) {
      return v.handle().get() == weights[i].handle().get();
    });
    EXPECT_EQ(is_trainable, expected[i]["trainable"].boolean()) << what;
    EXPECT_TRUE(weights[i].shape().is_compatible_with(value.shape()))
        << what << " " << weights[i].shape();  // one may grow
    EXPECT_EQ(weights[i].dtype(), value.dtype()) << what;
    // What adapt learnt is there from the beginning.
    const Value& first = expected[i][one()["adapt"].is_none() ? "initial" : "value"];
    if (!first.is_none()) expect_same(weights[i].value(), first, "initial " + what);
  }
  if (!one()["count_params"].is_none()) {
    EXPECT_EQ(layer.count_params(), one()["count_params"].integer());
  }
}

void LayerCases::check_statistics(const Tensor& output, const Value& statistics) const {
  Tensor values = cast(output, DType::float64);
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0, zeros = 0;
  for (int64_t i = 0; i < values.size(); ++i) {
    const double x = values.data<double>()[i];
    sum += x;
    squares += x * x;
    zeros += x == 0;
  }
  const double mean = sum / count, deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  const double scale = statistics["deviation"].number() + std::abs(statistics["mean"].number());
  // What is dropped together is one draw.
  const Value& together = one()["config"]["noise_shape"];
  double draws = count;
  if (together.is_list()) {
    draws = 1;
    for (size_t i = 0; i < together.list().size(); ++i)
      draws *= static_cast<double>(together.list()[i].is_none() ? output.shape()[static_cast<int>(i)]
                                                                : together.list()[i].integer());
  } else if (one()["class"].text().starts_with("SpatialDropout")) {
    const bool is_first = one()["config"]["data_format"] == Value("channels_first");
    draws = static_cast<double>(output.shape()[0] * output.shape()[is_first ? 1 : -1]);
  }
  const double slack = 6 / std::sqrt(draws);
  EXPECT_NEAR(mean, statistics["mean"].number(), slack * scale + 1e-6) << "mean";
  EXPECT_NEAR(deviation, statistics["deviation"].number(), slack * scale + 1e-6) << "deviation";
  EXPECT_NEAR(zeros / count, statistics["zeros"].number(), slack) << "share of zeros";
}

void LayerCases::check_call(const Outcome& outcome, const Layer& layer, const Value& expected, const Call& call,
                            const std::string& what) const {
  expect_same(outcome.outputs, expected["outputs"], what + "output");
  if (!expected["statistics"].is_none() && !outcome.outputs.empty())
    check_statistics(outcome.outputs[0], expected["statistics"]);
  for (size_t i = 0; i < outcome.masks.size(); ++i) {
    const Value& masks = expected["output_mask"];
    expect_same(outcome.masks[i], masks.is_none() ? Value() : masks.list()[i],
                what + "mask of output " + std::to_string(i));
  }
  if (one()["check"].text() != "shape") expect_same(outcome.losses, expected["losses"], what + "loss");
  const Value& gradients = expected["gradients"];
  if (!gradients.is_none() && one()["check"].text() != "shape") {
    Value::List all;
    auto add = [&](auto&& self, const Nest& form, const Value& value) -> void {
      if (form.is_tensor()) all.push_back(value);
      for (size_t i = 0; i < form.size(); ++i) self(self, form[i], value.is_none() ? value : value.list()[i]);
    };
    const bool is_attention =
        std::any_of(call.tensors.begin(), call.tensors.end(), [](const auto& entry) { return entry.first == "value"; });
    if (is_attention) add(add, call.inputs[0], gradients["inputs"]);
    else add(add, call.inputs, gradients["inputs"]);
    for (const char* name : {"value", "key"})
      for (const auto& [given, tensors] : call.tensors)
        if (given == name) add(add, tensors, gradients["args"][name]);
    const size_t first_argument = all.size();
    for (const auto& [name, tensors] : call.tensors)
      if (name != "value" && name != "key") add(add, tensors, gradients["args"][name]);
    for (const Value& weight : gradients["weights"].list()) all.push_back(weight);
    ASSERT_EQ(outcome.gradients.size(), all.size()) << what << "gradient";
    const bool has_mask =
        call.args.attention_mask.is_tensor() && is_floating(call.args.attention_mask.tensor().dtype());
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string which = what + "gradient " + std::to_string(i);
      // Scores take a mask of reals 1e9 times, and with it what rounding leaves of a zero.
      if (has_mask && i == first_argument) {
        const std::string text = difference(outcome.gradients[i] / 1e9f, family().tensor(all[i]) / 1e9f, tolerance());
        EXPECT_TRUE(text.empty()) << which << ": " << text;
      } else {
        expect_same(outcome.gradients[i], all[i], which);
      }
    }
  }
  const Value& after = expected["weights_after"];
  if (!after.is_none() && one()["check"].text() != "shape") {
    std::vector<Variable> weights = layer.weights();
    ASSERT_EQ(weights.size(), after.list().size());
    for (size_t i = 0; i < weights.size(); ++i)
      if (!after.list()[i].is_none())
        expect_same(weights[i].value(), after.list()[i], what + "after the call, weight " + std::to_string(i));
  }
}

void LayerCases::check_calls(const Layer& layer, bool traced) const {
  std::vector<Tensor> values;
  for (const Value& weight : one()["weights"].list()) values.push_back(family().tensor(weight["value"]));
  if (one()["adapt"].is_none()) layer.set_weights(values);
  int number = 0;
  for (const Value& expected : one()["calls"].list()) {
    if (expected["reset_states"].is_bool() && expected["reset_states"].boolean()) layer.reset_states();
    Call call = make_call(family(), expected);
    const bool wants_gradients = !expected["gradients"].is_none();
    Outcome outcome = traced ? run_traced(layer, call, wants_gradients) : run(layer, call, wants_gradients);
    check_call(outcome, layer, expected, call,
               std::string(traced ? "traced" : "eager") + " call " + std::to_string(number++) + ", ");
  }
}

void LayerCases::check_shapes(const Layer& layer) const {
  const Value& expected = one()["output_shape"];
  if (expected.is_none() || one()["calls"].list().empty()) return;
  Call call = make_call(family(), one()["calls"].list()[0]);
  auto without_batch = [](const Tensor& t) {
    Shape shape = t.shape();
    if (shape.rank() > 0) shape[0] = unknown;
    return keras::detail::stand_in(t.dtype(), shape);
  };
  Nest inputs = call.inputs.map(without_batch);
  Nest stated = layer.get()->compute_output_shape(inputs);
  const bool depends_on_batch = !call.tensors.empty();  // states and masks have it
  if (!stated.is_none()) {
    std::vector<Tensor> outputs = stated.flatten();
    ASSERT_EQ(outputs.size(), expected.list().size()) << "compute_output_shape";
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(keras::to_value(outputs[i].shape()), expected.list()[i]) << "compute_output_shape";
  }
  // One image has no batch whose size could be left open.
  const bool is_image =
      (layer.class_name() == "Resizing" || layer.class_name() == "CenterCrop") && call.inputs.tensor().rank() == 3;
  // Keras's answer is for the batch it was built with; a loop of unknown length cannot be unrolled.
  const bool is_fixed = layer.class_name() == "EinsumDense" ||
                        (one()["config"]["unroll"] == Value(true) && one()["config"]["time_major"] == Value(true));
  if (depends_on_batch || is_image || is_fixed) return;
  Nest symbolic = inputs.map([](const Tensor& t) {
    Shape shape = t.shape();
    if (shape.rank() == 0) return t;
    shape.erase(0);
    return keras::Input(shape, {.dtype = t.dtype()});
  });
  if (layer.class_name().find("Pooling") != std::string::npos && call.inputs.tensor().rank() > 0 &&
      expected.list()[0].list()[1] == Value(int64_t{0})) {
    EXPECT_THROW(layer.invoke(symbolic, call.args), ValueError) << "a window that is larger than what keras::Input has";
    return;
  }
  std::vector<Tensor> outputs = layer.invoke(symbolic, call.args).flatten();
  ASSERT_EQ(outputs.size(), expected.list().size()) << "outputs for keras::Input";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape& shape = outputs[i].shape();
    EXPECT_EQ(keras::to_value(shape), expected.list()[i]) << "shape for keras::Input";
  }
}

void expect_same_config(const Value& got, const Value& expected, const char* what) {
  if (got == expected) return;
  for (const auto& [key, value] : expected.map())
    EXPECT_TRUE(got.contains(key) && got[key] == value)
        << what << ": " << key << " is " << (got.contains(key) ? got[key].json() : "missing") << ", not "
        << value.json();
  for (const auto& [key, value] : got.map()) EXPECT_TRUE(expected.contains(key)) << what << " has " << key << " too";
}

/// Whether the outputs can be told from the shapes of the first call. Graphs refuse windows larger than their input, as
/// TensorFlow's do; eager calls give nothing for them.
bool LayerCases::infer_first_call(const Layer& layer) const {
  Call call = make_call(family(), one()["calls"].list()[0]);
  auto without_value = [](const Tensor& t) { return keras::detail::stand_in(t.dtype(), t.shape()); };
  try {
    keras::functional::infer_outputs(layer, call.inputs.map(without_value), call.args);
  } catch (const ValueError& error) {
    if (std::string_view(error.what()).find("does not fit the input") == std::string_view::npos) throw;
    EXPECT_EQ(keras::detail::run(*layer.get(), call.inputs, call.args).flatten().at(0).size(), 0) << error.what();
    return false;
  }
  return true;
}

void LayerCases::check_row() {
  if (!one()["error"].is_none()) return check_error(one()["error"]);
  try {
    Layer layer = Layer::from_config(one()["class"].text(), one()["config"]);
    EXPECT_EQ(layer.name(), one()["name"].text());
    Layer copy = Layer::from_config(one()["class"].text(), layer.get_config());
    for (bool traced : {false, true}) {
      const Layer& used = traced ? copy : layer;
      if (!one()["adapt"].is_none()) used.adapt(family().tensor(one()["adapt"]));
      const bool has_graph = one()["calls"].list().empty() || infer_first_call(used);
      check_weights(used);
      if (has_graph || !traced) check_calls(used, traced);
    }
    check_shapes(layer);
    expect_same_config(layer.get_config(), one()["get_config"], "get_config");
    expect_same_config(copy.get_config(), layer.get_config(), "get_config of the copy");
  } catch (const Error& error) {
    FAIL() << error.type() << ": " << error.what();
  }
}

/// One with which an orthogonal matrix of one element is 1, as it was when Keras was asked (SimpleRNN 25).
constexpr int64_t seed = 1;

TEST_P(LayerCases, AreThoseOfKeras) {
  keras::backend::clear_session();
  keras::utils::set_random_seed(seed);
  check_row();
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerCases, ::testing::ValuesIn(all_layer_cases()),
                         [](const auto& info) { return info.param.label; });

}  // namespace
}  // namespace thalweg::testing
