#include <re2/re2.h>

#include <map>
#include <memory>
#include <mutex>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct ReplaceAttrs {
  bool replace_global = true;
};
struct StaticReplaceAttrs {
  std::string pattern = "";
  std::string rewrite = "";
  bool replace_global = true;
};
struct StaticMatchAttrs {
  std::string pattern = "";
};

using Regex = std::shared_ptr<const RE2>;

// Compiling costs far more than matching, and programs use few patterns: the last ones are kept.
class RegexCache {
 public:
  Regex get(const std::string& pattern) {
    std::lock_guard lock(mutex_);
    if (auto found = kept_.find(pattern); found != kept_.end()) return found->second;
    RE2::Options options;
    options.set_log_errors(false);
    auto regex = std::make_shared<const RE2>(pattern, options);
    if (kept_.size() >= capacity) kept_.clear();
    return kept_.emplace(pattern, std::move(regex)).first->second;
  }

 private:
  static constexpr size_t capacity = 64;
  std::mutex mutex_;
  std::map<std::string, Regex> kept_;
};
RegexCache& cache() {
  static RegexCache& shared = *new RegexCache;
  return shared;
}

template <class Call> Regex compile(const Call& c, const std::string& pattern) {
  Regex regex = cache().get(pattern);
  if (!regex->ok()) c.fail("Invalid pattern: " + pattern + ", error: " + regex->error());
  return regex;
}

void replace(const KernelCall& c, const std::string& pattern, const std::string& rewrite, bool all) {
  Regex regex = compile(c, pattern);
  std::string error;
  // As in TensorFlow, a group the pattern does not have leaves the text alone.
  bool unknown_group = RE2::MaxSubmatch(rewrite) > regex->NumberOfCapturingGroups();
  if (!unknown_group && !regex->CheckRewriteString(rewrite, &error))
    c.fail("Invalid rewrite: " + rewrite + ", error: " + error);
  run_each<std::string>(c, [&](std::string text) {
    if (all) RE2::GlobalReplace(&text, *regex, rewrite);
    else RE2::Replace(&text, *regex, rewrite);
    return text;
  });
}

void match(const KernelCall& c, const std::string& pattern) {
  Regex regex = compile(c, pattern);
  run_each<bool>(c, [&](const std::string& text) { return RE2::FullMatch(text, *regex); });
}

const Op& RegexReplace = define_op({
    .name = "RegexReplace",
    .doc = "What matches the pattern replaced by the rewrite.",
    .signature = "input: string, pattern: string, rewrite: string -> output: string",
    .attrs = attrs_of<ReplaceAttrs>(),
    .infer =
        [](InferCall& c) {
          require_scalar(c, 1, "Pattern");
          require_scalar(c, 2, "Rewrite");
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      replace(c, *c.input<std::string>(1), *c.input<std::string>(2), c.attrs<ReplaceAttrs>().replace_global);
    }},
    .traits = text_traits,
});

const Op& StaticRegexReplace = define_op({
    .name = "StaticRegexReplace",
    .doc = "What matches the pattern replaced by the rewrite; both are attributes.",
    .signature = "input: string -> output: string",
    .attrs = attrs_of<StaticReplaceAttrs>(),
    .infer =
        [](InferCall& c) {
          compile(c, c.attrs<StaticReplaceAttrs>().pattern);
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<StaticReplaceAttrs>();
      replace(c, attrs.pattern, attrs.rewrite, attrs.replace_global);
    }},
    .traits = text_traits,
});

const Op& RegexFullMatch = define_op({
    .name = "RegexFullMatch",
    .doc = "Whether the whole string matches the pattern.",
    .signature = "input: string, pattern: string -> output: bool",
    .infer =
        [](InferCall& c) {
          require_scalar(c, 1, "Pattern");
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) { match(c, *c.input<std::string>(1)); }},
    .traits = text_traits,
});

const Op& StaticRegexFullMatch = define_op({
    .name = "StaticRegexFullMatch",
    .doc = "Whether the whole string matches the pattern, which is an attribute.",
    .signature = "input: string -> output: bool",
    .attrs = attrs_of<StaticMatchAttrs>(),
    .infer =
        [](InferCall& c) {
          compile(c, c.attrs<StaticMatchAttrs>().pattern);
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) { match(c, c.attrs<StaticMatchAttrs>().pattern); }},
    .traits = text_traits,
});

}  // namespace

Tensor regex_replace(const TensorLike& input, const TensorLike& pattern, const TensorLike& rewrite,
                     const RegexReplaceOptions& options) {
  return apply1(RegexReplace, {input, pattern, rewrite}, ReplaceAttrs{options.replace_global});
}
Tensor regex_full_match(const TensorLike& input, const TensorLike& pattern) {
  return apply1(RegexFullMatch, {input, pattern});
}

namespace {
const FunctionDef* const strings_regex_functions[] = {
    &define_function<regex_replace>({"strings.regex_replace"}, {"input", "pattern", "rewrite"}),
    &define_function<regex_full_match>({"strings.regex_full_match"}, {"input", "pattern"}),
};
}  // namespace

}  // namespace thalweg::strings
