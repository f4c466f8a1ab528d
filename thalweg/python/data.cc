// Datasets for Python: the engine's stages, whose elements are Python's structures of tensors.
#include "thalweg/python/data.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "thalweg/python/keras_convert.h"

namespace thalweg::python {
namespace {

namespace stages = data::stages;

/// A pass; other threads of Python run while it makes an element.
struct Pass {
  explicit Pass(data::StagePtr source) : stage(std::move(source)), iterator(stage->iterate()) {}
  nb::object next() {
    std::vector<Tensor> element;
    if (!make(element)) throw nb::stop_iteration();
    return from_nest(stage->structure().pack(element));
  }
  nb::object get_next() {
    std::vector<Tensor> element;
    if (!make(element)) throw OutOfRangeError("End of sequence");
    return from_nest(stage->structure().pack(element));
  }
  bool make(std::vector<Tensor>& element) {
    nb::gil_scoped_release release;
    return iterator->next(element);
  }
  data::StagePtr stage;
  std::unique_ptr<data::Iterator> iterator;
};

/// What is known of an element: TensorSpecs in its structure.
nb::object element_spec(const data::Stage& stage) {
  const nb::object make = nb::module_::import_("thalweg").attr("TensorSpec");
  return from_nest(stage.structure(), [&](const Tensor& t) {
    return make(nb::steal(wrap_shape(t.shape())), nb::steal(wrap_dtype(t.dtype())));
  });
}

}  // namespace

void define_data(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("data");
  nb::class_<Pass>(module, "Pass")
      .def("__next__", &Pass::next)
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("get_next", &Pass::get_next)
      .def_prop_ro("element_spec", [](const Pass& self) { return element_spec(*self.stage); });
  nb::class_<DatasetStage>(module, "Stage")
      .def("__iter__", [](const DatasetStage& self) { return Pass(self.stage); })
      .def("cardinality", [](const DatasetStage& self) { return self.stage->cardinality(); })
      .def("name", [](const DatasetStage& self) { return self.stage->name(); })
      .def("describe", [](const DatasetStage& self) { return describe(*self.stage); })
      .def("batch", [](const DatasetStage& self, int64_t size,
                       bool drop) { return DatasetStage{stages::batch(self.stage, size, {.drop_remainder = drop})}; })
      .def("repeat", [](const DatasetStage& self, int64_t n) { return DatasetStage{stages::repeat(self.stage, n)}; })
      .def("take", [](const DatasetStage& self, int64_t n) { return DatasetStage{stages::take(self.stage, n)}; })
      .def("skip", [](const DatasetStage& self, int64_t n) { return DatasetStage{stages::skip(self.stage, n)}; })
      .def("prefetch",
           [](const DatasetStage& self, int64_t n) { return DatasetStage{stages::prefetch(self.stage, n)}; })
      .def(
          "shuffle",
          [](const DatasetStage& self, int64_t size, std::optional<int64_t> seed, bool reshuffle) {
            return DatasetStage{
                stages::shuffle(self.stage, size, {.seed = seed, .reshuffle_each_iteration = reshuffle})};
          },
          nb::arg(), nb::arg().none(), nb::arg())
      .def("element_spec", [](const DatasetStage& self) { return element_spec(*self.stage); });
  module.def("from_tensors", [](nb::handle tensors) { return DatasetStage{stages::from_tensors(to_nest(tensors))}; });
  module.def("from_tensor_slices",
             [](nb::handle tensors) { return DatasetStage{stages::from_tensor_slices(to_nest(tensors))}; });
  module.def("range",
             [](int64_t start, int64_t stop, int64_t step) { return DatasetStage{stages::range(start, stop, step)}; });
}

}  // namespace thalweg::python
