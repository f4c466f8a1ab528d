// Modules: variables are found wherever a model keeps them, and trained together.
#include <thalweg/thalweg.h>

#include <iomanip>
#include <iostream>

namespace tf = thalweg;

struct Dense {
  tf::Variable kernel = {}, bias = {};

  Dense(int64_t inputs, int64_t units, const char* name) {
    tf::NameScope scope(name);
    kernel = tf::Variable(tf::reshape(tf::linspace(-0.9f, 0.9f, inputs * units), {inputs, units}), {.name = "kernel"});
    bias = tf::Variable(tf::zeros({units}), {.name = "bias"});
  }
  template <class F> void fields(F&& f) {  // a struct with a constructor says what it holds
    f("kernel", kernel);
    f("bias", bias);
  }
  tf::Tensor operator()(const tf::Tensor& x) const { return tf::matmul(x, kernel) + bias; }
};

struct Regressor {
  std::vector<Dense> blocks = {Dense(1, 4, "regressor/first"), Dense(4, 4, "regressor/second")};
  Dense head = Dense(4, 1, "regressor/head");
  tf::Variable steps = tf::Variable(0, {.trainable = false, .name = "steps"});

  tf::Tensor operator()(tf::Tensor x) const {
    for (const Dense& block : blocks) x = tf::tanh(block(x));
    return head(x);
  }
};

int main() {
  Regressor model;
  for (const tf::Variable& variable : tf::variables(model))
    std::cout << variable.name() << " " << variable.shape().str() << "\n";
  std::cout << std::fixed << std::setprecision(4);
  std::cout << "submodules: " << tf::submodules(model).size() << "\n";

  tf::Tensor x = tf::reshape(tf::linspace(-1.0f, 1.0f, 21), {21, 1});
  tf::Tensor y = x * x;
  auto weights = tf::trainable_variables(model);
  for (int step = 0; step <= 200; ++step) {
    tf::GradientTape tape;
    tf::Tensor loss = tf::reduce_mean(tf::square(model(x) - y));
    auto gradients = tape.gradient(loss, weights);
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(0.1f * gradients[i]);
    model.steps.assign_add(1);
    if (step % 50 == 0) std::cout << "step " << step << ": loss " << loss.item<float>() << "\n";
  }
  std::cout << "steps: " << model.steps.item<int>() << "\n";
}
