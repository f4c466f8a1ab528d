#include "thalweg/core/companion.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace thalweg {
namespace {

struct Beside {
  Tensor mask, logits;
  Tensor& at(Companion kind) { return kind == Companion::mask ? mask : logits; }
};
struct Companions {
  std::mutex mutex;
  std::unordered_map<const TensorImpl*, Beside> of;
};
// Never destroyed: tensors of static storage may go after it would.
Companions& companions() {
  static auto* all = new Companions;
  return *all;
}

}  // namespace

Tensor companion_of(const Tensor& tensor, Companion kind) {
  if (!tensor.defined() || !tensor.impl()->has_companion) return {};
  Companions& all = companions();
  std::lock_guard lock(all.mutex);
  auto found = all.of.find(tensor.get());
  return found == all.of.end() ? Tensor() : found->second.at(kind);
}

void set_companion(const Tensor& tensor, const Tensor& companion, Companion kind) {
  TensorImpl* p = tensor.impl();
  if (!companion.defined() && !p->has_companion) return;
  Tensor before;  // dropped outside of the lock: it may have companions too
  Companions& all = companions();
  std::lock_guard lock(all.mutex);
  before = std::exchange(all.of[p].at(kind), companion);
  p->has_companion = true;
}

void detail::drop_companions(TensorImpl* tensor) {
  Companions& all = companions();
  std::unique_lock lock(all.mutex);
  auto gone = all.of.extract(tensor);
  lock.unlock();
}

}  // namespace thalweg
