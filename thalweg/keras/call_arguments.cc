#include "thalweg/keras/call_arguments.h"

#include <algorithm>

namespace thalweg::keras {
namespace {

class Place : public Object {
 public:
  explicit Place(size_t place) : place_(place) {}
  std::string class_name() const override { return "Tensor"; }
  Value get_config() const override { return Value::map({{"place", static_cast<int64_t>(place_)}}); }
  size_t place() const { return place_; }

 private:
  size_t place_;
};

}  // namespace

Value make_place(size_t place) { return Value(std::static_pointer_cast<Object>(std::make_shared<Place>(place))); }

std::optional<size_t> place_in(const Value& value) {
  auto held = std::dynamic_pointer_cast<Place>(value.object());
  return held ? std::optional(held->place()) : std::nullopt;
}

bool has_places(const Value& value) {
  if (place_in(value)) return true;
  if (value.is_list()) return std::any_of(value.list().begin(), value.list().end(), has_places);
  if (!value.is_map()) return false;
  return std::any_of(value.map().begin(), value.map().end(),
                     [](const auto& entry) { return has_places(entry.second); });
}

}  // namespace thalweg::keras
