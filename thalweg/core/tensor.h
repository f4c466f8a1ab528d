// Tensor: a cheap immutable value, one pointer to a counted block.
#pragma once
#include <atomic>
#include <concepts>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/core/allocator.h"
#include "thalweg/core/element_list.h"

namespace thalweg {

/// How firmly a value holds to its dtype when it meets others in an op.
enum class Weak : uint8_t {
  strong,  // a tensor: no silent promotion
  soft,    // an array of another library: takes the dtype of the tensors it meets, else keeps its own
  bare,    // a literal: takes the dtype of what it meets, else int32 or float32 (its reals are kept as float64 until
           // then)
};

/// What stands behind a tensor.
enum class Form : uint8_t {
  array,     // its elements
  symbolic,  // a value that tracing will compute later
  slices,    // some rows, the others are zero: the gradient of a lookup. Ops that do not know the form make it an array
  outline,   // dtype and shape alone: what a tape keeps of a value that no gradient reads
};

/// The block behind a tensor: a scalar needs nothing else, larger data lives in a Buffer.
struct alignas(64) TensorImpl {
  std::atomic<uint32_t> refs{1};
  DType dtype = DType::invalid;
  uint8_t device = 0;
  Weak weak = Weak::strong;
  Form form = Form::array;
  uint32_t track_slot = 0;     // for tapes: the result with this number in the log `track`
  bool has_companion = false;  // another tensor goes with it: see companion.h
  uint64_t track = 0;
  void* data = nullptr;
  Buffer* buffer = nullptr;  // null: the data is inline
  Shape shape;
  alignas(64) std::byte inline_data[64];  // symbolic: what the tracer knows of it

  static THALWEG_API TensorImpl* make();
  static THALWEG_API void destroy(TensorImpl* p);
  /// Memory for the dtype and shape that are set; throws ResourceExhaustedError when there is none.
  THALWEG_API void allocate();
};
inline void retain(TensorImpl* p) {
  if (p) p->refs.fetch_add(1, std::memory_order_relaxed);
}
inline void release(TensorImpl* p) {
  if (p && p->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) TensorImpl::destroy(p);
}

/// A C++ number that becomes a tensor. Bare literals are float32 and int32, as in TensorFlow.
template <class T>
concept Number = Element<T> && !std::same_as<T, std::string>;

/// What a bare `double` becomes where no tensor decides, in `Tensor x = 0.1;`, `Tensor x = {0.1, 0.2};` and
/// `Variable w(0.1);`: float32, as in TensorFlow, or float64 in programs that say so before they begin.
THALWEG_API void set_double_literals(DType dtype);
namespace detail {
extern THALWEG_API std::atomic<bool> double_literals_are_wide;
inline bool wide_literals() { return double_literals_are_wide.load(std::memory_order_relaxed); }
}  // namespace detail
template <Number T> DType literal_dtype() {
  if constexpr (std::same_as<T, double>) return detail::wide_literals() ? DType::float64 : DType::float32;
  else return dtype_of<T>;
}

/// A number, a string, or a list of literals of any depth: `{{1, 2}, {3, 4}}`.
class THALWEG_API Literal {
 public:
  template <Number T> Literal(T value) : dtype_(literal_dtype<T>()) {  // NOLINT
    static_assert(sizeof(T) <= sizeof(bytes_));
    if constexpr (std::same_as<T, double>) {
      real_ = value;
    } else {
      std::memcpy(bytes_, &value, sizeof value);
      if constexpr (std::is_arithmetic_v<T>) real_ = static_cast<double>(value);
      else if constexpr (requires { static_cast<float>(value); })
        real_ = static_cast<double>(static_cast<float>(value));
    }
    wide_ = std::same_as<T, double>;
  }
  Literal(const char* text) : dtype_(DType::string), text_(text) {}                // NOLINT
  Literal(const std::string& text) : dtype_(DType::string), text_(text) {}         // NOLINT
  Literal(std::initializer_list<Literal> items) : list_(items), is_list_(true) {}  // NOLINT

