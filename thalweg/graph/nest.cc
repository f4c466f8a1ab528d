#include "thalweg/graph/nest.h"

#include <algorithm>
#include <numeric>

#include "thalweg/core/error.h"

namespace thalweg {

Nest Nest::list(std::vector<Nest> items) { return {Kind::list, {std::move(items), {}, {}}}; }
Nest Nest::tuple(std::vector<Nest> items) { return {Kind::tuple, {std::move(items), {}, {}}}; }
Nest Nest::dict(std::vector<Entry> entries) {
  Branch branch;
  for (Entry& entry : entries) {
    branch.keys.push_back(std::move(entry.first));
    branch.items.push_back(std::move(entry.second));
  }
  const std::vector<std::string>& keys = branch.keys;
  if (!std::is_sorted(keys.begin(), keys.end())) {
    branch.order.resize(keys.size());
    std::iota(branch.order.begin(), branch.order.end(), size_t{0});
    std::sort(branch.order.begin(), branch.order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  }
  return {Kind::dict, std::move(branch)};
}

std::span<const Nest> Nest::items() const {
  return branch_ ? std::span<const Nest>(branch_->items) : std::span<const Nest>();
}
std::span<const std::string> Nest::keys() const {
  return branch_ ? std::span<const std::string>(branch_->keys) : std::span<const std::string>();
}

const Nest& Nest::operator[](size_t i) const {
  if (i >= size()) refuse("an item number " + std::to_string(i));
  return branch_->items[i];
}
const Nest* Nest::find(std::string_view key) const {
  for (size_t i = 0; i < keys().size(); ++i)
    if (branch_->keys[i] == key) return &branch_->items[i];
  return nullptr;
}
const Nest& Nest::at(std::string_view key) const {
  const Nest* found = find(key);
  if (!found) refuse("a dict with the key '" + std::string(key) + "'");
  return *found;
}

std::vector<Tensor> Nest::flatten() const {
  std::vector<Tensor> all;
  all.reserve(num_tensors());
  for_each([&](const Tensor& t) { all.push_back(t); });
  return all;
}

size_t Nest::num_tensors() const {
  if (is_tensor()) return 1;
  size_t count = 0;
  for (const Nest& item : items()) count += item.num_tensors();
  return count;
}

void Nest::require_count(std::span<const Tensor> tensors) const {
  if (tensors.size() != num_tensors())
    throw ValueError("a structure " + str() + " cannot be made of " + std::to_string(tensors.size()) + " tensors");
}

Nest Nest::pack_next(const Tensor*& next) const {
  if (is_tensor()) return Nest(*next++);
  if (!branch_) return {};
  Branch made{std::vector<Nest>(size()), branch_->keys, branch_->order};
  for (size_t i = 0; i < size(); ++i) made.items[made.place(i)] = branch_->items[made.place(i)].pack_next(next);
  return {kind_, std::move(made)};
}
Nest Nest::pack(std::span<const Tensor> tensors) const {
  require_count(tensors);
  const Tensor* next = tensors.data();
  return pack_next(next);
}

void Nest::refill_next(const Tensor*& next) {
  if (is_tensor()) tensor_ = *next++;
  if (!branch_) return;
  if (branch_.use_count() != 1) branch_ = std::make_shared<Branch>(*branch_);
  for (size_t i = 0; i < size(); ++i) branch_->items[branch_->place(i)].refill_next(next);
}
void Nest::refill(std::span<const Tensor> tensors) {
  require_count(tensors);
  const Tensor* next = tensors.data();
  refill_next(next);
}

bool Nest::is_like(const Nest& other) const {
  if (kind_ != other.kind_ || size() != other.size()) return false;
  for (size_t i = 0; i < size(); ++i) {
    const Nest* item = is_dict() ? other.find(branch_->keys[i]) : &other.branch_->items[i];
    if (!item || !branch_->items[i].is_like(*item)) return false;
  }
  return true;
}

std::string Nest::str() const {
  if (is_none()) return "None";
  if (is_tensor()) return "Tensor";
  const bool dict = is_dict(), tuple = kind_ == Kind::tuple;
  std::string text = dict ? "{" : tuple ? "(" : "[";
  for (size_t i = 0; i < size(); ++i) {
    if (i) text += ", ";
    if (dict) text += "'" + branch_->keys[i] + "': ";
    text += branch_->items[i].str();
  }
  if (tuple && size() == 1) text += ",";
  return text + (dict ? "}" : tuple ? ")" : "]");
}

void Nest::refuse(const std::string& wanted) const { throw ValueError("wanted " + wanted + ", got " + str()); }

}  // namespace thalweg
