#include <string_view>

#include "thalweg/kernels/string_hash.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct BucketAttrs {
  int64_t num_buckets = 1;
};
struct KeyedBucketAttrs {
  int64_t num_buckets = 1;
  std::vector<int64_t> key = {};
};

template <class A> void infer_buckets(InferCall& c) {
  int64_t buckets = c.attrs<A>().num_buckets;
  if (buckets < 1) c.fail("num_buckets must be at least 1, got " + std::to_string(buckets));
  c.output(0, c.shape(0));
}

template <class A, class Hash> void run_buckets(const KernelCall& c, const Hash& hash) {
  uint64_t buckets = static_cast<uint64_t>(c.attrs<A>().num_buckets);
  run_each<int64_t>(c, [&](const std::string& text) { return static_cast<int64_t>(hash(text) % buckets); });
}

const Op& StringToHashBucket = define_op({
    .name = "StringToHashBucket",
    .doc = "A bucket for each string by TensorFlow's own hash.",
    .signature = "string_tensor: string -> output: int64",
    .attrs = attrs_of<BucketAttrs>(),
    .infer = infer_buckets<BucketAttrs>,
    .kernel = {[](const KernelCall& c) { run_buckets<BucketAttrs>(c, kernels::hash64); }},
    .traits = text_traits,
});

const Op& StringToHashBucketFast = define_op({
    .name = "StringToHashBucketFast",
    .doc = "A bucket for each string by its fingerprint.",
    .signature = "input: string -> output: int64",
    .attrs = attrs_of<BucketAttrs>(),
    .infer = infer_buckets<BucketAttrs>,
    .kernel = {[](const KernelCall& c) { run_buckets<BucketAttrs>(c, kernels::fingerprint64); }},
    .traits = text_traits,
});

const Op& StringToHashBucketStrong = define_op({
    .name = "StringToHashBucketStrong",
    .doc = "A bucket for each string by a hash under a key of two numbers.",
    .signature = "input: string -> output: int64",
    .attrs = attrs_of<KeyedBucketAttrs>(),
    .infer =
        [](InferCall& c) {
          if (c.attrs<KeyedBucketAttrs>().key.size() != 2) c.fail("Key must have 2 elements");
          infer_buckets<KeyedBucketAttrs>(c);
        },
    .kernel = {[](const KernelCall& c) {
      const std::vector<int64_t>& key = c.attrs<KeyedBucketAttrs>().key;
      run_buckets<KeyedBucketAttrs>(c, [&](const std::string& text) {
        return kernels::sip_hash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1]), text);
      });
    }},
    .traits = text_traits,
});

constexpr int64_t fingerprint_bytes = 8;
constexpr const char* known_method = "farmhash64";

void infer_fingerprint(InferCall& c) {
  require_scalar(c, 1, "`method`");
  c.require_rank_at_least(0, 1);
  if (c.has_value(1) && *c.tensor(1).data<std::string>() != known_method)
    c.fail("Unsupported fingerprint method: " + *c.tensor(1).data<std::string>());
  c.output(0, {c.shape(0).has_rank() ? c.shape(0)[0] : unknown, fingerprint_bytes});
}
void run_fingerprint(const KernelCall& c) {
  const int64_t rows = c.shape(0)[0], each = c.shape(0).count(1, c.shape(0).rank());
  auto* out = c.output<uint8_t>();
  auto put = [&](int64_t row, std::string_view bytes) {
    const uint64_t print = kernels::fingerprint64(bytes);
    for (int i = 0; i < fingerprint_bytes; ++i) out[row * 8 + i] = static_cast<uint8_t>(print >> (8 * i));
  };
  if (c.dtype() != DType::string) {
    const size_t bytes = static_cast<size_t>(each) * size_of(c.dtype());
    for_each_string(rows, [&](int64_t row) { put(row, {c.input<char>(0) + static_cast<size_t>(row) * bytes, bytes}); });
    return;
  }
  const auto* in = c.input<std::string>(0);
  for_each_string(rows, [&](int64_t row) {
    if (each == 1) return put(row, in[row]);
    std::string prints;  // several strings: the fingerprint of theirs
    for (int64_t i = 0; i < each; ++i) {
      const uint64_t print = kernels::fingerprint64(in[row * each + i]);
      for (int b = 0; b < fingerprint_bytes; ++b) prints += static_cast<char>(print >> (8 * b));
    }
    put(row, prints);
  });
}

const Op& Fingerprint = define_op({
    .name = "Fingerprint",
    .doc = "Eight bytes for each row of the data, the same for ever: FarmHash's Fingerprint64, little-endian.",
    .signature = "data: T, method: string -> fingerprint: uint8",
    .infer = infer_fingerprint,
    .kernel = {.run = run_fingerprint, .types = all_types - types(DType::resource, DType::variant)},
    .traits = text_traits,
});

}  // namespace

Tensor to_hash_bucket(const TensorLike& input, int64_t num_buckets) {
  return apply1(StringToHashBucket, {input}, BucketAttrs{num_buckets});
}
Tensor to_hash_bucket_fast(const TensorLike& input, int64_t num_buckets) {
  return apply1(StringToHashBucketFast, {input}, BucketAttrs{num_buckets});
}
Tensor to_hash_bucket_strong(const TensorLike& input, int64_t num_buckets, const std::vector<int64_t>& key) {
  return apply1(StringToHashBucketStrong, {input}, KeyedBucketAttrs{num_buckets, key});
}

namespace {
const FunctionDef* const strings_hash_functions[] = {
    &define_function<thalweg::fingerprint>({"fingerprint"}, {"data"}),
    &define_function<to_hash_bucket>({"strings.to_hash_bucket"}, {"input", "num_buckets"}),
    &define_function<to_hash_bucket_fast>({"strings.to_hash_bucket_fast"}, {"input", "num_buckets"}),
    &define_function<to_hash_bucket_strong>({"strings.to_hash_bucket_strong"}, {"input", "num_buckets", "key"}),
};
}  // namespace

}  // namespace thalweg::strings

namespace thalweg {

Tensor fingerprint(const TensorLike& data, const FingerprintOptions& options) {
  return apply1(strings::Fingerprint, {data, Tensor(options.method)});
}

}  // namespace thalweg
