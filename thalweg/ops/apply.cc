#include "thalweg/ops/apply.h"

#include <immintrin.h>

#include <new>
#include <stdexcept>

#include "thalweg/core/device.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/inspection.h"

namespace thalweg {
namespace {

// Denormals cost a factor of 24 and TensorFlow flushes them: kernels run with them off, then the caller's mode comes
// back. The switch costs as much as a scalar op, so tensors that fit their block, too small to be slow, go without.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool large) : before_(large ? _mm_getcsr() : flushed) {
    if ((before_ & flushed) != flushed) _mm_setcsr(before_ | flushed);
  }
  ~FlushDenormals() {
    if ((before_ & flushed) != flushed) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned flushed = 0x8040;
  unsigned before_;
};

bool any_large(std::span<const TensorRef> in, std::span<TensorImpl* const> out) {
  for (const TensorRef& t : in)
    if (t.p->buffer) return true;
  for (const TensorImpl* o : out)
    if (o->buffer) return true;
  return false;
}

/// Fresh outputs, given back when infer or the kernel throws.
struct Outputs {
  std::span<TensorImpl*> out;
  bool keep = false;
  explicit Outputs(std::span<TensorImpl*> o, uint8_t device) : out(o) {
    if (out.size() > 1)
      for (auto& p : out) p = nullptr;
    for (auto& p : out) {
      p = TensorImpl::make();
      p->device = device;
    }
  }
  ~Outputs() {
    if (keep) return;
    for (auto& p : out) {
      // A throw may leave an output described but without memory.
      if (p && !p->data) p->dtype = DType::invalid;
      release(p);
    }
  }
};

std::string count_text(const Op& op) {
  std::string text = std::to_string(op.args.size()) + " input" + (op.args.size() == 1 ? "" : "s") + " (";
  for (const Arg& a : op.args) text += (text.back() == '(' ? "" : ", ") + a.name;
  return text + ")";
}

// How many tensors arguments take; throws when the number does not fit the signature.
size_t list_length(const Op& op, size_t num_inputs) {
  size_t singles = op.args.size() - static_cast<size_t>(op.num_lists), lists = static_cast<size_t>(op.num_lists);
  bool fits = lists ? num_inputs >= singles && (num_inputs - singles) % lists == 0 : num_inputs == singles;
  if (!fits)
    throw InvalidArgumentError(std::string(op.name) + " takes " + count_text(op) + ", got " +
                               std::to_string(num_inputs));
  return lists ? (num_inputs - singles) / lists : 0;
}

/// One pass over the inputs with the argument each belongs to.
template <class F> void for_each_input(const Op& op, std::span<const TensorRef> in, F f) {
  size_t each = list_length(op, in.size()), i = 0;
  for (const Arg& arg : op.args)
    for (size_t n = arg.is_list() ? each : 1; n; --n, ++i) f(arg, i, in[i].p);
}

// As in TensorFlow: a wrong dtype is a TypeError while a graph is made, and an InvalidArgumentError of an op that runs.
[[noreturn]] void refuse_type(const std::string& why) {
  if (thread_state.tracer) throw TypeError(why);
  throw InvalidArgumentError(why);
}
[[noreturn]] void refuse_dtype(const Op& op, const Arg& arg, DType got, TypeSet allowed) {
  refuse_type(std::string(op.name) + ": " + arg.name + " cannot be " + std::string(name_of(got)) +
              "; it must be one of " + to_string(allowed) + ". Convert it with tf.cast.");
}

// The full check: every input against the signature, type attributes bound once.
void check_types(const Op& op, std::span<const TensorRef> in) {
  struct Bound {
    DType dtype = DType::invalid;
    const Arg* by = nullptr;
  };
  Bound bound[16];
  for_each_input(op, in, [&](const Arg& arg, size_t, const TensorImpl* t) {
    if (arg.dtype != DType::invalid) {
      if (t->dtype != arg.dtype) refuse_dtype(op, arg, t->dtype, types(arg.dtype));
      return;
    }
    for (size_t k = 0; k < op.type_attrs.size(); ++k) {
      const TypeAttr& attr = op.type_attrs[k];
      if (attr.name != arg.type_attr) continue;
      if (!attr.allowed.has(t->dtype)) refuse_dtype(op, arg, t->dtype, attr.allowed);
      if (bound[k].by && bound[k].dtype != t->dtype && !arg.mixed)
        refuse_type(std::string(op.name) + ": " + arg.name + " is " + std::string(name_of(t->dtype)) + " but " +
                    bound[k].by->name + " is " + std::string(name_of(bound[k].dtype)) +
                    "; they must have the same dtype. Convert one of them with tf.cast.");
      if (!bound[k].by) bound[k] = {t->dtype, &arg};
    }
  });
}

void check_defined(const Op& op, std::span<const TensorRef> in) {
  for_each_input(op, in, [&](const Arg& arg, size_t, const TensorImpl* t) {
    if (!t) throw ValueError(std::string(op.name) + ": " + arg.name + " is undefined (None)");
  });
}

// Literals and arrays take the dtype of the tensors that share their type attribute.
DType dtype_for(const Op& op, std::span<const TensorRef> in, const Arg& arg, const TensorImpl* weak) {
  if (arg.dtype != DType::invalid) return arg.dtype;
  DType strong = DType::invalid, soft = DType::invalid, real = DType::invalid;
  for_each_input(op, in, [&](const Arg& other, size_t, const TensorImpl* t) {
    if (other.type_attr != arg.type_attr || arg.mixed) return;
    if (t->weak == Weak::strong && strong == DType::invalid) strong = t->dtype;
    if (t->weak == Weak::soft && soft == DType::invalid) soft = t->dtype;
    if (t->weak == Weak::bare && (is_floating(t->dtype) || is_complex(t->dtype)) && !is_complex(real))
      real = natural_dtype(*t);
  });
  if (strong != DType::invalid) return strong;
  if (soft != DType::invalid) return soft;
  DType natural = natural_dtype(*weak);
  if (real != DType::invalid && is_integer(natural)) return real;
  for (const TypeAttr& attr : op.type_attrs)  // 1 where only real numbers are allowed is 1.0
    if (attr.name == arg.type_attr && !attr.allowed.has(natural) && is_integer(natural) &&
        attr.allowed.has(DType::float32))
      return DType::float32;
  return natural;
}

// x + 1.0, the common case: every argument has one type, and a tensor says which.
DType uniform_dtype(const Op& op, std::span<const TensorRef> in) {
  if (op.uniform)
    for (const TensorRef& t : in)
      if (t.p->weak == Weak::strong) return t.p->dtype;
  return DType::invalid;
}

[[gnu::noinline]] void apply_weak(const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                                  std::span<TensorImpl*> out, unsigned temporaries) {
  constexpr size_t inline_count = 4;
  Tensor held_inline[inline_count];
  std::vector<Tensor> held_more(in.size() > inline_count ? in.size() : 0);
  Tensor* held = in.size() > inline_count ? held_more.data() : held_inline;
  std::vector<TensorRef> strong_more;
  TensorRef strong_inline[inline_count] = {held[0], held[0], held[0], held[0]};
  if (in.size() > inline_count) strong_more.assign(in.begin(), in.end());
  TensorRef* strong = in.size() > inline_count ? strong_more.data() : strong_inline;
  DType uniform = uniform_dtype(op, in);
  for_each_input(op, in, [&](const Arg& arg, size_t i, TensorImpl* t) {
    strong[i] = in[i];
    if (t->weak == Weak::strong) return;
    held[i] = strengthen(in[i].tensor(), uniform != DType::invalid ? uniform : dtype_for(op, in, arg, t));
    strong[i] = held[i];
  });
  apply(op, {strong, in.size()}, attrs, out, temporaries);
}

// Slices become arrays: the op knows nothing else.
[[gnu::noinline]] void apply_slices(const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                                    std::span<TensorImpl*> out) {
  std::vector<Tensor> held(in.size());
  std::vector<TensorRef> whole(in.begin(), in.end());
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].p->form == Form::slices) {
      held[i] = to_array(in[i].tensor());
      whole[i] = held[i];
    }
  apply(op, whole, attrs, out);
}

