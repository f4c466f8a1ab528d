// Looking at every op as it runs: numbers that are none, and where ops run.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "thalweg/core/tensor.h"

namespace thalweg {

struct Op;

namespace detail {
enum : uint8_t { inspect_numerics = 1, inspect_devices = 2 };
/// What `apply` must look at; zero in programs that ask for nothing.
extern std::atomic<uint8_t> inspected;
/// Called after an op has run, when something is inspected.
void inspect(const Op& op, std::span<const TensorRef> in, std::span<TensorImpl* const> out);
}  // namespace detail

namespace debugging {
struct CheckNumericsOptions {
  int64_t stack_height_limit = 30;  // how many callers the error names
  int64_t path_length_limit = 50;   // longer names of programs are cut
};
/// From now on the first op that makes a NaN or an infinity raises InvalidArgumentError: which op and output, its
/// shape, how many of each, its inputs, and the callers.
THALWEG_API void enable_check_numerics(const CheckNumericsOptions& options = {});
/// Ops may make NaN and infinity again.
THALWEG_API void disable_check_numerics();
/// Whether every op says on stderr on which device it runs.
THALWEG_API void set_log_device_placement(bool enabled);
/// Whether they do.
THALWEG_API bool get_log_device_placement();
}  // namespace debugging

}  // namespace thalweg
