#include "thalweg/keras/utils.h"

#include "tests/keras/keras_data.h"
#include "thalweg/core/error.h"
#include "thalweg/graph/function.h"
#include "thalweg/io/digest.h"
#include "thalweg/io/npy.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random.h"

namespace thalweg::keras::utils {
namespace {

/// A tensor of nested lists of integers or reals.
Tensor tensor_of(const Json& nested, DType dtype) {
  std::vector<int64_t> shape;
  std::vector<double> values;
  for (const Json* level = &nested; level->is_array(); level = &(*level)[0]) {
    shape.push_back(static_cast<int64_t>(level->size()));
    if (level->empty()) break;
  }
  auto collect = [&](auto& self, const Json& part) -> void {
    if (!part.is_array()) values.push_back(part.get<double>());
    else
      for (const Json& item : part) self(self, item);
  };
  collect(collect, nested);
  return cast(Tensor(values, Shape(shape)), dtype);
}

TEST(Labels, AreKerass) {
  Json answers = golden("utils");
  for (const Json& row : answers["to_categorical"])
    expect_array(to_categorical(tensor_of(row[0], DType::int32), row[1].is_null() ? 0 : row[1].get<int64_t>()), row[2],
                 row.dump());
  for (const Json& row : answers["to_ordinal"])
    expect_array(to_ordinal(tensor_of(row[0], DType::int64), row[1].is_null() ? 0 : row[1].get<int64_t>()), row[2],
                 row.dump());
  EXPECT_EQ(to_categorical({1.9f, 0.2f}, 2, DType::int8)(0, 1).item<int8_t>(), 1);
  auto traced = function([](const Tensor& x) { return x + to_categorical({1, 0}, 2); });
  EXPECT_EQ(traced(Tensor(1.0f))[0][1].item<float>(), 2);
}

TEST(Labels, OutOfRange) {
  EXPECT_NE(message_of<InvalidArgumentError>([] { to_categorical({0, 3}, 3); }).find("label 3"), std::string::npos);
  EXPECT_THROW(to_categorical({0, -4}, 3), InvalidArgumentError);
  EXPECT_THROW(to_categorical({1, 2}, -1), ValueError);
  EXPECT_THROW(to_categorical(Tensor(std::vector<int32_t>{})), ValueError);
  EXPECT_THROW(to_categorical({-1, -2}), ValueError);
  EXPECT_THROW(to_categorical(Tensor(std::vector<int64_t>{INT64_MAX})), ValueError);
  EXPECT_THROW(to_categorical(Tensor(std::vector<int64_t>{int64_t{1} << 60})), Error);
  EXPECT_EQ(to_categorical(Tensor(std::vector<int32_t>{}), 3).shape(), (Shape{0, 3}));
}

TEST(Normalize, IsKerass) {
  const Json answers = golden("utils")["normalize"];
  for (const Json& row : answers) {
    Json flat = row[0][2];
    auto dtype = row[0][0] == "float32" ? DType::float32 : row[0][0] == "int64" ? DType::int64 : DType::float64;
    Tensor x = cast(Tensor(flat.get<std::vector<double>>(), Shape(row[0][1].get<std::vector<int64_t>>())), dtype);
    if (row[1].get<int>() >= x.rank()) continue;
    expect_array(normalize(x, row[1].get<int64_t>(), number(row[2])), row[3], row.dump());
  }
}

TEST(PadSequences, IsKerass) {
  const Json answers = golden("utils")["pad_sequences"];
  for (const Json& row : answers) {
    const Json& given = row[1];
    bool real = row[0].dump().find('.') != std::string::npos;
    std::vector<Tensor> sequences;
    for (const Json& sequence : row[0])
      sequences.push_back(sequence.empty() ? Tensor() : tensor_of(sequence, real ? DType::float32 : DType::int32));
    PadSequencesOptions options;
    if (given.contains("maxlen")) options.maxlen = given["maxlen"].get<int64_t>();
    if (given.contains("dtype")) options.dtype = given["dtype"] == "float32" ? DType::float32 : DType::int64;
    options.padding = given.value("padding", options.padding);
    options.truncating = given.value("truncating", options.truncating);
    if (given.contains("value")) options.value = given["value"].get<double>();
    expect_array(pad_sequences(sequences, options), row[2], row.dump());
  }
}

TEST(PadSequences, TakesListsAndText) {
  std::vector<std::vector<int64_t>> words = {{1, 2, 3}, {}, {4}};
  EXPECT_EQ(pad_sequences(words, {.maxlen = 2}).str(), pad_sequences({{2, 3}, {0, 0}, {0, 4}}).str());
  Tensor text = pad_sequences({{"a"}, {"b", "c"}}, {.dtype = DType::string, .value = "-"});
  EXPECT_EQ(text.data<std::string>()[0], "-");
  EXPECT_EQ(text.data<std::string>()[3], "c");
  auto traced = function([](const Tensor& x) { return x + pad_sequences({{1}, {2, 3}}); });
  EXPECT_EQ(traced(Tensor(1))[1][1].item<int>(), 4);
}

TEST(PadSequences, Refuses) {
  EXPECT_NE(message_of<ValueError>([] { pad_sequences({{1}}, {.padding = "front"}); }).find("front"),
            std::string::npos);
  EXPECT_THROW(pad_sequences({{1}}, {.truncating = "front"}), ValueError);
  EXPECT_THROW(pad_sequences({Tensor(1)}), ValueError);
  EXPECT_THROW(pad_sequences({{{1, 2}}, {{1, 2, 3}}}), ValueError);
  EXPECT_THROW(pad_sequences({{1}}, {.maxlen = -1}), ValueError);
  EXPECT_THROW(pad_sequences({{1}}, {.maxlen = int64_t{1} << 60}), Error);
  EXPECT_THROW(pad_sequences({{"a"}}), ValueError);
  EXPECT_THROW(pad_sequences({{1}}, {.value = {1, 2}}), ValueError);
  EXPECT_THROW(pad_sequences(std::vector<Tensor>{}), ValueError);
}

TEST(SetRandomSeed, RepeatsWhatIsDrawn) {
  set_random_seed(7);
  std::string first = random::normal({4}).str();
  EXPECT_NE(random::normal({4}).str(), first);
  set_random_seed(7);
  EXPECT_EQ(random::normal({4}).str(), first);
}

std::string digests(const std::string& text) {
  io::SourceStream one(io::ByteSource::copy(std::as_bytes(std::span(text)), "text"));
  io::SourceStream two(io::ByteSource::copy(std::as_bytes(std::span(text)), "text"));
  return io::md5(one) + " " + io::sha256(two);
}

TEST(Digest, IsTheStandards) {
  EXPECT_EQ(digests(""),
            "d41d8cd98f00b204e9800998ecf8427e e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digests("abc"),
            "900150983cd24fb0d6963f7d28e17f72 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digests(std::string(55, 'x')),
            "04364420e25c512fd958a70738aa8f72 d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(digests(std::string(56, 'x')),
            "668a72d5ba17f08e62dabcafad6db14b 04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(digests(std::string(64, 'x')),
            "c1bb4f81d892b2d57947682aeb252456 7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(digests(std::string(200000, 'x')),
            "4b98146705d4b0b98b758a78ff6fb73f 91e3faafd322bcdf160f3f0ce886acb092b9b9e2a1e8526b40f21a8898a8700b");
}

class GetFileTest : public KerasHome {
 protected:
  void SetUp() override {
    KerasHome::SetUp();
    write_file(home_ / "origin" / "a file.txt", "abc");
  }
  std::string origin(const std::string& name) const { return home_ / "origin" / name; }
};

TEST_F(GetFileTest, CopiesOnce) {
  EXPECT_EQ(get_file("", "file://" + (home_ / "origin" / "a%20file.txt").string()), file("a file.txt"));
  EXPECT_EQ(read_file(file("a file.txt")), "abc");
  write_file(file("a file.txt"), "mine");
  EXPECT_EQ(read_file(get_file("", origin("a file.txt"))), "mine") << "what is there stays";
  std::string sha = "900150983cd24fb0d6963f7d28e17f72 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(read_file(get_file("", origin("a file.txt"), {.file_hash = sha.substr(33)})), "abc")
      << "unless it is another";
  EXPECT_EQ(get_file("b.txt", origin("a file.txt"), {.md5_hash = sha.substr(0, 32), .cache_subdir = "text"}),
            home_ / "text" / "b.txt");
  EXPECT_EQ(get_file("b.txt", origin("a file.txt"), {.cache_subdir = home_ / "x" / "y"}), home_ / "x" / "y" / "b.txt");
  EXPECT_EQ(get_file("b.txt", origin("a file.txt"), {.cache_dir = home_ / "cache"}),
            home_ / "cache" / "datasets" / "b.txt");
}

TEST_F(GetFileTest, SaysWhatIsMissing) {
  std::string message = message_of<NotFoundError>([] { get_file("", "https://nowhere/data/c.bin?x=1"); });
  EXPECT_NE(message.find("at " + file("c.bin").string()), std::string::npos) << message;
  write_file(file("c.bin"), "abc");
  EXPECT_EQ(get_file("", "https://nowhere/data/c.bin?x=1"), file("c.bin"));
  message = message_of<NotFoundError>([] { get_file("c.bin", "https://nowhere/", {.file_hash = "00"}); });
  EXPECT_NE(message.find("md5 hash 00"), std::string::npos) << message;
  EXPECT_THROW(get_file("c", origin("none")), NotFoundError);
  EXPECT_THROW(get_file("c", origin("a file.txt"), {.file_hash = "00"}), ValueError);
  EXPECT_FALSE(fs::exists(file("c"))) << "a file with the wrong hash never takes its place";
  EXPECT_THROW(get_file("", "https://nowhere/"), ValueError);
  EXPECT_THROW(get_file("c", ""), ValueError);
  EXPECT_THROW(get_file("c", origin("a file.txt"), {.hash_algorithm = "crc"}), ValueError);
  EXPECT_THROW(get_file("c", origin("a file.txt"), {.archive_format = "rar"}), ValueError);
}

TEST_F(GetFileTest, UnpacksArchives) {
  fs::path tar = golden_folder / "home" / "datasets" / "cifar-100-python.tar.gz";
  fs::remove(file("cifar-100-python.tar.gz"));
  EXPECT_EQ(get_file("cifar-100-python", tar, {.untar = true}), file("cifar-100-python"));
  EXPECT_TRUE(fs::exists(file("cifar-100-python/test")));
  EXPECT_EQ(get_file("", tar, {.cache_subdir = "other", .extract = true}), home_ / "other" / "cifar-100-python.tar.gz");
  EXPECT_TRUE(fs::exists(home_ / "other" / "cifar-100-python" / "train"));
  get_file("", tar, {.cache_subdir = "third", .extract = true, .archive_format = "zip"});
  EXPECT_FALSE(fs::exists(home_ / "third" / "cifar-100-python"));
  io::save_npz(origin("two.zip"), {{"a", Tensor(1)}, {"b", Tensor(2)}});
  get_file("", origin("two.zip"), {.cache_subdir = "fourth", .extract = true});
  EXPECT_EQ(io::load_npy(home_ / "fourth" / "b.npy").item<int>(), 2);
}

}  // namespace
}  // namespace thalweg::keras::utils
