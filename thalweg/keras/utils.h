// Keras's helpers for data and files.
#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/keras/progbar.h"
#include "thalweg/ops/options.h"

namespace thalweg::keras::utils {

/// Rows with a one at each label and zeros elsewhere: labels [..., 1] or [...] become [..., num_classes]. Without
/// `num_classes`, there are as many as the largest label asks for.
THALWEG_API Tensor to_categorical(const Tensor& y, int64_t num_classes = 0, DType dtype = DType::float32);
/// Rows with as many ones as the label says: labels become [..., num_classes - 1].
THALWEG_API Tensor to_ordinal(const Tensor& y, int64_t num_classes = 0, DType dtype = DType::float32);

/// x divided by its norm of this order along an axis, where that is not zero. Integers become float64, as in NumPy.
THALWEG_API Tensor normalize(const Tensor& x, int64_t axis = -1, double order = 2);

struct PadSequencesOptions {
  std::optional<int64_t> maxlen = {};  // the longest sequence where left out
  DType dtype = DType::int32;
  std::string padding = "pre";     // or "post": where values are added
  std::string truncating = "pre";  // or "post": where a sequence that is too long is cut
  Tensor value = 0.0;              // what is added
};
/// Sequences of different lengths as one tensor [sequences, maxlen, ...]; None counts as an empty one.
THALWEG_API Tensor pad_sequences(const std::vector<Tensor>& sequences, const PadSequencesOptions& options = {});
template <Element T>
Tensor pad_sequences(const std::vector<std::vector<T>>& sequences, const PadSequencesOptions& options = {}) {
  return pad_sequences(std::vector<Tensor>(sequences.begin(), sequences.end()), options);
}

/// Seeds everything that draws: `random::set_seed`, and the seeds of layers and initializers that have none of their
/// own, which become those of Python's Keras.
THALWEG_API void set_random_seed(int64_t seed);

struct GetFileOptions {
  Flag untar = {};                        // unpack fname + ".tar.gz", and give the folder's path
  std::string md5_hash = {};              // an old spelling of file_hash
  std::string file_hash = {};             // MD5 or SHA-256 in hexadecimal digits
  std::string cache_subdir = "datasets";  // below cache_dir, or an absolute path
  std::string hash_algorithm = "auto";    // or "md5", "sha256"
  Flag extract = {};                      // unpack an archive beside itself
  std::string archive_format = "auto";    // or "tar", "zip"; empty for none
  std::string cache_dir = {};             // KERAS_HOME or ~/.keras where left out
};
/// The path of a file in Keras's cache, which is copied there from `origin` (a path, or a file:// address) when it is
/// missing or has another hash. Nothing is downloaded: for other origins the error says where to put the file. An empty
/// `fname` is that of the origin.
THALWEG_API std::string get_file(const std::string& fname, const std::string& origin,
                                 const GetFileOptions& options = {});

}  // namespace thalweg::keras::utils
