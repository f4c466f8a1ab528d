#include "thalweg/kernels/scratch.h"

#include <cstdlib>
#include <new>

namespace thalweg::kernels {
namespace {
struct Buffer {
  void* data = nullptr;
  size_t size = 0;
  ~Buffer() { std::free(data); }
};
thread_local Buffer buffers[static_cast<int>(Scratch::count)];
}  // namespace

void* scratch(Scratch purpose, size_t bytes) {
  Buffer& buffer = buffers[static_cast<int>(purpose)];
  if (buffer.size < bytes || !buffer.data) {
    std::free(buffer.data);
    buffer = {};
    size_t size = (bytes + bytes / 4 + 4096) / 4096 * 4096;
    buffer.data = std::aligned_alloc(64, size);
    if (!buffer.data) throw std::bad_alloc();
    buffer.size = size;
  }
  return buffer.data;
}

}  // namespace thalweg::kernels
