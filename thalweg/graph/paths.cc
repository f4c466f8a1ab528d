#include "thalweg/graph/paths.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/graph/extraction.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/graph/path_tracer.h"

namespace thalweg::graph {

const Tensor* PathValues::find(Value v) const {
  for (const auto& [value, tensor] : known_)
    if (value == v) return &tensor;
  return nullptr;
}

Tensor PathValues::at(Value v) {
  if (v.node->is_constant()) return v.node->constant;
  if (static_cast<size_t>(v.node->id) < arguments_.size()) return arguments_[static_cast<size_t>(v.node->id)].tensor();
  if (const Tensor* known = find(v)) return *known;
  compute(*v.node);
  return *find(v);
}

void PathValues::compute(const Node& n) {
  std::vector<Tensor> held;
  for (const Value& v : n.inputs) held.push_back(at(v));
  std::optional<RandomStreamScope> stream;
  if (n.stream) stream.emplace(*n.stream);
  std::vector<Tensor> results =
      apply_list(*n.op, std::vector<TensorRef>(held.begin(), held.end()), n.attrs, static_cast<int>(n.results.size()));
  for (size_t i = 0; i < results.size(); ++i) put({const_cast<Node*>(&n), static_cast<int>(i)}, std::move(results[i]));
}

void PathValues::keep_only(const std::vector<Value>& needed) {
  std::erase_if(known_, [&](const auto& k) {
    return !k.first.node->op->traits.stateful && !std::ranges::binary_search(needed, k.first);
  });
}

Segment& Paths::add_segment(Segment* parent, const Tensor& answer) {
  Segment& made = segments_.emplace_back();
  made.parent = parent;
  made.answer = answer;
  return made;
}

Segment* Paths::find(const Segment& from, const Tensor& answer) const {
  for (Segment* s = from.first_child.load(std::memory_order_acquire); s; s = s->next_sibling)
    if (same_value(s->answer, answer)) return s;
  return nullptr;
}

// What the new segments read of each other and of those before them, then they can be found.
void Paths::finish(std::span<Segment* const> fresh) {
  owners_.resize(graph_.nodes().size());
  for (Segment* s : fresh)
    for (int id = s->first; id < s->end; ++id) {
      Node& n = graph_.nodes()[static_cast<size_t>(id)];
      owners_[static_cast<size_t>(id)] = s;
      for (size_t i = 0; n.op->traits.stateful && !n.is_constant() && i < n.results.size(); ++i)
        s->kept.push_back({&n, static_cast<int>(i)});
    }
  for (Segment* s : fresh) {
    auto read = [&](Value v) {
      if (v.node->is_constant() || static_cast<size_t>(v.node->id) < graph_.arguments.size()) return;
      Segment* owner = owners_[static_cast<size_t>(v.node->id)];
      if (owner == s) return;
      for (Segment* user = s; user != owner; user = user->parent) user->needs.insert(v);
      if (std::ranges::find(owner->kept, v) == owner->kept.end()) owner->kept.push_back(v);
    };
    for (int id = s->first; id < s->end; ++id)
      for (const Value& v : graph_.nodes()[static_cast<size_t>(id)].inputs) read(v);
    for (const Value& v : s->results) read(v);
    if (!s->ends()) read(s->question);
  }
  num_segments_ += fresh.size();
  for (Segment* s = fresh.front()->parent; s; s = s->parent) s->compiled.store(nullptr, std::memory_order_release);
  for (Segment* s : std::views::reverse(fresh)) {
    if (!s->parent) continue;
    s->next_sibling = s->parent->first_child.load(std::memory_order_relaxed);
    s->parent->first_child.store(s, std::memory_order_release);
  }
}

const Segment::Compiled& Paths::compile(Segment& s) {
  if (const Segment::Compiled* ready = s.compiled.load(std::memory_order_acquire)) return *ready;
  std::lock_guard lock(mutex_);
  if (const Segment::Compiled* ready = s.compiled.load(std::memory_order_acquire)) return *ready;
  Segment::Compiled& made = compiled_.emplace_back();
  made.needs.assign(s.needs.begin(), s.needs.end());
  if (s.latest && s.latest->gives == s.kept) {
    made.body = s.latest->body;
    made.reads = s.latest->reads;
    made.gives = s.kept;
  } else {
    std::vector<Value> results = s.ends() ? s.results : std::vector<Value>{s.question};
    if (!s.ends()) results.insert(results.end(), s.kept.begin(), s.kept.end());
    Extracted extracted = extract(graph_, s.first, s.end, {}, results);
    made.reads = std::move(extracted.read);
    made.gives = s.kept;
    made.body = std::make_shared<FunctionBody>(name_ + "_segment", std::move(extracted.part));
  }
  s.latest = &made;
  s.compiled.store(&made, std::memory_order_release);
  return made;
}

Traced Paths::run(std::span<const TensorRef> arguments, const TraceBody& body) {
  if (has_overgrown()) {
    std::vector<Tensor> tensors;
    for (const TensorRef& a : arguments) tensors.push_back(a.tensor());
    return body(tensors);
  }
  if (growing_.load(std::memory_order_relaxed) == &thread_state)
    throw RuntimeError(name_ + " calls itself while it is traced: use a plain function for the recursion");
  PathValues values(arguments);
  std::vector<Tensor> in;
  for (Segment* s = &segments_.front();;) {
    const Segment::Compiled& ready = compile(*s);
    values.keep_only(ready.needs);
    in.clear();
    for (const Value& v : ready.reads) in.push_back(values.at(v));
    std::vector<Tensor> results = call(ready.body, std::vector<TensorRef>(in.begin(), in.end()));
    if (s->ends()) return {std::move(results), s->structure};
    for (size_t i = 0; i < ready.gives.size(); ++i) values.put(ready.gives[i], std::move(results[1 + i]));
    Segment* next = find(*s, results[0]);
    if (!next) {
      std::lock_guard lock(mutex_);
      next = find(*s, results[0]);  // perhaps another thread was there first
      if (!next) return grow(*s, results[0], std::move(values), body);
    }
    s = next;
  }
}

Traced Paths::grow(Segment& last, const Tensor& answer, PathValues values, const TraceBody& body) {
  struct Growing {
    std::atomic<const void*>& thread;
    ~Growing() { thread.store(nullptr, std::memory_order_relaxed); }
  } growing{growing_};
  growing_.store(&thread_state, std::memory_order_relaxed);
  std::vector<Segment*> path;
  for (Segment* s = &last; s; s = s->parent) path.insert(path.begin(), s);
  PathTracer tracer(*this, std::move(path), answer, std::move(values));
  Tracing tracing(&tracer);
  std::vector<Tensor> symbolic;
  for (Node* n : tracer.graph().arguments) symbolic.push_back(tracer.tensor_of({n, 0}));
  tracer.answer_questions(tracing.stopped(), symbolic);
  return tracer.finish(body(symbolic));
}

}  // namespace thalweg::graph
