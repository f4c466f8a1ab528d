#include "thalweg/data/stage.h"

namespace thalweg::data {

Iterator::~Iterator() = default;
Stage::~Stage() = default;

std::vector<TensorSpec> Stage::specs() const {
  std::vector<TensorSpec> specs;
  for (const Tensor& t : structure_.flatten()) specs.emplace_back(t.shape(), t.dtype());
  return specs;
}

namespace {
/// The specs of a structure, as Python shows structures.
std::string specs_in(const Nest& nest) {
  if (nest.is_none()) return "None";
  if (nest.is_tensor()) return TensorSpec(nest.tensor().shape(), nest.tensor().dtype()).str();
  const char* ends = nest.is_dict() ? "{}" : nest.kind() == Nest::Kind::list ? "[]" : "()";
  std::string text(1, ends[0]);
  for (size_t i = 0; i < nest.size(); ++i) {
    if (i) text += ", ";
    if (nest.is_dict()) text += "'" + nest.keys()[i] + "': ";
    text += specs_in(nest[i]);
  }
  if (nest.kind() == Nest::Kind::tuple && nest.size() == 1) text += ",";
  return text + ends[1];
}
}  // namespace

std::string describe(const Stage& stage) {
  return "<" + std::string(stage.name()) + " element_spec=" + specs_in(stage.structure()) + ">";
}

}  // namespace thalweg::data
