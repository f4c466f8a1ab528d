// Stopped by a debugger in `stop`, which shows its arguments.
#include <thalweg/thalweg.h>

namespace tf = thalweg;

[[gnu::noinline]] void stop(const tf::Tensor& x, const tf::Tensor& nothing, const tf::Shape& shape,
                            const tf::Variable& w) {
  asm volatile("" ::"r"(&x), "r"(&nothing), "r"(&shape), "r"(&w));
}

int main() { stop({{2.0f, 3.0f}, {4.5f, 5.0f}}, {}, {tf::unknown, 3}, tf::Variable({1, 2}, {.name = "w"})); }
