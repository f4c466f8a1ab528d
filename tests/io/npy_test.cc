#include "thalweg/io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/io/npy_header.h"
#include "thalweg/io/zip.h"

namespace thalweg::io {
namespace {

using errors::DataLossError;
namespace fs = std::filesystem;

const std::string golden = "tests/golden/npy/";

std::string text_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Tensor parse_text(const std::string& bytes) { return parse_npy(std::as_bytes(std::span(bytes))); }

template <class T> std::vector<T> values(const Tensor& tensor) {
  auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}

/// A folder of its own for each test.
class NpyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "npy_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }
  size_t num_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

/// An .npy file with this header, of version 1.0.
std::string npy(const std::string& header, const std::string& data = "") {
  std::string out(npy_magic);
  out += {'\x01', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return out + header + data;
}

template <class T> void expect_golden(const std::string& name, const std::vector<T>& expected) {
  Tensor tensor = load_npy(golden + name + ".npy");
  EXPECT_EQ(tensor.dtype(), dtype_of<T>) << name;
  EXPECT_EQ(tensor.shape(), Shape({2, 3})) << name;
  EXPECT_EQ(values<T>(tensor), expected) << name;
}

TEST_F(NpyTest, ReadsEveryDtypeOfNumPy) {
  expect_golden<bool>("bool", {true, true, false, true, true, true});
  expect_golden<int8_t>("int8", {-2, -1, 0, 1, 2, 3});
  expect_golden<int16_t>("int16", {-2, -1, 0, 1, 2, 3});
  expect_golden<int32_t>("int32", {-2, -1, 0, 1, 2, 3});
  expect_golden<int64_t>("int64", {-2, -1, 0, 1, 2, 3});
  expect_golden<uint8_t>("uint8", {0, 1, 2, 3, 4, 5});
  expect_golden<uint16_t>("uint16", {0, 1, 2, 3, 4, 5});
  expect_golden<uint32_t>("uint32", {0, 1, 2, 3, 4, 5});
  expect_golden<uint64_t>("uint64", {0, 1, 2, 3, 4, 5});
  expect_golden<float>("float32", {-2, -1, 0, 1, 2, 3});
  expect_golden<double>("float64", {-2, -1, 0, 1, 2, 3});
  expect_golden<Half>("float16", {Half(-2), Half(-1), Half(0), Half(1), Half(2), Half(3)});
  using C = std::complex<float>;
  expect_golden<C>("complex64", {C(-2, 0.5), C(-1, 0.5), C(0, 0.5), C(1, 0.5), C(2, 0.5), C(3, 0.5)});
  using Z = std::complex<double>;
  expect_golden<Z>("complex128", {Z(-2, 0.5), Z(-1, 0.5), Z(0, 0.5), Z(1, 0.5), Z(2, 0.5), Z(3, 0.5)});
}

TEST_F(NpyTest, WritesTheBytesOfNumPy) {
  for (const char* name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                           "float32", "float64", "complex64", "complex128", "bfloat16", "bytes", "scalar", "empty"}) {
    std::string file = golden + name + ".npy", copy = path("copy.npy");
    save_npy(copy, load_npy(file));
    EXPECT_EQ(text_bytes(copy), text_bytes(file)) << name;
  }
}

TEST_F(NpyTest, ReadsByteOrdersAndLayouts) {
  EXPECT_EQ(values<float>(load_npy(golden + "big_endian.npy")), (std::vector<float>{0, 0.25, 0.5, 0.75, 1, 1.25}));
  using Z = std::complex<double>;
  EXPECT_EQ(values<Z>(load_npy(golden + "big_endian_complex.npy")), (std::vector<Z>{{1, 2}, {3, -4}}));
  Tensor fortran = load_npy(golden + "fortran.npy");
  EXPECT_EQ(fortran.shape(), Shape({2, 3, 4}));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(fortran.data<int32_t>()[i], i);
  EXPECT_EQ(values<std::string>(load_npy(golden + "fortran_text.npy")),
            (std::vector<std::string>{"a", "bb", "ccc", ""}));
}

TEST_F(NpyTest, ReadsStringsAsUtf8) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(values<std::string>(load_npy(golden + "bytes.npy")), (Strings{std::string("ab\0c", 4), "", "\xff"}));
  EXPECT_EQ(values<std::string>(load_npy(golden + "text.npy")), (Strings{"a\xc3\xb1"
                                                                         "b",
                                                                         "\xf0\x9f\x98\x80", "\xe2\x82\xac"}));
  EXPECT_EQ(values<std::string>(load_npy(golden + "text_big_endian.npy")), Strings{"h\xc3\xa9"});
}

TEST_F(NpyTest, ReadsScalarsEmptyArraysAndNewerVersions) {
  EXPECT_EQ(load_npy(golden + "scalar.npy").shape(), Shape{});
  EXPECT_EQ(load_npy(golden + "scalar.npy").item<double>(), 2.5);
  EXPECT_EQ(load_npy(golden + "empty.npy").shape(), Shape({0, 3}));
  for (const char* name : {"version2.npy", "version3.npy"})
    EXPECT_EQ(values<int16_t>(load_npy(golden + name)), (std::vector<int16_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(NpyTest, KeepsBfloat16AsVoid) {
  Tensor tensor = load_npy(golden + "bfloat16.npy");
  EXPECT_EQ(tensor.dtype(), DType::bfloat16);
  EXPECT_EQ(values<BFloat16>(tensor), (std::vector<BFloat16>{BFloat16(1.5f), BFloat16(-2), BFloat16(3.140625f)}));
}

TEST_F(NpyTest, RoundTripsStringsAndLargeTensors) {
  Tensor strings({"one", "", "three"});
  save_npy(path("s.npy"), strings);
  EXPECT_EQ(values<std::string>(load_npy(path("s.npy"))), values<std::string>(strings));
  std::vector<double> many(200'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = 0.1 * static_cast<double>(i);
  save_npy(path("m.npy"), Tensor(many, {400, 500}));
  EXPECT_EQ(values<double>(load_npy(path("m.npy"))), many);
  EXPECT_EQ(num_files(), 2u);  // nothing temporary is left
}

TEST_F(NpyTest, AcceptsHeadersOfOtherWriters) {
  Tensor old = parse_text(npy("{\"shape\": (2L,), 'fortran_order':False,'descr' : '=i1'}", "\x05\x06"));
  EXPECT_EQ(values<int8_t>(old), (std::vector<int8_t>{5, 6}));
  EXPECT_EQ(
      values<bool>(parse_text(npy("{'descr': '|b1', 'fortran_order': True, 'shape': (2,)}", std::string("\x07\0", 2)))),
      (std::vector<bool>{true, false}));
}

TEST_F(NpyTest, RefusesWhatNoTensorHolds) {
  EXPECT_THROW(load_npy(golden + "objects.npy"), InvalidArgumentError);
  EXPECT_THROW(load_npy(golden + "structured.npy"), InvalidArgumentError);
  for (const char* descr : {"<M8[ns]", "<f16", "|V3", "<i3", "<f99999999999999999999", "x", "<"}) {
    std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (), }";
    EXPECT_THROW(parse_text(npy(header, std::string(64, '\0'))), Error) << descr;
  }
  try {
    load_npy(golden + "objects.npy");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("objects.npy"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("pickl"), std::string::npos);
  }
}

TEST_F(NpyTest, RefusesLies) {
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "{'a': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1}", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4, 0)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,)}",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000,)}",
        "{'descr': '<U99999999999', 'fortran_order': False, 'shape': (1,)}"})
    EXPECT_THROW(parse_text(npy(header, "1234")), DataLossError) << header;
  EXPECT_THROW(parse_text(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1)}", "1")),
               InvalidArgumentError);
  EXPECT_THROW(parse_text(std::string(npy_magic) + std::string("\x02\0\xff\xff\xff\x7f", 6)), DataLossError);
  EXPECT_THROW(parse_text(std::string(npy_magic) + std::string("\x04\0\0\0", 4)), InvalidArgumentError);
}

