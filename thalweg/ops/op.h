// The one record of an op: name, signature, types, attributes, shape rule, kernel, gradient, traits.
// Eager execution, tapes, tracing, files, Python, docs and tests are generic over these records.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/attrs.h"

namespace thalweg {

struct Op;
class GradCall;

/// What `infer` sees: the inputs (perhaps symbolic, with partly unknown shapes), and where the outputs are described.
class InferCall {
 public:
  InferCall(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out)
      : op(op), attrs_(attrs), in_(in), out_(out) {}

  const Op& op;
  template <class A> const A& attrs() const { return attrs_.as<A>(); }
  int num_inputs() const { return static_cast<int>(in_.size()); }
  int num_outputs() const { return static_cast<int>(out_.size()); }
  const Shape& shape(int i) const { return in_[static_cast<size_t>(i)].p->shape; }
  DType dtype(int i) const { return in_[static_cast<size_t>(i)].p->dtype; }
  const Tensor& tensor(int i) const { return in_[static_cast<size_t>(i)].tensor(); }
  /// The inputs of one argument of the signature: several where it is a list.
  std::span<const TensorRef> argument(int i) const;
  /// Whether the value of an input is known now (it is not while tracing).
  bool has_value(int i) const {
    if (in_[static_cast<size_t>(i)].p->form != Form::symbolic) return true;
    missed_value_ = true;
    return false;
  }
  /// Whether a value was asked for that is not known yet: with it, the answer may be another.
  bool missed_value() const { return missed_value_; }
  /// The value of a small integer input, as int64; call only when it has a value.
  std::vector<int64_t> values(int i) const;
  /// The one value of an integer input; fails unless it is a scalar (or has one element).
  int64_t scalar(int i) const;
  /// A shape given as a value; while tracing, as far as it is known. Fails on negative dimensions.
  Shape shape_value(int i) const;
  /// What is known of the dimensions that a vector without a value stands for.
  Shape partial_value(int i) const;

  /// Describes output i; without a dtype it is the one the signature says.
  void output(int i, DType dtype, const Shape& shape) {
    TensorImpl* o = out_[static_cast<size_t>(i)];
    o->dtype = dtype;
    o->shape = shape;
  }
  void output(int i, const Shape& shape) { output(i, result_dtype(i), shape); }
  DType result_dtype(int i) const;  // below: the common case is one load

  /// InvalidArgumentError: the op, why, and what came in.
  [[noreturn]] void fail(const std::string& why) const;
  void require(bool holds, const char* why) const {
    if (!holds) [[unlikely]]
      fail(why);
  }
  /// Input i has this rank (or an unknown one).
  void require_rank(int i, int rank) const;
  void require_rank_at_least(int i, int rank) const;
  /// An axis within [-rank, rank), made non-negative; fails with a message that names it.
  int axis(int64_t value, int rank) const;

 private:
  DType find_result_dtype(int i) const;

  AttrsRef attrs_;
  std::span<const TensorRef> in_;
  std::span<TensorImpl* const> out_;
  mutable bool missed_value_ = false;
};

/// What a kernel sees: checked inputs, allocated outputs.
class KernelCall {
 public:
  KernelCall(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out,
             unsigned unread = 0)
      : op(op), in_(in), out_(out), attrs_(attrs), unread_(unread) {}

