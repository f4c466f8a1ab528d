#include <algorithm>
#include <array>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg {
namespace {

using strings::run_each, strings::text_traits;

struct EncodeBase64Attrs {
  bool pad = false;
};
struct DecodeRawAttrs {
  DType out_type = DType::invalid;
  bool little_endian = true;
};

// RFC 4648's alphabet for addresses and file names.
constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<int8_t, 256> base64_values = [] {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < base64_letters.size(); ++i)
    values[static_cast<unsigned char>(base64_letters[i])] = static_cast<int8_t>(i);
  return values;
}();

std::string encode(std::string_view bytes, bool pad) {
  std::string letters;
  letters.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k <= count; ++k) letters += base64_letters[bits >> (18 - 6 * k) & 63];
    if (pad) letters.append(3 - count, '=');
  }
  return letters;
}

// Padding may be there or not; bits past the last whole byte are not looked at.
std::string decode(const KernelCall& c, std::string_view letters) {
  if (letters.size() % 4 == 1) c.fail("Base64 string length cannot be 1 modulo 4.");
  if (letters.size() % 4 == 0)
    for (int i = 0; i < 2 && letters.ends_with('='); ++i) letters.remove_suffix(1);
  std::string bytes;
  bytes.reserve(letters.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int num_bits = 0;
  for (char letter : letters) {
    int value = base64_values[static_cast<unsigned char>(letter)];
    if (value < 0) c.fail("Invalid character found in base64.");
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xffffff;
    num_bits += 6;
    if (num_bits >= 8) bytes += static_cast<char>(bits >> (num_bits -= 8) & 0xff);
  }
  return bytes;
}

const Op& EncodeBase64 = define_op({
    .name = "EncodeBase64",
    .doc = "Bytes as letters safe in addresses of the web.",
    .signature = "input: string -> output: string",
    .attrs = attrs_of<EncodeBase64Attrs>(),
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      run_each<std::string>(c,
                            [&](const std::string& bytes) { return encode(bytes, c.attrs<EncodeBase64Attrs>().pad); });
    }},
    .traits = text_traits,
});

const Op& DecodeBase64 = define_op({
    .name = "DecodeBase64",
    .doc = "Bytes from letters safe in addresses of the web.",
    .signature = "input: string -> output: string",
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      run_each<std::string>(c, [&](const std::string& letters) { return decode(c, letters); });
    }},
    .traits = text_traits,
});

// The parts of an element that have a byte order: both halves of a complex number.
size_t ordered_size(DType t) { return is_complex(t) ? size_of(t) / 2 : size_of(t); }

void fix_elements(const KernelCall& c, char* data, size_t bytes) {
  DType t = c.output_dtype();
  size_t each = ordered_size(t);
  if (!c.attrs<DecodeRawAttrs>().little_endian && each > 1)
    for (size_t i = 0; i + each <= bytes; i += each) std::reverse(data + i, data + i + each);
  if (t == DType::bool_)
    for (size_t i = 0; i < bytes; ++i) data[i] = data[i] != 0;
}

constexpr TypeSet raw_types = float_types | signed_types | types(uint8, uint16);

void run_decode_raw(const KernelCall& c) {
  const std::string* in = c.input<std::string>(0);
  int64_t count = c.count(0);
  size_t length = count > 0 ? in[0].size() : 0, element = size_of(c.output_dtype());
  for (int64_t i = 1; i < count; ++i)
    if (in[i].size() != length)
      c.fail("DecodeRaw requires input strings to all be the same size, but element " + std::to_string(i) +
             " has size " + std::to_string(in[i].size()) + " != " + std::to_string(length));
  if (length % element != 0)
    c.fail("Input to DecodeRaw has length " + std::to_string(length) + " that is not a multiple of " +
           std::to_string(element) + ", the size of " + std::string(name_of(c.output_dtype())));
  Shape shape = c.shape(0);
  shape.push_back(static_cast<int64_t>(length / element));
  c.allocate(0, shape);
  char* out = c.output<char>();
  for (int64_t i = 0; i < count && length > 0; ++i)
    std::copy_n(in[i].data(), length, out + static_cast<size_t>(i) * length);
  fix_elements(c, out, static_cast<size_t>(count) * length);
}

