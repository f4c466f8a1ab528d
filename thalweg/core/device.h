// Physical and logical devices. There is one physical device, the CPU; it may be split into several logical ones.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg {

/// A device the machine has.
struct PhysicalDevice {
  std::string name;         // "/physical_device:CPU:0"
  std::string device_type;  // "CPU"
  bool operator==(const PhysicalDevice&) const = default;
};
/// A device ops run on.
struct LogicalDevice {
  std::string name;         // "/device:CPU:0"
  std::string device_type;  // "CPU"
  bool operator==(const LogicalDevice&) const = default;
};
/// One part of a split device. `memory_limit` is in MB; without one the parts share the machine's memory.
struct LogicalDeviceConfiguration {
  std::optional<int64_t> memory_limit = {};
  bool operator==(const LogicalDeviceConfiguration&) const = default;
};

namespace config {
/// Devices by type (`"CPU"`, `"GPU"`), or all. Asking for logical devices fixes the configuration.
THALWEG_API std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type = "");
THALWEG_API std::vector<LogicalDevice> list_logical_devices(std::string_view device_type = "");
THALWEG_API std::vector<PhysicalDevice> get_visible_devices(std::string_view device_type = "");
/// The devices that the program may use. RuntimeError once devices were used.
THALWEG_API void set_visible_devices(const std::vector<PhysicalDevice>& devices, std::string_view device_type = "");
/// Splits a physical device into logical ones. RuntimeError once devices were used.
THALWEG_API void set_logical_device_configuration(const PhysicalDevice& device,
                                                  const std::vector<LogicalDeviceConfiguration>& parts);
THALWEG_API std::vector<LogicalDeviceConfiguration> get_logical_device_configuration(const PhysicalDevice& device);
/// Whether a GPU's memory grows on demand; a CPU has no such setting, as in TensorFlow.
THALWEG_API void set_memory_growth(const PhysicalDevice& device, bool enable);
THALWEG_API bool get_memory_growth(const PhysicalDevice& device);
}  // namespace config

/// The logical device that ops of this thread run on.
THALWEG_API int current_device();
/// `/job:localhost/replica:0/task:0/device:CPU:1`
THALWEG_API std::string device_name(int device);
/// All logical devices, for errors.
THALWEG_API std::string device_list();
/// The number of a device named as TensorFlow allows (`/cpu:1`, `CPU:1`, the full name); throws
/// InvalidArgumentError that names the devices there are.
THALWEG_API int find_device(std::string_view name);

/// Runs the ops of a scope on a device: `DeviceScope on("/cpu:1");`
class THALWEG_API DeviceScope {
 public:
  explicit DeviceScope(std::string_view name);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;
};
/// `auto scope = device("/cpu:1");`
inline DeviceScope device(std::string_view name) { return DeviceScope(name); }

namespace detail {
/// Fixes the device configuration; called at the first op of each thread.
THALWEG_API void start_devices();
}  // namespace detail

}  // namespace thalweg
