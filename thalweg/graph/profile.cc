#include "thalweg/graph/profile.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <ostream>

#include "thalweg/graph/profiler.h"
#include "thalweg/graph/run_state.h"

namespace thalweg {
namespace graph {
namespace {
double since(Profiler::Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Profiler::Clock::now() - start).count();
}
int64_t bytes_of(const TensorImpl& t) {
  return t.form == Form::array && t.data ? t.shape.count() * static_cast<int64_t>(size_of(t.dtype)) : 0;
}
bool takes_longer(const Profile::Row& a, const Profile::Row& b) { return a.nanoseconds > b.nanoseconds; }
}  // namespace

void Profiler::end(const PlanStep& step, std::span<const TensorRef> in, std::span<TensorImpl* const> out,
                   Clock::time_point started) {
  double all = since(started), inside = children_.back();
  children_.pop_back();
  if (!children_.empty()) children_.back() += all;
  Profile::Row& row = rows_[step.node];
  if (row.count++ == 0) {
    row.op = step.op->name;
    row.node = step.node->name;
  }
  row.nanoseconds += std::max(0.0, all - inside);
  for (const TensorRef& t : in) row.bytes += bytes_of(*t.p);
  for (const TensorImpl* t : out) row.bytes += bytes_of(*t);
}

Profile Profiler::finish(double total) const {
  Profile made;
  made.total_nanoseconds = total;
  std::map<std::string, Profile::Row> by_op;
  for (const auto& [node, row] : rows_) {
    made.nodes.push_back(row);
    made.kernels_nanoseconds += row.nanoseconds;
    Profile::Row& sum = by_op[row.op];
    sum.op = row.op;
    sum.count += row.count;
    sum.nanoseconds += row.nanoseconds;
    sum.bytes += row.bytes;
  }
  for (const auto& [op, row] : by_op) made.ops.push_back(row);
  std::sort(made.ops.begin(), made.ops.end(), takes_longer);
  std::sort(made.nodes.begin(), made.nodes.end(), takes_longer);
  return made;
}
}  // namespace graph

namespace {
std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string time_text(double nanoseconds) {
  if (nanoseconds >= 1e9) return number("%.2f s", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return number("%.2f ms", nanoseconds / 1e6);
  if (nanoseconds >= 1e3) return number("%.2f us", nanoseconds / 1e3);
  return number("%.0f ns", nanoseconds);
}
std::string rounded_bytes(double bytes) {
  if (bytes >= 1e9) return number("%.1f GB", bytes / 1e9);
  if (bytes >= 1e6) return number("%.1f MB", bytes / 1e6);
  if (bytes >= 1e3) return number("%.1f kB", bytes / 1e3);
  return number("%.0f B", bytes);
}
std::string right(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}
}  // namespace

std::string Profile::str(size_t most_rows) const {
  size_t width = 12;
  for (const Row& row : ops) width = std::max(width, row.op.size());
  auto row_text = [&](const std::string& name, const std::array<std::string, 5>& cells) {
    std::string text = name + std::string(width - std::min(width, name.size()), ' ');
    for (const std::string& cell : cells) text += right(cell, 11);
    return text + "\n";
  };
  std::string text = row_text("op", {"time", "share", "count", "mean", "bytes"});
  auto line = [&](const std::string& name, double time, int64_t count, double bytes) {
    double share = total_nanoseconds > 0 ? 100 * time / total_nanoseconds : 0;
    text += row_text(name, {time_text(time), number("%.1f%%", share), std::to_string(count),
                            time_text(count ? time / static_cast<double>(count) : 0), rounded_bytes(bytes)});
  };
  Row rest;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i < most_rows || ops.size() == most_rows + 1) {
      line(ops[i].op, ops[i].nanoseconds, ops[i].count, static_cast<double>(ops[i].bytes));
      continue;
    }
    rest.nanoseconds += ops[i].nanoseconds;
    rest.count += ops[i].count;
    rest.bytes += ops[i].bytes;
  }
  if (rest.count) line("(others)", rest.nanoseconds, rest.count, static_cast<double>(rest.bytes));
  line("(between)", std::max(0.0, total_nanoseconds - kernels_nanoseconds), 1, 0);
  line("all", total_nanoseconds, 1, 0);
  return text;
}
std::ostream& operator<<(std::ostream& out, const Profile& profile) { return out << profile.str(); }

Profile profile(const std::function<void()>& call) {
  call();
  graph::Profiler profiler;
  struct Watching {
    graph::Profiler* before = graph::run_state.profiler;
    explicit Watching(graph::Profiler* p) {
      graph::run_state.profiler = p;
      graph::run_state.update();
    }
    ~Watching() {
      graph::run_state.profiler = before;
      graph::run_state.update();
    }
  } watching(&profiler);
  auto start = graph::Profiler::Clock::now();
  call();
  return profiler.finish(graph::since(start));
}

}  // namespace thalweg
