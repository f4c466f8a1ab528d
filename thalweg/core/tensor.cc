#include "thalweg/core/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "thalweg/core/companion.h"
#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/device.h"
#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/core/indexed_slices.h"
#include "thalweg/core/resource.h"
#include "thalweg/core/sanitizer.h"
#include "thalweg/core/symbolic_text.h"
#include "thalweg/core/tensor_spec.h"
#include "thalweg/core/thread_state.h"

namespace thalweg {
namespace {

// Blocks are taken and given back all the time: a short list per thread, no lock. The list runs through the free blocks
// themselves, so that the thread's part is small enough for the loader's fastest kind of thread-local memory.
struct FreeBlocks {
  void* first = nullptr;
  int count = 0;
  enum : int8_t { untouched, open, closed } state = untouched;
};
constinit thread_local FreeBlocks free_blocks [[gnu::tls_model("initial-exec")]];
constexpr int most_free_blocks = 4096;

/// Empties the list when the thread ends; what is given back later goes straight to the system.
struct ThreadEnd {
  ~ThreadEnd() {
    FreeBlocks& list = free_blocks;
    list.state = FreeBlocks::closed;
    while (list.first) {
      void* block = std::exchange(list.first, *static_cast<void**>(list.first));
      ::operator delete(block, std::align_val_t{alignof(TensorImpl)});
    }
  }
};
[[gnu::noinline]] bool open_list() {
  FreeBlocks& list = free_blocks;
  if (list.state == FreeBlocks::closed) return false;
  thread_local ThreadEnd at_end;
  static_cast<void>(at_end);
  list.state = FreeBlocks::open;
  return true;
}

constexpr bool keep_blocks = !under_sanitizer;

}  // namespace

TensorImpl* TensorImpl::make() {
  FreeBlocks& list = free_blocks;
  if (!list.first) return new TensorImpl;
  void* block = list.first;
  list.first = *static_cast<void**>(block);
  --list.count;
  return new (block) TensorImpl;
}

void TensorImpl::destroy(TensorImpl* p) {
  if (p->has_companion) [[unlikely]]
    detail::drop_companions(p);
  if (p->buffer) p->buffer->drop();
  else if (p->form == Form::slices) [[unlikely]] detail::destroy_slices(p);
  else if (is_object(p->dtype) && p->data) destroy_objects(p->dtype, p->data, static_cast<size_t>(p->shape.count()));
  FreeBlocks& list = free_blocks;
  bool keep = keep_blocks && list.count < most_free_blocks && (list.state == FreeBlocks::open || open_list());
  if (!keep) return delete p;
  p->~TensorImpl();
  void* block = p;
  *static_cast<void**>(block) = list.first;
  list.first = block;
  ++list.count;
}

void TensorImpl::allocate() {
  if (size_of(dtype) == 0) [[unlikely]]
    throw TypeError("a tensor cannot have the dtype " + std::string(name_of(dtype)));
  if (shape.rank() == 0 && !is_object(dtype)) [[likely]] {
    data = inline_data;
    return;
  }
  int64_t count = shape.num_elements();
  size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  if (count < 0 || static_cast<size_t>(count) > (size_t{1} << 50) / size_of(dtype)) [[unlikely]]
    throw ResourceExhaustedError("a tensor of shape " + shape.brackets() + " and dtype " + std::string(name_of(dtype)) +
                                 " is too large to allocate");
  if (bytes <= sizeof inline_data) {
    data = inline_data;
    if (is_object(dtype)) construct_objects(dtype, data, static_cast<size_t>(count));
  } else {
    buffer = Buffer::make(bytes, dtype, device);
    data = buffer->data;
  }
}

namespace {
bool has_negative(DType dtype, const void* data, int64_t count) {
  auto in = [&]<class T>(T) {
    return std::any_of(static_cast<const T*>(data), static_cast<const T*>(data) + count, [](T v) { return v < 0; });
  };
  switch (dtype) {
    case DType::int8:
      return in(int8_t{});
    case DType::int16:
      return in(int16_t{});
    case DType::int32:
      return in(int32_t{});
    case DType::int64:
      return in(int64_t{});
    default:
      return false;
  }
}
}  // namespace

/// Reads nested literals: shape and dtype first, then the values.
struct LiteralReader {
  static DType dtype(const Literal& l) {
    if (!l.is_list_) return l.dtype_;
    DType all = DType::invalid;
    for (const Literal& item : l.list_) {
      DType t = dtype(item);
      if (all == DType::invalid || t == DType::invalid || all == t) {
        if (t != DType::invalid) all = t;
        continue;
      }
      bool text = all == DType::string || t == DType::string, truth = all == DType::bool_ || t == DType::bool_;
      if (text || truth)
        throw TypeError("a list of literals mixes " + std::string(name_of(all)) + " and " + std::string(name_of(t)));
      if (is_complex(all) || is_complex(t)) all = is_complex(all) ? all : t;
      else if (is_floating(all) || is_floating(t)) all = is_floating(all) ? all : t;
      else all = size_of(all) >= size_of(t) ? all : t;
    }
    return all;
  }
  static void shape(const Literal& l, Shape& s) {
    if (!l.is_list_) return;
    s.push_back(static_cast<int64_t>(l.list_.size()));
    if (l.list_.size()) shape(*l.list_.begin(), s);
  }
  static void check(const Literal& l, const Shape& s, int depth) {
    bool fits = l.is_list_ ? depth < s.rank() && s[depth] == static_cast<int64_t>(l.list_.size()) : depth == s.rank();
    if (!fits) throw ValueError("a list of literals is ragged: its rows have different lengths or depths");
    for (const Literal& item : l.list_) check(item, s, depth + 1);
  }
  static void write(const Literal& l, DType to, std::byte*& out) {
    if (l.is_list_) {
      for (const Literal& item : l.list_) write(item, to, out);
      return;
    }
    if (to == DType::string) *reinterpret_cast<std::string*>(out) = std::string(l.text_);
    else if (l.wide_) convert_elements(DType::float64, &l.real_, to, out, 1);
    else convert_elements(l.dtype_, l.bytes_, to, out, 1);
    out += size_of(to);
  }
};

std::atomic<bool> detail::double_literals_are_wide{false};

void set_double_literals(DType dtype) {
  if (dtype != DType::float32 && dtype != DType::float64)
    throw ValueError("double literals become float32 or float64, not " + std::string(name_of(dtype)));
  detail::double_literals_are_wide = dtype == DType::float64;
}

Tensor::Tensor(std::initializer_list<Literal> list) : Tensor(list, Weak::strong) {}

Tensor::Tensor(std::initializer_list<Literal> list, Weak weak) {
  Literal whole(list);
  DType dtype = LiteralReader::dtype(whole);
  if (dtype == DType::invalid) dtype = DType::float32;  // an empty list
  // Wide literals keep their float64 where no tensor decides, as arrays do.
  if (weak == Weak::bare && dtype == DType::float64 && detail::wide_literals()) weak = Weak::soft;
  if (weak == Weak::bare && dtype == DType::float32) dtype = DType::float64;
  Shape shape;
  LiteralReader::shape(whole, shape);
  LiteralReader::check(whole, shape, 0);
  Tensor made = empty(dtype, shape);
  auto* out = static_cast<std::byte*>(made.p_->data);
  LiteralReader::write(whole, dtype, out);
  made.p_->weak = weak;
  swap(made);
}

Tensor::Tensor(const std::vector<bool>& values) : Tensor(values, Shape{static_cast<int64_t>(values.size())}) {}
Tensor::Tensor(const std::vector<bool>& values, const Shape& shape) {
  p_ = make_filled(DType::bool_, shape, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), static_cast<bool*>(p_->data));
}

