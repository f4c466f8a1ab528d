// Numbers with names: what steps give, callbacks see and fit remembers.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg::keras {

/// Numbers by name, in the order in which they came: `logs.at("val_loss")`.
class THALWEG_API Logs {
 public:
  using Entry = std::pair<std::string, double>;

  Logs() = default;
  Logs(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// The number; ValueError that lists the names where there is none.
  double at(std::string_view name) const;
  double operator[](std::string_view name) const { return at(name); }
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const double* find(std::string_view name) const;
  /// Sets a number, at the end if its name is new.
  void set(std::string_view name, double value);
  void erase(std::string_view name);
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// What fit remembers: for each name one number per epoch.
struct THALWEG_API History {
  std::vector<std::pair<std::string, std::vector<double>>> history;
  std::vector<int> epoch;

  /// The numbers of a name; ValueError that lists the names where there is none.
  const std::vector<double>& at(std::string_view name) const;
  const std::vector<double>& operator[](std::string_view name) const { return at(name); }
  void add(int at_epoch, const Logs& logs);
};

}  // namespace thalweg::keras