TEST_F(NpyTest, SurvivesEveryCutAndFlippedByte) {
  for (const char* name : {"float32.npy", "text.npy", "fortran.npy", "version3.npy", "big_endian_complex.npy"}) {
    std::string whole = text_bytes(golden + name);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(parse_text(whole.substr(0, size)), DataLossError) << size;
    for (size_t i = 0; i < whole.size(); ++i)
      for (int mask : {0xff, 0x01, 0x20, 0x80}) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        try {
          parse_text(flipped);
        } catch (const Error&) {}
      }
  }
}

TEST_F(NpyTest, NamesTheFileInErrors) {
  EXPECT_THROW(load_npy(path("missing.npy")), NotFoundError);
  EXPECT_THROW(load_npy(folder_), InvalidArgumentError);
  EXPECT_THROW(save_npy(path("no/such/folder.npy"), Tensor(1)), NotFoundError);
  EXPECT_THROW(save_npy(path("none.npy"), Tensor()), ValueError);
  EXPECT_THROW(save_npy(path("zero.npy"), Tensor(std::string("a\0", 2))), InvalidArgumentError);
  std::ofstream(path("bad.npy")) << "hello, world";
  try {
    load_npy(path("bad.npy"));
    FAIL();
  } catch (const DataLossError& error) {
    EXPECT_NE(std::string(error.what()).find(path("bad.npy")), std::string::npos);
  }
}

