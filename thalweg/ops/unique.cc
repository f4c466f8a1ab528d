#include "thalweg/ops/unique.h"

#include <string_view>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"

namespace thalweg {
namespace {

constexpr TypeSet unique_types = (plain_types - complex_types) | types(string);

// Keys compare as their elements do: both zeros are one key, and NaN equals nothing.
template <class T> bool make_key(DType dtype, T& key) {
  if constexpr (std::is_integral_v<T>) {
    if (!is_floating(dtype)) return true;
    constexpr T magnitude = static_cast<T>(static_cast<T>(~T{}) >> 1);
    uint64_t infinity = dtype == float64   ? 0x7ff0000000000000
                        : dtype == float32 ? 0x7f800000
                        : dtype == float16 ? 0x7c00
                                           : 0x7f80;
    T bits = static_cast<T>(key & magnitude);
    if (bits == 0) key = 0;
    return bits <= infinity;
  }
  return true;
}

// Strings are looked at where they are.
template <class T> using KeyOf = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;

template <class Key> size_t hash_of(const Key& key) {
  if constexpr (std::is_integral_v<Key>) {
    uint64_t mixed = key * 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio: what the key has goes to the upper bits
    return mixed ^ mixed >> 32;
  } else {
    return std::hash<Key>()(key);
  }
}

// Gives equal keys one number, in the order they first appear. The keys lie in a table that is at most half full, each
// at the first free place from its hash on.
template <class Key> class Numbering {
 public:
  /// The number of a key; `first(i)` is where number i first appeared.
  int64_t add(const Key& key, bool comparable, int64_t at) {
    auto next = static_cast<int64_t>(first_.size());
    if (comparable) {
      Entry& entry = table_[place_of(key)];
      if (entry.number >= 0) return entry.number;
      entry = {key, next};
      if (2 * ++used_ > table_.size()) grow();
    }
    first_.push_back(at);
    return next;
  }
  bool has(const Key& key) const { return table_[place_of(key)].number >= 0; }
  const std::vector<int64_t>& first() const { return first_; }

 private:
  struct Entry {
    Key key{};
    int64_t number = -1;  // none
  };
  size_t place_of(const Key& key) const {
    size_t place = hash_of(key) & (table_.size() - 1);
    while (table_[place].number >= 0 && table_[place].key != key) place = (place + 1) & (table_.size() - 1);
    return place;
  }
  void grow() {
    std::vector<Entry> old(4 * table_.size());
    old.swap(table_);
    for (const Entry& entry : old)
      if (entry.number >= 0) table_[place_of(entry.key)] = entry;
  }

  std::vector<Entry> table_ = std::vector<Entry>(64);
  size_t used_ = 0;
  std::vector<int64_t> first_;
};

void write_indices(const KernelCall& c, int output, const std::vector<int64_t>& values) {
  c.allocate(output, {static_cast<int64_t>(values.size())});
  convert_elements(DType::int64, values.data(), c.output_dtype(output), c.output(output),
                   static_cast<int64_t>(values.size()));
}

// The slices of x along an axis that appear first, the number of each slice, and how often each number appears.
void write_unique(const KernelCall& c, int axis, const std::vector<int64_t>& first,
                  const std::vector<int64_t>& numbers) {
  const Shape& shape = c.shape(0);
  Shape out = shape;
  out[axis] = static_cast<int64_t>(first.size());
  c.allocate(0, out);
  int64_t row = shape.count(axis + 1, shape.rank());
  auto bytes = static_cast<int64_t>(size_of(c.dtype())) * row;
  kernel::visit_row_copy(c.dtype(), row, [&](const auto& copy) {
    std::byte* to = c.output<std::byte>();
    for (int64_t o = 0; o < shape.count(0, axis); ++o)
      for (int64_t i : first) {
        copy(c.input<std::byte>(0) + (o * shape[axis] + i) * bytes, to);
        to += bytes;
      }
  });
  write_indices(c, 1, numbers);
  if (c.num_outputs() < 3) return;
  std::vector<int64_t> counts(first.size());
  for (int64_t n : numbers) ++counts[static_cast<size_t>(n)];
  write_indices(c, 2, counts);
}

void unique_elements(const KernelCall& c) {
  kernel::visit_size(c.dtype(), [&]<class T>(T*) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
      Numbering<KeyOf<T>> numbering;
      std::vector<int64_t> numbers(static_cast<size_t>(c.count(0)));
      for (int64_t i = 0; i < c.count(0); ++i) {
        KeyOf<T> key = c.input<T>(0)[i];
        bool comparable = make_key(c.dtype(), key);
        numbers[static_cast<size_t>(i)] = numbering.add(key, comparable, i);
      }
      write_unique(c, 0, numbering.first(), numbers);
    }
  });
}

