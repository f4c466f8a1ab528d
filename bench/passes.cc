// What each pass saves: processor time of a step on one thread, and number of ops, without it and with all of them.
//   bench/passes [rounds] [cnn|mlp|resnet|resnet_norm|resnet_first]...       THALWEG_LIST=1 prints the graphs
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "thalweg/core/threads.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/ops/optimizer_steps.h"
#include "thalweg/thalweg.h"

namespace thalweg::bench {
namespace {

Tensor numbers(const std::vector<int64_t>& shape, float scale = 0.05f) {
  return random::stateless_uniform(shape, Tensor({1, 2}), {.minval = -1.0f, .maxval = 1.0f}) * scale;
}

/// A variable and the two moments that Adam keeps of it.
struct Weight {
  Variable value, first, second;
  explicit Weight(const std::vector<int64_t>& shape)
      : value(numbers(shape)), first(zeros_like(value)), second(zeros_like(value)) {}
  void update(const Tensor& gradient) const {
    optimizer_steps::apply_adam(value, first, second, 0.9f, 0.999f, 1e-3f, 0.9f, 0.999f, 1e-7f, gradient);
  }
};

/// Two convolutions with pools and a dense layer, batches of 32, Adam.
ConcreteFunction cnn() {
  auto w = std::make_shared<std::vector<Weight>>();
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3, 3, 1, 32}, {32}, {3, 3, 32, 64}, {64}, {1600, 10}, {10}})
    w->emplace_back(shape);
  auto step = function([w](const Tensor& x, const Tensor& labels) {
    auto& v = *w;
    GradientTape tape;
    Tensor y = nn::relu(nn::bias_add(nn::conv2d(x, v[0].value, {.strides = 1, .padding = "VALID"}), v[1].value));
    y = nn::max_pool2d(y, {.ksize = 2, .strides = 2});
    y = nn::relu(nn::bias_add(nn::conv2d(y, v[2].value, {.strides = 1, .padding = "VALID"}), v[3].value));
    y = reshape(nn::max_pool2d(y, {.ksize = 2, .strides = 2}), {-1, 1600});
    Tensor logits = matmul(y, v[4].value) + v[5].value;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
    auto [g0, g1, g2, g3, g4, g5] =
        tape.gradient(loss, v[0].value, v[1].value, v[2].value, v[3].value, v[4].value, v[5].value);
    const Tensor* gradients[] = {&g0, &g1, &g2, &g3, &g4, &g5};
    for (size_t i = 0; i < v.size(); ++i) v[i].update(*gradients[i]);
    return loss;
  });
  return step.get_concrete_function(TensorSpec({32, 28, 28, 1}), TensorSpec({32}, DType::int32));
}

/// 784 inputs, 128 hidden units, 10 classes, batches of 32, Adam.
ConcreteFunction mlp() {
  auto w = std::make_shared<std::vector<Weight>>();
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{784, 128}, {128}, {128, 10}, {10}})
    w->emplace_back(shape);
  auto step = function([w](const Tensor& x, const Tensor& labels) {
    auto& v = *w;
    GradientTape tape;
    Tensor hidden = nn::relu(matmul(x, v[0].value) + v[1].value);
    Tensor logits = matmul(hidden, v[2].value) + v[3].value;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
    auto [g0, g1, g2, g3] = tape.gradient(loss, v[0].value, v[1].value, v[2].value, v[3].value);
    const Tensor* gradients[] = {&g0, &g1, &g2, &g3};
    for (size_t i = 0; i < v.size(); ++i) v[i].update(*gradients[i]);
    return loss;
  });
  return step.get_concrete_function(TensorSpec({32, 784}), TensorSpec({32}, DType::int32));
}

/// ResNet-50 with frozen weights, forward; batch normalisation folded into biases, or as ops; channels last or first.
class ResNet {
 public:
  ResNet(bool normalizes, bool first) : normalizes_(normalizes), first_(first) {}

