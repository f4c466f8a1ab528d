// String functions against values of TensorFlow 2.15.1.
#include "thalweg/ops/strings.h"

#include <gtest/gtest.h>

#include "thalweg/core/error.h"
#include "thalweg/kernels/string_hash.h"

namespace thalweg::strings {
namespace {

std::vector<std::string> texts(const Tensor& t) {
  auto span = t.span<std::string>();
  return {span.begin(), span.end()};
}
using Texts = std::vector<std::string>;

TEST(Strings, HashesHaveTensorFlowsBuckets) {
  struct Row {
    std::string text;
    int64_t plain, fast, strong;
  };
  std::string digits, letters;
  for (int i = 0; i < 7; ++i) digits += "0123456789";
  for (int i = 0; i < 20; ++i) letters += "abcdefgh";
  const Row rows[] = {{"", 478987903, 1936946117179621455, 443797209252341627},
                      {"a", 2048337276, 3694432073954588131, 546566331822570742},
                      {"abc", 1291404987, 2640714258260161385, 1250540936487842205},
                      {"hello world", 812511647, 1769834696496558107, 1015233985318741638},
                      {std::string(8, 'x'), 76470270, 416454844068956798, 3136364361150701223},
                      {std::string(17, 'y'), 799441378, 426471879119003573, 1541948060395825868},
                      {std::string(33, 'z'), 238380753, 1983000239170337647, 1384389142664038360},
                      {std::string(64, 'q'), 1844163072, 3227602484106814583, 240707163344490513},
                      {std::string(65, 'r'), 707791384, 3513611017891479274, 231690226564431928},
                      {digits, 1693942518, 650192320029534232, 807667573200760574},
                      {letters, 1651508448, 1081092168181837154, 2375590510201830909}};
  constexpr int64_t many = int64_t{1} << 62;
  for (const Row& row : rows) {
    EXPECT_EQ(to_hash_bucket(row.text, INT32_MAX).item<int64_t>(), row.plain) << row.text;
    EXPECT_EQ(to_hash_bucket_fast(row.text, many).item<int64_t>(), row.fast) << row.text;
    EXPECT_EQ(to_hash_bucket_strong(row.text, many, {1, 2}).item<int64_t>(), row.strong) << row.text;
  }
  EXPECT_EQ(to_hash_bucket_strong("abc", 1000, {-1, many}).item<int64_t>(), 606);
  EXPECT_THROW(to_hash_bucket_strong("abc", 1000, {1}), InvalidArgumentError);
  EXPECT_THROW(to_hash_bucket("abc", 0), InvalidArgumentError);
}

TEST(Strings, CaseFollowsUnicode) {
  auto up = [](const char* s) { return upper(s, {.encoding = "utf-8"}).item<std::string>(); };
  auto low = [](const char* s) { return lower(s, {.encoding = "utf-8"}).item<std::string>(); };
  EXPECT_EQ(up("ÀÉß ﬁ Σας ǅ"), "ÀÉSS FI ΣΑΣ Ǆ");
  EXPECT_EQ(low("ÀÉß ﬁ Σας ΟΔΟΣ İ ǅ"), "àéß ﬁ σας οδος i̇ ǆ");
  EXPECT_EQ(low("ΑΣ ΑΣΑ Σ"), "ας ασα σ");
  EXPECT_EQ(up("ŉ ΐ"), "\xca\xbcN \xce\x99\xcc\x88\xcc\x81");  // letters and their marks apart
  EXPECT_EQ(up("ა"), "Ა");
  EXPECT_EQ(up("a\xff"
               "b\xe2\x82"),
            "A\xef\xbf\xbd"
            "B\xef\xbf\xbd");
  EXPECT_EQ(upper("é").item<std::string>(), "é");
  EXPECT_THROW(upper("a", {.encoding = "latin"}), InvalidArgumentError);
}

TEST(Strings, PartsOfStrings) {
  EXPECT_EQ(texts(substr({{"a1", "b2"}, {"c3", "d4"}}, {{0}, {1}}, {{1}, {1}})), (Texts{"a", "b", "3", "4"}));
  EXPECT_EQ(substr("héllo", 1, 2, {.unit = "UTF8_CHAR"}).item<std::string>(), "él");
  EXPECT_EQ(substr("héllo", -2, 9, {.unit = "UTF8_CHAR"}).item<std::string>(), "lo");
  EXPECT_EQ(substr("hello", 5, 1).item<std::string>(), "");
  EXPECT_EQ(substr("hello", 1, -3).item<std::string>(), "ello");
  EXPECT_THROW(substr("hello", 6, 1), InvalidArgumentError);
  EXPECT_THROW(substr("hello", -6, 1), InvalidArgumentError);
  EXPECT_EQ(length("héllo", {.unit = "UTF8_CHAR"}).item<int32_t>(), 5);
  EXPECT_EQ(strip(" \t\n\v\f\r a b ").item<std::string>(), "a b");
  EXPECT_EQ(texts(join({Tensor({"a", "b"}), "c", Tensor({"d", "e"})}, {.separator = "-"})), (Texts{"a-c-d", "b-c-e"}));
}

TEST(Strings, SplitsLikePython) {
  EXPECT_EQ(texts(split(" a  b ")), (Texts{"a", "b"}));
  EXPECT_EQ(texts(split("a b ", {.maxsplit = 1})), (Texts{"a", "b "}));
  EXPECT_EQ(texts(split("a", {.maxsplit = 1})), (Texts{"a", ""}));
  EXPECT_EQ(texts(split("a,b,,c", {.sep = ",", .maxsplit = 2})), (Texts{"a", "b", ",c"}));
  EXPECT_EQ(texts(split("", {.sep = ","})), (Texts{""}));
  EXPECT_EQ(texts(split("abcabc", {.sep = "bc"})), (Texts{"a", "a", ""}));
  EXPECT_EQ(texts(bytes_split("hey")), (Texts{"h", "e", "y"}));
  SplitResult two = split_v2({"a b", "c"});
  EXPECT_EQ(two.indices.shape(), Shape({3, 2}));
  EXPECT_EQ(two.shape.span<int64_t>()[1], 2);
}

TEST(Strings, NumbersAndText) {
  EXPECT_EQ(to_number(" -0x1f ").item<float>(), -31.0f);
  EXPECT_EQ(to_number("  ").item<float>(), 0.0f);
  EXPECT_EQ(to_number("1e400", {.out_type = float64}).item<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_number("-2147483648", {.out_type = int32}).item<int32_t>(), INT32_MIN);
  for (const char* bad :
       {"", "1e", ".", "infinity", "nanx", "1_0", "--1", "+ 1", "0x1p3", "99999999999999999999999999999999"})
    EXPECT_THROW(to_number(bad), InvalidArgumentError) << bad;
  for (const char* bad : {"", " ", "+1", "0x1F", "1.", "2147483648"})
    EXPECT_THROW(to_number(bad, {.out_type = int32}), InvalidArgumentError) << bad;
  EXPECT_EQ(as_string(3.14159).item<std::string>(), "3.141590");
  EXPECT_EQ(as_string(1e20, {.precision = 3, .shortest = true}).item<std::string>(), "1e+20");
  EXPECT_EQ(as_string(3, {.width = 5, .fill = "0"}).item<std::string>(), "00003");
  EXPECT_EQ(as_string(true, {.width = 7}).item<std::string>(), "true");
  EXPECT_EQ(as_string("abc", {.width = 5}).item<std::string>(), "  abc");
  EXPECT_THROW(as_string(3, {.fill = "%"}), InvalidArgumentError);
  EXPECT_THROW(as_string(3, {.width = INT32_MAX}), InvalidArgumentError);
}

TEST(Strings, RegularExpressions) {
  EXPECT_EQ(regex_replace("ab", "(a)(b)", "\\2\\1\\0").item<std::string>(), "baab");
  EXPECT_EQ(regex_replace("ab", "(a)", "\\2").item<std::string>(), "ab");
  EXPECT_EQ(regex_replace("aXbX", "X", "-", {.replace_global = false}).item<std::string>(), "a-bX");
  EXPECT_THROW(regex_replace("ab", "(", ""), InvalidArgumentError);
  EXPECT_THROW(regex_replace("ab", "a", "\\"), InvalidArgumentError);
  EXPECT_FALSE(regex_full_match("abc", "a.").item<bool>());
}

TEST(Strings, JoinsAndBytes) {
  Tensor letters = {{"a", "b"}, {"c", "d"}};
  EXPECT_EQ(reduce_join(letters, {.separator = "-"}).item<std::string>(), "a-b-c-d");
  EXPECT_EQ(reduce_join(letters, {.axis = {0, 1}, .separator = "-"}).item<std::string>(), "a-c-b-d");
  EXPECT_EQ(texts(unsorted_segment_join(letters, {1, 1}, 2, {.separator = ","})), (Texts{"", "", "a,c", "b,d"}));
  EXPECT_THROW(unsorted_segment_join({"x", "y"}, {-1, 0}, 2), InvalidArgumentError);
  EXPECT_EQ(format("a {} b {}", {Tensor({1, 2, 3, 4, 5, 6, 7, 8}), "x"}).item<std::string>(),
            "a [1 2 3 ... 6 7 8] b \"x\"");
  EXPECT_EQ(io::encode_base64("abcd", {.pad = true}).item<std::string>(), "YWJjZA==");
  EXPECT_EQ(io::decode_base64("YW-_").item<std::string>(), "ao\xbf");
  for (const char* bad : {"YQ=", "Y", "YWJj====", "YW+/", "Y===", " YQ"})
    EXPECT_THROW(io::decode_base64(bad), InvalidArgumentError) << bad;
  EXPECT_EQ(io::decode_raw("\x01\x02", int16, {.little_endian = false})[0].item<int16_t>(), 258);
  EXPECT_EQ(io::decode_raw({"\x01", "\x01\x02\x03"}, int16, {.fixed_length = 4}).shape(), Shape({2, 2}));
  EXPECT_THROW(io::decode_raw("abc", int16), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg::strings
