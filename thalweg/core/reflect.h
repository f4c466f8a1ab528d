// The members of a plain struct, by name: the one place where C++20 is stretched to reflect.
// Works on aggregates with up to 32 members (no bases, no C arrays); checked by tests on g++ and clang.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace thalweg::reflect {

/// Converts to anything, so that an aggregate's members can be counted by initialising it.
struct Anything {
  // Never called; clang wants it defined all the same where a std::optional member is of a file's own type.
  template <class T> operator T() const noexcept { std::abort(); }  // NOLINT: implicit on purpose
};

template <class T, size_t... I> constexpr bool initialises(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}
inline constexpr size_t most_members = 32;
template <class T, size_t N = 0> constexpr size_t count_members() {
  static_assert(std::is_aggregate_v<T>, "only a plain struct has members by name: no constructor, no private member");
  if constexpr (!std::is_aggregate_v<T>) return 0;
  else if constexpr (N > most_members || !initialises<T>(std::make_index_sequence<N + 1>{})) return N;
  else return count_members<T, N + 1>();
}

/// Pointers to the members of `t`, in order.
template <class T> constexpr auto members(T& t) {
  constexpr size_t n = count_members<std::remove_const_t<T>>();
  static_assert(n <= most_members, "a reflected struct has at most 32 members");
  if constexpr (n == 0) {
    return std::tuple();
  } else if constexpr (n == 1) {
    auto& [m1] = t;
    return std::tuple(&m1);
  } else if constexpr (n == 2) {
    auto& [m1, m2] = t;
    return std::tuple(&m1, &m2);
  } else if constexpr (n == 3) {
    auto& [m1, m2, m3] = t;
    return std::tuple(&m1, &m2, &m3);
  } else if constexpr (n == 4) {
    auto& [m1, m2, m3, m4] = t;
    return std::tuple(&m1, &m2, &m3, &m4);
  } else if constexpr (n == 5) {
    auto& [m1, m2, m3, m4, m5] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5);
  } else if constexpr (n == 6) {
    auto& [m1, m2, m3, m4, m5, m6] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6);
  } else if constexpr (n == 7) {
    auto& [m1, m2, m3, m4, m5, m6, m7] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7);
  } else if constexpr (n == 8) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8);
  } else if constexpr (n == 9) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9);
  } else if constexpr (n == 10) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10);
  } else if constexpr (n == 11) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11);
  } else if constexpr (n == 12) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12);
  } else if constexpr (n == 13) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13);
  } else if constexpr (n == 14) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14);
  } else if constexpr (n == 15) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15);
  } else if constexpr (n == 16) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16);
  } else if constexpr (n == 17) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17);
  } else if constexpr (n == 18) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17,
                      &m18);
  } else if constexpr (n == 19) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19);
  } else if constexpr (n == 20) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20);
  } else if constexpr (n == 21) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21);
  } else if constexpr (n == 22) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22);
  } else if constexpr (n == 23) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] =
        t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23);
  } else if constexpr (n == 24) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24);
  } else if constexpr (n == 25) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25);
  } else if constexpr (n == 26) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26);
  } else if constexpr (n == 27) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27);
  } else if constexpr (n == 28) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27, &m28);
  } else if constexpr (n == 29) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27, &m28, &m29);
  } else if constexpr (n == 30) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27, &m28, &m29, &m30);
  } else if constexpr (n == 31) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30, m31] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27, &m28, &m29, &m30, &m31);
  } else if constexpr (n == 32) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30, m31, m32] = t;
    return std::tuple(&m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13, &m14, &m15, &m16, &m17, &m18,
                      &m19, &m20, &m21, &m22, &m23, &m24, &m25, &m26, &m27, &m28, &m29, &m30, &m31, &m32);
  }
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T> struct Example {
  T value;
};
template <class T> extern const Example<T> example;  // never defined: only its members' addresses are named

template <auto Pointer> constexpr std::string_view spelled() { return __PRETTY_FUNCTION__; }
/// The name of member `I` of `T`: the last identifier of the pointer's spelling.
template <class T, size_t I> constexpr std::string_view member_name() {
  constexpr std::string_view text = spelled<std::get<I>(members(example<T>.value))>();
  constexpr auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  // g++: "... Pointer = (& example<O>...value.O::strides); ...", clang: "... &example.value.strides]". Where O is local
  // to a function, its spelling has parentheses too: the last one ends the name.
  constexpr size_t end = text.find(')', text.find("value.")) == text.npos ? text.rfind(']') : text.rfind(')');
  constexpr size_t begin = [&] {
    size_t i = end;
    while (i > 0 && is_name(text[i - 1])) --i;
    return i;
  }();
  static_assert(begin < end, "the compiler spells pointers to members in an unknown way");
  return text.substr(begin, end - begin);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// The type as the compiler spells it.
template <class T> constexpr std::string_view type_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // g++: "... [with T = X; ...]", clang: "... [T = X]"
  constexpr size_t begin = text.find("T = ") + 4;
  return text.substr(begin, (text.find(';', begin) == text.npos ? text.rfind(']') : text.find(';', begin)) - begin);
}

}  // namespace thalweg::reflect