  const Op& op;
  template <class A> const A& attrs() const { return attrs_.as<A>(); }
  AttrsRef attrs() const { return attrs_; }
  int num_inputs() const { return static_cast<int>(in_.size()); }
  int num_outputs() const { return static_cast<int>(out_.size()); }
  template <class T = void> const T* input(int i) const {
    return static_cast<const T*>(in_[static_cast<size_t>(i)].p->data);
  }
  template <class T = void> T* output(int i = 0) const { return static_cast<T*>(out_[static_cast<size_t>(i)]->data); }
  const Shape& shape(int i) const { return in_[static_cast<size_t>(i)].p->shape; }
  const Shape& output_shape(int i = 0) const { return out_[static_cast<size_t>(i)]->shape; }
  DType dtype(int i = 0) const { return in_[static_cast<size_t>(i)].p->dtype; }
  DType output_dtype(int i = 0) const { return out_[static_cast<size_t>(i)]->dtype; }
  /// Whether anyone may look at output i: if not, its elements need no value.
  bool is_read(int i) const { return i >= 32 || (unread_ >> i & 1) == 0; }
  int64_t count(int i) const { return shape(i).count(); }
  const Tensor& tensor(int i) const { return in_[static_cast<size_t>(i)].tensor(); }
  std::span<const TensorRef> argument(int i) const;
  std::vector<int64_t> values(int i) const;
  int64_t scalar(int i) const;

  /// Gives output i its final shape and memory, where infer could not know it.
  void allocate(int i, const Shape& shape) const;
  /// Output i shows the memory of an input with the output's own shape (reshape, identity): no copy.
  void share(int i, int input) const;
  /// Output i is this value, shape and memory (what a variable holds): no copy.
  void adopt(int i, const Tensor& value) const;

  [[noreturn]] void fail(const std::string& why) const;

 private:
  std::span<const TensorRef> in_;
  std::span<TensorImpl* const> out_;
  AttrsRef attrs_;
  unsigned unread_;
};

/// What `dims` sees of a call whose result, a few integers, may be a shape: what tracing knows of the inputs.
class DimsCall {
 public:
  struct Input {
    const Shape* shape = nullptr;
    Shape dims = Shape::unknown_rank();    // the integers it holds, -1 where they are not known
    const TensorImpl* constant = nullptr;  // its value, where it has one
  };
  DimsCall(std::span<const Input> in, AttrsRef attrs, const Shape& result) : in_(in), attrs_(attrs), result_(result) {}

  template <class A> const A& attrs() const { return attrs_.as<A>(); }
  int num_inputs() const { return static_cast<int>(in_.size()); }
  const Shape& shape(int i) const { return *in_[static_cast<size_t>(i)].shape; }
  const Shape& dims(int i) const { return in_[static_cast<size_t>(i)].dims; }
  const TensorImpl* constant(int i) const { return in_[static_cast<size_t>(i)].constant; }
  /// That nothing is known of the result but how many integers it has.
  Shape unknown() const;

