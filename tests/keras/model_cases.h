// What tests of whole models need besides the cases.
#pragma once
#include <optional>
#include <sstream>

#include "thalweg/keras/model.h"

namespace thalweg::testing {

/// While one lives, standard output is kept.
class Printed {
 public:
  Printed();
  ~Printed();
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  std::string text() const { return kept_.str(); }

 private:
  std::ostringstream kept_;
  std::streambuf* before_;
};

/// The model of `{class_name, config}`; nothing where one of its classes is not known.
std::optional<keras::Model> make_model(const keras::Value& value);
/// Empty, or the path to the first entry in which two configurations differ, with both values.
std::string differing_key(const keras::Value& got, const keras::Value& expected, const std::string& path = {});

}  // namespace thalweg::testing
