// The progress bar that Keras draws while it trains.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg::keras::utils {

struct ProgbarOptions {
  int64_t width = 30;
  int verbose = 1;         // 0 silent, 1 a bar that is drawn again and again, 2 a line at the end
  double interval = 0.05;  // seconds between two drawings
  std::vector<std::string> stateful_metrics = {};  // shown as they are; others are averaged over the steps
  std::string unit_name = "step";
  double (*clock)() = nullptr;  // seconds since any moment; the system's clock where left out
};

/// Shows steps, time and averaged values on standard output, character by character as Keras 2.15 does. It belongs to
/// one thread.
class THALWEG_API Progbar {
 public:
  using Values = std::vector<std::pair<std::string, double>>;

  /// Without a target, the number of steps is not known.
  explicit Progbar(std::optional<int64_t> target, ProgbarOptions options = {});

  /// Shows that `current` steps are done; `values` are those of the last step. The line is finished with the last step,
  /// or as `finalize` says.
  void update(int64_t current, const Values& values = {}, std::optional<bool> finalize = {});
  /// The same, `n` steps further.
  void add(int64_t n, const Values& values = {});
  /// What `update` would print.
  std::string render(int64_t current, const Values& values = {}, std::optional<bool> finalize = {});

  std::optional<int64_t> target() const { return target_; }
  /// For a number of steps that is known late.
  void set_target(std::optional<int64_t> target) { target_ = target; }
  int64_t seen_so_far() const { return seen_so_far_; }
  /// More names of values that are not averaged.
  void add_stateful_metrics(const std::vector<std::string>& names);

 private:
  struct Metric {
    std::string name;
    double sum = 0;
    double steps = 0;
  };
  void accumulate(int64_t current, const Values& values);
  std::string bar(int64_t current) const;
  std::string shown_values(bool small_by_size) const;
  double step_duration(int64_t current, double now);
  std::string draw(int64_t current, double now, bool finalize);
  std::string last_line(int64_t current, double now);

  std::optional<int64_t> target_;
  ProgbarOptions options_;
  std::vector<Metric> metrics_;
  int64_t total_width_ = 0;
  int64_t seen_so_far_ = 0;
  double start_;
  double last_update_ = 0;
  double epoch_start_;
  std::optional<double> epoch_end_, after_first_step_;
};

}  // namespace thalweg::keras::utils
