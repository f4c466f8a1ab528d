#include <fast_float/fast_float.h>

#include <charconv>
#include <complex>
#include <cstdio>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct ToNumberAttrs {
  DType out_type = DType::float32;
};
struct AsStringAttrs {
  int64_t precision = -1;
  bool scientific = false;
  bool shortest = false;
  int64_t width = -1;
  std::string fill = "";
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != lower[i]) return false;
  return true;
}

// Whole hexadecimal numbers, 0x1F, of any size that fits below 32 letters.
template <class T> bool read_hexadecimal(std::string_view digits, T& value) {
  double sum = 0;
  for (char ch : digits) {
    int digit = ch >= '0' && ch <= '9'                     ? ch - '0'
                : (ch | 0x20) >= 'a' && (ch | 0x20) <= 'f' ? (ch | 0x20) - 'a' + 10
                                                           : -1;
    if (digit < 0) return false;
    sum = sum * 16 + digit;
  }
  value = static_cast<T>(sum);
  return !digits.empty();
}

// What TensorFlow takes for a real number: decimal, hexadecimal integer, inf, nan, with a sign and white space around;
// white space alone is 0. Below 32 letters.
template <class T> bool read_real(std::string_view text, T& value) {
  constexpr size_t letters = 32;
  if (text.empty() || text.size() >= letters) return false;
  text = trim(text);
  value = 0;
  if (text.empty()) return true;
  bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (text.empty() || text.front() == '-' || text.front() == '+') return false;
  if (equals_ignoring_case(text, "inf")) {
    value = std::numeric_limits<T>::infinity();
  } else if (equals_ignoring_case(text, "nan")) {
    value = std::numeric_limits<T>::quiet_NaN();
  } else if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
    if (!read_hexadecimal(text.substr(2), value)) return false;
  } else {
    if ((text.front() | 0x20) == 'i' || (text.front() | 0x20) == 'n') return false;  // "infinity" and its like
    auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
    // Out of range gives infinity or zero, which is the answer.
    if (end != text.data() + text.size() || (error != std::errc() && error != std::errc::result_out_of_range))
      return false;
  }
  if (negative) value = -value;
  return true;
}

template <class T> bool read_integer(std::string_view text, T& value) {
  text = trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <class T> void run_to_number(const KernelCall& c) {
  run_each<T>(c, [&](const std::string& text) {
    T value{};
    bool good;
    if constexpr (std::is_floating_point_v<T>) good = read_real(text, value);
    else good = read_integer(text, value);
    if (!good) c.fail("StringToNumberOp could not correctly convert string: " + text.substr(0, 100));
    return value;
  });
}

const Op& StringToNumber = define_op({
    .name = "StringToNumber",
    .doc = "Numbers from text.",
    .signature = "string_tensor: string -> output: out_type",
    .types = {{"out_type", types(float32, float64) | index_types}},
    .attrs = attrs_of<ToNumberAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      switch (c.output_dtype()) {
        case DType::float32:
          return run_to_number<float>(c);
        case DType::float64:
          return run_to_number<double>(c);
        case DType::int32:
          return run_to_number<int32_t>(c);
        default:
          return run_to_number<int64_t>(c);
      }
    }},
    .traits = text_traits,
});

void infer_as_string(InferCall& c) {
  constexpr int64_t longest = 4096;
  const auto& attrs = c.attrs<AsStringAttrs>();
  std::string dtype(name_of(c.dtype(0)));
  bool real = is_floating(c.dtype(0)) || is_complex(c.dtype(0));
  if (attrs.scientific && attrs.shortest) c.fail("Cannot select both scientific and shortest notation");
  if (!real && (attrs.scientific || attrs.shortest))
    c.fail("scientific and shortest format not supported for datatype " + dtype);
  if (!real && c.dtype(0) != DType::string && attrs.precision >= 0)
    c.fail("precision not supported for datatype " + dtype);
  if (attrs.fill.size() > 1) c.fail("fill must be one character or none, got \"" + attrs.fill + "\"");
  if (!attrs.fill.empty() && std::string_view(" +-0#").find(attrs.fill[0]) == std::string_view::npos)
    c.fail("Fill argument not supported: \"" + attrs.fill + "\"");
  if (attrs.width > longest || attrs.precision > longest)
    c.fail("width and precision must be at most " + std::to_string(longest) + ", got " + std::to_string(attrs.width) +
           " and " + std::to_string(attrs.precision));
  c.output(0, c.shape(0));
}

