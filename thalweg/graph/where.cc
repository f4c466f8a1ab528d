#include "thalweg/graph/where.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "thalweg/autodiff/backprop.h"
#include "thalweg/graph/symbols.h"
#include "thalweg/ops/op.h"

namespace thalweg::graph {
namespace {

std::atomic<const std::string* (*)()> line_source{nullptr};

/// A range of code.
struct Code {
  uintptr_t begin = 0, end = 0;
  bool has(const void* p) const {
    return reinterpret_cast<uintptr_t>(p) >= begin && reinterpret_cast<uintptr_t>(p) < end;
  }
};
// What this library was loaded as: its own file, or the program's when it was linked into that.
const Code& own_code() {
  static const Code code = [] {
    Code found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& h = info->dlpi_phdr[i];
            Code c{info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz};
            if (h.p_type != PT_LOAD || !(h.p_flags & PF_X)) continue;
            if (c.has(reinterpret_cast<const void*>(&set_line_source))) *static_cast<Code*>(to) = c;
          }
          return 0;
        },
        &found);
    return found;
  }();
  return code;
}
bool is_program() {
  static const bool own = [] {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<const void*>(&set_line_source), &info) || !info.dli_fname) return true;
    return std::string_view(info.dli_fname).find(".so") == std::string_view::npos;
  }();
  return own;
}

/// Where library and program are one file, only names tell them apart, and reading those takes long: callers are kept
/// as they are until somebody asks.
constexpr size_t most_callers = 16;
using Callers = std::array<const void*, most_callers>;
const Callers* intern(const Callers& callers) {
  struct Hash {
    size_t operator()(const Callers& c) const {
      size_t hash = 0;
      for (const void* pc : c) hash = (hash ^ reinterpret_cast<uintptr_t>(pc)) * 0x9E3779B97F4A7C15u;
      return hash ^ hash >> 32;
    }
  };
  static std::mutex mutex;
  static auto& kept = *new std::unordered_set<Callers, Hash>;
  std::lock_guard lock(mutex);
  return &*kept.insert(callers).first;
}

/// How far frames are apart, learned from the unwinder, which takes microseconds: from the return address of a call to
/// the next one the distance on the stack is always the same, as long as no frame has a size of its own in every call.
class Frames {
 public:
  Frames() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) stack_ = {reinterpret_cast<uintptr_t>(lowest), bytes};
    pthread_attr_destroy(&attributes);
  }

  /// Whether everything up to the first caller outside is known. A gradient is made by a template of this library, so
  /// what called that must be known too.
  bool find(const void* pc, const char* at, Where& to) const {
    if (is_program_) return find_all(pc, at, to);
    for (size_t depth = 0; depth < most_frames; ++depth) {
      const Frame& f = frames_[index(pc)];
      if (f.pc != pc) {
        to.at = pc;
        return !own_code().has(pc) && !to.gradient_of;
      }
      const void* next = step_out(f, at);
      if (f.last) {
        to.at = pc;
        to.next = next;
        return true;
      }
      if (!next) return false;
      pc = next;
    }
    return false;
  }
  void learn(const void* pc, Where& to) {
    Walk walk{*this, to, pc};
    to.at = nullptr;
    _Unwind_Backtrace(visit, &walk);
    if (is_program_ && walk.depth) to.next = intern(walk.callers);
    failures_ = to.at || to.next ? 0 : failures_ + 1;
  }
  /// A program without names: nothing more will be found.
  bool gives_up() const { return failures_ > 8; }

 private:
  static constexpr size_t most_frames = 40, size = 1024;
  struct Frame {
    const void* pc = nullptr;
    ptrdiff_t step = 0;
    bool last = false;  // nobody asks for what is further out
  };
  struct Walk {
    Frames& frames;
    Where& to;
    const void* first;  // frames before it are those of this search
    const void* pc = nullptr;
    uintptr_t at = 0;
    size_t depth = 0;
    Callers callers = {};
  };

  // The return address after this one, or null.
  [[gnu::no_sanitize_address]] const void* step_out(const Frame& f, const char*& at) const {
    at += f.step;
    const bool on_stack = reinterpret_cast<uintptr_t>(at) - stack_.lowest <= stack_.bytes;
    return f.step && on_stack ? *reinterpret_cast<const void* const*>(at - sizeof(void*)) : nullptr;
  }
  bool find_all(const void* pc, const char* at, Where& to) const {
    Callers callers = {};
    for (size_t depth = 0; depth < most_callers; ++depth) {
      callers[depth] = pc;
      const Frame& f = frames_[index(pc)];
      if (depth + 1 == most_callers || (f.pc == pc && f.last)) break;
      if (f.pc != pc) return false;
      pc = step_out(f, at);
      if (!pc) return false;
    }
    to.next = intern(callers);
    return true;
  }
  static size_t index(const void* pc) {
    return (reinterpret_cast<uintptr_t>(pc) * 0x9E3779B97F4A7C15u) >> 54;  // ten bits
  }
  static _Unwind_Reason_Code visit(_Unwind_Context* context, void* state) {
    Walk& w = *static_cast<Walk*>(state);
    const void* pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));  // NOLINT(performance-no-int-to-ptr)
    const uintptr_t at = _Unwind_GetCFA(context);
    if (w.depth == 0 && pc != w.first) return _URC_NO_REASON;
    const bool found = w.to.at != nullptr;
    if (w.pc) w.frames.frames_[index(w.pc)] = {w.pc, static_cast<ptrdiff_t>(at - w.at), found};
    if (found) {
      w.to.next = pc;
      return _URC_END_OF_STACK;
    }
    w.pc = pc;
    w.at = at;
    if (w.frames.is_program_) {
      w.callers[w.depth] = pc;
      if (++w.depth == most_callers) return _URC_END_OF_STACK;
      w.frames.frames_[index(pc)] = {pc, 0, true};  // the outermost, until another one is seen
      return _URC_NO_REASON;
    }
    w.frames.frames_[index(pc)] = {pc, 0, true};
    if (!own_code().has(pc)) w.to.at = pc;
    return ++w.depth < most_frames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  struct Stack {
    uintptr_t lowest = 0;
    size_t bytes = 0;
  };
  std::array<Frame, size> frames_ = {};
  Stack stack_;
  const bool is_program_ = is_program();
  int failures_ = 0;
};

