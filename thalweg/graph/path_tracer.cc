#include "thalweg/graph/path_tracer.h"

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"

namespace thalweg::graph {
namespace {

constexpr size_t most_segments = 1000;

/// Ops run instead of being traced, seen by the tapes around the function.
class Outside {
 public:
  explicit Outside(const StopRecording& stopped)
      : again_(stopped), tracer_(thread_state.tracer), reveal_(thread_state.reveal) {
    thread_state.tracer = nullptr;
    thread_state.reveal = nullptr;
  }
  ~Outside() {
    thread_state.tracer = tracer_;
    thread_state.reveal = reveal_;
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  RecordAgain again_;
  Tracer* tracer_;
  decltype(ThreadState::reveal) reveal_;
};

}  // namespace

PathTracer::PathTracer(GraphTracer* outer, std::string name, std::span<const TensorRef> arguments)
    : GraphTracer(outer), name_(std::move(name)), values_(arguments) {}

PathTracer::PathTracer(Paths& paths, std::vector<Segment*> path, Tensor answer, PathValues values)
    : GraphTracer(nullptr),
      mode_(Mode::following),
      values_(std::move(values)),
      paths_(&paths),
      path_(std::move(path)),
      cursor_(path_[0]->first),
      new_answer_(std::move(answer)) {
  may_create_variables = false;
  graph_ = std::move(paths.graph_);
}

PathTracer::~PathTracer() {
  if (paths_) paths_->graph_ = std::move(graph_);
}

void PathTracer::answer_questions(const StopRecording& stopped, std::span<const Tensor> arguments) {
  stopped_ = &stopped;
  symbolic_.assign(arguments.begin(), arguments.end());
  RecordAgain again(stopped);
  tapes_outside_ = thread_state.recorder != nullptr;
  thread_state.reveal = reveal;
}

TensorImpl* PathTracer::reveal(TensorImpl* symbolic, bool truth) {
  auto* tracer = static_cast<PathTracer*>(thread_state.tracer);
  retain(symbolic);
  Tensor asked(symbolic);
  // The truth of a number, not the number: fewer answers, fewer segments.
  if (truth && asked.dtype() != DType::bool_ && asked.dtype() != DType::string)
    asked = not_equal(asked, zeros_like(asked));
  Tensor found = asked.is_symbolic() ? tracer->answer(tracer->value_of(asked)) : asked;
  retain(found.get());
  return found.get();
}

Tensor PathTracer::answer(Value question) {
  if (auto known = answers_.find(question); known != answers_.end()) return known->second;
  if (mode_ == Mode::collecting) run_all();
  Tensor found;
  if (mode_ == Mode::following) {
    Segment& s = *path_[step_];
    if (cursor_ != s.end || !(s.question == question)) fail_to_follow();
    if (++step_ < path_.size()) {
      cursor_ = path_[step_]->first;
      found = path_[step_]->answer;
    } else {
      found = new_answer_;
      mode_ = Mode::running;
      begin_segment(&s, found);
    }
  } else {
    found = compute(question);
    end_segment(question);
    begin_segment(segment_, found);
  }
  answers_[question] = found;
  if (paths_->segments_.size() >= most_segments && !tapes_outside_) let_go();
  return found;
}

void PathTracer::begin_segment(Segment* parent, const Tensor& answer) {
  segment_ = &paths_->add_segment(parent, answer);
  segment_->first = static_cast<int>(graph_.nodes().size());
  fresh_.push_back(segment_);
}
void PathTracer::end_segment(Value question) {
  segment_->question = question;
  segment_->end = static_cast<int>(graph_.nodes().size());
}

// The first question: what was traced so far is the first segment.
void PathTracer::run_all() {
  own_paths_ = std::make_shared<Paths>(name_);
  paths_ = own_paths_.get();
  mode_ = Mode::running;
  begin_segment(nullptr, {});
  segment_->first = static_cast<int>(graph_.arguments.size());
  Outside outside(*stopped_);
  for (const Node& n : graph_.nodes())
    if (n.id >= segment_->first && !n.is_constant()) values_.compute(n);
}

Tensor PathTracer::compute(Value v) {
  Outside outside(*stopped_);
  return values_.at(v);
}

void PathTracer::add(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) {
  GraphTracer::add(op, in, attrs, out);
  if (mode_ == Mode::running) {
    Outside outside(*stopped_);
    values_.compute(graph_.nodes().back());
  }
  for (TensorImpl* o : out) {
    retain(o);
    symbolic_.emplace_back(o);
  }
}

Node& PathTracer::add_node(const Op& op, AttrsRef attrs, std::vector<Value> inputs, std::vector<Spec> results) {
  if (mode_ != Mode::following) return GraphTracer::add_node(op, attrs, std::move(inputs), std::move(results));
  Node& n = next_node();
  if (n.op != &op || n.inputs != inputs || n.results.size() != results.size()) fail_to_follow();
  return n;
}

Node& PathTracer::next_node() {
  if (cursor_ >= path_[step_]->end) fail_to_follow();
  return graph_.nodes()[static_cast<size_t>(cursor_++)];
}

Node& PathTracer::add_constant(const Tensor& tensor) {
  if (mode_ != Mode::following) return GraphTracer::add_constant(tensor);
  held_.push_back(tensor);
  Node& n = next_node();
  if (!n.is_constant() || !same_value(n.constant, tensor)) fail_to_follow();
  return n;
}

void PathTracer::fail_to_follow() const {
  throw RuntimeError(
      "a traced function that asks for values of tensors did something else when it was called again for a new path: "
      "what it does may depend on its arguments and on what it asked for, not on anything that changes outside of it");
}

Tensor PathTracer::lift(const Tensor& symbolic) {
  if (mode_ != Mode::running) return GraphTracer::lift(symbolic);
  Value v = value_of(symbolic);
  Tensor value = compute(v);
  if (v.node->results.size() == 1) v.node->constant = value;
  return value;
}

// Enough of this: the call goes on as if it had never been traced.
void PathTracer::let_go() {
  mode_ = Mode::loose;
  paths_->overgrown_ = true;
  warn("a traced function asks for values of tensors and has gone " + std::to_string(most_segments) +
       " different ways between such questions: from now on it runs op by op. Write a loop whose end depends on values "
       "with tf::while_loop.");
  for (Tensor& t : symbolic_) {
    TensorImpl& s = *t.impl();
    if (s.refs.load(std::memory_order_relaxed) == 1) continue;
    Origin origin = origin_of(s);
    Tensor value = compute({origin.node, origin.index});
    s.form = Form::array;
    TensorImpl* out = &s;
    KernelCall(*origin.node->op, {}, origin.node->attrs, {&out, 1}).adopt(0, value);
  }
  symbolic_.clear();
  thread_state.tracer = nullptr;
  thread_state.reveal = nullptr;
}

Traced PathTracer::finish(const Traced& traced) {
  Traced outcome{{}, traced.structure};
  if (mode_ == Mode::loose) {
    outcome.tensors = traced.tensors;
    return outcome;
  }
  if (mode_ == Mode::following) fail_to_follow();
  for (const Tensor& t : traced.tensors) {
    segment_->results.push_back(value_of(t));
    outcome.tensors.push_back(compute(segment_->results.back()));
  }
  segment_->structure = traced.structure;
  segment_->end = static_cast<int>(graph_.nodes().size());
  paths_->graph_ = std::move(graph_);
  paths_->finish(fresh_);
  paths_ = nullptr;
  return outcome;
}

}  // namespace thalweg::graph
