// Devices, memory and threads: what tf.config and tf.device call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/core/allocator.h"
#include "thalweg/core/device.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/core/threads.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

using NameAndType = std::pair<std::string, std::string>;

template <class Device> std::vector<NameAndType> pairs(const std::vector<Device>& devices) {
  std::vector<NameAndType> list;
  for (const Device& device : devices) list.emplace_back(device.name, device.device_type);
  return list;
}

}  // namespace

void define_devices(nb::module_& module) {
  module.def("list_physical_devices", [] { return pairs(config::list_physical_devices()); });
  module.def("list_logical_devices", [] { return pairs(config::list_logical_devices()); });
  module.def("get_visible_devices", [] { return pairs(config::get_visible_devices()); });
  module.def("set_visible_devices", [](const std::vector<NameAndType>& devices, const std::string& type) {
    std::vector<PhysicalDevice> list;
    for (const auto& [name, device_type] : devices) list.push_back({name, device_type});
    config::set_visible_devices(list, type);
  });
  module.def("set_logical_device_configuration",
             [](const NameAndType& device, const std::vector<std::optional<int64_t>>& limits) {
               std::vector<LogicalDeviceConfiguration> parts;
               for (const auto& limit : limits) parts.push_back({limit});
               config::set_logical_device_configuration({device.first, device.second}, parts);
             });
  module.def("get_logical_device_configuration", [](const NameAndType& device) {
    std::vector<std::optional<int64_t>> limits;
    for (const auto& part : config::get_logical_device_configuration({device.first, device.second}))
      limits.push_back(part.memory_limit);
    return limits;
  });
  module.def("set_memory_growth", [](const NameAndType& device, bool enable) {
    config::set_memory_growth({device.first, device.second}, enable);
  });
  module.def("get_memory_growth",
             [](const NameAndType& device) { return config::get_memory_growth({device.first, device.second}); });
  module.def("memory_info", [](const std::string& device) {
    MemoryInfo info = memory_info(find_device(device));
    return std::pair(info.current, info.peak);
  });
  module.def("reset_peak_memory", [](const std::string& device) { reset_peak_memory(find_device(device)); });
  module.def("find_device", [](const std::string& name) { return find_device(name); });
  module.def("device_list", [] { return device_list(); });
  module.def("current_device", [] { return current_device(); });
  module.def("set_current_device", [](int device) {
    // The number is one that find_device or current_device gave.
    thread_state.device = static_cast<uint8_t>(device);
  });
  module.def("is_started", [] { return thread_state.started; });
  module.def("num_threads", [] { return num_threads(); });
  module.def("set_num_threads", [](int count) { set_num_threads(count); });
}

}  // namespace thalweg::python
