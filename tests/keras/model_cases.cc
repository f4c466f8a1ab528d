#include "tests/keras/model_cases.h"

#include <iostream>

namespace thalweg::testing {

using keras::Value;

Printed::Printed() : before_(std::cout.rdbuf(kept_.rdbuf())) {}
Printed::~Printed() { std::cout.rdbuf(before_); }

namespace {

bool is_known(const Value& value) {
  if (value.is_list()) {
    for (const Value& item : value.list())
      if (!is_known(item)) return false;
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.map())
      if (!is_known(item)) return false;
    if (value["class_name"].is_text() && value["module"].is_text() && value["module"].text() == "keras.layers")
      return keras::find_class("layer", value["class_name"].text()) != nullptr;
  }
  return true;
}

}  // namespace

std::optional<keras::Model> make_model(const Value& value) {
  if (!is_known(value["config"])) return {};
  return keras::Model::from_config(value);
}

std::string differing_key(const Value& got, const Value& expected, const std::string& path) {
  if (got == expected) return {};
  if (got.is_map() && expected.is_map()) {
    for (const auto& [key, value] : expected.map()) {
      if (!got.contains(key)) return path + "/" + key + " is missing, should be " + value.json();
      if (std::string inner = differing_key(got[key], value, path + "/" + key); !inner.empty()) return inner;
    }
    for (const auto& [key, value] : got.map())
      if (!expected.contains(key)) return path + "/" + key + " is too much: " + value.json();
  }
  if (got.is_list() && expected.is_list() && got.list().size() == expected.list().size()) {
    for (size_t i = 0; i < got.list().size(); ++i)
      if (std::string inner = differing_key(got.list()[i], expected.list()[i], path + "/" + std::to_string(i));
          !inner.empty())
        return inner;
  }
  return path + " is " + got.json().substr(0, 300) + ", not " + expected.json().substr(0, 300);
}

}  // namespace thalweg::testing
