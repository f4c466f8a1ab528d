// Element-wise clusters: ops on tensors of one shape (and scalars, and rows such as a bias) run together, a tile at a
// time, so that what they hand to each other stays in the first cache; comparisons, selections and casts are among
// them. They call the loops that the ops themselves call: no bit changes.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "thalweg/core/threads.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/kernels/cast.h"
#include "thalweg/ops/element_loops.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/elementwise.h"

namespace thalweg::graph {
namespace {

constexpr size_t tile_bytes = 4096;  // of the widest type: 1,024 floats
constexpr size_t most_registers = 7, most_rows = 3, most_members = 32, most_inputs = 16;

/// How an input is read: element by element, one element for all, or repeated over and over (a row, a bias).
enum class Reading : uint8_t { whole, scalar, row };

/// Where a step reads: an input, or a register, which holds one tile.
struct Operand {
  bool is_register = false;
  Reading reading = Reading::whole;
  size_t index = 0;
};

/// The loop that an op runs over elements in a row: one of these, or none where the op needs more than that.
struct Loop {
  kernels::UnaryLoop unary = nullptr;
  kernels::BinaryLoop binary = nullptr;
  kernel::SelectLoop select = nullptr;
  double nanoseconds = 0;
  explicit operator bool() const { return unary || binary || select; }
};
struct Step {
  Loop loop = {};
  kernels::Form form = kernels::vector_vector;
  Operand in[3] = {};
  size_t to = 0;  // a register; the last step writes the result
  std::shared_ptr<const Attrs> attrs = nullptr;
};

/// The attributes of the fused op. Nothing but the text is for others.
struct Program {
  std::string program = "";
  std::vector<Step> steps = {};
  std::vector<Reading> readings = {};  // by input
  size_t widest = 0;                   // bytes of the largest elements
  double nanoseconds = 0;
  DType dtype = DType::invalid;
};

void infer_fused(InferCall& c) {
  const auto& p = c.attrs<Program>();
  const Shape* shape = nullptr;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (p.readings[static_cast<size_t>(i)] != Reading::whole) continue;
    if (shape) c.require(shape->is_compatible_with(c.shape(i)), "inputs of a cluster must have one shape");
    if (!shape || c.shape(i).is_fully_defined()) shape = &c.shape(i);
  }
  c.output(0, p.dtype, *shape);
}

// Fills a tile with a row that begins anew after every `length` elements.
void repeat(const char* row, int64_t length, int64_t at, int64_t n, size_t bytes, char* to) {
  for (int64_t m; n > 0; n -= m, at = 0) {
    m = std::min(length - at, n);
    std::memcpy(to, row + static_cast<size_t>(at) * bytes, static_cast<size_t>(m) * bytes);
    to += static_cast<size_t>(m) * bytes;
  }
}

void run_fused(const KernelCall& c) {
  const auto& p = c.attrs<Program>();
  const size_t result_bytes = size_of(p.dtype);
  int64_t tile = static_cast<int64_t>(tile_bytes / p.widest);
  const char* inputs[most_inputs];
  size_t bytes[most_inputs];
  int64_t period = 0;  // of the longest row
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs[i] = c.input<char>(i);
    bytes[i] = size_of(c.dtype(i));
    if (p.readings[static_cast<size_t>(i)] == Reading::row) period = std::max(period, c.count(i));
  }
  if (period > 0 && period <= tile) tile = tile / period * period;
  char* result = c.output<char>();
  auto range = [&](int64_t begin, int64_t end) {
    alignas(64) char registers[most_registers][tile_bytes];
    alignas(64) char rows[most_rows][tile_bytes];
    const void* from[most_inputs];
    for (int64_t first = begin; first < end; first += tile) {
      const int64_t n = std::min(tile, end - first);
      size_t next_row = 0;
      for (size_t i = 0; i < p.readings.size(); ++i) {
        from[i] = inputs[i];
        if (p.readings[i] == Reading::whole) from[i] = inputs[i] + static_cast<size_t>(first) * bytes[i];
        if (p.readings[i] != Reading::row) continue;
        const int64_t length = c.count(static_cast<int>(i));
        if (first == begin || tile % length != 0)  // else it is there from the tile before
          repeat(inputs[i], length, first % length, n, bytes[i], rows[next_row]);
        from[i] = rows[next_row++];
      }
      auto address = [&](const Operand& o) { return o.is_register ? registers[o.index] : from[o.index]; };
      auto stride = [](const Operand& o) { return o.reading == Reading::scalar ? 0 : 1; };
      for (const Step& s : p.steps) {
        const auto& [a, b, e] = s.in;
        void* to = &s == &p.steps.back() ? result + static_cast<size_t>(first) * result_bytes : registers[s.to];
        const void* attrs = s.attrs ? s.attrs->get() : nullptr;
        if (s.loop.unary) s.loop.unary(address(a), to, n, attrs);
        else if (s.loop.binary) s.loop.binary(address(a), address(b), to, n, s.form, attrs);
        else s.loop.select(address(a), stride(a), address(b), stride(b), address(e), stride(e), to, n);
      }
    }
  };
  const int64_t total = c.output_shape().count();
  if (static_cast<double>(total) * p.nanoseconds < serial_nanoseconds) return range(0, total);
  parallel_for(total, p.nanoseconds, range);
}