// Slices are compared by their bytes, elements one after the other.
void unique_slices(const KernelCall& c, int axis) {
  const Shape& shape = c.shape(0);
  int64_t row = shape.count(axis + 1, shape.rank());
  Numbering<std::string_view> numbering;
  std::vector<int64_t> numbers(static_cast<size_t>(shape[axis]));
  std::vector<std::string> slices(numbers.size());
  for (int64_t i = 0; i < shape[axis]; ++i) {
    std::string& whole = slices[static_cast<size_t>(i)];
    bool comparable = true;
    for (int64_t o = 0; o < shape.count(0, axis); ++o)
      kernel::visit_size(c.dtype(), [&]<class T>(T*) {
        const T* from = c.input<T>(0) + (o * shape[axis] + i) * row;
        for (int64_t k = 0; k < row; ++k) {
          T key = from[k];
          if constexpr (std::is_same_v<T, std::string>) {
            whole += std::to_string(key.size()) + ':' + key;
          } else if constexpr (std::is_integral_v<T>) {
            comparable &= make_key(c.dtype(), key);
            whole.append(reinterpret_cast<const char*>(&key), sizeof key);
          }
        }
      });
    numbers[static_cast<size_t>(i)] = numbering.add(whole, comparable, i);
  }
  write_unique(c, axis, numbering.first(), numbers);
}

struct UniqueAttrs {
  DType out_idx = DType::int32;
};
void infer_unique(InferCall& c) {
  c.require_rank(0, 1);
  c.output(0, {unknown});
  c.output(1, c.shape(0).has_rank() ? c.shape(0) : Shape{unknown});
  if (c.num_outputs() > 2) c.output(2, {unknown});
}
constexpr const char* no_gradient = "the number of results depends on the values";

const Op& UniqueOp = define_op({
    .name = "Unique",
    .doc = "The distinct elements in the order they first appear, and for each element its place among them.",
    .signature = "x: T -> y: T, idx: out_idx",
    .types = {{"out_idx", index_types}},
    .attrs = attrs_of<UniqueAttrs>(),
    .infer = infer_unique,
    .kernel = {.run = unique_elements, .types = unique_types},
    .traits = {.not_differentiable = no_gradient},
});

void infer_unique_axis(InferCall& c) {
  const Shape& x = c.shape(0);
  c.require_rank(1, 1);
  if (!x.has_rank() || !c.has_value(1)) {
    c.output(0, x.has_rank() ? Shape::of_rank(x.rank()) : x);
    return c.output(1, {unknown});
  }
  std::vector<int64_t> axes = c.values(1);
  if (axes.size() > 1) c.fail("axis must have at most one element, got " + std::to_string(axes.size()));
  if (axes.empty()) c.require_rank(0, 1);
  int axis = axes.empty() ? 0 : c.axis(axes[0], x.rank());
  Shape out = x;
  out[axis] = unknown;
  c.output(0, out);
  c.output(1, {x[axis]});
}
const Op& UniqueV2 = define_op({
    .name = "UniqueV2",
    .doc = "The distinct slices along an axis in the order they first appear, and for each slice its place among them.",
    .signature = "x: T, axis: Taxis -> y: T, idx: out_idx",
    .types = {{"Taxis", index_types}, {"out_idx", index_types}},
    .attrs = attrs_of<UniqueAttrs>(),
    .infer = infer_unique_axis,
    .kernel = {.run =
                   [](const KernelCall& c) {
                     if (c.shape(0).rank() == 1) return unique_elements(c);
                     int64_t axis = c.scalar(1);
                     unique_slices(c, static_cast<int>(axis < 0 ? axis + c.shape(0).rank() : axis));
                   },
               .types = unique_types},
    .traits = {.not_differentiable = no_gradient},
});