// printf's way to write a number; every part of the format was checked.
class NumberFormat {
 public:
  NumberFormat(const AsStringAttrs& attrs, const char* conversion) : format_("%" + attrs.fill) {
    if (attrs.width >= 0) format_ += std::to_string(attrs.width);
    if (attrs.precision >= 0) format_ += "." + std::to_string(attrs.precision);
    format_ += conversion;
  }
  template <class T> std::string operator()(T value) const {
    char text[512];
    int size = std::snprintf(text, sizeof text, format_.c_str(), value);
    if (size < static_cast<int>(sizeof text)) return std::string(text, static_cast<size_t>(size));
    std::string longer(static_cast<size_t>(size), ' ');
    std::snprintf(longer.data(), longer.size() + 1, format_.c_str(), value);
    return longer;
  }

 private:
  std::string format_;
};

template <class T, class Write> void write_each(const KernelCall& c, const Write& write) {
  const T* in = c.input<T>(0);
  std::string* out = c.output<std::string>();
  for_each_string(c.count(0), [&](int64_t i) { out[i] = write(in[i]); });
}

template <class T> void write_reals(const KernelCall& c) {
  const auto& attrs = c.attrs<AsStringAttrs>();
  NumberFormat format(attrs, attrs.shortest ? "g" : attrs.scientific ? "e" : "f");
  if constexpr (requires(T v) { v.real(); })
    write_each<T>(c, [&](const T& v) {
      std::string text = "(";
      text += format(static_cast<double>(v.real())) += ',';
      return text += format(static_cast<double>(v.imag())) += ')';
    });
  else if constexpr (std::is_floating_point_v<T>) write_each<T>(c, [&](T v) { return format(static_cast<double>(v)); });
  else write_each<T>(c, [&](T v) { return format(static_cast<double>(static_cast<float>(v))); });
}

template <class T> void write_integers(const KernelCall& c) {
  NumberFormat format(c.attrs<AsStringAttrs>(), std::is_signed_v<T> ? "lld" : "llu");
  using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
  write_each<T>(c, [&](T v) { return format(static_cast<Wide>(v)); });
}

// Strings are cut and padded as %s does it, but a zero byte does not end them.
void write_strings(const KernelCall& c) {
  const auto& attrs = c.attrs<AsStringAttrs>();
  write_each<std::string>(c, [&](const std::string& text) {
    std::string cut = attrs.precision >= 0 ? text.substr(0, static_cast<size_t>(attrs.precision)) : text;
    size_t width = attrs.width > 0 ? static_cast<size_t>(attrs.width) : 0;
    if (cut.size() < width) cut.insert(attrs.fill == "-" ? cut.size() : 0, width - cut.size(), ' ');
    return cut;
  });
}

const Op& AsString = define_op({
    .name = "AsString",
    .doc = "Numbers as text, as C's printf writes them.",
    .signature = "input: T -> output: string",
    .types = {{"T", plain_types | types(string)}},
    .attrs = attrs_of<AsStringAttrs>(),
    .infer = infer_as_string,
    .kernel = {[](const KernelCall& c) {
      switch (c.dtype(0)) {
        case DType::float32:
          return write_reals<float>(c);
        case DType::float64:
          return write_reals<double>(c);
        case DType::float16:
          return write_reals<Half>(c);
        case DType::bfloat16:
          return write_reals<BFloat16>(c);
        case DType::complex64:
          return write_reals<std::complex<float>>(c);
        case DType::complex128:
          return write_reals<std::complex<double>>(c);
        case DType::int8:
          return write_integers<int8_t>(c);
        case DType::int16:
          return write_integers<int16_t>(c);
        case DType::int32:
          return write_integers<int32_t>(c);
        case DType::int64:
          return write_integers<int64_t>(c);
        case DType::uint8:
          return write_integers<uint8_t>(c);
        case DType::uint16:
          return write_integers<uint16_t>(c);
        case DType::uint32:
          return write_integers<uint32_t>(c);
        case DType::uint64:
          return write_integers<uint64_t>(c);
        case DType::bool_:
          return write_each<bool>(c, [](bool v) { return std::string(v ? "true" : "false"); });
        default:
          return write_strings(c);
      }
    }},
    .traits = text_traits,
});

}  // namespace

Tensor to_number(const TensorLike& input, const ToNumberOptions& options) {
  return apply1(StringToNumber, {input}, ToNumberAttrs{options.out_type});
}
Tensor as_string(const TensorLike& input, const AsStringOptions& options) {
  return apply1(AsString, {input},
                AsStringAttrs{options.precision, options.scientific, options.shortest, options.width, options.fill});
}

namespace {
const FunctionDef* const strings_number_functions[] = {
    &define_function<Tensor(const TensorLike&, const strings::ToNumberOptions&), to_number>({"strings.to_number"},
                                                                                            {"input"}),
    &define_function<Tensor(const TensorLike&, const strings::AsStringOptions&), as_string>(
        {"strings.as_string", "as_string"}, {"input"}),
};
}  // namespace

}  // namespace thalweg::strings
