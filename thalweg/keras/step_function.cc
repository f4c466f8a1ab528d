#include "thalweg/keras/step_function.h"

#include <memory_resource>

namespace thalweg::keras {

StepFunction::StepFunction(Body body, bool eagerly, bool jit_compile, const std::string& name)
    : body_(std::move(body)),
      eagerly_(eagerly),
      core_({.reduce_retracing = true, .jit_compile = jit_compile, .name = name, .described_as = name}) {}

namespace {
int rank_of(const Tensor& t) { return t.shape().has_rank() ? t.rank() : -1; }
std::string describe(const Nest& data) {
  std::string text = data.str();
  data.for_each([&](const Tensor& t) { text += " " + std::to_string(rank_of(t)); });
  return text;
}
}  // namespace

const std::string& StepFunction::text_of(const Nest& data, std::string& other) {
  std::call_once(first_, [&] {
    first_structure_ = data.map([](const Tensor&) { return Tensor(0); });
    data.for_each([&](const Tensor& t) { first_ranks_.push_back(rank_of(t)); });
    first_text_ = describe(data);
  });
  if (data.is_like(first_structure_)) {
    size_t next = 0;
    bool same = true;
    data.for_each([&](const Tensor& t) { same &= rank_of(t) == first_ranks_[next++]; });
    if (same) return first_text_;
  }
  return other = describe(data);
}

Nest StepFunction::operator()(const Nest& data) {
  if (eagerly_ || config::functions_run_eagerly()) return body_(data);
  std::array<std::byte, 512> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<TensorRef> in(&memory);
  in.reserve(data.num_tensors());
  data.for_each([&](const Tensor& t) { in.emplace_back(t); });
  std::string other;
  const std::string& rest = text_of(data, other);
  auto result_of = [](graph::Traced&& traced) {
    return static_cast<const Nest*>(traced.structure.get())->pack(traced.tensors);
  };
  graph::TraceBody trace_body = [&](std::span<const Tensor> symbolic) {
    auto made = std::make_shared<Nest>(body_(data.pack(symbolic)));
    return graph::Traced{made->flatten(), made};
  };
  std::optional<graph::Traced> results = core_.run(in, rest, trace_body);
  return results ? result_of(std::move(*results)) : body_(data);
}

}  // namespace thalweg::keras
