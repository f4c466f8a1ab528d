#include "thalweg/kernels/elementwise.h"

#include <algorithm>
#include <cstring>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/broadcast.h"

namespace thalweg::kernels {
namespace {

constexpr int64_t tile = 512;
constexpr int64_t short_row = 16;

const char* at(const void* p, int64_t i, size_t bytes) {
  return static_cast<const char*>(p) + i * static_cast<int64_t>(bytes);
}
char* at(void* p, int64_t i, size_t bytes) { return static_cast<char*>(p) + i * static_cast<int64_t>(bytes); }

// A run of contiguous elements. Half and bfloat16 pass through float tiles, so that no op compiles them.
void unary_run(const UnaryLoops& loops, DType t, const void* x, void* y, int64_t n, const void* attrs) {
  if (!is_half(t)) return loops.at[static_cast<int>(t)][isa](x, y, n, attrs);
  float in[tile];
  alignas(64) float out[tile];
  bool narrows = loops.output == DType::invalid;
  size_t bytes = narrows ? 2 : size_of(loops.output);
  for (int64_t i = 0; i < n; i += tile) {
    int64_t m = std::min(tile, n - i);
    widen_halves(t, static_cast<const uint16_t*>(x) + i, in, m);
    void* to = at(y, i, bytes);
    loops.at[static_cast<int>(DType::float32)][isa](in, narrows ? out : to, m, attrs);
    if (narrows) narrow_halves(t, out, static_cast<uint16_t*>(to), m);
  }
}

void binary_run(const BinaryLoops& loops, DType t, const void* a, const void* b, void* y, int64_t n, Form form,
                const void* attrs) {
  if (!is_half(t)) return loops.at[static_cast<int>(t)][isa](a, b, y, n, form, attrs);
  float in_a[tile], in_b[tile];
  alignas(64) float out[tile];
  bool narrows = loops.output == DType::invalid;
  size_t bytes = narrows ? 2 : size_of(loops.output);
  for (int64_t i = 0; i < n; i += tile) {
    int64_t m = std::min(tile, n - i);
    auto* pa = static_cast<const uint16_t*>(a);
    auto* pb = static_cast<const uint16_t*>(b);
    widen_halves(t, form == scalar_vector ? pa : pa + i, in_a, form == scalar_vector ? 1 : m);
    widen_halves(t, form == vector_scalar ? pb : pb + i, in_b, form == vector_scalar ? 1 : m);
    void* to = at(y, i, bytes);
    loops.at[static_cast<int>(DType::float32)][isa](in_a, in_b, narrows ? out : to, m, form, attrs);
    if (narrows) narrow_halves(t, out, static_cast<uint16_t*>(to), m);
  }
}

void ternary_run(const TernaryLoops& loops, DType t, const void* a, const void* b, const void* c, void* y, int64_t n,
                 const void* attrs) {
  if (!is_half(t)) return loops.at[static_cast<int>(t)][isa](a, b, c, y, n, attrs);
  float in[3][tile];
  alignas(64) float out[tile];
  const void* operands[3] = {a, b, c};
  for (int64_t i = 0; i < n; i += tile) {
    int64_t m = std::min(tile, n - i);
    for (int k = 0; k < 3; ++k) widen_halves(t, static_cast<const uint16_t*>(operands[k]) + i, in[k], m);
    loops.at[static_cast<int>(DType::float32)][isa](in[0], in[1], in[2], out, m, attrs);
    narrow_halves(t, out, static_cast<uint16_t*>(y) + i, m);
  }
}

// Copies one operand's elements for outputs [begin, begin + n) into a buffer: rows shorter than a vector would
// otherwise cost a call each.
template <int N>
void gather_tile(const BroadcastPlan<N>& plan, int k, const void* operand, size_t bytes, int64_t begin, int64_t n,
                 void* out) {
  int64_t inner = plan.size[0], row = begin / inner, column = begin % inner;
  RowWalk<N> walk(plan, row);
  for (int64_t done = 0; done < n; walk.next(), column = 0) {
    int64_t m = std::min(inner - column, n - done);
    const char* from = at(operand, walk.offset[k] + column * plan.stride[k][0], bytes);
    char* to = at(out, done, bytes);
    if (plan.stride[k][0]) std::memcpy(to, from, static_cast<size_t>(m) * bytes);
    else
      for (int64_t i = 0; i < m; ++i) std::memcpy(to + i * static_cast<int64_t>(bytes), from, bytes);
    done += m;
  }
}

// The period of an operand that is a trailing block repeated over and over (a bias), or 0.
template <int N> int64_t period(const BroadcastPlan<N>& plan, int k) {
  return plan.rank == 2 && plan.stride[k][0] == 1 && plan.stride[k][1] == 0 ? plan.size[0] : 0;
}

void binary_rows(const BinaryLoops& loops, DType t, const BroadcastPlan<2>& plan, const void* a, const void* b, void* y,
                 int64_t total, const void* attrs) {
  int64_t inner = plan.size[0], rows = total / inner;
  size_t in_bytes = size_of(t), out_bytes = size_of(loops.result(t));
  Form form = !plan.stride[0][0] ? scalar_vector : !plan.stride[1][0] ? vector_scalar : vector_vector;
  parallel_for(rows, loops.nanoseconds * static_cast<double>(inner), [&](int64_t begin, int64_t end) {
    RowWalk<2> walk(plan, begin);
    for (int64_t row = begin; row < end; ++row, walk.next())
      binary_run(loops, t, at(a, walk.offset[0], in_bytes), at(b, walk.offset[1], in_bytes),
                 at(y, row * inner, out_bytes), inner, form, attrs);
  });
}

void binary_tiles(const BinaryLoops& loops, DType t, const BroadcastPlan<2>& plan, const void* a, const void* b,
                  void* y, int64_t total, const void* attrs) {
  size_t in_bytes = size_of(t), out_bytes = size_of(loops.result(t));
  const void* operands[2] = {a, b};
  int64_t periods[2] = {period(plan, 0), period(plan, 1)};
  int64_t repeat = std::max(periods[0], periods[1]);
  int64_t length = repeat ? tile / repeat * repeat : tile;
  int64_t tiles = (total + length - 1) / length;
  parallel_for(tiles, loops.nanoseconds * static_cast<double>(length), [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[2][tile * 16];
    bool filled[2] = {false, false};
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i * length, n = std::min(length, total - first);
      const void* from[2];
      for (int k = 0; k < 2; ++k) {
        bool through = plan.rank == 2 && plan.stride[k][0] == 1 && plan.stride[k][1] == plan.size[0];
        if (through) {
          from[k] = at(operands[k], first, in_bytes);
          continue;
        }
        from[k] = buffers[k];
        if (filled[k] && periods[k]) continue;  // the same block again
        gather_tile(plan, k, operands[k], in_bytes, first, n, buffers[k]);
        filled[k] = true;
      }
      binary_run(loops, t, from[0], from[1], at(y, first, out_bytes), n, vector_vector, attrs);
    }
  });
}

}  // namespace

