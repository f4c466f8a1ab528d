// Keras's data sets for Python: tensors and lists, of which the package makes NumPy's arrays.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/keras/datasets.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

using namespace keras::datasets;

nb::object to_python(const Tensor& tensor) { return nb::steal(wrap(tensor)); }
nb::object to_python(const std::vector<std::vector<int64_t>>& sequences) { return nb::cast(sequences); }

/// ((x_train, y_train), (x_test, y_test)), of what `load` gives while other threads run.
template <class Load> nb::object load(const Load& load) {
  auto data = [&] {
    nb::gil_scoped_release others_run;
    return load();
  }();
  return nb::make_tuple(nb::make_tuple(to_python(data.train.x), to_python(data.train.y)),
                        nb::make_tuple(to_python(data.test.x), to_python(data.test.y)));
}

using Maybe = std::optional<int64_t>;

}  // namespace

void define_keras_datasets(nb::module_& module) {
  nb::module_ sets = module.def_submodule("keras_datasets");
  sets.def("mnist", [](const std::string& path) { return load([&] { return mnist::load_data(path); }); });
  sets.def("fashion_mnist", [] { return load([] { return fashion_mnist::load_data(); }); });
  sets.def("cifar10", [] { return load([] { return cifar10::load_data(); }); });
  sets.def("cifar100", [](const std::string& mode) { return load([&] { return cifar100::load_data(mode); }); });
  sets.def("boston_housing", [](const std::string& path, double test_split, int64_t seed) {
    return load([&] { return boston_housing::load_data({.path = path, .test_split = test_split, .seed = seed}); });
  });
  sets.def(
      "imdb",
      [](const std::string& path, Maybe num_words, int64_t skip_top, Maybe maxlen, int64_t seed, Maybe start_char,
         Maybe oov_char, int64_t index_from) {
        return load([&] {
          return imdb::load_data({path, num_words, skip_top, maxlen, seed, start_char, oov_char, index_from});
        });
      },
      nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg().none(),
      nb::arg());
  sets.def(
      "reuters",
      [](const std::string& path, Maybe num_words, int64_t skip_top, Maybe maxlen, double test_split, int64_t seed,
         Maybe start_char, Maybe oov_char, int64_t index_from) {
        return load([&] {
          return reuters::load_data(
              {path, num_words, skip_top, maxlen, test_split, seed, start_char, oov_char, index_from});
        });
      },
      nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
      nb::arg().none(), nb::arg());
  sets.def("imdb_word_index", &imdb::get_word_index);
  sets.def("reuters_word_index", &reuters::get_word_index);
  sets.def("reuters_label_names", [] { return std::vector(reuters::get_label_names()); });
}

}  // namespace thalweg::python
