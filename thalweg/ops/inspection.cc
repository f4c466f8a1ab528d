#include "thalweg/ops/inspection.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "thalweg/core/convert.h"
#include "thalweg/core/device.h"
#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/op.h"

namespace thalweg {

namespace detail {
std::atomic<uint8_t> inspected{0};
}  // namespace detail

namespace {

std::atomic<int64_t> stack_height_limit{30}, path_length_limit{50};

struct Counts {
  int64_t minus_inf = 0, plus_inf = 0, nan = 0;
  bool any() const { return minus_inf || plus_inf || nan; }
  void add(double x) {
    nan += std::isnan(x);
    plus_inf += x == INFINITY;
    minus_inf += x == -INFINITY;
  }
};

Counts count(const TensorImpl& t) {
  Counts counts;
  bool complex = is_complex(t.dtype);
  if ((!is_floating(t.dtype) && !complex) || !t.data) return counts;
  DType part = t.dtype == DType::complex64 ? DType::float32 : t.dtype == DType::complex128 ? DType::float64 : t.dtype;
  const auto* at = static_cast<const std::byte*>(t.data);
  int64_t left = t.shape.count() * (complex ? 2 : 1);
  double block[256];
  for (int64_t n; left > 0; left -= n, at += static_cast<size_t>(n) * size_of(part)) {
    n = std::min<int64_t>(left, std::size(block));
    convert_elements(part, at, DType::float64, block, n);
    for (int64_t i = 0; i < n; ++i) counts.add(block[i]);
  }
  return counts;
}

// `main` of a mangled name; the name itself where it is plain C.
std::string readable(const char* symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 ? plain.get() : symbol;
}

// `/home/me/program+0x1207`, as addr2line wants it; long paths are cut at the front.
std::string place_text(const Dl_info& where, const void* address) {
  std::string file = where.dli_fname;
  auto limit = static_cast<size_t>(path_length_limit.load());
  if (file.size() > limit) file = "..." + file.substr(file.size() - limit);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(where.dli_fbase)));
  return file + offset;
}

// Callers outside of this library, from the inside out, up to main or to Python, whose traceback tells the rest.
std::string callers() {
  void* frames[128];
  int depth = backtrace(frames, static_cast<int>(std::size(frames)));
  Dl_info own{}, where{};
  dladdr(reinterpret_cast<const void*>(&detail::inspect), &own);
  bool is_library = own.dli_fname && std::string_view(own.dli_fname).find(".so") != std::string_view::npos;
  std::string text;
  int64_t named = 0;
  for (int i = 0; i < depth && named < stack_height_limit; ++i) {
    if (!dladdr(frames[i], &where) || !where.dli_fname) continue;
    std::string name = where.dli_sname ? readable(where.dli_sname) : "?";
    if (name.starts_with("Py") || name.starts_with("_Py") || name.starts_with("__libc_start")) break;
    if (name.starts_with("thalweg::") || (is_library && where.dli_fbase == own.dli_fbase)) continue;
    text += "\n    " + name + " (" + place_text(where, frames[i]) + ")";
    ++named;
    if (name == "main") break;
  }
  return text.empty() ? "" : "\n  Called from (addr2line -Cfpe PROGRAM ADDRESS names the lines):" + text;
}

[[noreturn]] void refuse(const Op& op, size_t output, std::span<const TensorRef> in, std::span<TensorImpl* const> out,
                         const Counts& counts) {
  const TensorImpl& bad = *out[output];
  std::string text = "\n\n!!! Detected Infinity or NaN in output " + std::to_string(output) +
                     " of eagerly-executing op \"" + op.name + "\" (# of outputs: " + std::to_string(out.size()) +
                     ") !!!\n  dtype: <dtype: '" + std::string(name_of(bad.dtype)) + "'>\n  shape: " + bad.shape.str();
  if (counts.minus_inf) text += "\n  # of -Inf elements: " + std::to_string(counts.minus_inf);
  if (counts.plus_inf) text += "\n  # of +Inf elements: " + std::to_string(counts.plus_inf);
  if (counts.nan) text += "\n  # of +NaN elements: " + std::to_string(counts.nan);
  text += in.size() == 1 ? "\n\n  Input tensor: " : "\n\n  Input tensors (" + std::to_string(in.size()) + "):";
  for (size_t i = 0; i < in.size(); ++i)
    text += (in.size() == 1 ? "" : "\n    " + std::to_string(i) + ": ") + in[i].tensor().str();
  throw InvalidArgumentError(text + callers() + "\n");
}

}  // namespace

void detail::inspect(const Op& op, std::span<const TensorRef> in, std::span<TensorImpl* const> out) {
  uint8_t what = inspected.load(std::memory_order_relaxed);
  if (what & inspect_devices)
    std::fprintf(stderr, "Executing op %s in device %s\n", op.name, device_name(thread_state.device).c_str());
  if (!(what & inspect_numerics)) return;
  for (size_t i = 0; i < out.size(); ++i)
    if (Counts counts = count(*out[i]); counts.any()) refuse(op, i, in, out, counts);
}

namespace debugging {
void enable_check_numerics(const CheckNumericsOptions& options) {
  stack_height_limit = options.stack_height_limit;
  path_length_limit = std::max<int64_t>(options.path_length_limit, 1);
  detail::inspected |= detail::inspect_numerics;
}
void disable_check_numerics() { detail::inspected &= static_cast<uint8_t>(~detail::inspect_numerics); }
void set_log_device_placement(bool enabled) {
  if (enabled) detail::inspected |= detail::inspect_devices;
  else detail::inspected &= static_cast<uint8_t>(~detail::inspect_devices);
}
bool get_log_device_placement() { return (detail::inspected & detail::inspect_devices) != 0; }
}  // namespace debugging

namespace {
const FunctionDef* const inspection_functions[] = {
    &define_function<debugging::enable_check_numerics>({"debugging.enable_check_numerics"}, {}),
    &define_function<debugging::disable_check_numerics>({"debugging.disable_check_numerics"}, {}),
    &define_function<debugging::set_log_device_placement>({"debugging.set_log_device_placement"}, {"enabled"}),
};
}  // namespace

}  // namespace thalweg
