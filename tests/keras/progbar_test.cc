#include "thalweg/keras/progbar.h"

#include <iostream>
#include <sstream>

#include "tests/keras/keras_data.h"

namespace thalweg::keras::utils {
namespace {

double now = 0;
double clock_of_test() { return now; }

/// Takes what goes to standard output.
class Captured {
 public:
  Captured() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Captured() { std::cout.rdbuf(before_); }
  std::string take() {
    std::string text = text_.str();
    text_.str("");
    return text;
  }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

Progbar::Values values_of(const Json& call) {
  Progbar::Values values;
  if (call.size() > 3)
    for (const Json& pair : call[3]) values.emplace_back(pair[0].get<std::string>(), number(pair[1]));
  return values;
}

void run_call(Progbar& bar, const Json& call) {
  const std::string method = call[1];
  if (method == "target") return bar.set_target(call[2].get<int64_t>());
  if (method == "stateful") return bar.add_stateful_metrics(call[2]);
  if (method == "add") return bar.add(call[2], values_of(call));
  bar.update(call[2], values_of(call), call.size() > 4 ? std::optional<bool>(call[4].get<bool>()) : std::nullopt);
}

TEST(Progbar, PrintsWhatKerasPrints) {
  Captured out;
  size_t printed = 0;
  for (const Json& play : golden("progbar")) {
    const Json& given = play["options"];
    ProgbarOptions options{.clock = clock_of_test};
    options.width = given.value("width", options.width);
    options.verbose = given.value("verbose", options.verbose);
    options.interval = given.value("interval", options.interval);
    options.unit_name = given.value("unit_name", options.unit_name);
    options.stateful_metrics = given.value("stateful_metrics", options.stateful_metrics);
    const Json& calls = play["calls"];
    now = calls[0][0];
    Progbar bar(play["target"].is_null() ? std::nullopt : std::optional(play["target"].get<int64_t>()), options);
    for (size_t i = 1; i < calls.size(); ++i) {
      now = calls[i][0];
      run_call(bar, calls[i]);
      std::string text = out.take();
      EXPECT_EQ(text, play["texts"][i - 1].get<std::string>()) << given << " " << calls[i];
      printed += text.size();
    }
  }
  EXPECT_GT(printed, 1000);
}

TEST(Progbar, SurvivesOddNumbers) {
  now = 10;
  for (int verbose : {1, 2}) {
    for (std::optional<int64_t> target :
         {std::optional<int64_t>(0), std::optional<int64_t>(-3), std::optional<int64_t>()}) {
      Progbar bar(target, {.width = -5, .verbose = verbose, .clock = clock_of_test});
      for (double time : std::vector<double>{9.0, -1e300, 1e300, NAN, INFINITY}) {
        now = time;
        bar.render(7, {{"loss", -NAN}}, true);
        bar.render(-7, {{"loss", INFINITY}}, false);
        bar.render(INT64_MAX, {{"", 0.0}});
      }
    }
  }
}

TEST(Progbar, UsesTheSystemsClock) {
  Progbar bar(2);
  EXPECT_EQ(bar.render(1).substr(0, 37), "\r1/2 [==============>...............]");
  EXPECT_EQ(bar.seen_so_far(), 1);
  EXPECT_EQ(bar.target(), 2);
  std::string last = bar.render(2);
  EXPECT_NE(last.find(" - 0s "), std::string::npos) << last;
  EXPECT_EQ(last.back(), '\n');
}

}  // namespace
}  // namespace thalweg::keras::utils
