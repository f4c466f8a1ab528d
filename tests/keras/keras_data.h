// What Keras answered (tools/make_keras_data_goldens), and folders to work in.
#pragma once
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/casting.h"

namespace thalweg::keras {

using Json = nlohmann::json;
namespace fs = std::filesystem;

inline const fs::path golden_folder = "tests/golden/keras_data";

inline Json golden(const std::string& name) { return Json::parse(std::ifstream(golden_folder / (name + ".json"))); }

inline void write_file(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}
inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Numbers; the ones JSON does not know stand as text.
inline double number(const Json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

/// [dtype, shape, values] as `expected`.
inline void expect_array(const Tensor& tensor, const Json& expected, const std::string& where) {
  EXPECT_EQ(name_of(tensor.dtype()), expected[0].get<std::string>()) << where;
  ASSERT_EQ(tensor.shape(), Shape(expected[1].get<std::vector<int64_t>>())) << where;
  Tensor values = cast(tensor, DType::float64);
  for (size_t i = 0; i < expected[2].size(); ++i) {
    double wanted = number(expected[2][i]);
    EXPECT_NEAR(values.data<double>()[i], wanted, 1e-6 * std::fabs(wanted)) << where << " at " << i;
  }
}

/// A folder of its own that KERAS_HOME and the home folder point to, with Keras's files in it.
class KerasHome : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "keras_home.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    fs::copy(golden_folder / "home", home_, fs::copy_options::recursive);
    setenv("KERAS_HOME", home_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("KERAS_HOME");
    unsetenv("THALWEG_DATA");
    fs::remove_all(home_);
  }
  fs::path file(const std::string& name) const { return home_ / "datasets" / name; }

  fs::path home_;
};

/// The message of the error that `body` throws, of this type; empty when it throws none.
template <class E, class F> std::string message_of(F&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace thalweg::keras