[[noreturn]] void refuse_outline(const Op& op) {
  throw errors::InternalError(std::string(op.name) +
                              " reads a value that the tape did not keep: the op whose gradient this is "
                              "must name it in grad_reads");
}
[[noreturn]] void refuse_symbolic(const Op& op) {
  throw TypeError(std::string(op.name) +
                  ": a symbolic tensor was used outside of the function that was being traced when it was made; return "
                  "it from that function instead");
}

/// The input whose memory the result may take: a temporary nobody else holds, of the result's type and shape.
TensorImpl* donor(const Op& op, std::span<const TensorRef> in, const TensorImpl& out, unsigned temporaries) {
  if (!op.traits.elementwise || is_object(out.dtype)) return nullptr;
  for (size_t i = 0; i < in.size(); ++i) {
    TensorImpl* t = in[i].p;
    if (!(temporaries >> i & 1) || !t->buffer || t->refs.load(std::memory_order_acquire) != 1) continue;
    bool same_twice = in.size() > 1 && in[0].p == in[1].p;
    bool whole = t->data == t->buffer->data && !t->buffer->release && t->buffer->unique();
    if (whole && !same_twice && t->dtype == out.dtype && t->device == out.device && t->shape == out.shape) return t;
  }
  return nullptr;
}

// Writes the result over an input, which is an empty tensor afterwards.
void compute_over(TensorImpl& from, const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                  std::span<TensorImpl*> out) {
  out[0]->data = from.data;
  FlushDenormals flush(true);
  op.kernel.run(KernelCall(op, in, attrs, out));
  out[0]->buffer = from.buffer;
  from.buffer = nullptr;
  from.data = from.inline_data;
  from.shape = Shape{0};
}

