#include "thalweg/ops/recurrent.h"

#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/lstm.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct BlockLstmAttrs {
  float cell_clip = 0;
  bool use_peephole = false;
};
struct BlockLstmGradAttrs {
  bool use_peephole = false;
};

// Inputs of both ops: seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b; of the gradient, states and their gradients
// follow.
constexpr int num_own_inputs = 9, num_states = 7, first_state_grad = num_own_inputs + num_states;

/// The sizes that inputs have in common, as far as they are known.
struct Sizes {
  int64_t time = unknown, batch = unknown, inputs = unknown, units = unknown;
};

/// One dimension of an input: a size, or a multiple of it.
struct Part {
  int64_t& size;
  const char* name;
  int64_t factor = 1;
};

void learn(const InferCall& c, int i, std::initializer_list<Part> parts) {
  c.require_rank(i, static_cast<int>(parts.size()));
  const Shape& shape = c.shape(i);
  if (!shape.has_rank()) return;
  int axis = 0;
  for (const Part& p : parts) {
    const int64_t dim = shape[axis++];
    if (dim < 0) continue;
    if (dim % p.factor != 0 || (p.size >= 0 && p.size != dim / p.factor))
      c.fail("dimension " + std::to_string(axis - 1) + " of " + c.op.args[static_cast<size_t>(i)].name + " must be " +
             (p.factor > 1 ? std::to_string(p.factor) + " times " : "") + "the number of " + p.name +
             (p.size >= 0 ? " (" + std::to_string(p.size) + ")" : "") + ", got " + shape.brackets());
    p.size = dim / p.factor;
  }
}

// Goes over the inputs twice: what a later one says, an earlier one may have left open.
Sizes common_sizes(const InferCall& c) {
  Sizes s;
  const Part time{s.time, "steps"}, batch{s.batch, "examples"}, units{s.units, "units"}, gates{s.units, "units", 4};
  int64_t rows = unknown;
  c.require_rank(0, 0);
  for (int pass = 0; pass < 2; ++pass) {
    learn(c, 1, {time, batch, {s.inputs, "inputs"}});
    for (int i : {2, 3}) learn(c, i, {batch, units});
    learn(c, 4, {{rows, "inputs and units"}, gates});
    for (int i : {5, 6, 7}) learn(c, i, {units});
    learn(c, 8, {gates});
    for (int i = num_own_inputs; i < c.num_inputs(); ++i) learn(c, i, {time, batch, units});
    if (rows < 0 || s.units < 0) continue;
    if (rows < s.units || (s.inputs >= 0 && s.inputs != rows - s.units))
      c.fail("w must have a row for each input" + (s.inputs >= 0 ? " (" + std::to_string(s.inputs) + ")" : "") +
             " and each unit (" + std::to_string(s.units) + "), got " + c.shape(4).brackets());
    s.inputs = rows - s.units;
  }
  constexpr int64_t most = std::numeric_limits<int64_t>::max() / 8;
  c.require(s.inputs <= most && s.units <= most, "too many inputs or units to count the weights");
  return s;
}

template <class Call> void check_steps(const Call& c, int64_t steps, int64_t time) {
  if (steps < 0 || (time >= 0 && steps > time))
    c.fail("seq_len_max must lie between 0 and the number of steps" +
           (time >= 0 ? " (" + std::to_string(time) + ")" : "") + ", got " + std::to_string(steps));
}

Sizes checked_sizes(const InferCall& c) {
  Sizes s = common_sizes(c);
  if (c.has_value(0)) check_steps(c, c.scalar(0), s.time);
  return s;
}

kernels::LstmShape lstm_shape(const KernelCall& c, bool use_peephole, float cell_clip) {
  const Shape& x = c.shape(1);
  const int64_t steps = c.scalar(0);
  check_steps(c, steps, x[0]);
  return {x[0], steps, x[1], x[2], c.shape(2)[1], use_peephole, cell_clip};
}

/// The inputs and outputs as float32: halves are widened before and narrowed at the end.
class Floats {
 public:
  explicit Floats(const KernelCall& c) : c_(c), wide_(c.dtype(1) != DType::float32) {}
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  const float* input(int i) {
    if (!wide_) return c_.input<float>(i);
    Tensor t = Tensor::empty(DType::float32, c_.shape(i));
    convert_elements(c_.dtype(i), c_.input(i), DType::float32, t.mutable_data<float>(), t.size());
    return kept_.emplace_back(t).mutable_data<float>();
  }
  float* output(int i) {
    if (!wide_) return c_.output<float>(i);
    return outputs_.emplace_back(Tensor::empty(DType::float32, c_.output_shape(i))).mutable_data<float>();
  }
  /// After the outputs, which were asked for in their order, are computed.
  void finish() {
    for (int i = 0; i < static_cast<int>(outputs_.size()); ++i) {
      const Tensor& t = outputs_[static_cast<size_t>(i)];
      if (c_.is_read(i)) convert_elements(DType::float32, t.data<float>(), c_.output_dtype(i), c_.output(i), t.size());
    }
  }

 private:
  const KernelCall& c_;
  bool wide_;
  std::vector<Tensor> kept_, outputs_;
};

kernels::LstmInputs lstm_inputs(Floats& f) {
  return {f.input(1), f.input(2), f.input(3), f.input(4), f.input(5), f.input(6), f.input(7), f.input(8)};
}

