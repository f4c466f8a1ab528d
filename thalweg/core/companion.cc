#include "thalweg/core/companion.h"

#include <mutex>
#include <unordered_map>

namespace thalweg {
namespace {

struct Companions {
  std::mutex mutex;
  std::unordered_map<const TensorImpl*, Tensor> of;
};
// Never destroyed: tensors of static storage may go after it would.
Companions& companions() {
  static auto* all = new Companions;
  return *all;
}

Tensor take(const TensorImpl* tensor) {
  Companions& all = companions();
  std::lock_guard lock(all.mutex);
  auto found = all.of.find(tensor);
  if (found == all.of.end()) return {};
  Tensor taken = std::move(found->second);
  all.of.erase(found);
  return taken;  // dropped by the caller, outside of the lock: it may have a companion too
}

}  // namespace

Tensor companion_of(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.impl()->has_companion) return {};
  Companions& all = companions();
  std::lock_guard lock(all.mutex);
  auto found = all.of.find(tensor.get());
  return found == all.of.end() ? Tensor() : found->second;
}

void set_companion(const Tensor& tensor, const Tensor& companion) {
  TensorImpl* p = tensor.impl();
  Tensor before = p->has_companion ? take(p) : Tensor();
  p->has_companion = companion.defined();
  if (!companion.defined()) return;
  Companions& all = companions();
  std::lock_guard lock(all.mutex);
  all.of.insert_or_assign(p, companion);
}

void detail::drop_companion(TensorImpl* tensor) { take(tensor); }

}  // namespace thalweg
