#include <algorithm>
#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/utils.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"

namespace thalweg::keras::utils {
namespace {

int64_t length_of(const Tensor& sequence) { return sequence.defined() ? sequence.shape()[0] : 0; }

bool is_post(const std::string& where, const char* option) {
  if (where == "post") return true;
  if (where == "pre") return false;
  throw ValueError(std::string("pad_sequences: ") + option + " must be \"pre\" or \"post\"; received \"" + where +
                   "\"");
}

std::vector<int64_t> sample_shape(const Tensor& sequence) {
  std::vector<int64_t> shape;
  for (int i = 1; i < sequence.rank(); ++i) shape.push_back(sequence.shape()[i]);
  return shape;
}

Tensor as_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (tensor.dtype() == DType::string || dtype == DType::string)
    throw ValueError("pad_sequences: " + std::string(name_of(tensor.dtype())) + " cannot become " +
                     std::string(name_of(dtype)) + "; set dtype and value to what the sequences hold");
  return cast(tensor, dtype);
}

}  // namespace

Tensor pad_sequences(const std::vector<Tensor>& sequences, const PadSequencesOptions& options) {
  InitScope at_once;
  bool pad_end = is_post(options.padding, "padding"), cut_end = is_post(options.truncating, "truncating");
  std::optional<std::vector<int64_t>> sample;
  int64_t longest = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].defined() && sequences[i].rank() == 0)
      throw ValueError("pad_sequences: the sequence at position " + std::to_string(i) + " is a scalar");
    if (length_of(sequences[i]) == 0) continue;
    longest = std::max(longest, length_of(sequences[i]));
    std::vector<int64_t> shape = sample_shape(sequences[i]);
    if (!sample) sample = shape;
    if (shape != *sample)
      throw ValueError("pad_sequences: samples of the sequence at position " + std::to_string(i) + " have shape " +
                       Shape(shape).str() + ", those before it " + Shape(*sample).str());
  }
  if (sequences.empty() && !options.maxlen)
    throw ValueError("pad_sequences: without sequences the length is not known; set maxlen");
  int64_t width = options.maxlen.value_or(longest);
  if (width < 0) throw ValueError("pad_sequences: maxlen must not be negative; received " + std::to_string(width));

  std::vector<int64_t> shape = {static_cast<int64_t>(sequences.size()), width};
  if (sample) shape.insert(shape.end(), sample->begin(), sample->end());
  Tensor value = as_dtype(options.value, options.dtype);
  if (value.rank() != 0) throw ValueError("pad_sequences: value must be a scalar");
  Tensor padded = fill(Tensor(shape), value);
  int64_t elements = 1;  // of one sample
  for (size_t i = 2; i < shape.size(); ++i) elements *= shape[i];
  size_t bytes = static_cast<size_t>(elements) * size_of(options.dtype);
  for (size_t i = 0; i < sequences.size(); ++i) {
    int64_t length = length_of(sequences[i]), kept = std::min(length, width);
    if (kept == 0) continue;
    Tensor sequence = as_dtype(sequences[i], options.dtype);
    auto from = static_cast<size_t>(cut_end ? 0 : length - kept);
    auto to = i * static_cast<size_t>(width) + static_cast<size_t>(pad_end ? 0 : width - kept);
    if (options.dtype == DType::string) {
      auto count = static_cast<size_t>(elements);
      std::copy_n(sequence.data<std::string>() + from * count, static_cast<size_t>(kept) * count,
                  padded.mutable_data<std::string>() + to * count);
    } else {
      std::memcpy(padded.mutable_data<std::byte>() + to * bytes,
                  sequence.mutable_data<const std::byte>() + from * bytes, static_cast<size_t>(kept) * bytes);
    }
  }
  return padded;
}

}  // namespace thalweg::keras::utils
