// enable_check_numerics finds the op that made a NaN; set_log_device_placement says where ops run.
#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

struct Checking {
  Checking() { debugging::enable_check_numerics(); }
  ~Checking() { debugging::disable_check_numerics(); }
};

TEST(CheckNumerics, NamesTheFirstOpThatWentWrong) {
  Tensor x = {1.0f, 0.0f, -1.0f, 0.0f};
  Tensor quiet = math::log(x) + 1;  // nobody looks yet
  Checking checking;
  try {
    Tensor y = math::log(x) * 2;
    FAIL() << "accepted";
  } catch (const InvalidArgumentError& e) {
    std::string text = e.what();
    for (const char* part :
         {"Detected Infinity or NaN in output 0 of eagerly-executing op \"Log\" (# of outputs: 1)",
          "dtype: <dtype: 'float32'>", "shape: (4,)", "# of -Inf elements: 2", "# of +NaN elements: 1",
          "Input tensor: tf.Tensor([ 1.  0. -1.  0.], shape=(4,), dtype=float32)"})
      EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in " << text;
  }
  EXPECT_NO_THROW(math::log(Tensor{1.0f, 2.0f}));
}

TEST(CheckNumerics, LooksAtGradientsToo) {
  Tensor x = 0.0f;
  GradientTape tape;
  tape.watch(x);
  Tensor y = sqrt(x);
  Checking checking;
  EXPECT_THROW((void)tape.gradient(y, x), InvalidArgumentError);
}

TEST(CheckNumerics, NothingIsChangedByAnOpThatIsRefused) {
  Checking checking;
  const int64_t before = memory_info(0).current;
  EXPECT_THROW(ones({1000}) / zeros({1000}), InvalidArgumentError);
  EXPECT_EQ(memory_info(0).current, before);
}

TEST(LogDevicePlacement, SaysWhereAnOpRuns) {
  debugging::set_log_device_placement(true);
  ::testing::internal::CaptureStderr();
  Tensor y = Tensor(1.0f) + Tensor(2.0f);
  std::string said = ::testing::internal::GetCapturedStderr();
  debugging::set_log_device_placement(false);
  EXPECT_EQ(said, "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0\n");
}

}  // namespace
}  // namespace thalweg