// It lives in plans alone, so no registry knows it: it is in no file, and nobody calls it.
const Op& fused_op() {
  static const Program none;
  static const AttrRow rows[] = {{"program", offsetof(Program, program), &member_type<std::string>()}};
  static const AttrType attrs{rows, [](const void* p) -> void* { return new Program(*static_cast<const Program*>(p)); },
                              [](void* p) { delete static_cast<Program*>(p); }, &none};
  static const Op op = [] {
    Op made;
    made.name = "_FusedElementwise";
    made.doc = "Several element-wise ops, tile by tile.";
    made.attrs = &attrs;
    made.infer = infer_fused;
    made.kernel = {run_fused};
    made.traits = {.elementwise = true, .not_differentiable = "it is made after gradients"};
    return made;
  }();
  return op;
}

// Whether one tensor is repeated along the first dimensions of the other, whatever their sizes.
bool is_row_of(Value row, const Shape& t) {
  const Shape& s = spec_of(row).shape;
  if (!s.is_fully_defined() || !t.has_rank() || s.rank() == 0 || s.rank() >= t.rank()) return false;
  for (int i = 1; i <= s.rank(); ++i)
    if (s[s.rank() - i] != t[t.rank() - i] || s[s.rank() - i] == 0) return false;
  return true;
}
bool is_scalar(Value v) { return spec_of(v).shape.has_rank() && spec_of(v).shape.rank() == 0; }

Loop loop_of(const Node& n) {
  static const Op *const cast = &required_op("Cast"), *const select = &required_op("Select"),
                         *const select_v2 = &required_op("SelectV2");
  Loop loop;
  if (!is_pure(n) || n.results.size() != 1 || n.inputs.empty()) return loop;
  const DType from = spec_of(n.inputs[0]).dtype, to = n.results[0].dtype;
  if (!plain_types.has(from) || !plain_types.has(to)) return loop;
  if (n.op == cast) {
    loop.nanoseconds = 0.3;
    if (!get_attr<bool>(n, "Truncate")) loop.unary = kernels::cast_loop(from, to);
  } else if (n.op == select || n.op == select_v2) {
    loop.nanoseconds = 3 * kernel::nanoseconds_to_move(to);
    loop.select = kernel::select_loop(to);
  }
  if (!n.op->traits.elementwise || !n.op->kernel.loops) return loop;
  for (const Value& v : n.inputs)
    if (spec_of(v).dtype != from) return loop;
  auto find = [&](const auto* loops, auto& found) {
    if (loops->result(from) == to) found = loops->at[static_cast<int>(from)][kernels::isa];
    loop.nanoseconds = loops->nanoseconds;
  };
  // Some ops that make integers check those before they run the loops.
  const bool is_checked = n.op->kernel.run != kernel::run_binary && is_integer(to);
  if (n.inputs.size() == 1 && n.op->kernel.run == kernel::run_unary)
    find(static_cast<const kernels::UnaryLoops*>(n.op->kernel.loops), loop.unary);
  if (n.inputs.size() == 2 && !is_checked)
    find(static_cast<const kernels::BinaryLoops*>(n.op->kernel.loops), loop.binary);
  return loop;
}

