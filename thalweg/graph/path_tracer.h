// Traces a function that asks for values while it is traced.
#pragma once
#include <map>

#include "thalweg/graph/paths.h"

namespace thalweg::graph {

/// Traces as every tracer does until the function asks for a value. From then on, nodes are also run as they are added,
/// and every question ends a segment. A function that was traced before is followed along the segments that ran until
/// it gets an answer that is new.
class PathTracer final : public GraphTracer {
 public:
  /// For the first time, and with the values of arguments, if there are any.
  PathTracer(GraphTracer* outer, std::string name, std::span<const TensorRef> arguments);
  /// Along a path that ran, with a new answer to its last question.
  PathTracer(Paths& paths, std::vector<Segment*> path, Tensor answer, PathValues values);
  ~PathTracer() override;
  PathTracer(const PathTracer&) = delete;
  PathTracer& operator=(const PathTracer&) = delete;

  /// Takes questions from now on; tapes that `stopped` holds see what runs. `arguments` are symbolic.
  void answer_questions(const StopRecording& stopped, std::span<const Tensor> arguments);
  void add(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) override;
  Tensor lift(const Tensor& symbolic) override;

  bool was_asked() const { return mode_ != Mode::collecting; }
  /// Where it was asked: ends the last segment, and gives the results of the call.
  Traced finish(const Traced& traced);
  std::shared_ptr<Paths> take_paths() { return std::move(own_paths_); }

 private:
  enum class Mode { collecting, following, running, loose };

  static TensorImpl* reveal(TensorImpl* symbolic, bool truth);
  Tensor answer(Value question);
  Tensor compute(Value v);
  Node& add_constant(const Tensor& tensor) override;
  Node& add_node(const Op& op, AttrsRef attrs, std::vector<Value> inputs, std::vector<Spec> results) override;
  Node& next_node();
  void begin_segment(Segment* parent, const Tensor& answer);
  void end_segment(Value question);
  void run_all();
  void let_go();
  [[noreturn]] void fail_to_follow() const;

  Mode mode_ = Mode::collecting;
  std::string name_;
  PathValues values_;
  const StopRecording* stopped_ = nullptr;
  bool tapes_outside_ = false;
  std::shared_ptr<Paths> own_paths_;
  Paths* paths_ = nullptr;
  std::vector<Segment*> path_;  // to follow
  size_t step_ = 0;
  int cursor_ = 0;
  Tensor new_answer_;
  Segment* segment_ = nullptr;
  std::vector<Segment*> fresh_;
  std::map<Value, Tensor> answers_;
  std::vector<Tensor> symbolic_;  // all that were made
  std::vector<Tensor> held_;      // so that addresses stay their own
};

}  // namespace thalweg::graph