 private:
  std::span<const Input> in_;
  AttrsRef attrs_;
  const Shape& result_;
};

struct Kernel {
  void (*run)(const KernelCall&) = nullptr;
  const void* loops = nullptr;  // element-wise ops: the inner loops, which fusion calls too
  TypeSet types = {};           // what T may be: what the kernel was compiled for
};

/// What becomes of an op of one input that is applied twice.
enum class Twice : uint8_t { another_result, is_once, is_nothing };
/// The operand that leaves the other one as it is, bit by bit: in either place, or on the right alone. (x + 0 makes -0
/// to +0: the zero of real sums is -0.)
enum class Neutral : uint8_t { no_number, zero, zero_right, one, one_right };
/// Whether the attribute data_format says in which order an image has its dimensions, and what the kernel likes better.
enum class Layout : uint8_t { fixed, follows, prefers_channels_last };

struct Traits {
  bool elementwise = false;
  bool commutative = false;
  bool stateful = false;        // must run exactly once per call, in program order
  bool observes = false;        // stateful, but changes nothing: nobody misses it when it is not used
  bool view = false;            // the kernel shares an input's memory instead of filling its own
  bool shape_only = false;      // dtype and shape of the inputs decide everything
  bool broadcasts = false;      // inputs are repeated to a common shape: their gradients are summed back
  bool never_fails = false;     // once shapes and constant inputs are checked, real numbers are all good
  bool keeps_inputs = false;    // shares an input's memory beyond the call, as an assignment does
  bool forwards = false;        // the result is the first input
  bool keeps_elements = false;  // the result is the first input where it has its shape
  Twice twice = Twice::another_result;
  Neutral neutral = Neutral::no_number;
  Layout layout = Layout::fixed;
  const char* not_differentiable = nullptr;  // why there is no gradient
};
inline constexpr Traits elementwise{.elementwise = true};

/// Which values a gradient reads, one bit each (bit 31: it and all that follow); a tape keeps only those. Shapes and
/// dtypes are always there.
struct Reads {
  uint32_t inputs = ~0u, outputs = ~0u;
  static constexpr bool has(uint32_t set, size_t i) { return set >> (i < 31 ? i : 31) & 1; }
  friend constexpr Reads operator|(Reads a, Reads b) { return {a.inputs | b.inputs, a.outputs | b.outputs}; }
};
namespace reads {
inline constexpr Reads nothing{0, 0};
/// `reads::inputs<0, 2>`: these inputs and no output.
template <int... I> inline constexpr Reads inputs{((1u << I) | ... | 0u), 0};
template <int... I> inline constexpr Reads outputs{0, ((1u << I) | ... | 0u)};
inline constexpr Reads all_inputs{~0u, 0};
}  // namespace reads

/// The types one type attribute of the signature may take.
struct TypeRule {
  const char* name = nullptr;
  TypeSet set = {};
};

/// An op as its author writes it.
struct OpDef {
  const char* name = "";       // TensorFlow's
  const char* doc = "";        // one or two sentences
  const char* signature = "";  // "a: T, b: T -> product: T"; "values: N * T, axis: Tidx -> output: T"; "list T"
  TypeRule types[4] = {};      // by type attribute; T without a rule: the kernel's types; others: any
  const AttrType* attrs = nullptr;
  void (*infer)(InferCall&) = nullptr;
  Shape (*dims)(const DimsCall&) = nullptr;  // of a result that may be a shape: its integers, as far as they are known
  Kernel kernel = {};
  void (*grad)(GradCall&) = nullptr;
  Reads grad_reads = {};
  Traits traits = {};
  /// Ops with functions inside: makes the call so that the active tape can go back through it, and records that.
  void (*follow)(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) = nullptr;
};

/// One argument or result of a signature.
struct Arg {
  std::string name;
  DType dtype = DType::invalid;  // fixed, or invalid: a type attribute
  std::string type_attr;
  std::string number_attr;  // "N" of "N * T", empty where it is one tensor
  bool mixed = false;       // "list T": tensors of several types
  bool is_list() const { return mixed || !number_attr.empty(); }
  int from_input = -1;  // results: an input with the same type attribute
  int from_attr = -1;   // results: the attribute that says the type
};
struct TypeAttr {
  std::string name;
  TypeSet allowed;
};

/// An op with what `define_op` derives from it once.
struct Op : OpDef {
  int id = 0;
  std::vector<Arg> args = {}, results = {};
  std::vector<TypeAttr> type_attrs = {};
  int num_lists = 0;            // arguments that are lists
  int first_result_input = -1;  // the input that has the first result's dtype
  bool uniform = false;         // every argument is one tensor of type T
  TypeSet uniform_types = {};   // of that T
  /// How many tensors a call makes; lists of results are counted by an attribute or by the inputs.
  int count_outputs(size_t num_inputs, AttrsRef attrs) const;
  /// The attributes' defaults.
  AttrsRef default_attrs() const { return AttrsRef(attrs ? attrs->defaults : nullptr); }
};

inline DType InferCall::result_dtype(int i) const {
  return i == 0 && op.first_result_input >= 0 ? dtype(op.first_result_input) : find_result_dtype(i);
}

/// Checks and registers a record. A static library must be linked whole for the record to be there.
const Op& define_op(const OpDef& def);
THALWEG_API std::span<const Op* const> all_ops();
/// The op with TensorFlow's name, or null.
THALWEG_API const Op* find_op(std::string_view name);
/// The op with this name, which there is: a name that no record has ends the program where it is misspelt.
THALWEG_API const Op& required_op(std::string_view name);

}  // namespace thalweg
