#include "thalweg/core/unique_names.h"

namespace thalweg {

std::string UniqueNames::make(std::string_view name) {
  std::string key(name);
  for (char& c : key)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  int number = used_[key]++;
  if (number == 0) return std::string(name);
  // A name with a number may itself have been asked for before: go on until one is free.
  while (used_.contains(key + "_" + std::to_string(number))) ++number;
  std::string suffix = "_" + std::to_string(number);
  used_[key] = number + 1;
  used_[key + suffix] = 1;
  return std::string(name) + suffix;
}

}  // namespace thalweg