const Op& UniqueWithCountsOp = define_op({
    .name = "UniqueWithCounts",
    .doc = "The distinct elements, for each element its place among them, and how often each appears.",
    .signature = "x: T -> y: T, idx: out_idx, count: out_idx",
    .types = {{"out_idx", index_types}},
    .attrs = attrs_of<UniqueAttrs>(),
    .infer = infer_unique,
    .kernel = {.run = unique_elements, .types = unique_types},
    .traits = {.not_differentiable = no_gradient},
});

const Op& ListDiff = define_op({
    .name = "ListDiff",
    .doc = "The elements of x that y does not have, in their order, and where they are in x.",
    .signature = "x: T, y: T -> out: T, idx: out_idx",
    .types = {{"out_idx", index_types}},
    .attrs = attrs_of<UniqueAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 1);
          c.require_rank(1, 1);
          c.output(0, {unknown});
          c.output(1, {unknown});
        },
    .kernel = {.run =
                   [](const KernelCall& c) {
                     kernel::visit_size(c.dtype(), [&]<class T>(T*) {
                       if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
                         Numbering<KeyOf<T>> taken;
                         for (int64_t i = 0; i < c.count(1); ++i) {
                           KeyOf<T> key = c.input<T>(1)[i];
                           bool comparable = make_key(c.dtype(), key);
                           taken.add(key, comparable, i);
                         }
                         std::vector<int64_t> kept;
                         for (int64_t i = 0; i < c.count(0); ++i) {
                           KeyOf<T> key = c.input<T>(0)[i];
                           if (!make_key(c.dtype(), key) || !taken.has(key)) kept.push_back(i);
                         }
                         c.allocate(0, {static_cast<int64_t>(kept.size())});
                         for (size_t i = 0; i < kept.size(); ++i) c.output<T>()[i] = c.input<T>(0)[kept[i]];
                         write_indices(c, 1, kept);
                       }
                     });
                   },
               .types = unique_types},
    .traits = {.not_differentiable = no_gradient},
});

}  // namespace

Unique unique(const TensorLike& x, const UniqueOptions& options) {
  auto [y, idx] = apply_n<2>(UniqueOp, {x}, UniqueAttrs{options.out_idx});
  return {y, idx};
}
UniqueWithCounts unique_with_counts(const TensorLike& x, const UniqueOptions& options) {
  auto [y, idx, count] = apply_n<3>(UniqueWithCountsOp, {x}, UniqueAttrs{options.out_idx});
  return {y, idx, count};
}
SetDiff setdiff1d(const TensorLike& x, const TensorLike& y, const SetDiffOptions& options) {
  auto [out, idx] = apply_n<2>(ListDiff, {x, y}, UniqueAttrs{options.index_dtype});
  return {out, idx};
}

namespace {
const FunctionDef* const unique_functions[] = {
    &define_function<Unique(const TensorLike&, const UniqueOptions&), unique>({"unique"}, {"x"}),
    &define_function<UniqueWithCounts(const TensorLike&, const UniqueOptions&), unique_with_counts>(
        {"unique_with_counts"}, {"x"}),
    &define_function<SetDiff(const TensorLike&, const TensorLike&, const SetDiffOptions&), setdiff1d>(
        {"compat.v1.setdiff1d"}, {"x", "y"}),
};
}  // namespace

}  // namespace thalweg
