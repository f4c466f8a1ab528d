// Keras's progress bar and its cache of files for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/keras/utils.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

using namespace keras::utils;

void define_keras_utils(nb::module_& module) {
  nb::module_ utils = module.def_submodule("keras_utils");
  // Python's own sys.stdout takes the text, so `render` is all of it.
  nb::class_<Progbar>(utils, "Progbar")
      .def(
          "__init__",
          [](Progbar* self, std::optional<int64_t> target, int64_t width, int verbose, double interval,
             const std::vector<std::string>& stateful_metrics, const std::string& unit_name) {
            new (self) Progbar(target, {width, verbose, interval, stateful_metrics, unit_name});
          },
          nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
      .def("render", &Progbar::render, nb::arg(), nb::arg(), nb::arg().none())
      .def("add_stateful_metrics", &Progbar::add_stateful_metrics)
      .def_prop_ro("seen_so_far", &Progbar::seen_so_far)
      .def_prop_rw("target", &Progbar::target, &Progbar::set_target, nb::for_setter(nb::arg().none()));
  utils.def("set_random_seed", &set_random_seed);
  utils.def("get_file",
            [](const std::string& fname, const std::string& origin, bool untar, const std::string& md5_hash,
               const std::string& file_hash, const std::string& cache_subdir, const std::string& hash_algorithm,
               bool extract, const std::string& archive_format, const std::string& cache_dir) {
              nb::gil_scoped_release others_run;
              return get_file(fname, origin,
                              {.untar = untar,
                               .md5_hash = md5_hash,
                               .file_hash = file_hash,
                               .cache_subdir = cache_subdir,
                               .hash_algorithm = hash_algorithm,
                               .extract = extract,
                               .archive_format = archive_format,
                               .cache_dir = cache_dir});
            });
}

}  // namespace thalweg::python
