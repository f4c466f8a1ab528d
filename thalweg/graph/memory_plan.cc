#include "thalweg/graph/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

namespace thalweg::graph {
namespace {

constexpr size_t alignment = 64;
// Pieces at equal distances from a page compete for the same lines of every cache, so large ones are kept apart.
constexpr size_t large = 64 << 10, stagger = 5 * alignment;

size_t padded(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment + (bytes >= large ? stagger : 0); }

// Every piece against all those that are placed already.
Placement place_by_size(std::span<const Lifetime> lifetimes) {
  Placement placed{std::vector<size_t>(lifetimes.size()), 0};
  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(lifetimes[b].bytes, a) < std::pair(lifetimes[a].bytes, b);
  });
  std::vector<uint32_t> by_offset;
  for (uint32_t piece : order) {
    const Lifetime& mine = lifetimes[piece];
    const size_t size = padded(mine.bytes);
    size_t best = 0, best_gap = SIZE_MAX, end = 0;
    for (uint32_t other : by_offset) {
      const Lifetime& theirs = lifetimes[other];
      if (theirs.last < mine.first || mine.last < theirs.first) continue;
      const size_t begin = placed.offsets[other];
      if (begin > end && begin - end >= size && begin - end < best_gap) {
        best = end;
        best_gap = begin - end;
      }
      end = std::max(end, begin + padded(theirs.bytes));
    }
    placed.offsets[piece] = best_gap == SIZE_MAX ? end : best;
    placed.bytes = std::max(placed.bytes, placed.offsets[piece] + size);
    auto at = std::upper_bound(by_offset.begin(), by_offset.end(), piece,
                               [&](uint32_t a, uint32_t b) { return placed.offsets[a] < placed.offsets[b]; });
    by_offset.insert(at, piece);
  }
  return placed;
}

// As an allocator would do it that sees one step after the other.
Placement place_by_time(std::span<const Lifetime> lifetimes) {
  Placement placed{std::vector<size_t>(lifetimes.size()), 0};
  std::vector<uint32_t> begins(lifetimes.size()), ends;
  std::iota(begins.begin(), begins.end(), 0u);
  ends = begins;
  std::sort(begins.begin(), begins.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(lifetimes[a].first, a) < std::pair(lifetimes[b].first, b);
  });
  std::sort(ends.begin(), ends.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(lifetimes[a].last, a) < std::pair(lifetimes[b].last, b); });
  std::map<size_t, size_t> gaps;            // by offset
  std::multimap<size_t, size_t> by_length;  // the same gaps: length, offset
  auto remove = [&](std::map<size_t, size_t>::iterator gap) {
    auto [from, to] = by_length.equal_range(gap->second);
    by_length.erase(std::find_if(from, to, [&](const auto& entry) { return entry.second == gap->first; }));
    return gaps.erase(gap);
  };
  auto give_back = [&](size_t offset, size_t length) {
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && next->first == offset + length) {
      length += next->second;
      next = remove(next);
    }
    if (next != gaps.begin())
      if (auto before = std::prev(next); before->first + before->second == offset) {
        offset = before->first;
        length += before->second;
        remove(before);
      }
    gaps[offset] = length;
    by_length.emplace(length, offset);
  };
  size_t next_end = 0;
  for (uint32_t piece : begins) {
    for (; lifetimes[ends[next_end]].last < lifetimes[piece].first; ++next_end)
      give_back(placed.offsets[ends[next_end]], padded(lifetimes[ends[next_end]].bytes));
    const size_t size = padded(lifetimes[piece].bytes);
    auto fit = by_length.lower_bound(size);
    size_t offset = placed.bytes;
    if (fit != by_length.end()) {
      offset = fit->second;
      size_t rest = fit->first - size;
      remove(gaps.find(offset));
      if (rest) give_back(offset + size, rest);
    } else if (!gaps.empty() && std::prev(gaps.end())->first + std::prev(gaps.end())->second == placed.bytes) {
      offset = std::prev(gaps.end())->first;  // the last gap grows
      remove(std::prev(gaps.end()));
    }
    placed.offsets[piece] = offset;
    placed.bytes = std::max(placed.bytes, offset + size);
  }
  return placed;
}

size_t bytes_of(const Spec& spec) { return static_cast<size_t>(spec.shape.num_elements()) * size_of(spec.dtype); }

// Whether an op may hold on to its inputs after it has run: assignments share memory with the variable, lists and
// optionals with their elements, and functions with effects may do either. Plans notice when others do, and give up
// the memory: this says where that is to be expected.
bool keeps_inputs(const PlanStep& s, std::span<const Spec> results) {
  if (s.op->follow && s.op->traits.stateful) return true;
  for (const Spec& r : results)
    if (is_object(r.dtype) && r.dtype != DType::string) return true;
  return s.op->traits.keeps_inputs;
}

class Planner {
 public:
  explicit Planner(const PlannedSteps& plan)
      : plan_(plan), ends_(plan.specs.size()), kept_(plan.specs.size()), memory_{} {
    memory_.places.assign(plan.specs.size(), Place::fresh);
    memory_.offsets.assign(plan.specs.size(), 0);
  }

  MemoryPlan run() {
    for (uint32_t value : plan_.results)
      if (value >= plan_.first_computed) kept_[value - plan_.first_computed] = is_result;
    find_lifetimes();
    choose_places();
    lay_out();
    for (PlanStep& s : plan_.steps) {
      s.fresh = false;
      for (uint32_t i = 0; i < s.num_outputs; ++i) s.fresh |= place_of(s.first_output + i) == Place::fresh;
    }
    memory_.ends = std::move(ends_);
    return std::move(memory_);
  }