void detail::refuse_ragged(int64_t length, int64_t expected) {
  throw ValueError("lists in a list have different lengths, " + std::to_string(expected) + " and " +
                   std::to_string(length) + ": a tensor is not ragged");
}

Tensor::Tensor(std::string_view text) {
  Tensor made = empty(DType::string, {});
  *static_cast<std::string*>(made.p_->data) = text;
  swap(made);
}

Tensor Tensor::empty(DType dtype, const Shape& shape) {
  Tensor t(TensorImpl::make());
  t.p_->dtype = dtype;
  t.p_->shape = shape;
  t.p_->device = static_cast<uint8_t>(current_device());
  t.p_->allocate();
  return t;
}

Tensor Tensor::view(DType dtype, const Shape& shape, void* data, void (*release)(void*), void* context) {
  Tensor t(TensorImpl::make());
  t.p_->dtype = dtype;
  t.p_->shape = shape;
  t.p_->device = static_cast<uint8_t>(current_device());
  t.p_->buffer = Buffer::wrap(data, release, context);
  t.p_->data = data;
  return t;
}

TensorImpl* Tensor::make_filled(DType dtype, const Shape& shape, int64_t count) {
  check_count(shape, count);
  Tensor made = empty(dtype, shape);
  return std::exchange(made.p_, nullptr);
}