void run_block_lstm(const KernelCall& c) {
  const auto& attrs = c.attrs<BlockLstmAttrs>();
  const kernels::LstmShape shape = lstm_shape(c, attrs.use_peephole, attrs.cell_clip);
  Tensor scratch = Tensor::empty(DType::float32, {shape.forward_scratch()});
  Floats f(c);
  kernels::lstm(shape, lstm_inputs(f),
                {f.output(0), f.output(1), f.output(2), f.output(3), f.output(4), f.output(5), f.output(6)},
                scratch.mutable_data<float>());
  f.finish();
}

void run_block_lstm_grad(const KernelCall& c) {
  const kernels::LstmShape shape = lstm_shape(c, c.attrs<BlockLstmGradAttrs>().use_peephole, 0);
  Tensor scratch = Tensor::empty(DType::float32, {shape.backward_scratch()});
  Floats f(c);
  kernels::lstm_grad(shape, lstm_inputs(f),
                     {f.input(9), f.input(10), f.input(11), f.input(12), f.input(13), f.input(14), f.input(15)},
                     f.input(first_state_grad), f.input(first_state_grad + 1),
                     {f.output(0), f.output(1), f.output(2), f.output(3), f.output(4), f.output(5), f.output(6),
                      f.output(7), c.is_read(0), c.is_read(2)},
                     scratch.mutable_data<float>());
  f.finish();
}

const Op& BlockLSTMGradV2 = define_op({
    .name = "BlockLSTMGradV2",
    .doc = "The gradients of BlockLSTMV2's inputs.",
    .signature = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, "
                 "f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, "
                 "w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T",
    .types = {{"T", types(float16, float32)}},
    .attrs = attrs_of<BlockLstmGradAttrs>(),
    .infer =
        [](InferCall& c) {
          const Sizes s = checked_sizes(c);
          auto sum = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? unknown : a + b; };
          const int64_t gates = s.units < 0 ? unknown : 4 * s.units;
          c.output(0, {s.time, s.batch, s.inputs});
          for (int i : {1, 2}) c.output(i, {s.batch, s.units});
          c.output(3, {sum(s.inputs, s.units), gates});
          for (int i : {4, 5, 6}) c.output(i, {s.units});
          c.output(7, {gates});
        },
    .kernel = {run_block_lstm_grad},
    .traits = {.not_differentiable = "TensorFlow has no second derivatives of BlockLSTMV2"},
});

void grad_of_block_lstm(GradCall& g) {
  auto [x, cs_prev, h_prev, w, wci, wcf, wco, b] = nn::block_lstm_grad(
      {g.input(0), g.input(1), g.input(2), g.input(3), g.input(4), g.input(5), g.input(6), g.input(7), g.input(8)},
      {g.output(0), g.output(1), g.output(2), g.output(3), g.output(4), g.output(5), g.output(6)}, g.output_grad(1),
      g.output_grad(6), {.use_peephole = g.attrs<BlockLstmAttrs>().use_peephole});
  int i = 1;
  for (const Tensor& grad : {x, cs_prev, h_prev, w, wci, wcf, wco, b}) g.input_grad(i++, grad);
}

const Op& BlockLSTMV2 = define_op({
    .name = "BlockLSTMV2",
    .doc = "An LSTM over whole sequences, [time, batch, features]: gates and states of every step.",
    .signature = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> "
                 "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .types = {{"T", types(float16, float32)}},
    .attrs = attrs_of<BlockLstmAttrs>(),
    .infer =
        [](InferCall& c) {
          const Sizes s = checked_sizes(c);
          for (int i = 0; i < num_states; ++i) c.output(i, {s.time, s.batch, s.units});
        },
    .kernel = {run_block_lstm},
    .grad = grad_of_block_lstm,
});

}  // namespace

namespace nn {

BlockLstm block_lstm(const Tensor& x, const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w, const Tensor& b,
                     const BlockLstmOptions& o) {
  Tensor steps = o.seq_len_max;
  if (!steps.defined()) {
    const int64_t time = x.shape().has_rank() && x.rank() > 0 ? x.shape()[0] : unknown;
    steps = time >= 0 ? Tensor(time) : cast(shape(x)(0), DType::int64);
  }
  Tensor none;  // the op wants weights even where it reads none
  if (!o.wci.defined() || !o.wcf.defined() || !o.wco.defined()) {
    const int64_t units = cs_prev.rank() == 2 ? cs_prev.shape()[1] : unknown;
    none = zeros(units >= 0 ? Tensor({units}) : shape(cs_prev)(slice_from(1)), {.dtype = b.dtype()});
  }
  auto or_none = [&](const Tensor& t) { return t.defined() ? t : none; };
  auto [i, cs, f, out, ci, co, h] =
      apply_n<7>(BlockLSTMV2, {steps, x, cs_prev, h_prev, w, or_none(o.wci), or_none(o.wcf), or_none(o.wco), b},
                 BlockLstmAttrs{static_cast<float>(o.cell_clip), o.use_peephole});
  return {i, cs, f, out, ci, co, h};
}

BlockLstmGradients block_lstm_grad(const BlockLstmInputs& in, const BlockLstm& s, const Tensor& cs_grad,
                                   const Tensor& h_grad, const BlockLstmGradOptions& o) {
  auto [x, cs_prev, h_prev, w, wci, wcf, wco, b] =
      apply_n<8>(BlockLSTMGradV2,
                 {in.seq_len_max, in.x, in.cs_prev, in.h_prev, in.w, in.wci, in.wcf, in.wco, in.b, s.i, s.cs, s.f, s.o,
                  s.ci, s.co, s.h, cs_grad, h_grad},
                 BlockLstmGradAttrs{o.use_peephole});
  return {x, cs_prev, h_prev, w, wci, wcf, wco, b};
}

}  // namespace nn
}  // namespace thalweg
