// IMDB and Reuters: arrays of lists of word numbers.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/io/npy.h"
#include "thalweg/io/npy_header.h"
#include "thalweg/io/pickle.h"
#include "thalweg/io/zip.h"
#include "thalweg/keras/datasets.h"
#include "thalweg/keras/datasets/places.h"
#include "thalweg/keras/datasets/shuffle.h"
#include "thalweg/keras/datasets/word_index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/gather.h"

namespace thalweg::keras::datasets {
namespace {

using Sequences = std::vector<std::vector<int64_t>>;

/// Each list once: a pickle that names one list many times could otherwise ask for any amount of memory.
Sequences lists_of(const io::Pickled& objects, const std::string& name) {
  Sequences sequences(objects.size());
  size_t words = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    io::Pickled list = objects[i];
    if (list.kind() == io::Pickled::Kind::array) {
      if (list.array().rank() != 1) throw errors::DataLossError(name + " holds a sequence that is no list");
      Tensor numbers = cast(list.array(), DType::int64);
      auto span = numbers.span<int64_t>();
      words += span.size();
      sequences[i].assign(span.begin(), span.end());
    } else {
      words += list.size();
      if (words <= objects.num_bytes()) sequences[i].reserve(list.size());
      for (size_t k = 0; words <= objects.num_bytes() && k < list.size(); ++k)
        sequences[i].push_back(list[k].integer());
    }
    if (words > objects.num_bytes()) throw errors::DataLossError(name + " holds more words than it has bytes");
  }
  return sequences;
}

/// Sequences that happen to have one length may have been stored as a plain matrix.
Sequences rows_of(const Tensor& matrix, const std::string& name) {
  if (matrix.rank() != 2 || is_complex(matrix.dtype()) || matrix.dtype() == DType::string)
    throw errors::DataLossError(name + " holds " + std::string(name_of(matrix.dtype())) + " of shape " +
                                matrix.shape().str() + "; lists of integers were expected");
  Tensor numbers = cast(matrix, DType::int64);
  auto span = numbers.span<int64_t>();
  auto width = static_cast<size_t>(matrix.shape()[1]);
  Sequences sequences;
  for (size_t i = 0; i < static_cast<size_t>(matrix.shape()[0]); ++i) {
    auto row = span.subspan(i * width, width);
    sequences.emplace_back(row.begin(), row.end());
  }
  return sequences;
}

std::vector<std::byte> entry_bytes(const io::ZipReader& zip, const std::string& name) {
  const io::ZipEntry* entry = zip.find(name + ".npy");
  if (!entry) throw NotFoundError(zip.name() + " has no array '" + name + "'");
  return zip.read(*entry);
}

/// Sequences and labels of one length, in a new order.
SequenceSamples load_samples(const io::ZipReader& zip, const std::string& x, const std::string& y,
                             NumpyShuffle& shuffle) {
  std::string name = zip.name() + ": array '" + x + "'";
  std::vector<std::byte> bytes = entry_bytes(zip, x);
  io::SourceStream in(io::ByteSource::view(bytes, name));
  bool objects = io::read_npy_header(in, io::NpyObjects::allow).objects;
  auto rest = std::span(bytes).last(static_cast<size_t>(in.remaining()));
  Sequences sequences =
      objects ? lists_of(io::parse_pickle(rest, name), name) : rows_of(io::parse_npy(bytes, name), name);
  Tensor labels = io::parse_npy(entry_bytes(zip, y), zip.name() + ": array '" + y + "'");
  auto count = static_cast<int64_t>(sequences.size());
  if (labels.shape() != Shape{count})
    throw errors::DataLossError(zip.name() + " holds " + std::to_string(count) + " sequences in '" + x +
                                "', and labels of shape " + labels.shape().str() + " in '" + y + "'");
  std::vector<int64_t> order = shuffle.order(count);
  SequenceSamples samples;
  for (int64_t i : order) samples.x.push_back(std::move(sequences[static_cast<size_t>(i)]));
  samples.y = gather(labels, Tensor(order));
  return samples;
}

/// Marks the start of each sequence and moves the words up, to leave room for the special numbers.
template <class Options> void renumber(Sequences& sequences, const Options& options) {
  for (auto& sequence : sequences) {
    for (int64_t& word : sequence)
      if (__builtin_add_overflow(word, options.index_from, &word))
        throw errors::DataLossError(options.path + " holds a word whose number is too large");
    if (options.start_char) sequence.insert(sequence.begin(), *options.start_char);
  }
}

template <class Options> void remove_long(SequenceSamples& samples, const Options& options) {
  int64_t maxlen = options.maxlen.value_or(0);
  if (maxlen == 0) return;
  std::vector<int64_t> kept;
  Sequences sequences;
  for (size_t i = 0; i < samples.x.size(); ++i) {
    if (static_cast<int64_t>(samples.x[i].size()) >= maxlen) continue;
    kept.push_back(static_cast<int64_t>(i));
    sequences.push_back(std::move(samples.x[i]));
  }
  if (kept.empty())
    throw ValueError(options.path + ": no sequence is shorter than maxlen = " + std::to_string(maxlen) +
                     "; increase maxlen");
  samples.x = std::move(sequences);
  samples.y = gather(samples.y, Tensor(kept));
}

int64_t largest(const Sequences& sequences) {
  int64_t word = 0;
  for (const auto& sequence : sequences)
    for (int64_t w : sequence) word = std::max(word, w);
  return word;
}

/// Replaces, or takes out, the words that are too frequent or too rare.
template <class Options> void remove_unknown(Sequences& sequences, int64_t num_words, const Options& options) {
  auto unknown = [&](int64_t word) { return word < options.skip_top || word >= num_words; };
  for (auto& sequence : sequences) {
    if (options.oov_char) std::replace_if(sequence.begin(), sequence.end(), unknown, *options.oov_char);
    else std::erase_if(sequence, unknown);
  }
}

}  // namespace