void Tensor::check_count(const Shape& shape, int64_t count) {
  if (shape.num_elements() != count)
    throw ValueError(std::to_string(count) + " values do not fill the shape " + shape.brackets());
}

TensorImpl* Tensor::undefined() {
  throw ValueError("this tensor is undefined (None): it was default-constructed or moved from");
}

void Tensor::unreadable(DType wanted) const {
  const TensorImpl* p = impl();
  if (p->form == Form::symbolic)
    throw TypeError(
        "a symbolic tensor has no value yet: it is being traced. Use tf::cond, tf::while_loop or tf::print");
  if (p->form == Form::slices)
    throw TypeError("this tensor has the form of IndexedSlices: make it an array with convert_to_tensor, then read it");
  if (p->form == Form::outline) throw errors::InternalError("a value was read that the tape did not keep");
  throw TypeError("this tensor holds " + std::string(name_of(p->dtype)) + ", not " + std::string(name_of(wanted)) +
                  ": read it as that type, or cast it first");
}

void Tensor::read_item(DType wanted, void* value) const {
  const TensorImpl* p = impl();
  if (p->form == Form::symbolic && thread_state.reveal)
    return Tensor(thread_state.reveal(p_, false)).read_item(wanted, value);
  if (p->form != Form::array) unreadable(wanted);
  if (size() != 1) throw ValueError("item() needs one element, this tensor has shape " + shape().brackets());
  if (wanted == p->dtype && wanted == DType::string)
    *static_cast<std::string*>(value) = *static_cast<const std::string*>(p->data);
  else if (is_object(p->dtype) || is_object(wanted)) unreadable(wanted);
  else convert_elements(p->dtype, p->data, wanted, value, 1);
}

Tensor::operator bool() const {
  const TensorImpl* p = impl();
  if (p->form == Form::symbolic && thread_state.reveal) return static_cast<bool>(Tensor(thread_state.reveal(p_, true)));
  if (p->form != Form::array) unreadable(DType::bool_);
  if (size() != 1)
    throw ValueError("the truth of a tensor with shape " + shape().brackets() +
                     " is not defined: use reduce_any or reduce_all");
  if (p->dtype == DType::string) return !static_cast<const std::string*>(p->data)->empty();
  return item<bool>();
}

std::string Tensor::device() const { return device_name(impl()->device); }

Tensor Tensor::cpu() const {
  if (impl()->device == 0) return *this;
  Tensor moved(TensorImpl::make());
  moved.p_->dtype = dtype();
  moved.p_->shape = shape();
  moved.p_->allocate();
  copy_elements(dtype(), p_->data, moved.p_->data, size());
  return moved;
}

Tensor Tensor::gpu(int index) const {
  throw InvalidArgumentError("there is no GPU:" + std::to_string(index) + "; the devices are: " + device_list());
}

namespace {
std::string text_of_symbol(const Tensor& t, bool for_session) {
  const detail::SymbolicText known = detail::symbolic_text.load(std::memory_order_acquire);
  if (std::string text = known && t.is_symbolic() ? known(t, for_session) : std::string(); !text.empty()) return text;
  const std::string shape = t.shape().str(), dtype(name_of(t.dtype()));
  return for_session ? "<tf.Tensor shape=" + shape + " dtype=" + dtype + ">"
                     : "Tensor(shape=" + shape + ", dtype=" + dtype + ")";
}
std::string slices_str(const IndexedSlices& s) {
  std::string text = "IndexedSlices(indices=" + s.indices.str() + ", values=" + s.values.str();
  return text + (s.dense_shape.defined() ? ", dense_shape=" + s.dense_shape.str() : "") + ")";
}
}  // namespace