class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph), facts_(graph.nodes().size()) {
    int effects = 0;
    for (Node& n : graph.nodes()) {
      Facts& f = facts(&n);
      f.effects_before = effects;
      effects += n.has_effect();
      for (const Value& v : n.inputs) facts(v.node).users.push_back(&n);
      for (const Node* c : n.controls) facts(c).kept = true;
      f.candidate = loop_of(n) && decide_shape(n);
    }
    for (const Value& v : graph.results) facts(v.node).kept = true;
  }

  void run() {
    for (size_t i = graph_.nodes().size(); i-- > 0;) {
      Node& n = graph_.nodes()[i];
      if (!facts(&n).candidate || facts(&n).taken) continue;
      std::vector<Node*> members = grow(n);
      if (members.size() > 1) fuse(n, members);
    }
  }

 private:
  struct Facts {
    bool candidate = false, kept = false, taken = false;
    int effects_before = 0;
    Value shape_of = {};  // where the shape has unknown dimensions: it is this value's
    std::vector<Node*> users = {};
  };
  Facts& facts(const Node* n) { return facts_[static_cast<size_t>(n->id)]; }

  Value shape_source(Value v) {
    const Value& from = facts(v.node).shape_of;
    return from.node ? from : v;
  }
  bool same_shape(Value a, Value b) {
    const Shape &s = spec_of(a).shape, &t = spec_of(b).shape;
    if (s.is_fully_defined() && t.is_fully_defined()) return s == t;
    return shape_source(a) == shape_source(b);
  }
  // Whether all operands but scalars are sure to have the result's shape.
  bool decide_shape(Node& n) {
    Value shaped;
    for (const Value& v : n.inputs) {
      if (is_scalar(v) && !is_scalar({&n, 0})) continue;
      if (n.op->infer == infer::broadcast && is_row_of(v, n.results[0].shape)) continue;
      if (shaped.node && !same_shape(shaped, v)) return false;
      shaped = v;
    }
    if (!shaped.node) return false;
    for (const Value& v : n.inputs)  // what repeats it must not be repeated by it: (?, ?) may be (?, 1)
      if (is_row_of(v, n.results[0].shape) && !is_row_of(v, spec_of(shaped).shape)) return false;
    const Shape &from = spec_of(shaped).shape, &to = n.results[0].shape;
    if (from.is_fully_defined() != to.is_fully_defined()) return false;
    if (from.is_fully_defined()) return from == to;
    facts(&n).shape_of = shape_source(shaped);
    return true;
  }

  /// The ops that only this one needs in the end, as many as may run together; program order.
  std::vector<Node*> grow(Node& last) {
    std::vector<Node*> members = {&last};
    auto is_member = [&](const Node* n) { return std::find(members.begin(), members.end(), n) != members.end(); };
    auto may_join = [&](Node* p) {
      const Facts& f = facts(p);
      return f.candidate && !f.taken && !f.kept && !is_member(p) &&
             f.effects_before == facts(&last).effects_before &&  // values of variables are not held across writes
             same_shape({p, 0}, {&last, 0}) && std::all_of(f.users.begin(), f.users.end(), is_member);
    };
    // An op may join only when all of its users have, so earlier members are asked again.
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t m = 0; m < members.size(); ++m)
        for (const Value& v : members[m]->inputs)
          if (members.size() < most_members && may_join(v.node)) {
            members.push_back(v.node);
            grew = true;
          }
    }
    std::sort(members.begin(), members.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
    return members;
  }

  void fuse(Node& last, const std::vector<Node*>& members) {
    Program program;
    program.dtype = last.results[0].dtype;
    std::vector<Value> inputs;
    std::map<const Node*, size_t> registers, last_use;
    for (size_t k = 0; k < members.size(); ++k)
      for (const Value& v : members[k]->inputs) last_use[v.node] = k;
    std::vector<uint8_t> busy;
    const bool all_scalars = is_scalar({&last, 0});
    auto operand = [&](Value v, const Node& user) {
      if (auto found = registers.find(v.node); found != registers.end())
        return Operand{true, Reading::whole, found->second};
      auto place = std::find(inputs.begin(), inputs.end(), v);
      if (place == inputs.end()) {
        program.readings.push_back(is_scalar(v) && !all_scalars          ? Reading::scalar
                                   : is_row_of(v, user.results[0].shape) ? Reading::row
                                                                         : Reading::whole);
        place = inputs.insert(inputs.end(), v);
      }
      auto index = static_cast<size_t>(place - inputs.begin());
      return Operand{false, program.readings[index], index};
    };
    auto text = [](const Operand& o) { return (o.is_register ? "t" : "x") + std::to_string(o.index); };
    for (size_t k = 0; k < members.size(); ++k) {
      const Node& n = *members[k];
      Step s;
      s.loop = loop_of(n);
      program.nanoseconds += s.loop.nanoseconds;
      program.widest = std::max(program.widest, size_of(n.results[0].dtype));
      std::string arguments;
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        program.widest = std::max(program.widest, size_of(spec_of(n.inputs[i]).dtype));
        s.in[i] = operand(n.inputs[i], n);
        arguments += (i ? ", " : "") + text(s.in[i]);
      }
      s.form = s.in[0].reading == Reading::scalar   ? kernels::scalar_vector
               : s.in[1].reading == Reading::scalar ? kernels::vector_scalar
                                                    : kernels::vector_vector;
      if (n.op->attrs) s.attrs = std::make_shared<const Attrs>(*n.op->attrs, n.attrs);
      auto let_go = [&](bool same_type) {
        for (const Value& v : n.inputs)
          if (auto found = registers.find(v.node); found != registers.end() && last_use[v.node] == k)
            if ((spec_of(v).dtype == n.results[0].dtype) == same_type) busy[found->second] = 0;
      };
      let_go(true);  // a loop may write where it reads, if elements are of one type
      auto free = std::find(busy.begin(), busy.end(), 0);
      s.to = static_cast<size_t>(free - busy.begin());
      if (free == busy.end()) busy.push_back(1);
      else *free = 1;
      let_go(false);
      registers[&n] = s.to;
      program.program += (k ? "; " : "") +
                         std::string(k + 1 < members.size() ? "t" + std::to_string(s.to) + " = " : "") + n.op->name +
                         "(" + arguments + ")";
      program.steps.push_back(std::move(s));
    }
    auto rows = static_cast<size_t>(std::count(program.readings.begin(), program.readings.end(), Reading::row));
    if (busy.size() > most_registers || rows > most_rows || inputs.size() > most_inputs) return;
    for (const Node* n : members) facts(n).taken = true;
    last.op = &fused_op();
    last.attrs = Attrs(*last.op->attrs, AttrsRef(static_cast<const void*>(&program)));
    last.inputs = std::move(inputs);
  }

  Graph& graph_;
  std::vector<Facts> facts_;
};

void run_fuse_elementwise(Graph& graph) { Fusion(graph).run(); }

}  // namespace

constinit const Pass fuse_elementwise{"fuse_elementwise", "remapping", true, run_fuse_elementwise, true};

}  // namespace thalweg::graph