TEST_F(NpyTest, KeepsTheOldFileWhenSavingFails) {
  save_npz(path("a.npz"), {{"x", Tensor(1)}});
  std::string before = text_bytes(path("a.npz"));
  EXPECT_THROW(save_npz(path("a.npz"), {{"x", Tensor(2)}, {"y", Tensor()}}), ValueError);
  EXPECT_THROW(save_npz(path("a.npz"), {{"a", Tensor(2)}, {std::string(70'000, 'n'), Tensor(3)}}),
               InvalidArgumentError);
  EXPECT_EQ(text_bytes(path("a.npz")), before);
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(NpyTest, ReadsArchivesOfNumPy) {
  NpzFile stored = load_npz(golden + "stored.npz");
  EXPECT_EQ(stored.names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(stored.size(), 2u);
  EXPECT_TRUE(stored.contains("x") && stored.contains("x.npy") && !stored.contains("z"));
  EXPECT_EQ(values<float>(stored["x"]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<int64_t>(stored["y.npy"]), (std::vector<int64_t>{7}));
  EXPECT_EQ(stored["x"].get(), stored["x"].get());  // read once
  EXPECT_THROW(stored["z"], NotFoundError);
  NpzFile deflated = load_npz(golden + "deflated.npz");
  EXPECT_EQ(deflated["x"].shape(), Shape({100, 7}));
  EXPECT_EQ(values<std::string>(deflated["y"]), std::vector<std::string>{"text"});
  size_t seen = 0;
  for (const auto& [name, tensor] : deflated) seen += name.size() + static_cast<size_t>(tensor.rank());
  EXPECT_EQ(seen, 5u);
}

TEST_F(NpyTest, RoundTripsArchives) {
  std::vector<float> ramp(100'000);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i % 17);
  std::map<std::string, Tensor> tensors = {
      {"ramp", Tensor(ramp)}, {"h\xc3\xa9", Tensor("text")}, {"none", Tensor(std::vector<int>{})}};
  for (bool compressed : {false, true}) {
    save_npz(path("a.npz"), tensors, {.compressed = compressed});
    NpzFile file = load_npz(path("a.npz"));
    EXPECT_EQ(file.size(), 3u);
    EXPECT_EQ(values<float>(file["ramp"]), ramp);
    EXPECT_EQ(file["h\xc3\xa9"].item<std::string>(), "text");
    EXPECT_EQ(file["none"].shape(), Shape{0});
    EXPECT_EQ(fs::file_size(path("a.npz")) < 100'000, compressed);
  }
  save_npz(path("empty.npz"), {});
  EXPECT_TRUE(load_npz(path("empty.npz")).empty());
}

TEST_F(NpyTest, SharesAnArchiveBetweenThreads) {
  NpzFile file = load_npz(golden + "deflated.npz");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([file] { EXPECT_EQ(file["x"].size(), 700); });
}

TEST_F(NpyTest, SurvivesDamagedArchives) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::string whole = text_bytes(golden + name);
    auto load_all = [](const std::string& bytes) {
      NpzFile file = parse_npz(std::as_bytes(std::span(bytes)));
      for (const auto& [key, tensor] : file) EXPECT_TRUE(tensor.defined()) << key;
    };
    load_all(whole);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(load_all(whole.substr(0, size)), DataLossError) << size;
    for (size_t i = 0; i < whole.size(); ++i)
      for (int mask : {0xff, 0x01, 0x08, 0x80}) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        try {
          load_all(flipped);
        } catch (const Error&) {}
      }
  }
}

TEST_F(NpyTest, DetectsFlippedBitsInArchives) {
  std::string bytes = text_bytes(golden + "stored.npz");
  size_t at = bytes.find("NUMPY") + 140;  // among the values of x
  bytes[at] = static_cast<char>(bytes[at] ^ 4);
  NpzFile file = parse_npz(std::as_bytes(std::span(bytes)));
  EXPECT_THROW(file["x"], DataLossError);
  EXPECT_EQ(file["y"].size(), 1);
}

/// The archive with one 32-bit field of its first directory entry replaced.
std::string with_field(std::string bytes, size_t offset, uint32_t value) {
  size_t at = bytes.find("PK\x01\x02") + offset;
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
  return bytes;
}

TEST_F(NpyTest, RefusesBombsAndLyingSizes) {
  std::string whole = text_bytes(golden + "deflated.npz");
  auto open = [](const std::string& bytes) { return parse_npz(std::as_bytes(std::span(bytes))); };
  EXPECT_THROW(open(with_field(whole, 24, 0x7fffffff)), DataLossError);        // declared size
  EXPECT_THROW(open(with_field(whole, 20, 0x7fffffff)), DataLossError);        // stored size
  EXPECT_THROW(open(with_field(whole, 42, 0x7fffffff)), DataLossError);        // offset
  EXPECT_THROW(open(with_field(whole, 24, 0))["x"], DataLossError);            // nothing, though there is something
  EXPECT_THROW(open(with_field(whole, 24, 2927))["x"], DataLossError);         // one byte less than there is
  EXPECT_THROW(open(with_field(whole, 24, 2929))["x"], DataLossError);         // and one more
  EXPECT_THROW(open(with_field(whole, 8, 0x00080001)), InvalidArgumentError);  // encrypted
  EXPECT_THROW(open(with_field(whole, 8, 0x000c0000)), InvalidArgumentError);  // bzip2
  std::string twice = whole;  // the second entry points at the first one's bytes
  size_t second = twice.find("PK\x01\x02", twice.find("PK\x01\x02") + 4);
  for (size_t i = 0; i < 4; ++i) twice[second + 42 + i] = 0;
  EXPECT_THROW(open(twice), DataLossError);
}

TEST_F(NpyTest, WritesManyEntriesAsZip64) {
  ZipWriter writer(path("many.zip"));
  for (int i = 0; i < 70'000; ++i) {
    writer.begin_entry(std::to_string(i), 0, false);
    writer.end_entry();
  }
  writer.finish();
  ZipReader reader(ByteSource::open(path("many.zip")));
  EXPECT_EQ(reader.entries().size(), 70'000u);
  EXPECT_NE(reader.find("69999"), nullptr);
  EXPECT_EQ(reader.find("70000"), nullptr);
}

}  // namespace
}  // namespace thalweg::io
