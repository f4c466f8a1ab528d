#include "thalweg/keras/datasets.h"

#include "tests/keras/keras_data.h"
#include "thalweg/core/error.h"
#include "thalweg/graph/function.h"
#include "thalweg/io/digest.h"
#include "thalweg/io/npy.h"
#include "thalweg/keras/datasets/shuffle.h"
#include "thalweg/ops/math.h"

namespace thalweg::keras::datasets {
namespace {

using DatasetsTest = KerasHome;
using errors::DataLossError;

/// [dtype, shape, SHA-256 of the bytes].
Json digest(const Tensor& tensor) {
  std::vector<int64_t> shape;
  for (int i = 0; i < tensor.rank(); ++i) shape.push_back(tensor.shape()[i]);
  auto bytes = std::span(tensor.mutable_data<const std::byte>(), tensor.nbytes());
  io::SourceStream in(io::ByteSource::view(bytes, "tensor"));
  return {name_of(tensor.dtype()), shape, io::sha256(in)};
}
Json digest(const Dataset& data) {
  return {{digest(data.train.x), digest(data.train.y)}, {digest(data.test.x), digest(data.test.y)}};
}
Json plain(const SequenceDataset& data) {
  Json out = Json::array();
  for (const SequenceSamples* part : {&data.train, &data.test}) {
    auto labels = part->y.span<int64_t>();
    out.push_back({part->x, name_of(part->y.dtype()), std::vector<int64_t>(labels.begin(), labels.end())});
  }
  return out;
}

std::optional<int64_t> maybe(const Json& options, const char* name, std::optional<int64_t> otherwise) {
  if (!options.contains(name)) return otherwise;
  return options[name].is_null() ? std::nullopt : std::optional(options[name].get<int64_t>());
}
template <class Options> Options sequence_options(const Json& given) {
  Options options;
  options.path = given.value("path", options.path);
  options.num_words = maybe(given, "num_words", options.num_words);
  options.skip_top = given.value("skip_top", options.skip_top);
  options.maxlen = maybe(given, "maxlen", options.maxlen);
  options.seed = given.value("seed", options.seed);
  options.start_char = maybe(given, "start_char", options.start_char);
  options.oov_char = maybe(given, "oov_char", options.oov_char);
  options.index_from = given.value("index_from", options.index_from);
  if constexpr (requires { options.test_split; }) options.test_split = given.value("test_split", options.test_split);
  return options;
}

TEST_F(DatasetsTest, MnistComesWithTheBuildTree) {
  Dataset data = mnist::load_data();
  EXPECT_EQ(data.train.x.shape(), (Shape{60000, 28, 28}));
  EXPECT_EQ(data.test.x.shape(), (Shape{10000, 28, 28}));
  EXPECT_EQ(data.train.x.dtype(), DType::uint8);
  auto first = data.train.y.span<uint8_t>().first(5);
  EXPECT_EQ(std::vector<int>(first.begin(), first.end()), (std::vector{5, 0, 4, 1, 9}));
  EXPECT_EQ(data.test.y.data<uint8_t>()[9999], 6);
  int64_t sum = 0;
  for (uint8_t pixel : data.train.x.span<uint8_t>()) sum += pixel;
  EXPECT_EQ(sum, 1567298545);
}

TEST_F(DatasetsTest, MnistIsTakenFromTheFolderThatIsNamed) {
  auto write = [](const fs::path& path, uint8_t label) {
    fs::create_directories(path.parent_path());
    Tensor x(std::vector<uint8_t>(4, label), {1, 2, 2}), y(std::vector<uint8_t>{label});
    io::save_npz(path, {{"x_train", x}, {"y_train", y}, {"x_test", x}, {"y_test", y}});
  };
  write(home_ / "mine" / "mnist.npz", 3);
  setenv("THALWEG_DATA", (home_ / "mine").c_str(), 1);
  EXPECT_EQ(mnist::load_data().test.y.item<uint8_t>(), 3);
  write(file("other.npz"), 4);
  EXPECT_EQ(mnist::load_data("other.npz").train.y.item<uint8_t>(), 4);
  write(home_ / "absolute.npz", 5);
  EXPECT_EQ(mnist::load_data(home_ / "absolute.npz").train.y.item<uint8_t>(), 5);
  std::string bytes = read_file(home_ / "absolute.npz");
  write_file(home_ / "cut.npz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THROW(mnist::load_data(home_ / "cut.npz"), DataLossError);
}

TEST_F(DatasetsTest, ImagesAreKerass) {
  Json answers = golden("datasets");
  EXPECT_EQ(digest(fashion_mnist::load_data()), answers["fashion_mnist"]);
  EXPECT_EQ(digest(cifar10::load_data()), answers["cifar10"]);
  EXPECT_EQ(digest(cifar100::load_data()), answers["cifar100"]["fine"]);
  EXPECT_TRUE(fs::exists(file("cifar-100-python/train"))) << "the archive is unpacked once";
  fs::remove(file("cifar-100-python.tar.gz"));
  EXPECT_EQ(digest(cifar100::load_data("coarse")), answers["cifar100"]["coarse"]);
  EXPECT_THROW(cifar100::load_data("medium"), ValueError);
}

TEST_F(DatasetsTest, SequencesAreKerass) {
  Json answers = golden("datasets");
  for (const auto& [options, expected] : answers["imdb"].get<std::vector<std::pair<Json, Json>>>())
    EXPECT_EQ(plain(imdb::load_data(sequence_options<imdb::LoadDataOptions>(options))), expected) << options;
  for (const auto& [options, expected] : answers["reuters"].get<std::vector<std::pair<Json, Json>>>())
    EXPECT_EQ(plain(reuters::load_data(sequence_options<reuters::LoadDataOptions>(options))), expected) << options;
  EXPECT_EQ(Json(imdb::get_word_index()), answers["word_index"][0]);
  EXPECT_EQ(Json(reuters::get_word_index()), answers["word_index"][1]);
  EXPECT_EQ(Json(reuters::get_label_names()), answers["label_names"]);
}

TEST_F(DatasetsTest, HousesAreKerass) {
  for (const auto& [options, expected] : golden("datasets")["boston_housing"].get<std::vector<std::pair<Json, Json>>>())
    EXPECT_EQ(digest(boston_housing::load_data(
                  {.test_split = options.value("test_split", 0.2), .seed = options.value("seed", 113)})),
              expected)
        << options;
}

TEST_F(DatasetsTest, LoadsInsideATrace) {
  auto traced = function([](const Tensor& x) { return x + boston_housing::load_data().train.x; });
  EXPECT_EQ(traced(Tensor(std::vector<double>{0.0})).shape(), (Shape{8, 13}));
}

TEST_F(DatasetsTest, OptionsThatCannotBe) {
  EXPECT_THROW(boston_housing::load_data({.test_split = 1.0}), ValueError);
  EXPECT_THROW(boston_housing::load_data({.test_split = NAN}), ValueError);
  EXPECT_THROW(reuters::load_data({.test_split = -0.1}), ValueError);
  EXPECT_THROW(reuters::load_data({.seed = -1}), ValueError);
  EXPECT_THROW(imdb::load_data({.seed = int64_t{1} << 32}), ValueError);
  EXPECT_NE(message_of<ValueError>([] { imdb::load_data({.maxlen = 1}); }).find("increase maxlen"), std::string::npos);
  EXPECT_THROW(imdb::load_data({.index_from = INT64_MAX}), DataLossError);
}

TEST_F(DatasetsTest, SaysWhichFileToPutWhere) {
  fs::remove_all(home_);
  auto expect = [&](const std::string& name, auto load) {
    std::string message = message_of<NotFoundError>(load);
    EXPECT_NE(message.find("put it at " + file(name).string()), std::string::npos) << message;
  };
  expect("fashion-mnist/train-labels-idx1-ubyte.gz", [] { fashion_mnist::load_data(); });
  expect("cifar-10-batches-py", [] { cifar10::load_data(); });
  expect("cifar-100-python", [] { cifar100::load_data(); });
  expect("imdb.npz", [] { imdb::load_data(); });
  expect("reuters.npz", [] { reuters::load_data(); });
  expect("boston_housing.npz", [] { boston_housing::load_data(); });
  expect("imdb_word_index.json", [] { imdb::get_word_index(); });
  expect("reuters_word_index.json", [] { reuters::get_word_index(); });
  expect("elsewhere.npz", [] { mnist::load_data("elsewhere.npz"); });
}

TEST_F(DatasetsTest, DamagedFilesAreErrors) {
  // Every file, cut at many places and with a byte changed: an error, or data when the change does no harm.
  for (const auto& entry : fs::recursive_directory_iterator(golden_folder / "home")) {
    if (!entry.is_regular_file()) continue;
    fs::path place = home_ / fs::relative(entry.path(), golden_folder / "home");
    std::string bytes = read_file(entry.path());
    for (size_t i = 0; i < 12; ++i) {
      size_t at = bytes.size() * i / 12;
      std::string changed = bytes;
      if (i % 2) changed.resize(at);
      else changed[at] = static_cast<char>(changed[at] ^ (i % 4 ? 0xff : 0x10));
      write_file(place, changed);
      fs::remove_all(file("cifar-100-python"));
      for (auto load : {+[] { fashion_mnist::load_data(); }, +[] { cifar10::load_data(); },
                        +[] { cifar100::load_data(); }, +[] { imdb::load_data(); }, +[] { reuters::load_data(); },
                        +[] { imdb::get_word_index(); }, +[] { boston_housing::load_data(); }}) {
        try {
          load();
        } catch (const Error&) {}
      }
    }
    fs::copy_file(entry.path(), place, fs::copy_options::overwrite_existing);
  }
  std::string pixels = read_file(file("fashion-mnist/t10k-images-idx3-ubyte.gz"));
  write_file(file("fashion-mnist/train-images-idx3-ubyte.gz"), pixels);
  EXPECT_THROW(fashion_mnist::load_data(), DataLossError) << "two images, three labels";
  for (const char* json : {"", "{", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1} x", "{\"a\":\"b\"}",
                           "{\"\\ud800\":1}", "{\"\\u12\":1}", "{\"a\":99999999999999999999}", "{\"a", "{\"a\\"}) {
    write_file(file("imdb_word_index.json"), json);
    EXPECT_THROW(imdb::get_word_index(), DataLossError) << json;
  }
}

TEST(NumpyShuffle, IsNumpys) {
  // numpy.random.RandomState(113).shuffle(numpy.arange(10)), twice.
  NumpyShuffle shuffle(113);
  EXPECT_EQ(shuffle.order(10), (std::vector<int64_t>{9, 3, 6, 1, 0, 7, 4, 8, 2, 5}));
  EXPECT_EQ(shuffle.order(10), (std::vector<int64_t>{6, 9, 5, 0, 1, 4, 8, 3, 7, 2}));
  EXPECT_TRUE(shuffle.order(0).empty());
  EXPECT_EQ(shuffle.order(1), (std::vector<int64_t>{0}));
}

}  // namespace
}  // namespace thalweg::keras::datasets
