#include "thalweg/graph/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

// GCC brings libbacktrace with it; other compilers do without lines.
#if __has_include(<backtrace.h>)
#include <backtrace.h>
#define THALWEG_HAS_BACKTRACE 1
#else
#define THALWEG_HAS_BACKTRACE 0
#endif

namespace thalweg::graph {
namespace {

const void* address(uintptr_t pc) { return reinterpret_cast<const void*>(pc); }  // NOLINT(performance-no-int-to-ptr)

struct Symbol {
  std::string file, function;  // the function as it is mangled
  int line = 0;
  uintptr_t start = 0;
};

// Of this library and what it is made of: callers are looked for further out.
bool is_internal(std::string_view mangled) {
  if (mangled.starts_with("_ZNSt17_Function_handler")) return false;  // a lambda that was inlined into its caller
  for (const char* prefix : {"_ZN7thalweg", "_ZNK7thalweg", "_ZZN7thalweg", "_ZZNK7thalweg", "_ZNSt", "_ZNKSt", "_ZSt"})
    if (mangled.starts_with(prefix)) return true;
  return false;
}

#if THALWEG_HAS_BACKTRACE
void ignore(void*, const char*, int) {}
backtrace_state* state() {
  static backtrace_state* const made = backtrace_create_state(nullptr, 1, ignore, nullptr);
  return made;
}
std::string name_at(uintptr_t pc) {
  std::string name;
  auto found = [](void* to, uintptr_t, const char* symbol, uintptr_t, uintptr_t) {
    if (symbol) *static_cast<std::string*>(to) = symbol;
  };
  if (state()) backtrace_syminfo(state(), pc, found, ignore, &name);
  return name;
}
// Inlined functions come first; those of this library are passed over.
Symbol symbol_at(uintptr_t pc) {
  Symbol symbol;
  auto found = [](void* to, uintptr_t, const char* file, int line, const char* function) {
    Symbol& s = *static_cast<Symbol*>(to);
    if (!file || !function) return 0;
    s = {file, function, line, 0};
    return is_internal(function) ? 0 : 1;
  };
  if (state()) backtrace_pcinfo(state(), pc, found, ignore, &symbol);
  if (symbol.function.empty()) symbol.function = name_at(pc);
  return symbol;
}
#else
std::string name_at(uintptr_t pc) {
  Dl_info info{};
  return dladdr(address(pc), &info) && info.dli_sname ? info.dli_sname : "";
}
Symbol symbol_at(uintptr_t pc) { return {"", name_at(pc), 0, 0}; }
#endif

std::string readable(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                               std::free);
  std::string text = plain ? plain.get() : symbol;
  if (text.starts_with("std::_Function_handler<")) {  // <signature, lambda>::_M_invoke(...)
    size_t begin = text.find("), "), end = text.rfind(">::_M_invoke");
    if (begin != std::string::npos && end != std::string::npos && end > begin)
      text = text.substr(begin + 3, end - begin - 3);
  }
  constexpr size_t longest = 120;
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

}  // namespace

bool is_library_symbol(const void* return_address) {
  return is_internal(name_at(reinterpret_cast<uintptr_t>(return_address) - 1));
}

std::string describe_code(const void* return_address) {
  const uintptr_t pc = reinterpret_cast<uintptr_t>(return_address) - 1;  // within the call
  Symbol s = symbol_at(pc);
  if (s.line > 0) {
    std::string file = s.file.substr(s.file.find_last_of('/') + 1);
    return file + ":" + std::to_string(s.line) + " in " + readable(s.function);
  }
  Dl_info info{};
  if (!dladdr(address(pc), &info) || !info.dli_fname) return readable(s.function);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", static_cast<size_t>(pc - reinterpret_cast<uintptr_t>(info.dli_fbase)));
  std::string file = info.dli_fname;
  file = file.substr(file.find_last_of('/') + 1) + offset;
  return s.function.empty() ? file : file + " in " + readable(s.function);
}

}  // namespace thalweg::graph
