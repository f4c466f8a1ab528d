#include "thalweg/keras/progbar.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/core/output.h"
#include "thalweg/kernels/unicode.h"

namespace thalweg::keras::utils {
namespace {

double system_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A whole number as Python's %d prints a float; a clock that lies must not overflow it.
int64_t truncated(double value) {
  constexpr double most = 9e15;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -most, most));
}

std::string per_unit(double seconds, const std::string& unit) {
  if (seconds >= 1 || seconds == 0) return fmt::format(" {:.0f}s/{}", seconds, unit);
  if (seconds >= 1e-3) return fmt::format(" {:.0f}ms/{}", seconds * 1e3, unit);
  return fmt::format(" {:.0f}us/{}", seconds * 1e6, unit);
}

std::string remaining_time(double left) {
  int64_t seconds = truncated(left);
  if (left > 3600) return fmt::format(" - ETA: {}:{:02d}:{:02d}", seconds / 3600, seconds % 3600 / 60, seconds % 60);
  if (left > 60) return fmt::format(" - ETA: {}:{:02d}", seconds / 60, seconds % 60);
  return fmt::format(" - ETA: {}s", seconds);
}

std::string count_of(int64_t current, int64_t target) {
  return fmt::format("{:{}d}/{}", current, std::to_string(target).size(), target);
}

}  // namespace

Progbar::Progbar(std::optional<int64_t> target, ProgbarOptions options)
    : target_(target), options_(std::move(options)) {
  if (!options_.clock) options_.clock = system_clock;
  start_ = options_.clock();
  epoch_start_ = start_;
}

void Progbar::add_stateful_metrics(const std::vector<std::string>& names) {
  std::vector<std::string>& known = options_.stateful_metrics;
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
}

void Progbar::accumulate(int64_t current, const Values& values) {
  for (const auto& [name, value] : values) {
    auto metric = std::find_if(metrics_.begin(), metrics_.end(), [&](const Metric& m) { return m.name == name; });
    if (metric == metrics_.end()) metric = metrics_.insert(metrics_.end(), {name});
    const auto& stateful = options_.stateful_metrics;
    if (std::find(stateful.begin(), stateful.end(), name) != stateful.end()) {
      metric->sum = value;
      metric->steps = 1;
    } else {
      // A closing call repeats the last step, and counts as one.
      double steps = std::max(static_cast<double>(current) - static_cast<double>(seen_so_far_), 1.0);
      metric->sum += value * steps;
      metric->steps += steps;
    }
  }
  seen_so_far_ = current;
}

std::string Progbar::bar(int64_t current) const {
  if (!target_) return fmt::format("{:7d}/Unknown", current);
  double done = *target_ == 0 ? 1 : static_cast<double>(current) / static_cast<double>(*target_);
  int64_t filled = std::clamp<int64_t>(truncated(static_cast<double>(options_.width) * done), 0, 1 << 20);
  std::string text = count_of(current, *target_) + " [";
  if (filled > 0) text += std::string(static_cast<size_t>(filled - 1), '=') + (current < *target_ ? ">" : "=");
  text.append(static_cast<size_t>(std::max<int64_t>(options_.width - filled, 0)), '.');
  return text + "]";
}

/// The first step takes longer than those that follow, so it is left out as soon as there are others.
double Progbar::step_duration(int64_t current, double now) {
  if (current == 0) return 0;
  double duration = after_first_step_ && current > 1 ? (now - *after_first_step_) / static_cast<double>(current - 1)
                                                     : (now - start_) / static_cast<double>(current);
  if (current == 1) after_first_step_ = now;
  return duration;
}

std::string Progbar::shown_values(bool small_by_size) const {
  std::string text;
  for (const Metric& metric : metrics_) {
    double average = metric.sum / std::max(metric.steps, 1.0);
    text += " - " + metric.name + ": ";
    if (std::isnan(average)) text += "nan";  // without the sign that C++ would show
    else if ((small_by_size ? std::fabs(average) : average) > 1e-3) text += fmt::format("{:.4f}", average);
    else text += fmt::format("{:.4e}", average);
  }
  return text;
}

std::string Progbar::draw(int64_t current, double now, bool finalize) {
  int64_t old_width = total_width_;
  std::string message(static_cast<size_t>(old_width), '\b');
  std::string line = bar(current);
  double seconds_per_step = step_duration(current, now);
  if (target_ && !finalize)
    line += remaining_time(seconds_per_step * (static_cast<double>(*target_) - static_cast<double>(current)));
  else line += fmt::format(" - {:.0f}s", now - start_) + per_unit(seconds_per_step, options_.unit_name);
  line += shown_values(true);
  total_width_ = kernels::count_utf8(line);
  message += "\r" + line;
  message.append(static_cast<size_t>(std::max<int64_t>(old_width - total_width_, 0)), ' ');
  return finalize ? message + "\n" : message;
}

std::string Progbar::last_line(int64_t current, double now) {
  std::string line = target_ ? count_of(current, *target_) : fmt::format("{}/Unknown", current);
  // Here Keras asks for the value, not for its size: a loss below zero is shown with an exponent.
  line += fmt::format(" - {:.0f}s", now - start_) + shown_values(false);
  if (epoch_end_ && *epoch_end_ != 0) {
    double epoch = *epoch_end_ - epoch_start_;
    epoch_start_ = now;
    epoch_end_.reset();
    double step = *target_ == 0 ? 0 : epoch / static_cast<double>(*target_);
    line += " -" + per_unit(epoch, "epoch") + " -" + per_unit(step, options_.unit_name) + "\n";
  }
  return line;
}

std::string Progbar::render(int64_t current, const Values& values, std::optional<bool> finalize) {
  bool last = finalize.value_or(target_ && current >= *target_);
  accumulate(current, values);
  double now = options_.clock();
  if (target_ && current == *target_) epoch_end_ = now;
  std::string text;
  if (options_.verbose == 1) {
    if (now - last_update_ < options_.interval && !last) return "";
    text = draw(current, now, last);
  } else if (options_.verbose == 2 && last) {
    text = last_line(current, now);
  }
  last_update_ = now;
  return text;
}

void Progbar::update(int64_t current, const Values& values, std::optional<bool> finalize) {
  std::string text = render(current, values, finalize);
  if (!text.empty()) write_output(text);
}

void Progbar::add(int64_t n, const Values& values) {
  int64_t current = 0;
  if (__builtin_add_overflow(seen_so_far_, n, &current)) throw ValueError("Progbar: too many steps");
  update(current, values);
}

}  // namespace thalweg::keras::utils
