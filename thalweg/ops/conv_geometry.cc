#include "thalweg/ops/conv_geometry.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"

namespace thalweg {
namespace {

// Products of two sizes stay far below 2^63.
constexpr int64_t largest_size = std::numeric_limits<int32_t>::max();

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string list_text(std::span<const int64_t> list) {
  std::string text = "[";
  for (int64_t v : list) text += (text.size() > 1 ? ", " : "") + std::to_string(v);
  return text + "]";
}

AttrValue padding_value(const Padding& padding) {
  if (!padding.is_explicit()) return padding.name();
  const auto& numbers = padding.explicit_paddings();
  return Tensor(numbers, Shape{static_cast<int64_t>(numbers.size() / 2), 2});
}

bool set_padding(Padding& padding, const AttrValue& value) {
  if (auto* name = std::get_if<std::string>(&value)) return padding = Padding(*name), true;
  auto* tensor = std::get_if<Tensor>(&value);
  if (!tensor || !tensor->defined() || tensor->is_symbolic()) return false;
  if (tensor->dtype() == DType::string && tensor->size() == 1) {
    padding = Padding(*tensor->data<std::string>());
    return true;
  }
  if (!is_integer(tensor->dtype()) || tensor->rank() != 2 || tensor->shape()[1] != 2) return false;
  std::vector<int64_t> numbers(static_cast<size_t>(tensor->size()));
  convert_elements(tensor->dtype(), tensor->impl()->data, DType::int64, numbers.data(), tensor->size());
  padding = Padding(std::move(numbers));
  return true;
}

}  // namespace

Padding::Padding(std::initializer_list<std::initializer_list<int64_t>> paddings) : name_("EXPLICIT") {
  for (const auto& pair : paddings) {
    if (pair.size() != 2) throw ValueError("padding must have two numbers for each dimension: before and after it");
    explicit_.insert(explicit_.end(), pair);
  }
}

template <> const MemberType& member_type<Padding>() {
  static const MemberType type{
      AttrKind::tensor, false, [](const void* p) { return padding_value(*static_cast<const Padding*>(p)); },
      [](void* p, const AttrValue& value) { return set_padding(*static_cast<Padding*>(p), value); }};
  return type;
}

std::string Geometry::read(int spatial, const WindowAttrs& attrs) {
  spatial_ = spatial;
  std::string last = layout_name(spatial, false), first = layout_name(spatial, true);
  channels_first_ = attrs.data_format == first;
  if (!channels_first_ && attrs.data_format != last)
    return "data_format must be " + quoted(last) + " or " + quoted(first) + ", got " + quoted(attrs.data_format);
  struct Named {
    const char* name;
    std::span<const int64_t> list;
    int64_t* to;
  };
  for (const Named& n :
       {Named{"strides", attrs.strides, strides_}, Named{attrs.dilations_name, attrs.dilations, dilations_},
        Named{"ksize", attrs.ksize, windows_}}) {
    if (n.list.empty() && n.to != strides_) continue;
    if (n.list.size() != static_cast<size_t>(rank()))
      return std::string(n.name) + " must have " + std::to_string(rank()) +
             " numbers, one for each dimension of the input, got " + list_text(n.list);
    for (const int64_t& v : n.list) {
      // A pool whose window takes one channel at a time does not step along them, whatever its stride says.
      if (n.to == strides_ && !attrs.ksize.empty() && &v == &n.list[static_cast<size_t>(channel_axis())]) continue;
      if (v < 1 || v > largest_size)
        return std::string(n.name) + " must be at least 1 and below 2^31, got " + list_text(n.list);
    }
    auto at = [&](int axis) { return n.list[static_cast<size_t>(axis)]; };
    if (at(0) != 1) return std::string(n.name) + " must be 1 along the batch, got " + list_text(n.list);
    for (int i = 0; i < spatial; ++i) n.to[i] = at(axis(i));
    int64_t along_channels = at(channel_axis());
    if (n.to == windows_) channel_window_ = along_channels;
    // Pools may step along channels; whether they do so alike in window and stride is seen below.
    else if (along_channels != 1 && (n.to == dilations_ || attrs.ksize.empty()))
      return std::string(n.name) + " must be 1 along the channels, got " + list_text(n.list);
  }
  if (channel_window_ > 1 && attrs.strides[static_cast<size_t>(channel_axis())] != channel_window_)
    return "ksize and strides must be equal along the channels, got " + list_text(attrs.ksize) + " and " +
           list_text(attrs.strides);
  return read_paddings(attrs);
}

std::string Geometry::read_paddings(const WindowAttrs& attrs) {
  bool given = attrs.padding == "EXPLICIT" && attrs.allows_explicit;
  if (attrs.padding != "SAME" && attrs.padding != "VALID" && !given)
    return std::string("padding must be \"SAME\"") +
           (attrs.allows_explicit ? ", \"VALID\" or \"EXPLICIT\"" : " or \"VALID\"") + ", got " + quoted(attrs.padding);
  padding_ = given ? Kind::given : attrs.padding == "SAME" ? Kind::same : Kind::valid;
  std::span<const int64_t> list = attrs.explicit_paddings;
  if (!given)
    return list.empty() ? "" : "explicit_paddings must be empty unless padding is \"EXPLICIT\", got " + list_text(list);
  if (list.size() != 2 * static_cast<size_t>(rank()))
    return "explicit_paddings must have " + std::to_string(2 * rank()) +
           " numbers, two for each dimension of the input, got " + list_text(list);
  for (int64_t v : list)
    if (v < 0 || v > largest_size) return "explicit_paddings must be between 0 and 2^31, got " + list_text(list);
  auto pair = [&](int axis) { return list.subspan(2 * static_cast<size_t>(axis), 2); };
  for (int axis : {0, channel_axis()})
    if (pair(axis)[0] != 0 || pair(axis)[1] != 0)
      return "explicit_paddings must be 0 along batch and channels, got " + list_text(list);
  for (int i = 0; i < spatial_; ++i) {
    before_[i] = pair(axis(i))[0];
    after_[i] = pair(axis(i))[1];
    if (!attrs.ksize.empty() && std::max(before_[i], after_[i]) >= windows_[i])
      return "explicit_paddings must be smaller than the window, got " + list_text(list) + " for ksize " +
             list_text(attrs.ksize);
  }
  return "";
}

std::string Geometry::along(int i, int64_t length, int64_t size, Along& result) const {
  result = {unknown, before_[i]};
  if (length > largest_size || size > largest_size)
    return "a dimension of " + std::to_string(std::max(length, size)) + " elements is too large: it must be below 2^31";
  int64_t stride = strides_[i];
  if (padding_ == Kind::same && length >= 0) result.count = (length + stride - 1) / stride;
  if (length < 0 || size < 0) return "";
  int64_t reach = (size - 1) * dilations_[i] + 1;
  if (padding_ == Kind::same) {
    result.before = std::max<int64_t>(0, (result.count - 1) * stride + reach - length) / 2;
    return "";
  }
  int64_t slack = length + before_[i] + after_[i] - reach + stride;
  result.count = slack / stride;  // toward 0, so that a window may be a little too large where an op runs
  const bool too_large_to_trace = thread_state.tracer && slack < stride;
  if (result.count < 0 || too_large_to_trace)
    return "a window that reaches over " + std::to_string(reach) + " elements does not fit the input, which has " +
           std::to_string(length) + " of them in dimension " + std::to_string(axis(i)) + " with padding " +
           std::to_string(before_[i]) + " and " + std::to_string(after_[i]);
  return "";
}

Shape Geometry::arrange(int64_t batch, std::span<const int64_t> space, int64_t channels) const {
  Shape shape{batch};
  if (channels_first_) shape.push_back(channels);
  for (int64_t n : space) shape.push_back(n);
  if (!channels_first_) shape.push_back(channels);
  return shape;
}

Shape sizes_input(const InferCall& c, int i, int rank) {
  Shape sizes = c.shape_value(i);
  if (!sizes.has_rank()) return Shape::of_rank(rank);
  if (sizes.rank() != rank)
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must have " + std::to_string(rank) + " numbers, got " +
           std::to_string(sizes.rank()));
  return sizes;
}