// What lies behind a variant has a shape of its own, which zeros of it have too.
bool needs_only_shape(const Op& op, const TensorImpl& input) {
  return op.traits.shape_only && input.dtype != DType::variant;
}

// What is not the common case: lists, several types, literals, mistakes. True when the call was finished here.
[[gnu::noinline]] bool check_slowly(const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                                    std::span<TensorImpl*> out, unsigned temporaries) {
  check_defined(op, in);
  bool weak = false, slices = false, symbolic = false;
  for (const TensorRef& t : in) {
    weak |= t.p->weak != Weak::strong;
    slices |= t.p->form == Form::slices;
    if (t.p->form == Form::outline && !needs_only_shape(op, *t.p)) refuse_outline(op);
    symbolic |= t.p->form == Form::symbolic;
  }
  if (slices) apply_slices(op, in, attrs, out);
  else if (weak) apply_weak(op, in, attrs, out, temporaries);
  if (slices || weak) return true;
  check_types(op, in);
  if (!symbolic || thread_state.tracer) return false;
  detail::ApplySymbolic apply_symbolic = detail::apply_symbolic.load(std::memory_order_acquire);
  if (op.attrs && !attrs.p) attrs = op.default_attrs();
  if (!apply_symbolic || !apply_symbolic(op, in, attrs, out)) refuse_symbolic(op);
  return true;
}

/// What tracing computes at once instead of adding a node for it: what does not depend on symbolic values, unless it
/// has effects or is large.
bool is_known_now(const Op& op, std::span<const TensorRef> in, std::span<TensorImpl* const> out) {
  constexpr int64_t most_bytes = 10 << 20;
  if (op.traits.stateful) return false;
  for (const TensorRef& t : in)
    if (t.p->form == Form::symbolic && !(needs_only_shape(op, *t.p) && t.p->shape.is_fully_defined())) return false;
  for (const TensorImpl* o : out)
    if (o->dtype == DType::variant) return false;  // no constant of a graph leads to an object
  for (const TensorImpl* o : out)
    if (o->shape.is_fully_defined() && o->shape.num_elements() > most_bytes / 16) return false;
  return true;
}

