#include "thalweg/keras/numbers.h"

namespace thalweg::keras {

Tensor Numbers::tensor() const {
  if (!given()) return {};
  return single_ ? Tensor(values_[0]) : Tensor(values_);
}

Value to_value(const Numbers& numbers) {
  if (!numbers.given()) return {};
  if (numbers.is_single()) return numbers.values()[0];
  return to_value(numbers.values());
}
void from_value(Numbers& numbers, const Value& value) {
  if (value.is_none()) {
    numbers = Numbers();
  } else if (value.is_list()) {
    std::vector<double> values;
    from_value(values, value);
    numbers = Numbers(std::move(values));
  } else {
    numbers = Numbers(value.number());
  }
}

}  // namespace thalweg::keras