std::atomic<detail::SymbolicText> detail::symbolic_text{nullptr};

std::string Tensor::str() const {
  const TensorImpl* p = impl();
  if (p->form == Form::slices) return slices_str(indexed_slices(*this));
  if (p->form != Form::array) return text_of_symbol(*this, false);
  return tensor_str(p->dtype, p->shape, p->data);
}
std::string Tensor::repr() const {
  const TensorImpl* p = impl();
  if (p->form == Form::slices) return str();
  if (p->form != Form::array) return text_of_symbol(*this, true);
  return tensor_repr(p->dtype, p->shape, p->data);
}
// As TensorFlow does: int32 where all dimensions fit.
Tensor TensorLike::dims_of(const Shape& shape) {
  if (!shape.is_fully_defined())
    throw ValueError("Cannot convert a partially known TensorShape " + shape.str() + " to a Tensor.");
  bool fits = true;
  for (int64_t dim : shape) fits &= dim <= std::numeric_limits<int32_t>::max();
  if (!fits) return Tensor(std::vector<int64_t>(shape.begin(), shape.end()));
  std::vector<int32_t> dims;
  for (int64_t dim : shape) dims.push_back(static_cast<int32_t>(dim));
  return Tensor(dims);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << "<dtype: '" << name_of(dtype) << "'>"; }
std::ostream& operator<<(std::ostream& out, const TensorSpec& spec) { return out << spec.str(); }

Tensor detail::stand_in(DType dtype, const Shape& shape) {
  Tensor t(TensorImpl::make());
  t.impl()->form = Form::symbolic;
  t.impl()->dtype = dtype;
  t.impl()->shape = shape;
  return t;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << (tensor.defined() ? tensor.str() : std::string("None"));
}

Tensor strengthen(const Tensor& weak, DType dtype) {
  const TensorImpl* p = weak.impl();
  DType from = p->dtype;
  bool real = is_floating(from), whole = is_integer(from);
  bool fits = from == dtype || (real && (is_floating(dtype) || is_complex(dtype))) ||
              (whole && number_types.has(dtype)) || (is_complex(from) && is_complex(dtype));
  auto what = [&] {
    return "cannot convert " + (p->shape.count() == 1 ? scalar_str(from, p->data) : weak.str()) +
           " to a tensor of dtype " + std::string(name_of(dtype));
  };
  if (!fits) throw TypeError(what());
  auto refuse = [&] { throw ValueError(what() + ": it is out of range"); };
  Tensor strong(TensorImpl::make());
  TensorImpl* q = strong.impl();
  q->dtype = dtype;
  q->shape = p->shape;
  q->device = p->device;
  if (from == dtype && p->buffer) {
    q->buffer = p->buffer;
    q->buffer->retain();
    q->data = p->data;
    return strong;
  }
  q->allocate();
  int64_t count = p->shape.count();
  convert_elements(from, p->data, dtype, q->data, count);
  bool narrows = size_of(dtype) < size_of(from) || unsigned_types.has(dtype) != unsigned_types.has(from);
  if (whole && is_integer(dtype) && narrows) {  // 300 is no uint8
    Tensor back = Tensor::empty(from, p->shape);
    convert_elements(dtype, q->data, from, back.impl()->data, count);
    if (std::memcmp(back.impl()->data, p->data, weak.nbytes()) != 0) refuse();
    bool lost_sign = unsigned_types.has(from) ? has_negative(dtype, q->data, count)
                                              : unsigned_types.has(dtype) && has_negative(from, p->data, count);
    if (lost_sign) refuse();  // 2^63 is no int64, -1 no uint64
  }
  return strong;
}

Tensor TensorLike::as(DType dtype) const {
  return tensor().impl()->weak == Weak::strong ? tensor() : strengthen(tensor(), dtype);
}
Tensor TensorLike::own() const {
  const TensorImpl* p = tensor().impl();
  return p->weak == Weak::strong ? tensor() : strengthen(tensor(), natural_dtype(*p));
}

}  // namespace thalweg