constinit thread_local Frames* known_frames [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local bool thread_ends [[gnu::tls_model("initial-exec")]] = false;
[[gnu::noinline]] Frames& make_frames() {
  struct Owner {
    Frames frames;
    ~Owner() {
      known_frames = nullptr;
      thread_ends = true;
    }
  };
  thread_local const std::unique_ptr<Owner> owner = std::make_unique<Owner>();
  known_frames = &owner->frames;
  return *known_frames;
}

[[gnu::noinline]] void find_caller(const void* pc, const char* at, Where& to) {
  if (thread_ends) return;
  Frames& frames = known_frames ? *known_frames : make_frames();
  if (!frames.find(pc, at, to) && !frames.gives_up()) frames.learn(pc, to);
}

}  // namespace

void set_line_source(const std::string* (*current_line)()) {
  line_source.store(current_line, std::memory_order_release);
}

[[gnu::noinline]] Where where_now() {
  Where where;
  if (const Op* op = autodiff::gradient_in_progress) where.gradient_of = op->name;
  if (auto* line = line_source.load(std::memory_order_acquire)) {
    where.at = line();
    where.kind = where.at ? Where::text : Where::unknown;
    return where;
  }
  // The frame address is where the caller's was saved; the return address lies above it.
  const char* frame = static_cast<const char*>(__builtin_frame_address(0));
  find_caller(__builtin_return_address(0), frame + 2 * sizeof(void*), where);
  where.kind = where.at || where.next ? Where::address : Where::unknown;
  return where;
}

std::string describe(const Where& where) {
  std::string text;
  if (where.kind == Where::text) text = *static_cast<const std::string*>(where.at);
  if (where.kind == Where::address && where.at)
    text = describe_code(where.next && is_library_symbol(where.at) ? where.next : where.at);
  if (where.kind == Where::address && !where.at)
    for (const void* pc : *static_cast<const Callers*>(where.next))
      if (pc && !is_library_symbol(pc)) {
        text = describe_code(pc);
        break;
      }
  if (!text.empty() && where.gradient_of) text += std::string(", for the gradient of ") + where.gradient_of;
  return text;
}

}  // namespace thalweg::graph