SequenceDataset imdb::load_data(const LoadDataOptions& options) {
  InitScope at_once;
  NumpyShuffle shuffle(options.seed);
  io::ZipReader zip(io::ByteSource::open(local_file(options.path)));
  SequenceDataset data;
  data.train = load_samples(zip, "x_train", "y_train", shuffle);
  data.test = load_samples(zip, "x_test", "y_test", shuffle);
  for (SequenceSamples* samples : {&data.train, &data.test}) {
    renumber(samples->x, options);
    remove_long(*samples, options);
  }
  // Without a limit Keras takes the largest word for one, which makes that word itself unknown.
  int64_t num_words = options.num_words.value_or(0);
  if (num_words == 0) num_words = std::max(largest(data.train.x), largest(data.test.x));
  remove_unknown(data.train.x, num_words, options);
  remove_unknown(data.test.x, num_words, options);
  return data;
}

std::map<std::string, int64_t> imdb::get_word_index(const std::string& path) {
  return load_word_index(local_file(path));
}

SequenceDataset reuters::load_data(const LoadDataOptions& options) {
  num_train(0, options.test_split);
  InitScope at_once;
  NumpyShuffle shuffle(options.seed);
  SequenceSamples all = load_samples(io::ZipReader(io::ByteSource::open(local_file(options.path))), "x", "y", shuffle);
  renumber(all.x, options);
  remove_long(all, options);
  int64_t num_words = options.num_words.value_or(0);
  remove_unknown(all.x, num_words == 0 ? largest(all.x) : num_words, options);

  auto count = static_cast<int64_t>(all.x.size()), split = num_train(count, options.test_split);
  auto part = [&](int64_t begin, int64_t end) -> SequenceSamples {
    std::vector<int64_t> rows;
    for (int64_t i = begin; i < end; ++i) rows.push_back(i);
    return {{std::make_move_iterator(all.x.begin() + begin), std::make_move_iterator(all.x.begin() + end)},
            gather(all.y, Tensor(rows))};
  };
  return {part(0, split), part(split, count)};
}

std::map<std::string, int64_t> reuters::get_word_index(const std::string& path) {
  return load_word_index(local_file(path));
}

const std::vector<std::string>& reuters::get_label_names() {
  static const std::vector<std::string> names = {
      "cocoa",     "grain",        "veg-oil", "earn",       "acq",      "wheat",    "copper",
      "housing",   "money-supply", "coffee",  "sugar",      "trade",    "reserves", "ship",
      "cotton",    "carcass",      "crude",   "nat-gas",    "cpi",      "money-fx", "interest",
      "gnp",       "meal-feed",    "alum",    "oilseed",    "gold",     "tin",      "strategic-metal",
      "livestock", "retail",       "ipi",     "iron-steel", "rubber",   "heat",     "jobs",
      "lei",       "bop",          "zinc",    "orange",     "pet-chem", "dlr",      "gas",
      "silver",    "wpi",          "hog",     "lead"};
  return names;
}

}  // namespace thalweg::keras::datasets