 private:
  friend struct LiteralReader;
  DType dtype_ = DType::invalid;
  bool wide_ = false;                    // a double, kept whole in real_ until its dtype is known
  alignas(8) std::byte bytes_[16] = {};  // read in place as the dtype
  double real_ = 0;
  std::string_view text_;
  std::initializer_list<Literal> list_;
  bool is_list_ = false;
};

class Index;
class TensorIterator;

/// A value of any dtype and shape. Copies share; nothing about a tensor ever changes.
class THALWEG_API Tensor {
 public:
  /// No tensor: `defined()` is false, Python's None.
  Tensor() = default;
  template <Number T> Tensor(T value) : p_(make_scalar(literal_dtype<T>())) {  // NOLINT: a scalar
    if constexpr (std::same_as<T, double>) {
      if (p_->dtype == DType::float32) {
        auto narrow = static_cast<float>(value);
        std::memcpy(p_->data, &narrow, sizeof narrow);
        return;
      }
    }
    std::memcpy(p_->data, &value, sizeof value);
  }
  Tensor(const char* text) : Tensor(std::string_view(text)) {}         // NOLINT
  Tensor(const std::string& text) : Tensor(std::string_view(text)) {}  // NOLINT
  Tensor(std::string_view text);                                       // NOLINT
  /// Nested lists: `Tensor x = {{1, 2}, {3, 4}};` Integers make int32, any real number float32.
  Tensor(std::initializer_list<Literal> list);  // NOLINT
  /// One dimension, with the dtype of the elements (double stays float64): a vector, a span, an array of C ...
  template <ElementList R>
  Tensor(const R& values) : Tensor(values, Shape{static_cast<int64_t>(std::size(values))}) {}  // NOLINT
  template <ElementList R> Tensor(const R& values, const Shape& shape) {
    using T = detail::ElementOf<R>;
    p_ = make_filled(dtype_of<T>, shape, static_cast<int64_t>(std::size(values)));
    std::copy_n(std::data(values), std::size(values), static_cast<T*>(p_->data));
  }
  Tensor(const std::vector<bool>& values);  // NOLINT
  Tensor(const std::vector<bool>& values, const Shape& shape);
  /// As many dimensions as there are lists in lists; ValueError where their lengths differ.
  template <NestedList R> Tensor(const R& lists) {  // NOLINT
    using T = detail::ElementOf<R>;
    Shape shape;
    detail::measure(lists, shape);
    Tensor made = empty(dtype_of<T>, shape);
    detail::copy_lists(lists, shape, 0, static_cast<T*>(made.p_->data));
    swap(made);
  }
  explicit Tensor(TensorImpl* adopted) : p_(adopted) {}
  Tensor(std::initializer_list<Literal> list, Weak weak);

