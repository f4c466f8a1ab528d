#include "thalweg/keras/eager_only.h"

namespace thalweg::keras {

bool is_dynamic(const Layer& layer) {
  if (auto* own = dynamic_cast<const EagerOnly*>(layer.get()); own && own->is_dynamic()) return true;
  for (const Layer& inner : layer.layers())
    if (is_dynamic(inner)) return true;
  return false;
}

}  // namespace thalweg::keras
