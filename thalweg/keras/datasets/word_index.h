// The files that give words their numbers: one JSON object of words and integers.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace thalweg::keras::datasets {

/// DataLossError when the file holds anything else.
std::map<std::string, int64_t> load_word_index(const std::string& path);

}  // namespace thalweg::keras::datasets
