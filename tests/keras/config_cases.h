// What the tests of configured objects share: making them from a row, and the errors that rows ask for.
#pragma once
#include <gtest/gtest.h>

#include "tests/keras/cases.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/object.h"

namespace thalweg::testing {

/// Infinities and NaN are texts in JSON.
inline keras::Value with_numbers(const keras::Value& value) {
  if (value.is_map()) {
    keras::Value made = keras::Value::map({});
    for (const auto& [key, item] : value.map()) made.set(key, with_numbers(item));
    return made;
  }
  if (!value.is_text()) return value;
  const double infinity = std::numeric_limits<double>::infinity();
  if (value.text() == "inf") return infinity;
  if (value.text() == "-inf") return -infinity;
  return value;
}

/// The object of a row's class and configuration.
template <class H> H make_from(const keras::Value& row) {
  H made;
  from_value(made, keras::Value::map({{"class_name", row["class"]}, {"config", with_numbers(row["config"])}}));
  return made;
}

/// The function throws what the row says: Python's class of error, and, unless `any_text`, Keras's words.
template <class F> void expect_error(const keras::Value& row, const F& f, bool any_text = false) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(row["error"]["class"].text(), error.type());
    if (!any_text) {
      EXPECT_EQ(std::string(error.what()), row["error"]["message"].text());
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown, but " << row["error"].json() << " was expected";
}

/// get_config is what Keras says, and makes an object whose get_config is the same.
template <class H> void expect_config(const keras::Value& row, const H& object) {
  const keras::Value config = object.get_config();
  EXPECT_TRUE(config == row["get_config"]) << config.json() << "\nnot\n" << row["get_config"].json();
  H again;
  from_value(again, keras::Value::map({{"class_name", object.class_name()}, {"config", config}}));
  EXPECT_TRUE(again.get_config() == config) << again.get_config().json() << "\nnot\n" << config.json();
}

}  // namespace thalweg::testing
