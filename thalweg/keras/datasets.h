// The data sets of Keras. MNIST comes with Thalweg; the others are read from files in Keras's formats, under `datasets`
// in the folder that KERAS_HOME names, or in ~/.keras. A file that is missing is a NotFoundError that says which file
// to put where; nothing is downloaded.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg::keras::datasets {

/// Samples and their labels or targets, along the first axis.
struct Samples {
  Tensor x, y;
};
/// What a data set trains with, and what it is judged by.
struct Dataset {
  Samples train, test;
};

/// Sequences of word numbers, of any length, and their labels (`pad_sequences` makes a tensor of them).
struct SequenceSamples {
  std::vector<std::vector<int64_t>> x;
  Tensor y;
};
struct SequenceDataset {
  SequenceSamples train, test;
};

namespace mnist {
/// Handwritten digits: x uint8 [60000, 28, 28] and [10000, 28, 28], y uint8 of 0 to 9. The file that comes with
/// Thalweg is looked for in the folder THALWEG_DATA, beside the library, and at last among Keras's data sets.
THALWEG_API Dataset load_data(const std::string& path = "mnist.npz");
}  // namespace mnist

namespace fashion_mnist {
/// Clothes in ten classes, shaped as MNIST, from four files of `fashion-mnist` such as train-images-idx3-ubyte.gz.
THALWEG_API Dataset load_data();
}  // namespace fashion_mnist

namespace cifar10 {
/// Photographs in ten classes: x uint8 [50000, 32, 32, 3] and [10000, 32, 32, 3], y uint8 [50000, 1] and [10000, 1];
/// from the folder `cifar-10-batches-py`, or from `cifar-10-batches-py.tar.gz`, which is unpacked beside itself.
THALWEG_API Dataset load_data();
}  // namespace cifar10

namespace cifar100 {
/// Photographs in a hundred classes ("fine") or twenty ("coarse"): x as of cifar10, y int64 [50000, 1] and [10000, 1];
/// from the folder `cifar-100-python`, or from `cifar-100-python.tar.gz`.
THALWEG_API Dataset load_data(const std::string& label_mode = "fine");
}  // namespace cifar100

namespace boston_housing {
struct LoadDataOptions {
  std::string path = "boston_housing.npz";
  double test_split = 0.2;
  int64_t seed = 113;
};
/// Prices of houses (y, in thousands of dollars) and thirteen attributes of each (x), shuffled and split as Keras does.
THALWEG_API Dataset load_data(const LoadDataOptions& options = {});
}  // namespace boston_housing

namespace imdb {
struct LoadDataOptions {
  std::string path = "imdb.npz";
  std::optional<int64_t> num_words = {};  // words with larger numbers become oov_char
  int64_t skip_top = 0;                   // and so do the most frequent ones
  std::optional<int64_t> maxlen = {};     // sequences as long or longer are left out
  int64_t seed = 113;
  std::optional<int64_t> start_char = 1;  // begins each sequence
  std::optional<int64_t> oov_char = 2;    // left out, unknown words are removed
  int64_t index_from = 3;                 // added to each word
};
/// Film reviews, bad (0) or good (1), as the ranks of their words.
THALWEG_API SequenceDataset load_data(const LoadDataOptions& options = {});
/// The rank of each word, before `index_from` is added.
THALWEG_API std::map<std::string, int64_t> get_word_index(const std::string& path = "imdb_word_index.json");
}  // namespace imdb

namespace reuters {
struct LoadDataOptions {
  std::string path = "reuters.npz";
  std::optional<int64_t> num_words = {};
  int64_t skip_top = 0;
  std::optional<int64_t> maxlen = {};
  double test_split = 0.2;
  int64_t seed = 113;
  std::optional<int64_t> start_char = 1;
  std::optional<int64_t> oov_char = 2;
  int64_t index_from = 3;
};
/// Newswires in 46 topics, as the ranks of their words.
THALWEG_API SequenceDataset load_data(const LoadDataOptions& options = {});
/// The rank of each word, before `index_from` is added.
THALWEG_API std::map<std::string, int64_t> get_word_index(const std::string& path = "reuters_word_index.json");
/// The topics in the order of their labels.
THALWEG_API const std::vector<std::string>& get_label_names();
}  // namespace reuters

}  // namespace thalweg::keras::datasets
