#include "tests/keras/cases.h"

#include <cmath>
#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/io/npy.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::testing {

using keras::Value;

KerasCases::KerasCases(const std::string& family) {
  auto arrays = io::load_npz("tests/golden/keras/" + family + ".npz");
  const Tensor text = arrays["manifest"];
  manifest_ = Value::parse({reinterpret_cast<const char*>(text.data<uint8_t>()), static_cast<size_t>(text.size())});
  data_ = arrays["data"];
}

Tensor KerasCases::tensor(const Value& value) const {
  if (value.is_none()) return {};
  Shape shape;
  for (const Value& dim : value["shape"].list()) shape.push_back(dim.integer());
  const DType dtype = dtype_named(value["dtype"].text());
  const auto* bytes = data_.data<uint8_t>() + (value["offset"].is_none() ? 0 : value["offset"].integer());
  if (dtype == DType::string) {
    std::vector<std::string> texts;
    for (const Value& length : value["lengths"].list()) {
      texts.emplace_back(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length.integer()));
      bytes += length.integer();
    }
    return Tensor(texts, shape);
  }
  Tensor made = Tensor::empty(dtype, shape);
  if (value["bytes"].is_none()) std::memset(made.mutable_data<void>(), 0, made.nbytes());  // only the shape counts
  else std::memcpy(made.mutable_data<void>(), bytes, made.nbytes());
  return made;
}

Nest KerasCases::nest(const Value& value) const {
  if (value.is_map() && !value.contains("dtype")) {  // by name
    std::vector<Nest::Entry> entries;
    for (const auto& [name, item] : value.map()) entries.emplace_back(name, nest(item));
    return Nest::dict(std::move(entries));
  }
  if (!value.is_list()) return Nest(tensor(value));
  std::vector<Nest> items;
  for (const Value& item : value.list()) items.push_back(nest(item));
  return Nest::list(std::move(items));
}

std::string KerasCases::describe(const Value& one) {
  return one["class"].text() + " row " + std::to_string(one["row"].integer()) + " " + one["config"].json();
}

std::string difference(const Tensor& got, const Tensor& expected, double tolerance) {
  if (got.defined() != expected.defined()) return got.defined() ? "a tensor where there should be none" : "no tensor";
  if (!got.defined()) return {};
  if (got.dtype() != expected.dtype())
    return "dtype " + std::string(name_of(got.dtype())) + ", not " + std::string(name_of(expected.dtype()));
  if (!(got.shape() == expected.shape())) return "shape " + got.shape().str() + ", not " + expected.shape().str();
  if (got.dtype() == DType::string || got.dtype() == DType::bool_)
    return got.str() == expected.str() ? "" : got.str() + ", not " + expected.str();
  if (tolerance < 0) tolerance = got.dtype() == DType::float32 ? 2e-5 : got.dtype() == DType::float16 ? 2e-3 : 1e-9;
  Tensor a = cast(got, DType::float64), b = cast(expected, DType::float64);
  double worst = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y) / std::max(1.0, std::abs(y));
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  if (at < 0 || worst <= tolerance) return {};
  return "element " + std::to_string(at) + " of " + got.shape().str() + " is " + std::to_string(a.data<double>()[at]) +
         ", not " + std::to_string(b.data<double>()[at]) + " (error " + std::to_string(worst) + ")";
}

Tensor gradient_weights(const Tensor& output) {
  std::vector<double> weights;
  for (int64_t i = 0; i < output.size(); ++i) weights.push_back((static_cast<double>((7 * i + 3) % 11) - 5) / 4 + 0.1);
  return cast(Tensor(weights, output.shape()), output.dtype());
}

Tensor weighted_sum(const std::vector<Tensor>& outputs) {
  Tensor sum;
  for (const Tensor& t : outputs) {
    if (!is_floating(t.dtype())) continue;
    Tensor part = reduce_sum(t * gradient_weights(t));
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

}  // namespace thalweg::testing
