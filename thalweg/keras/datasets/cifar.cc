// CIFAR-10 and CIFAR-100: pickled dictionaries with `data`, uint8 [samples, 3 * 32 * 32], and lists of labels.
#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/io/pickle.h"
#include "thalweg/keras/datasets.h"
#include "thalweg/keras/datasets/places.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::datasets {
namespace {

Samples load_batch(const std::string& path, const std::string& label_key) {
  io::Pickled batch = io::load_pickle(path);
  Tensor data = batch.at("data").array();
  io::Pickled list = batch.at(label_key);
  std::vector<int64_t> labels;
  labels.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) labels.push_back(list[i].integer());
  auto count = static_cast<int64_t>(labels.size());
  if (data.dtype() != DType::uint8 || data.shape() != Shape{count, 3 * 32 * 32})
    throw errors::DataLossError(path + " holds data of " + std::string(name_of(data.dtype())) + " " +
                                data.shape().str() + " and " + std::to_string(count) +
                                " labels; uint8 of [labels, 3072] was expected");
  // Channel by channel in the file, channels last in memory.
  return {transpose(reshape(data, {count, 3, 32, 32}), {.perm = {0, 2, 3, 1}}), Tensor(labels, Shape{count, 1})};
}

Samples of_bytes(const Samples& samples) { return {samples.x, cast(samples.y, DType::uint8)}; }

}  // namespace

Dataset cifar10::load_data() {
  InitScope at_once;
  std::string folder = local_folder("cifar-10-batches-py");
  std::vector<Tensor> images, labels;
  for (int i = 1; i <= 5; ++i) {
    Samples batch = load_batch(folder + "/data_batch_" + std::to_string(i), "labels");
    images.push_back(batch.x);
    labels.push_back(batch.y);
  }
  return {of_bytes({concat(images, 0), concat(labels, 0)}), of_bytes(load_batch(folder + "/test_batch", "labels"))};
}

Dataset cifar100::load_data(const std::string& label_mode) {
  if (label_mode != "fine" && label_mode != "coarse")
    throw ValueError("cifar100: label_mode must be \"fine\" or \"coarse\"; received \"" + label_mode + "\"");
  InitScope at_once;
  std::string folder = local_folder("cifar-100-python"), key = label_mode + "_labels";
  return {load_batch(folder + "/train", key), load_batch(folder + "/test", key)};
}

}  // namespace thalweg::keras::datasets
