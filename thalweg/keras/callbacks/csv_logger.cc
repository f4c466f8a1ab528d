#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "thalweg/core/error.h"
#include "thalweg/core/number_text.h"
#include "thalweg/keras/callbacks.h"

namespace thalweg::keras::callbacks {
namespace {

/// A field as Python's csv module writes it: in quotes where it has to be.
std::string field(const std::string& text, const std::string& separator) {
  if (text.find_first_of("\"\r\n") == std::string::npos && text.find(separator) == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// The file while training runs, and the columns, which stay from training to training.
struct CsvFile {
  std::ofstream stream;
  std::vector<std::string> keys;
  bool has_keys = false, needs_header = true, begins = false;
};

struct CSVLoggerCallback {
  std::string filename = {};
  CSVLoggerOptions options = {};
  std::shared_ptr<CsvFile> file = {};

  void on_train_begin() {
    if (options.separator.empty()) throw TypeError("\"delimiter\" must be a 1-character string");
    if (!file) file = std::make_shared<CsvFile>();
    if (options.append) {
      std::ifstream old(filename);
      file->needs_header = !old || old.peek() == std::ifstream::traits_type::eof();
    }
    file->begins = true;
    file->stream.open(filename, std::ios::binary | (options.append ? std::ios::app : std::ios::trunc));
    if (!file->stream) throw NotFoundError(filename + "; " + std::strerror(errno));
  }
  void on_epoch_end(int epoch, const Logs& logs) const {
    CsvFile& f = *file;
    if (!f.has_keys) choose_columns(logs);
    if (f.begins && f.needs_header) {
      std::string header = "epoch";
      for (const std::string& key : f.keys) header += options.separator + field(key, options.separator);
      f.stream << header << "\r\n";
    }
    f.begins = false;
    std::string line = std::to_string(epoch);
    for (const std::string& key : f.keys) {
      const double* value = logs.find(key);
      line += options.separator + (value ? real_scalar(DType::float64, *value) : "NA");
    }
    f.stream << line << "\r\n" << std::flush;
    if (!f.stream)
      throw ResourceExhaustedError(filename + ": the line of epoch " + std::to_string(epoch) + " could not be written");
  }
  void on_train_end() const { file->stream.close(); }

  void choose_columns(const Logs& logs) const {
    CsvFile& f = *file;
    for (const auto& [key, value] : logs) f.keys.push_back(key);
    std::sort(f.keys.begin(), f.keys.end());
    // Validation may come with a later epoch: its columns are there from the beginning.
    const bool validates =
        std::any_of(f.keys.begin(), f.keys.end(), [](const std::string& key) { return key.starts_with("val_"); });
    if (!validates)
      for (size_t i = 0, count = f.keys.size(); i < count; ++i) f.keys.push_back("val_" + f.keys[i]);
    f.has_keys = true;
  }
};

}  // namespace

Callback CSVLogger(const std::string& filename, const CSVLoggerOptions& options) {
  return CSVLoggerCallback{filename, options};
}

}  // namespace thalweg::keras::callbacks