// Outputs and working memory: what ran out of it names the op.
constexpr const char* no_memory = "out of memory: the system has none left to work in";
[[noreturn, gnu::cold, gnu::noinline]] void refuse_memory(const Op& op, const std::string& why) {
  throw ResourceExhaustedError(why.starts_with(op.name) ? why : std::string(op.name) + ": " + why);
}

// A strong array: both enumerations have that as their zero.
bool is_plain(const TensorImpl& t) { return (static_cast<unsigned>(t.weak) | static_cast<unsigned>(t.form)) == 0; }

bool is_common(const Op& op, std::span<const TensorRef> in) {
  if (!op.uniform || in.size() != op.args.size()) return false;
  const TensorImpl* first = in[0].p;
  if (!first || !is_plain(*first) || !op.uniform_types.has(first->dtype)) return false;
  for (size_t i = 1; i < in.size(); ++i)
    if (!in[i].p || in[i].p->dtype != first->dtype || !is_plain(*in[i].p)) return false;
  return true;
}

}  // namespace

std::atomic<detail::ApplySymbolic> detail::apply_symbolic{nullptr};

void detail::compute(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out,
                     unsigned temporaries, unsigned unread) {
  if (temporaries)
    if (TensorImpl* from = donor(op, in, *out[0], temporaries)) return compute_over(*from, op, in, attrs, out);
  if (!op.traits.view)
    for (TensorImpl* o : out)
      if (!o->data && o->shape.is_fully_defined()) o->allocate();  // plans may have done it
  FlushDenormals flush(any_large(in, out));
  op.kernel.run(KernelCall(op, in, attrs, out, unread));
}

void apply(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out,
           unsigned temporaries) {
  if (!is_common(op, in)) [[unlikely]] {
    if (check_slowly(op, in, attrs, out, temporaries)) return;
  }
  if (op.attrs && !attrs.p) attrs = op.default_attrs();
  ThreadState& state = thread_state;
  if (op.follow && state.recorder) [[unlikely]]
    return op.follow(op, in, attrs, out);
  if (!state.started) [[unlikely]]
    detail::start_devices();
  Outputs outputs(out, state.device);
  try {
    InferCall infer(op, in, attrs, out);
    op.infer(infer);
    if (state.tracer && !is_known_now(op, in, out)) [[unlikely]]
      state.tracer->add(op, in, attrs, out);
    else detail::compute(op, in, attrs, out, state.recorder ? 0 : temporaries);
    if (detail::inspected.load(std::memory_order_relaxed) && !out.empty() && out[0]->form == Form::array) [[unlikely]]
      detail::inspect(op, in, out);
  } catch (const ResourceExhaustedError& error) {
    refuse_memory(op, error.what());
  } catch (const std::bad_alloc&) {
    refuse_memory(op, no_memory);
  } catch (const std::length_error&) {  // a vector longer than any memory
    refuse_memory(op, no_memory);
  }
  if (state.recorder) state.recorder->record(op, in, attrs, out);
  outputs.keep = true;
}

std::vector<Tensor> apply_list(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, int num_outputs) {
  std::vector<TensorImpl*> out(static_cast<size_t>(num_outputs));
  apply(op, in, attrs, out);
  std::vector<Tensor> results;
  results.reserve(out.size());
  for (TensorImpl* o : out) results.emplace_back(o);
  return results;
}

Tensor apply_values(const Op& op, std::span<const Tensor> list, std::initializer_list<TensorRef> rest, AttrsRef attrs) {
  std::vector<TensorRef> in;
  in.reserve(list.size() + rest.size());
  in.insert(in.end(), list.begin(), list.end());
  in.insert(in.end(), rest);
  TensorImpl* out;
  apply(op, in, attrs, {&out, 1});
  return Tensor(out);
}

}  // namespace thalweg