bool is_channels_first(std::string_view data_format) { return data_format.size() > 1 && data_format[1] == 'C'; }

std::string layout_name(int spatial, bool channels_first) {
  constexpr const char* last[] = {"NWC", "NHWC", "NDHWC"};
  constexpr const char* first[] = {"NCW", "NCHW", "NCDHW"};
  return (channels_first ? first : last)[spatial - 1];
}

std::vector<int64_t> all_dimensions(const Sizes& sizes, int spatial, std::string_view data_format, const char* name) {
  std::vector<int64_t> given = sizes.given() ? sizes.axes() : std::vector<int64_t>{1};
  if (given.size() == static_cast<size_t>(spatial) + 2) return given;
  if (given.size() == 1) given.resize(static_cast<size_t>(spatial), given[0]);
  if (given.size() != static_cast<size_t>(spatial))
    throw ValueError(std::string(name) + " must have 1, " + std::to_string(spatial) + " or " +
                     std::to_string(spatial + 2) + " numbers, got " + list_text(given));
  bool first = is_channels_first(data_format);
  given.insert(given.begin(), first ? 2 : 1, 1);
  if (!first) given.push_back(1);
  return given;
}

Padding widen_padding(const Padding& padding, bool channels_first) {
  if (!padding.is_explicit()) return padding;
  std::vector<int64_t> numbers = padding.explicit_paddings();
  auto place = std::min<size_t>(numbers.size(), channels_first ? 4 : 2);
  numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place), 2, 0);
  return Padding(std::move(numbers));
}

}  // namespace thalweg