  Tensor(const Tensor& other) : p_(other.p_) { retain(p_); }
  Tensor(Tensor&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Tensor& operator=(const Tensor& other) & {
    Tensor(other).swap(*this);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  /// `x[0] = 1.0f` would change a temporary: does not compile.
  template <class T = Tensor> void operator=(const T&) && {
    static_assert(!std::same_as<T, T>,
                  "a tensor never changes, and x[0] is a new one: write x = tensor_scatter_nd_update(x, indices, "
                  "updates), or make x a Variable and write x(0).assign(...)");
  }
  ~Tensor() { release(p_); }
  void swap(Tensor& other) noexcept { std::swap(p_, other.p_); }

  /// Memory not yet filled, for those who make tensors: write through `mutable_data` before sharing it.
  static Tensor empty(DType dtype, const Shape& shape);
  /// Shows memory that belongs to someone else, without a copy; `release(context)` is called when no tensor uses it.
  static Tensor view(DType dtype, const Shape& shape, void* data, void (*release)(void*), void* context);
  /// The same for memory that outlives the tensor.
  template <Element T> static Tensor view(std::span<T> values, const Shape& shape) {
    check_count(shape, static_cast<int64_t>(values.size()));
    return view(
        dtype_of<std::remove_const_t<T>>, shape, const_cast<std::remove_const_t<T>*>(values.data()), [](void*) {},
        nullptr);
  }

  /// False for None.
  bool defined() const { return p_ != nullptr; }
  DType dtype() const { return impl()->dtype; }
  const Shape& shape() const { return impl()->shape; }
  int rank() const { return shape().rank(); }
  /// The number of elements.
  int64_t size() const { return shape().count(); }
  size_t nbytes() const { return static_cast<size_t>(size()) * size_of(dtype()); }
  bool is_symbolic() const { return impl()->form == Form::symbolic; }
  /// Where it lives: `/job:localhost/replica:0/task:0/device:CPU:0`.
  std::string device() const;
  /// The same tensor on CPU:0 (itself when it is there), or on a GPU: an error that names the devices there are.
  Tensor cpu() const;
  Tensor gpu(int index = 0) const;

  /// The elements in row-major order; the type must be the dtype's. They live as long as the tensor does, so that those
  /// of a temporary cannot be asked for.
  template <Element T> std::span<const T> span() const& {
    check_readable(dtype_of<T>);
    return {static_cast<const T*>(p_->data), static_cast<size_t>(size())};
  }
  template <Element T> const T* data() const& {
    check_readable(dtype_of<T>);
    return static_cast<const T*>(p_->data);
  }
  template <Element T> std::span<const T> span() const&& {
    static_assert(!std::same_as<T, T>,
                  "this tensor is a temporary, and its elements end with it: keep it in a variable first, `Tensor y = "
                  "...; y.span<float>()`; of a single element item<float>() gives the value");
    return {};
  }
  template <Element T> const T* data() const&& {
    static_assert(!std::same_as<T, T>,
                  "this tensor is a temporary, and its elements end with it: keep it in a variable first, `Tensor y = "
                  "...; y.data<float>()`; of a single element item<float>() gives the value");
    return nullptr;
  }
  /// The one element, converted to T where numbers allow it.
  template <Element T> T item() const {
    T value;
    read_item(dtype_of<T>, &value);
    return value;
  }
  /// The value of a scalar, true or false.
  explicit operator bool() const;

  /// For those who make tensors: the memory of one that nobody else holds yet.
  template <class T> T* mutable_data() const { return static_cast<T*>(impl()->data); }

  /// Indexing and slicing: `x(0)`, `x(all, slice(1, -1))`, `x(ellipsis, newaxis)`, `x(mask)`.
  template <class... I>
    requires(std::convertible_to<I, Index> && ...)
  Tensor operator()(const I&... indices) const;
  /// One element of the first axis.
  Tensor operator[](int64_t i) const;
  Tensor index(std::span<const Index> indices) const;
  /// Iteration over the first axis.
  TensorIterator begin() const;
  TensorIterator end() const;

  /// TensorFlow's text for print: `tf.Tensor([1. 2.], shape=(2,), dtype=float32)`.
  std::string str() const;
  /// TensorFlow's text in a session: `<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>`.
  std::string repr() const;

  TensorImpl* impl() const { return p_ ? p_ : undefined(); }
  /// The block, or null for None.
  TensorImpl* get() const { return p_; }

 private:
  static TensorImpl* make_scalar(DType dtype) {
    TensorImpl* p = TensorImpl::make();
    p->dtype = dtype;
    p->data = p->inline_data;
    return p;
  }
  static TensorImpl* make_filled(DType dtype, const Shape& shape, int64_t count);
  static void check_count(const Shape& shape, int64_t count);
  [[noreturn]] static TensorImpl* undefined();
  void check_readable(DType wanted) const {
    if (!p_ || p_->form != Form::array || p_->dtype != wanted) [[unlikely]]
      unreadable(wanted);
  }
  [[noreturn]] void unreadable(DType wanted) const;
  void read_item(DType wanted, void* value) const;

  TensorImpl* p_ = nullptr;
};
static_assert(sizeof(Tensor) == sizeof(TensorImpl*));

THALWEG_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// An argument on its way into an op: borrowed, not counted.
struct TensorRef {
  TensorImpl* p = nullptr;
  TensorRef(const Tensor& t) : p(t.get()) {}  // NOLINT
  explicit TensorRef(TensorImpl* q) : p(q) {}
  /// Seen as a tensor; a tensor is one pointer, so this costs nothing.
  const Tensor& tensor() const { return reinterpret_cast<const Tensor&>(p); }
};

/// The dtype a literal or array takes when nothing else decides: bare reals float32, others their own.
constexpr DType natural_dtype(const TensorImpl& t) {
  return t.weak == Weak::bare && t.dtype == DType::float64 ? DType::float32 : t.dtype;
}
/// A weak value as a strong tensor of this dtype; throws TypeError where a literal cannot be that (1.5 as int32).
THALWEG_API Tensor strengthen(const Tensor& weak, DType dtype);

/// Something that holds a tensor and gives it when asked, such as a variable.
template <class T>
concept TensorHolder = requires(const T& t) {
  { t.value() } -> std::same_as<Tensor>;
};

/// What TensorFlow calls tensor-like: a tensor, or a bare number, string or list that takes the dtype of the tensors
/// it meets in an op. `maximum(x, 0)` and `add(x, {1, 2})` work for any dtype of x.
class THALWEG_API TensorLike {
 public:
  TensorLike(const Tensor& tensor) : p_(tensor.get()) {}                       // NOLINT
  template <Number T> TensorLike(T value) : owned_(value), p_(owned_.get()) {  // NOLINT
    if constexpr (std::is_floating_point_v<T>) keep_real(static_cast<double>(value));
    p_->weak = std::same_as<T, double> && detail::wide_literals() ? Weak::soft : Weak::bare;
  }
  template <TensorHolder T> TensorLike(const T& holder) : owned_(holder.value()), p_(owned_.get()) {}  // NOLINT
  TensorLike(const char* text) : owned_(text), p_(owned_.get()) {}                                     // NOLINT
  TensorLike(const std::string& text) : owned_(text), p_(owned_.get()) {}                              // NOLINT
  TensorLike(std::initializer_list<Literal> list) : owned_(list, Weak::bare), p_(owned_.get()) {}      // NOLINT
  template <ElementList R> TensorLike(const R& values) : owned_(values), p_(owned_.get()) {}           // NOLINT
  template <NestedList R> TensorLike(const R& lists) : owned_(lists), p_(owned_.get()) {}              // NOLINT
  TensorLike(const std::vector<bool>& values) : owned_(values), p_(owned_.get()) {}                    // NOLINT
  /// The dimensions, which must be known: `zeros(x.shape())`.
  TensorLike(const Shape& shape) : owned_(dims_of(shape)), p_(owned_.get()) {}  // NOLINT
  TensorLike(const TensorLike&) = delete;
  TensorLike& operator=(const TensorLike&) = delete;

  operator const Tensor&() const { return reinterpret_cast<const Tensor&>(p_); }  // NOLINT
  operator TensorRef() const { return TensorRef(p_); }                            // NOLINT
  const Tensor& tensor() const { return *this; }
  /// The value with this dtype if it was a bare literal, else the tensor as it is.
  Tensor as(DType dtype) const;
  /// The value with its own dtype: what it would be alone.
  Tensor own() const;

 private:
  static Tensor dims_of(const Shape& shape);
  void keep_real(double value) {
    p_->dtype = DType::float64;
    std::memcpy(p_->data, &value, sizeof value);
  }

  Tensor owned_;
  TensorImpl* p_;
};

/// What operators are for: at least one operand is a tensor (or a variable), the other is tensor-like.
template <class T> inline constexpr bool is_tensor_value = std::derived_from<T, Tensor> || TensorHolder<T>;
template <class X, class Y>
concept Operands = (is_tensor_value<X> || is_tensor_value<Y>) && std::convertible_to<const X&, TensorLike> &&
                   std::convertible_to<const Y&, TensorLike>;

}  // namespace thalweg
