#include "thalweg/graph/passes/pass.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "thalweg/graph/optimizer_options.h"

namespace thalweg {
namespace {

std::mutex options_mutex;
std::map<std::string, bool>& options() {
  static auto& kept = *new std::map<std::string, bool>;
  return kept;
}
std::atomic<bool> jit_everywhere{false};

}  // namespace

void config::optimizer::set_experimental_options(const std::map<std::string, bool>& changed) {
  std::lock_guard lock(options_mutex);
  for (const auto& [name, value] : changed) options()[name] = value;
}
std::map<std::string, bool> config::optimizer::get_experimental_options() {
  std::lock_guard lock(options_mutex);
  return options();
}
void config::optimizer::set_jit(bool enabled) { jit_everywhere = enabled; }
bool config::optimizer::get_jit() { return jit_everywhere; }

namespace graph {
namespace {

bool same_attr(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (auto* number = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*number) == std::bit_cast<uint64_t>(std::get<double>(b));
  if (auto* numbers = std::get_if<std::vector<double>>(&a)) {
    const auto& others = std::get<std::vector<double>>(b);
    return numbers->size() == others.size() &&
           (numbers->empty() || std::memcmp(numbers->data(), others.data(), numbers->size() * sizeof(double)) == 0);
  }
  if (auto* tensor = std::get_if<Tensor>(&a)) return same_value(*tensor, std::get<Tensor>(b));
  return std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, Tensor>) return false;  // above
        else return value == std::get<T>(b);
      },
      a);
}

}  // namespace

bool same_value(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (!a.defined() || !b.defined()) return false;
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  if (x.form != Form::array || y.form != Form::array || x.dtype != y.dtype || !(x.shape == y.shape)) return false;
  if (x.dtype == DType::resource || x.dtype == DType::variant) return false;
  if (x.dtype == DType::string) {
    auto *s = static_cast<const std::string*>(x.data), *t = static_cast<const std::string*>(y.data);
    return std::equal(s, s + x.shape.count(), t);
  }
  size_t bytes = static_cast<size_t>(x.shape.count()) * size_of(x.dtype);
  return bytes == 0 || std::memcmp(x.data, y.data, bytes) == 0;
}

bool same_attrs(const Node& a, const Node& b) {
  if (!a.op->attrs) return true;
  for (size_t i = 0; i < a.op->attrs->rows.size(); ++i) {
    int row = static_cast<int>(i);
    if (!same_attr(a.op->attrs->get(a.attrs.get(), row), b.op->attrs->get(b.attrs.get(), row))) return false;
  }
  return true;
}

void copy_attrs(const Node& from, const Op& to, const Attrs& attrs) {
  for (size_t i = 0; from.op->attrs && i < from.op->attrs->rows.size(); ++i)
    if (int row = to.attrs->find(from.op->attrs->rows[i].name); row >= 0)
      to.attrs->set(attrs.get(), row, from.op->attrs->get(from.attrs.get(), static_cast<int>(i)));
}

std::span<const Pass* const> all_passes() {
  static constexpr const Pass* passes[] = {
      &inline_calls,         &prune,
      &merge_reads,          &fold_constants,
      &simplify_arithmetic,  &loop_invariants,
      &merge_subexpressions, &prune_results,
      &channels_last,        &fuse_contractions,
      &keep_filters,         &fuse_elementwise,
  };
  return passes;
}

Graph optimize(const Graph& graph) {
  Graph made = graph.copy();
  std::map<std::string, bool> set = config::optimizer::get_experimental_options();
  auto is_set = [&](const char* option, bool value) {
    auto found = set.find(option);
    return found != set.end() && found->second == value;
  };
  const bool none = is_set("disable_meta_optimizer", true), fuse_all = graph.jit_compile || jit_everywhere;
  if (none && !fuse_all) return made;
  auto run = [&](const Pass& pass) {
    bool switched_on = !none && !is_set(pass.option, !pass.switched_on_by);
    if (switched_on || (pass.is_late && fuse_all)) pass.run(made);
  };
  // One pass makes work for another; what a second round leaves is rarely worth a third.
  for (int round = 0; round < 2; ++round) {
    size_t before = made.nodes().size();
    for (const Pass* pass : all_passes())
      if (!pass->is_late) run(*pass);
    run(prune);
    if (made.nodes().size() == before) break;
  }
  for (const Pass* pass : all_passes())
    if (pass->is_late) {
      run(*pass);
      prune.run(made);
    }
  return made;
}

}  // namespace graph
}  // namespace thalweg