void run_unary(const UnaryLoops& loops, DType dtype, const void* x, void* y, int64_t n, const void* attrs) {
  if (static_cast<double>(n) * loops.nanoseconds < serial_nanoseconds) return unary_run(loops, dtype, x, y, n, attrs);
  size_t in = size_of(dtype), out = size_of(loops.result(dtype));
  parallel_for(n, loops.nanoseconds, [&](int64_t begin, int64_t end) {
    unary_run(loops, dtype, at(x, begin, in), at(y, begin, out), end - begin, attrs);
  });
}

void run_binary(const BinaryLoops& loops, DType dtype, const Shape& a_shape, const void* a, const Shape& b_shape,
                const void* b, const Shape& shape, void* y, const void* attrs) {
  int64_t total = shape.count();
  if (total == 0) return;
  bool same = a_shape == b_shape, a_scalar = !same && a_shape.count() == 1, b_scalar = !same && b_shape.count() == 1;
  if (same || a_scalar || b_scalar) {
    Form form = same ? vector_vector : a_scalar ? scalar_vector : vector_scalar;
    if (static_cast<double>(total) * loops.nanoseconds < serial_nanoseconds)
      return binary_run(loops, dtype, a, b, y, total, form, attrs);
    size_t in = size_of(dtype), out = size_of(loops.result(dtype));
    return parallel_for(total, loops.nanoseconds, [&](int64_t begin, int64_t end) {
      binary_run(loops, dtype, form == scalar_vector ? a : at(a, begin, in),
                 form == vector_scalar ? b : at(b, begin, in), at(y, begin, out), end - begin, form, attrs);
    });
  }
  BroadcastPlan<2> plan(shape, {&a_shape, &b_shape});
  if (plan.rank == 1 || plan.size[0] >= short_row || is_object(dtype))
    binary_rows(loops, dtype, plan, a, b, y, total, attrs);
  else binary_tiles(loops, dtype, plan, a, b, y, total, attrs);
}

void run_ternary(const TernaryLoops& loops, DType dtype, const Shape* const shapes[3], const void* const operands[3],
                 const Shape& shape, void* y, const void* attrs) {
  int64_t total = shape.count();
  if (total == 0) return;
  const Shape* const list[3] = {shapes[0], shapes[1], shapes[2]};
  BroadcastPlan<3> plan(shape, list);
  size_t bytes = size_of(dtype);
  int64_t tiles = (total + tile - 1) / tile;
  parallel_for(tiles, loops.nanoseconds * tile, [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[3][tile * 16];
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i * tile, n = std::min(tile, total - first);
      const void* from[3];
      for (int k = 0; k < 3; ++k) {
        from[k] = plan.contiguous(k) ? at(operands[k], first, bytes) : buffers[k];
        bool constant = plan.rank == 1 && plan.stride[k][0] == 0;
        if (!plan.contiguous(k) && !(constant && i > begin))
          gather_tile(plan, k, operands[k], bytes, first, n, buffers[k]);
      }
      ternary_run(loops, dtype, from[0], from[1], from[2], at(y, first, bytes), n, attrs);
    }
  });
}

}  // namespace thalweg::kernels