const Op& DecodeRaw = define_op({
    .name = "DecodeRaw",
    .doc = "The bytes of strings of one length as numbers, in a new last dimension.",
    .signature = "bytes: string -> output: out_type",
    .types = {{"out_type", raw_types | complex_types | types(bool_)}},
    .attrs = attrs_of<DecodeRawAttrs>(),
    .infer =
        [](InferCall& c) {
          Shape shape = c.shape(0);
          if (shape.has_rank()) shape.push_back(unknown);
          c.output(0, shape);
        },
    .kernel = {run_decode_raw},
    .traits = text_traits,
});

void infer_padded_raw(InferCall& c) {
  if (c.shape(1).has_rank() && c.shape(1).rank() != 0)
    c.fail("fixed_length must be scalar, got shape " + c.shape(1).brackets());
  Shape shape = c.shape(0);
  int64_t element = static_cast<int64_t>(size_of(c.result_dtype(0))), width = unknown;
  if (c.has_value(1)) {
    int64_t length = c.scalar(1);
    if (length <= 0) c.fail("fixed_length (" + std::to_string(length) + ") must be greater than zero.");
    if (length % element != 0)
      c.fail("fixed_length (" + std::to_string(length) + ") must be a multiple of the size of out_type (" +
             std::to_string(element) + ")");
    width = length / element;
  }
  if (shape.has_rank()) shape.push_back(width);
  c.output(0, shape);
}

const Op& DecodePaddedRaw = define_op({
    .name = "DecodePaddedRaw",
    .doc = "The bytes of strings as numbers, cut or filled with zeros to fixed_length bytes.",
    .signature = "input_bytes: string, fixed_length: int32 -> output: out_type",
    .types = {{"out_type", raw_types}},
    .attrs = attrs_of<DecodeRawAttrs>(),
    .infer = infer_padded_raw,
    .kernel = {[](const KernelCall& c) {
      const std::string* in = c.input<std::string>(0);
      size_t length = static_cast<size_t>(c.scalar(1));
      char* out = c.output<char>();
      for (int64_t i = 0, n = c.count(0); i < n; ++i) {
        char* to = out + static_cast<size_t>(i) * length;
        size_t given = std::min(length, in[i].size());
        std::copy_n(in[i].data(), given, to);
        std::fill_n(to + given, length - given, '\0');
      }
      fix_elements(c, out, static_cast<size_t>(c.count(0)) * length);
    }},
    .traits = text_traits,
});

}  // namespace

namespace io {
Tensor encode_base64(const TensorLike& input, const EncodeBase64Options& options) {
  return apply1(EncodeBase64, {input}, EncodeBase64Attrs{options.pad});
}
Tensor decode_base64(const TensorLike& input) { return apply1(DecodeBase64, {input}); }

Tensor decode_raw(const TensorLike& input_bytes, DType out_type, const DecodeRawOptions& options) {
  DecodeRawAttrs attrs{out_type, options.little_endian};
  if (!options.fixed_length.defined()) return apply1(DecodeRaw, {input_bytes}, attrs);
  return apply1(DecodePaddedRaw, {input_bytes, options.fixed_length}, attrs);
}
}  // namespace io

namespace {
const FunctionDef* const strings_bytes_functions[] = {
    &define_function<io::encode_base64>({"io.encode_base64"}, {"input"}),
    &define_function<io::decode_base64>({"io.decode_base64"}, {"input"}),
    &define_function<io::decode_raw>({"io.decode_raw"}, {"input_bytes", "out_type"}),
};
}  // namespace

}  // namespace thalweg
