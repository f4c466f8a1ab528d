// A traced function in words.
#include <algorithm>
#include <map>
#include <string_view>

#include "thalweg/core/variable_resource.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/graph/function_core.h"

namespace thalweg {
namespace {

using graph::Node;
using graph::Place;

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}
std::string bytes_text(int64_t bytes) { return grouped(bytes) + " bytes"; }
std::string plural(int64_t count, const std::string& thing) {
  return grouped(count) + " " + thing + (count == 1 ? "" : "s");
}
std::string spec_text(const graph::Spec& spec) { return std::string(name_of(spec.dtype)) + " " + spec.shape.str(); }

std::string line(const std::string& title, const std::string& text) {
  constexpr size_t width = 12;
  return "  " + title + std::string(width - std::min(width, title.size()), ' ') + text + "\n";
}

std::string parameters_text(const FunctionBody& body) {
  int64_t elements = 0, trainable = 0, bytes = 0;
  for (const Tensor& handle : body.variables()) {
    const VariableResource& variable = variable_of(handle);
    if (!variable.is_initialized()) continue;
    Tensor value = variable.read();
    elements += value.size();
    bytes += static_cast<int64_t>(value.nbytes());
    if (variable.trainable) trainable += value.size();
  }
  return plural(static_cast<int64_t>(body.variables().size()), "variable") + ", " + plural(elements, "parameter") +
         " (" + grouped(trainable) + " trainable), " + bytes_text(bytes);
}

// Fused nodes say in an attribute what they do, one op after the other.
std::string program_of(const Node& n) {
  return std::string_view(n.op->name).starts_with("_Fused") ? graph::get_attr<std::string>(n, "program") : "";
}

std::string memory_text(const graph::Plan& plan) {
  const graph::MemoryPlan& memory = plan.memory();
  auto count = [&](Place place) { return std::count(memory.places.begin(), memory.places.end(), place); };
  std::string text = bytes_text(static_cast<int64_t>(memory.arena_bytes)) + " for " +
                     plural(count(Place::arena), "value") + " (" +
                     bytes_text(static_cast<int64_t>(memory.bytes_without_reuse)) + " without reuse)";
  if (auto own = count(Place::fresh) + count(Place::loose)) text += ", " + plural(own, "value") + " on their own";
  return text;
}

}  // namespace

std::string ConcreteFunction::summary() const {
  const FunctionBody& body = *body_;
  const graph::Graph& optimized = body.optimized_graph();
  const graph::Plan& plan = body.plan();
  std::string text = name() + "(";
  for (size_t i = 0; i < body.num_arguments(); ++i) text += (i ? ", " : "") + spec_text(body.argument(i));
  text += ") -> ";
  for (size_t i = 0; i < body.num_results(); ++i) text += (i ? ", " : "") + spec_text(body.result(i));
  text += body.num_results() ? "\n" : "None\n";
  text += line("variables", parameters_text(body));
  text += line("nodes", grouped(static_cast<int64_t>(body.graph().nodes().size())) + " traced, " +
                            grouped(static_cast<int64_t>(optimized.nodes().size())) + " after the passes, " +
                            plural(static_cast<int64_t>(plan.num_steps()), "step"));
  text += line("memory", memory_text(plan));
  std::map<std::string, int64_t> counts;
  std::string clusters;
  for (const graph::PlanStep& s : plan.steps()) {
    ++counts[s.op->name];
    if (std::string program = program_of(*s.node); !program.empty())
      clusters += line("", s.node->name + ": " + program);
  }
  std::vector<std::pair<std::string, int64_t>> ops(counts.begin(), counts.end());
  std::sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string list;
  for (const auto& [op, count] : ops) list += (list.empty() ? "" : ", ") + op + " x " + grouped(count);
  text += line("ops", list.empty() ? "none" : list);
  if (!clusters.empty()) text += line("clusters", "") + clusters;
  return text;
}

}  // namespace thalweg