  Tensor operator()(const Tensor& image) {
    next_ = 0;
    Tensor x = nn::max_pool2d(nn::relu(layer(image, 7, 64, 2)),
                              {.ksize = 3, .strides = 2, .padding = "SAME", .data_format = format()});
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage)
      for (int block = 0; block < blocks[stage]; ++block) {
        int64_t width = 64 << stage, stride = block == 0 && stage > 0 ? 2 : 1;
        Tensor shortcut = block == 0 ? layer(x, 1, 4 * width, stride) : x;
        Tensor y = nn::relu(layer(x, 1, width, stride));
        y = nn::relu(layer(y, 3, width, 1));
        x = nn::relu(layer(y, 1, 4 * width, 1) + shortcut);
      }
    x = first_ ? reduce_mean(x, {.axis = {2, 3}}) : reduce_mean(x, {.axis = {1, 2}});
    return matmul(x, weight({2048, 1000})) + weight({1000});
  }

 private:
  const char* format() const { return first_ ? "NCHW" : "NHWC"; }
  // Made when the model runs op by op, constants when it is traced.
  const Tensor& weight(const std::vector<int64_t>& shape, float scale = 0.05f, float shift = 0) {
    if (next_ == weights_.size()) weights_.push_back(numbers(shape, scale) + shift);
    return weights_[next_++];
  }
  Tensor layer(const Tensor& x, int64_t size, int64_t out, int64_t stride) {
    int64_t in = x.shape()[first_ ? 1 : 3];
    float scale = 1.5f / std::sqrt(static_cast<float>(size * size * in));
    Tensor y = nn::conv2d(x, weight({size, size, in, out}, scale),
                          {.strides = stride, .padding = "SAME", .data_format = format()});
    if (!normalizes_) return nn::bias_add(y, weight({out}), {.data_format = format()});
    const Tensor &slope = weight({out}, 0.05f, 1), offset = weight({out}), mean = weight({out}),
                 variance = weight({out}, 0.05f, 1);
    return nn::fused_batch_norm(y, slope, offset,
                                {.mean = mean, .variance = variance, .data_format = format(), .is_training = false})
        .y;
  }

  bool normalizes_, first_;
  std::deque<Tensor> weights_;
  size_t next_ = 0;
};
ConcreteFunction resnet(bool normalizes, bool first = false) {
  auto model = std::make_shared<ResNet>(normalizes, first);
  std::vector<int64_t> shape = first ? std::vector<int64_t>{1, 3, 224, 224} : std::vector<int64_t>{1, 224, 224, 3};
  (*model)(numbers(shape));
  return function([model](const Tensor& image) { return (*model)(image); })
      .get_concrete_function(TensorSpec(Shape(std::span<const int64_t>(shape))));
}

/// What `optimize` does, without one of the passes.
graph::Graph optimized(const graph::Graph& from, const graph::Pass* without) {
  graph::Graph made = from.copy();
  auto run_all = [&](bool late) {
    for (const graph::Pass* pass : graph::all_passes())
      if (pass != without && pass->is_late == late) pass->run(made);
    graph::prune.run(made);
  };
  run_all(false);
  run_all(false);
  run_all(true);
  return made;
}

struct Candidate {
  const char* name;
  graph::Graph graph;
  std::unique_ptr<graph::Plan> plan;
  std::vector<double> times = {};
};

double milliseconds(const std::function<void()>& f) {
  auto now = [] {  // others may use the machine too
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  };
  double begin = now();
  f();
  return now() - begin;
}

void measure(const char* name, const ConcreteFunction& f, const std::vector<Tensor>& arguments, int rounds) {
  std::vector<Candidate> all;
  auto add = [&](const char* label, graph::Graph graph) {
    Candidate& c = all.emplace_back(Candidate{label, std::move(graph), nullptr});
    c.plan = std::make_unique<graph::Plan>(c.graph, c.graph.arguments, c.graph.results);
  };
  add("all", optimized(f.graph(), nullptr));
  for (const graph::Pass* pass : graph::all_passes()) add(pass->name, optimized(f.graph(), pass));
  add("(none runs)", f.graph().copy());
  std::vector<TensorRef> in(arguments.begin(), arguments.end());
  for (int round = 0; round < rounds; ++round)  // turn by turn, so that all see the same weather
    for (Candidate& c : all) c.times.push_back(milliseconds([&] { graph::run(*c.plan, 1, in); }));
  if (std::getenv("THALWEG_LIST")) std::printf("%s", all[0].graph.str().c_str());
  std::printf("%s, %d rounds\n%-24s %10s %10s %6s\n", name, rounds, "without", "median ms", "least ms", "ops");
  for (Candidate& c : all) {
    std::sort(c.times.begin(), c.times.end());
    std::printf("%-24s %10.3f %10.3f %6zu\n", c.name, c.times[c.times.size() / 2], c.times[0], c.plan->num_steps());
  }
}

}  // namespace
}  // namespace thalweg::bench

int main(int argc, char** argv) {
  using namespace thalweg;
  using namespace thalweg::bench;
  set_num_threads(1);
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
  auto wanted = [&](const std::string& name) {
    return argc <= 2 || std::find(argv + 2, argv + argc, name) != argv + argc;
  };
  Tensor labels = range(32) % 10;
  if (wanted("mlp")) measure("mlp", mlp(), {numbers({32, 784}, 1), labels}, rounds);
  if (wanted("cnn")) measure("cnn", cnn(), {numbers({32, 28, 28, 1}, 1), labels}, rounds);
  if (wanted("resnet")) measure("resnet", resnet(false), {numbers({1, 224, 224, 3}, 1)}, rounds);
  if (wanted("resnet_first")) measure("resnet_first", resnet(false, true), {numbers({1, 3, 224, 224}, 1)}, rounds);
  if (wanted("resnet_norm")) measure("resnet_norm", resnet(true), {numbers({1, 224, 224, 3}, 1)}, rounds);
}
