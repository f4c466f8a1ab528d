#include "thalweg/keras/logs.h"

#include "thalweg/core/error.h"

namespace thalweg::keras {
namespace {

template <class Entries> [[noreturn]] void refuse(const Entries& entries, std::string_view name) {
  std::string known;
  for (const auto& entry : entries) known += (known.empty() ? "" : ", ") + entry.first;
  throw ValueError("there is no '" + std::string(name) + "'; there is: " + (known.empty() ? "nothing" : known));
}

}  // namespace

const double* Logs::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}
double Logs::at(std::string_view name) const {
  if (const double* found = find(name)) return *found;
  refuse(entries_, name);
}
void Logs::set(std::string_view name, double value) {
  for (Entry& entry : entries_)
    if (entry.first == name) {
      entry.second = value;
      return;
    }
  entries_.emplace_back(name, value);
}
void Logs::erase(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; });
}

const std::vector<double>& History::at(std::string_view name) const {
  for (const auto& entry : history)
    if (entry.first == name) return entry.second;
  refuse(history, name);
}
void History::add(int at_epoch, const Logs& logs) {
  epoch.push_back(at_epoch);
  for (const auto& [name, value] : logs) {
    auto entry = history.begin();
    while (entry != history.end() && entry->first != name) ++entry;
    if (entry == history.end()) entry = history.insert(entry, {name, {}});
    entry->second.push_back(value);
  }
}

}  // namespace thalweg::keras