 private:
  static constexpr uint32_t no_value = ~0u;
  enum : uint8_t { may_be_held = 1, is_result = 2 };
  const Spec& spec(uint32_t value) const { return plan_.specs[value - plan_.first_computed]; }
  Place& place_of(uint32_t value) { return memory_.places[value - plan_.first_computed]; }
  bool is_kept(uint32_t value) const { return kept_[value - plan_.first_computed] != 0; }

  // An input that is as large as the result, and that the op may write over.
  uint32_t donor(const PlanStep& s, uint32_t step) const {
    if (!s.op->traits.elementwise || s.op->traits.view || s.num_outputs != 1 || s.infer) return no_value;
    const Spec& result = spec(s.first_output);
    if (is_object(result.dtype) || bytes_of(result) <= sizeof(TensorImpl::inline_data)) return no_value;
    std::span<const uint32_t> inputs = plan_.inputs.subspan(s.first_input, s.num_inputs);
    for (uint32_t value : inputs) {
      if (value < plan_.first_computed || ends_[value - plan_.first_computed] != step || is_kept(value)) continue;
      if (spec(value).dtype != result.dtype || !(spec(value).shape == result.shape)) continue;
      if (std::count(inputs.begin(), inputs.end(), value) == 1) return value;
    }
    return no_value;
  }

  // Back to front, so that whatever uses a value has been seen before the step that makes it. A view's memory is its
  // input's.
  void find_lifetimes() {
    for (uint32_t k = static_cast<uint32_t>(plan_.steps.size()); k-- > 0;) {
      const PlanStep& s = plan_.steps[k];
      std::span<const Spec> results = plan_.specs.subspan(s.first_output - plan_.first_computed, s.num_outputs);
      const bool keeps = keeps_inputs(s, results);
      uint32_t end = k;
      bool kept_view = false;
      for (uint32_t i = 0; i < s.num_outputs; ++i) {
        uint32_t& own = ends_[s.first_output + i - plan_.first_computed];
        own = std::max(own, k);
        if (!s.op->traits.view) continue;
        end = std::max(end, own);
        kept_view |= is_kept(s.first_output + i);
      }
      for (uint32_t i = 0; i < s.num_inputs; ++i) {
        uint32_t value = plan_.inputs[s.first_input + i];
        if (value < plan_.first_computed) continue;
        ends_[value - plan_.first_computed] = std::max(ends_[value - plan_.first_computed], end);
        if (keeps || kept_view) kept_[value - plan_.first_computed] |= may_be_held;
      }
      // What leaves the function can be written over an input, if that lies in memory of its own too.
      if (s.num_outputs == 1 && is_kept(s.first_output))
        if (uint32_t from = donor(s, k); from != no_value) kept_[from - plan_.first_computed] |= may_be_held;
    }
  }

  void choose_places() {
    for (const PlanStep& s : plan_.steps)
      for (uint32_t i = 0; i < s.num_outputs; ++i) {
        const Spec& r = spec(s.first_output + i);
        if (s.infer || (kept_[s.first_output + i - plan_.first_computed] & is_result) || is_object(r.dtype)) continue;
        size_t bytes = bytes_of(r);
        Place& place = place_of(s.first_output + i);
        if (s.op->traits.view) place = Place::loose;
        else if (bytes <= sizeof(TensorImpl::inline_data)) place = Place::block;
        else place = is_kept(s.first_output + i) ? Place::loose : Place::arena;
      }
  }

  void lay_out() {
    std::vector<Lifetime> pieces;
    std::vector<uint32_t> piece_of(plan_.specs.size(), no_value);
    for (uint32_t k = 0; k < plan_.steps.size(); ++k) {
      PlanStep& s = plan_.steps[k];
      for (uint32_t i = 0; i < s.num_outputs; ++i) {
        const uint32_t value = s.first_output + i, index = value - plan_.first_computed;
        if (place_of(value) != Place::arena) continue;
        memory_.bytes_without_reuse += padded(bytes_of(spec(value)));
        s.temporaries = 0;
        uint32_t from = donor(s, k);
        if (from != no_value && place_of(from) == Place::arena) {
          piece_of[index] = piece_of[from - plan_.first_computed];
          s.overwritten = static_cast<int32_t>(from);
        } else {
          piece_of[index] = static_cast<uint32_t>(pieces.size());
          pieces.push_back({bytes_of(spec(value)), k, k});
        }
        pieces[piece_of[index]].last = ends_[index];
      }
    }
    Placement placed = place(pieces);
    for (size_t i = 0; i < piece_of.size(); ++i)
      if (piece_of[i] != no_value) memory_.offsets[i] = placed.offsets[piece_of[i]];
    memory_.arena_bytes = placed.bytes;
  }

  const PlannedSteps& plan_;
  std::vector<uint32_t> ends_;  // the last step that reads a value's memory
  std::vector<uint8_t> kept_;   // whether somebody may have the memory after the run
  MemoryPlan memory_;
};

}  // namespace

Placement place(std::span<const Lifetime> lifetimes) {
  constexpr size_t few = 4096;
  return lifetimes.size() <= few ? place_by_size(lifetimes) : place_by_time(lifetimes);
}

MemoryPlan plan_memory(const PlannedSteps& plan) { return Planner(plan).run(); }

}  // namespace thalweg::graph
