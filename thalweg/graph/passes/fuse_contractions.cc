// A product of matrices or a convolution, what is added to its channels (or a batch normalisation whose statistics are
// given), perhaps a residual, and an activation become one op, which finishes each part of the result while that is in
// the cache. The op calls the loops of those it stands for: no bit changes.
#include "thalweg/graph/passes/pass.h"
#include "thalweg/ops/fused.h"

namespace thalweg::graph {
namespace {

struct ContractionRecords {
  const Op *bias = &required_op("BiasAdd"), *add = &required_op("AddV2"), *old_add = &required_op("Add");
  const Op* norms[3] = {&required_op("FusedBatchNorm"), &required_op("FusedBatchNormV2"),
                        &required_op("FusedBatchNormV3")};
};

/// What the contraction's result goes through, and further inputs it needs.
struct Following {
  const Node* contraction = nullptr;
  std::vector<Value> args = {};
  std::vector<std::string> ops = {};
  double epsilon = 0.0001, alpha = 0.2f;
};

class Contractions {
 public:
  Contractions(Graph& graph, const ContractionRecords& records)
      : graph_(graph), facts_(graph.nodes().size()), records_(records) {
    int effects = 0;
    for (const Node& n : graph.nodes()) {
      facts(n).effects_before = effects;
      effects += n.has_effect();
      for (const Value& v : n.inputs) ++facts(*v.node).uses;
      for (const Node* c : n.controls) ++facts(*c).uses;
    }
    for (const Value& v : graph.results) ++facts(*v.node).uses;
  }

  void run() {
    // From the back, so that an activation is met before what it follows.
    for (size_t i = graph_.nodes().size(); i-- > 0;)
      if (Node& n = graph_.nodes()[i]; is_pure(n) && !facts(n).taken)
        if (Following f; match(n, f)) fuse(n, f);
  }

 private:
  struct Facts {
    int uses = 0, effects_before = 0;
    bool taken = false;
  };
  Facts& facts(const Node& n) { return facts_[static_cast<size_t>(n.id)]; }

  // Whether nothing but `user` needs the value, and values of variables are not held across writes.
  bool is_only_for(Value v, const Node& user) {
    return v.index == 0 && is_pure(*v.node) && facts(*v.node).uses == 1 &&
           facts(*v.node).effects_before == facts(user).effects_before;
  }

  bool match(const Node& last, Following& f) {
    const Node* before = &last;
    if (fused::is_activation(last.op->name) && last.inputs.size() == 1) {
      if (!is_only_for(last.inputs[0], last)) return false;
      before = last.inputs[0].node;
    }
    if (!match_first(*before, f) && !match_sum(*before, f)) return false;
    if (before != &last) {
      f.ops.emplace_back(last.op->name);
      f.alpha = get_attr<double>(last, "alpha", f.alpha);
      facts(*before).taken = true;
    }
    return true;
  }
  bool match_first(const Node& n, Following& f) { return match_bias(n, f) || match_norm(n, f); }

  // A residual: what a contraction and its bias make, plus an array of that shape.
  bool match_sum(const Node& n, Following& f) {
    if ((n.op != records_.add && n.op != records_.old_add) || !n.results[0].shape.is_fully_defined()) return false;
    // Of two that could take the other in, the one that is computed last.
    const size_t later = n.inputs[1].node->id > n.inputs[0].node->id ? 1 : 0;
    for (size_t i : {later, 1 - later}) {
      Value inner = n.inputs[i], other = n.inputs[1 - i];
      f = {};
      if (!is_only_for(inner, n) || !(spec_of(other).shape == n.results[0].shape)) continue;
      if (!match_first(*inner.node, f)) continue;
      if (get_attr<std::string>(*f.contraction, "data_format", "NHWC") != "NHWC") {
        f = {};
        continue;
      }
      f.args.push_back(other);
      f.ops.emplace_back("Add");
      facts(*inner.node).taken = true;
      return true;
    }
    return false;
  }

