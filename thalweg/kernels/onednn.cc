#include "thalweg/kernels/onednn.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels::onednn {
namespace {
using dnnl::memory;
using Dims = memory::dims;

/// Holds OpenMP to one thread: the work is already cut, and a second pool beside ours would stall it.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// Copies one number: the first execution starts oneDNN's hooks for profilers, and those do not expect several threads.
void execute_first(const dnnl::engine& engine) {
  OneThread one;
  float from = 0, to = 0;
  const memory::desc number({1}, memory::data_type::f32, memory::format_tag::a);
  memory source(number, engine, &from), target(number, engine, &to);
  dnnl::stream stream(engine);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

// Never destroyed: threads may compute while the program ends.
dnnl::engine& engine() {
  static dnnl::engine& instance = []() -> dnnl::engine& {
    auto* made = new dnnl::engine(dnnl::engine::kind::cpu, 0);
    execute_first(*made);
    return *made;
  }();
  return instance;
}
dnnl::stream& stream() {
  thread_local dnnl::stream instance(engine());
  return instance;
}

/// Everything a descriptor takes, so that the versions of the API differ in three functions only.
struct Descriptors {
  memory::desc in, filter, out;
  Dims strides, dilations, pads_before, pads_after;
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attributes;
};

using Forward = dnnl::convolution_forward;
using BackwardInput = dnnl::convolution_backward_data;
using BackwardFilter = dnnl::convolution_backward_weights;

#if DNNL_VERSION_MAJOR >= 3
Forward::primitive_desc describe_forward(const Descriptors& d) {
  return {engine(),      dnnl::prop_kind::forward_training,
          d.algorithm,   d.in,
          d.filter,      d.out,
          d.strides,     d.dilations,
          d.pads_before, d.pads_after,
          d.attributes};
}
BackwardInput::primitive_desc describe_backward_input(const Descriptors& d) {
  return {engine(),     d.algorithm,         d.in,        d.filter, d.out, d.strides, d.dilations, d.pads_before,
          d.pads_after, describe_forward(d), d.attributes};
}
BackwardFilter::primitive_desc describe_backward_filter(const Descriptors& d) {
  return {engine(),     d.algorithm,         d.in,        d.filter, d.out, d.strides, d.dilations, d.pads_before,
          d.pads_after, describe_forward(d), d.attributes};
}
#else
Forward::primitive_desc describe_forward(const Descriptors& d) {
  return {Forward::desc(dnnl::prop_kind::forward_training, d.algorithm, d.in, d.filter, d.out, d.strides, d.dilations,
                        d.pads_before, d.pads_after),
          d.attributes, engine()};
}
BackwardInput::primitive_desc describe_backward_input(const Descriptors& d) {
  return {BackwardInput::desc(d.algorithm, d.in, d.filter, d.out, d.strides, d.dilations, d.pads_before, d.pads_after),
          d.attributes, engine(), describe_forward(d)};
}
BackwardFilter::primitive_desc describe_backward_filter(const Descriptors& d) {
  return {BackwardFilter::desc(d.algorithm, d.in, d.filter, d.out, d.strides, d.dilations, d.pads_before, d.pads_after),
          d.attributes, engine(), describe_forward(d)};
}
#endif

/// [batch, channels, spatial...] sizes of an array that lies as [batch, spatial..., channels].
memory::desc activations(int64_t batch, int64_t channels, const int64_t* sizes, int first, bool any) {
  Dims dims{batch, channels}, strides{0, 1};
  for (int axis = first; axis < 3; ++axis) dims.push_back(sizes[axis]);
  strides.resize(dims.size());
  int64_t step = channels;
  for (size_t i = dims.size() - 1; i >= 2; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  strides[0] = step;
  if (any) return {dims, memory::data_type::f32, memory::format_tag::any};
  return {dims, memory::data_type::f32, strides};
}

memory::desc filters(const ConvShape& s, int first, bool any) {
  Dims dims, strides;
  if (s.groups > 1) {
    dims.push_back(s.groups);
    strides.push_back(s.group_out());
  }
  dims.insert(dims.end(), {s.group_out(), s.group_in()});
  strides.insert(strides.end(), {1, s.out_channels});
  const size_t before = dims.size();
  for (int axis = first; axis < 3; ++axis) dims.push_back(s.filter[axis]);
  strides.resize(dims.size());
  int64_t step = s.group_in() * s.out_channels;
  for (size_t i = dims.size() - 1; i >= before; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  if (any) return {dims, memory::data_type::f32, memory::format_tag::any};
  return {dims, memory::data_type::f32, strides};
}

/// A copy from one order of elements to another; does nothing where they agree.
class Reorder {
 public:
  Reorder(const memory::desc& from, const memory::desc& to) : from_(from), to_(to), needed_(from != to) {
    if (needed_) primitive_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }
  bool needed() const { return needed_; }
  size_t target_size() const { return to_.get_size(); }
  void run(const float* from, float* to) const {
    memory source(from_, engine(), const_cast<float*>(from)), target(to_, engine(), to);
    primitive_.execute(stream(), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
  }

 private:
  memory::desc from_, to_;
  bool needed_;
  dnnl::reorder primitive_;
};

class Prepared final : public Convolution {
 public:
  template <class Description>
  Prepared(Pass pass, dnnl::primitive primitive, const Description& description, const memory::desc& in_plain,
           const memory::desc& filter_plain, const memory::desc& out_plain, const memory::desc& in,
           const memory::desc& filter, const memory::desc& out)
      : pass_(pass),
        primitive_(std::move(primitive)),
        in_(in),
        filter_(filter),
        out_(out),
        scratchpad_(description.scratchpad_desc()),
        pack_(filter_plain, filter),
        unpack_(filter, filter_plain),
        in_reorder_(pass == Pass::backward_input ? in : in_plain, pass == Pass::backward_input ? in_plain : in),
        out_reorder_(pass == Pass::forward ? out : out_plain, pass == Pass::forward ? out_plain : out) {}

  int64_t packed_size() const override { return static_cast<int64_t>(filter_.get_size() / sizeof(float)) + 16; }

  bool same_filter(const Convolution& other) const override {
    return filter_ == static_cast<const Prepared&>(other).filter_;
  }
  void pack(const float* filter, float* packed) const override { copy(pack_, filter, packed); }
  void unpack(const float* packed, float* filter) const override { copy(unpack_, packed, filter); }

  void run(float* in, float* packed, float* out) const override {
    OneThread one;
    float* in_used = in_reorder_.needed() ? scratch<float>(Scratch::engine_in, floats(in_)) : in;
    float* out_used = out_reorder_.needed() ? scratch<float>(Scratch::engine_out, floats(out_)) : out;
    if (in_reorder_.needed() && pass_ != Pass::backward_input) in_reorder_.run(in, in_used);
    if (out_reorder_.needed() && pass_ != Pass::forward) out_reorder_.run(out, out_used);
    memory in_memory(in_, engine(), in_used), filter(filter_, engine(), packed), out_memory(out_, engine(), out_used);
    memory work(scratchpad_, engine(), scratch(Scratch::engine, scratchpad_.get_size() + 64));
    if (pass_ == Pass::forward)
      primitive_.execute(stream(), {{DNNL_ARG_SRC, in_memory},
                                    {DNNL_ARG_WEIGHTS, filter},
                                    {DNNL_ARG_DST, out_memory},
                                    {DNNL_ARG_SCRATCHPAD, work}});
    else if (pass_ == Pass::backward_input)
      primitive_.execute(stream(), {{DNNL_ARG_DIFF_SRC, in_memory},
                                    {DNNL_ARG_WEIGHTS, filter},
                                    {DNNL_ARG_DIFF_DST, out_memory},
                                    {DNNL_ARG_SCRATCHPAD, work}});
    else
      primitive_.execute(stream(), {{DNNL_ARG_SRC, in_memory},
                                    {DNNL_ARG_DIFF_WEIGHTS, filter},
                                    {DNNL_ARG_DIFF_DST, out_memory},
                                    {DNNL_ARG_SCRATCHPAD, work}});
    if (in_reorder_.needed() && pass_ == Pass::backward_input) in_reorder_.run(in_used, in);
    if (out_reorder_.needed() && pass_ == Pass::forward) out_reorder_.run(out_used, out);
    stream().wait();
  }

 private:
  static int64_t floats(const memory::desc& d) { return static_cast<int64_t>(d.get_size() / sizeof(float)) + 16; }
  void copy(const Reorder& reorder, const float* from, float* to) const {
    OneThread one;
    if (reorder.needed()) reorder.run(from, to);
    else std::memcpy(to, from, filter_.get_size());
    stream().wait();
  }

  Pass pass_;
  dnnl::primitive primitive_;
  memory::desc in_, filter_, out_, scratchpad_;
  Reorder pack_, unpack_, in_reorder_, out_reorder_;
};

// What oneDNN computes by plain loops or by im2col is slower than our own.
bool is_fast(const char* implementation) {
  return !std::strstr(implementation, "ref") && !std::strstr(implementation, "gemm");
}

std::shared_ptr<const Convolution> make(Pass pass, Method method, const ConvShape& s) {
  const int first = s.in[0] == 1 && s.filter[0] == 1 && s.out[0] == 1 ? 1 : 0;
  const bool any = method != Method::direct;
  Descriptors d;
  const memory::desc in = activations(s.batch, s.in_channels, s.in, first, false);
  const memory::desc filter = filters(s, first, false);
  const memory::desc out = activations(s.batch, s.out_channels, s.out, first, false);
  d.in = activations(s.batch, s.in_channels, s.in, first, any);
  d.filter = filters(s, first, true);
  d.out = activations(s.batch, s.out_channels, s.out, first, any);
  for (int axis = first; axis < 3; ++axis) {
    d.strides.push_back(s.strides[axis]);
    d.dilations.push_back(s.dilations[axis] - 1);
    d.pads_before.push_back(s.pads_before[axis]);
    d.pads_after.push_back(s.pad_after(axis));
  }
  d.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  OneThread one;
  try {
    if (pass == Pass::forward) {
      auto p = describe_forward(d);
      if (!is_fast(p.impl_info_str())) return nullptr;
      return std::make_shared<Prepared>(pass, Forward(p), p, in, filter, out, p.src_desc(), p.weights_desc(),
                                        p.dst_desc());
    }
    if (pass == Pass::backward_input) {
      auto p = describe_backward_input(d);
      if (!is_fast(p.impl_info_str())) return nullptr;
      return std::make_shared<Prepared>(pass, BackwardInput(p), p, in, filter, out, p.diff_src_desc(), p.weights_desc(),
                                        p.diff_dst_desc());
    }
    auto p = describe_backward_filter(d);
    if (!is_fast(p.impl_info_str())) return nullptr;
    return std::make_shared<Prepared>(pass, BackwardFilter(p), p, in, filter, out, p.src_desc(), p.diff_weights_desc(),
                                      p.diff_dst_desc());
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

struct Key {
  Pass pass;
  Method method;
  ConvShape shape;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    static_assert(sizeof(Key) % 8 == 0);
    uint64_t words[sizeof(Key) / 8], hash = 0x9e3779b97f4a7c15u;
    std::memcpy(words, &key, sizeof(key));
    for (uint64_t word : words) hash = (hash ^ word) * 0xff51afd7ed558ccdu, hash ^= hash >> 29;
    return hash;
  }
};

/// The convolutions used last, failures too, so that a refused one is not tried again and again.
class Cache {
 public:
  std::shared_ptr<const Convolution> find(const Key& key) {
    if (auto known = look_up(key)) return *known;
    // One thread at a time asks oneDNN, whose own cache shares what it makes: a second one that wants the same
    // convolution waits for it instead of making it again.
    std::lock_guard making(making_mutex_);
    if (auto known = look_up(key)) return *known;
    auto made = make(key.pass, key.method, key.shape);
    std::lock_guard lock(mutex_);
    order_.push_front(key);
    entries_[key] = {made, order_.begin()};
    if (entries_.size() > capacity) {
      entries_.erase(order_.back());
      order_.pop_back();
    }
    return made;
  }

 private:
  std::optional<std::shared_ptr<const Convolution>> look_up(const Key& key) {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(key);
    if (it == entries_.end()) return {};
    order_.splice(order_.begin(), order_, it->second.place);
    return it->second.convolution;
  }

  static constexpr size_t capacity = 1024;
  struct Entry {
    std::shared_ptr<const Convolution> convolution;
    std::list<Key>::iterator place;
  };
  std::mutex making_mutex_;  // taken before mutex_
  std::mutex mutex_;
  std::unordered_map<Key, Entry, KeyHash> entries_;
  std::list<Key> order_;
};
}  // namespace

std::shared_ptr<const Convolution> find_convolution(Pass pass, Method method, const ConvShape& shape) {
  static Cache& cache = *new Cache;
  return cache.find({pass, method, shape});
}

}  // namespace thalweg::kernels::onednn