  // The contraction that makes the value for this node alone, with channels where the node expects them.
  const Node* contraction_in(Value v, const Node& user, const std::string& data_format) {
    if (!is_only_for(v, user)) return nullptr;
    const fused::Contraction* c = fused::find_contraction(*v.node->op);
    if (!c || c->plain != v.node->op || !c->types.has(spec_of(v).dtype)) return nullptr;
    return get_attr<std::string>(*v.node, "data_format", "NHWC") == data_format ? v.node : nullptr;
  }

  bool match_bias(const Node& n, Following& f) {
    if (n.inputs.size() != 2) return false;
    int value = 0;
    if (n.op == records_.bias) {
      // Channels of matrices lie last in either format.
      std::string format = get_attr<std::string>(n, "data_format", "NHWC");
      f.contraction = contraction_in(n.inputs[0], n, n.results[0].shape.rank() == 2 ? "NHWC" : format);
    } else if (n.op == records_.add || n.op == records_.old_add) {
      for (value = 0; value < 2 && !f.contraction; ++value)
        if (is_vector_of_channels(n.inputs[static_cast<size_t>(1 - value)], n.inputs[static_cast<size_t>(value)]))
          f.contraction = contraction_in(n.inputs[static_cast<size_t>(value)], n, "NHWC");
      --value;
    }
    if (!f.contraction) return false;
    f.args = {n.inputs[static_cast<size_t>(1 - value)]};
    f.ops = {"BiasAdd"};
    return true;
  }
  static bool is_vector_of_channels(Value bias, Value value) {
    const Shape &b = spec_of(bias).shape, &v = spec_of(value).shape;
    return b.has_rank() && b.rank() == 1 && v.has_rank() && v.rank() >= 2 && b[0] >= 0 && b[0] == v[-1];
  }

  bool match_norm(const Node& n, Following& f) {
    bool is_norm = false;
    for (const Op* op : records_.norms) is_norm |= n.op == op;
    if (!is_norm || get_attr<bool>(n, "is_training", true) || spec_of(n.inputs[0]).dtype != DType::float32)
      return false;
    if (uses_more_than_first(n)) return false;
    f.contraction = contraction_in(n.inputs[0], n, get_attr<std::string>(n, "data_format", "NHWC"));
    if (!f.contraction || spec_of({const_cast<Node*>(f.contraction), 0}).shape.rank() != 4) return false;
    f.args.assign(n.inputs.begin() + 1, n.inputs.begin() + 5);
    f.ops = {"FusedBatchNorm"};
    f.epsilon = get_attr<double>(n, "epsilon", f.epsilon);
    return true;
  }
  bool uses_more_than_first(const Node& n) const {
    for (const Node& user : graph_.nodes())
      for (const Value& v : user.inputs)
        if (v.node == &n && v.index > 0) return true;
    for (const Value& v : graph_.results)
      if (v.node == &n && v.index > 0) return true;
    return false;
  }

  void fuse(Node& last, const Following& f) {
    const Node& from = *f.contraction;
    const Op& op = *fused::find_contraction(*from.op)->with_epilogue;
    Attrs attrs(*op.attrs);
    copy_attrs(from, op, attrs);
    set_attr(op, attrs, "fused_ops", f.ops);
    set_attr(op, attrs, "epsilon", f.epsilon);
    set_attr(op, attrs, "leakyrelu_alpha", f.alpha);
    set_attr(op, attrs, "num_args", static_cast<int64_t>(f.args.size()));
    std::vector<Value> inputs = from.inputs;
    inputs.insert(inputs.end(), f.args.begin(), f.args.end());
    facts(from).taken = true;
    last.op = &op;
    last.attrs = std::move(attrs);
    last.inputs = std::move(inputs);
    last.results.resize(1);
  }

  Graph& graph_;
  std::vector<Facts> facts_;
  const ContractionRecords& records_;
};

void run_fuse_contractions(Graph& graph) {
  static const ContractionRecords records;
  Contractions(graph, records).run();
}

}  // namespace

constinit const Pass fuse_contractions{"fuse_contractions", "remapping", true, run_fuse_contractions, true};

}  // namespace thalweg::graph
