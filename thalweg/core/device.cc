#include "thalweg/core/device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "thalweg/core/allocator.h"
#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"

namespace thalweg {

constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

namespace {

struct Devices {
  std::mutex mutex;
  std::atomic<bool> started = false;
  bool cpu_visible = true;
  std::vector<LogicalDeviceConfiguration> parts = {{}};
};
Devices& devices() {
  static Devices& d = *new Devices;
  return d;
}
const PhysicalDevice cpu = {"/physical_device:CPU:0", "CPU"};
constexpr size_t max_parts = 64;

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

void check_known(const PhysicalDevice& device) {
  if (device != cpu)
    throw ValueError("Unrecognized device: " + device.name + "; the physical devices are: " + cpu.name);
}

}  // namespace

namespace detail {
void start_devices() {
  thread_state.started = true;
  Devices& d = devices();
  if (d.started.load(std::memory_order_acquire)) return;
  std::lock_guard lock(d.mutex);
  if (d.started.exchange(true)) return;
  for (size_t i = 0; i < d.parts.size(); ++i)
    if (const auto& megabytes = d.parts[i].memory_limit) set_memory_limit(static_cast<int>(i), *megabytes << 20);
}
}  // namespace detail

namespace config {

std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type) {
  if (device_type.empty() || upper(device_type) == "CPU") return {cpu};
  return {};
}

std::vector<LogicalDevice> list_logical_devices(std::string_view device_type) {
  detail::start_devices();
  if (!device_type.empty() && upper(device_type) != "CPU") return {};
  std::vector<LogicalDevice> list;
  for (size_t i = 0; i < devices().parts.size(); ++i) list.push_back({"/device:CPU:" + std::to_string(i), "CPU"});
  return list;
}

std::vector<PhysicalDevice> get_visible_devices(std::string_view device_type) {
  std::lock_guard lock(devices().mutex);
  if (!devices().cpu_visible) return {};
  return list_physical_devices(device_type);
}

void set_visible_devices(const std::vector<PhysicalDevice>& list, std::string_view device_type) {
  for (const PhysicalDevice& device : list) {
    check_known(device);
    if (!device_type.empty() && upper(device_type) != device.device_type)
      throw ValueError("Unrecognized device: " + device.name + " is no " + std::string(device_type));
  }
  if (!device_type.empty() && upper(device_type) != "CPU") return;
  Devices& d = devices();
  std::lock_guard lock(d.mutex);
  if (d.cpu_visible == !list.empty()) return;
  if (d.started) throw RuntimeError("Visible devices cannot be modified after being initialized");
  d.cpu_visible = !list.empty();
}

void set_logical_device_configuration(const PhysicalDevice& device,
                                      const std::vector<LogicalDeviceConfiguration>& parts) {
  check_known(device);
  if (parts.empty() || parts.size() > max_parts)
    throw ValueError("a device is split into 1 to " + std::to_string(max_parts) + " logical devices, got " +
                     std::to_string(parts.size()));
  for (const auto& part : parts)
    if (part.memory_limit && *part.memory_limit <= 0) throw ValueError("memory_limit must be positive");
  Devices& d = devices();
  std::lock_guard lock(d.mutex);
  if (d.parts == parts) return;
  if (d.started) throw RuntimeError("Virtual devices cannot be modified after being initialized");
  d.parts = parts;
}

std::vector<LogicalDeviceConfiguration> get_logical_device_configuration(const PhysicalDevice& device) {
  check_known(device);
  std::lock_guard lock(devices().mutex);
  return devices().parts;
}

void set_memory_growth(const PhysicalDevice& device, bool) {
  check_known(device);
  throw ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices");
}
bool get_memory_growth(const PhysicalDevice& device) {
  check_known(device);
  throw ValueError("memory growth is a setting of GPUs; " + device.name + " is a CPU");
}

}  // namespace config

int current_device() { return thread_state.device; }

std::string device_name(int device) { return "/job:localhost/replica:0/task:0/device:CPU:" + std::to_string(device); }

std::string device_list() {
  std::string text;
  for (const LogicalDevice& device : config::list_logical_devices()) {
    if (!text.empty()) text += ", ";
    text += "/job:localhost/replica:0/task:0" + device.name;
  }
  return text;
}

int find_device(std::string_view name) {
  detail::start_devices();
  std::string wanted = upper(name);
  auto colon = wanted.rfind(':');
  auto slash = wanted.rfind('/');
  std::string type = wanted.substr(slash == std::string::npos ? 0 : slash + 1);
  if (type.starts_with("DEVICE:")) type = type.substr(7);
  std::string number = "0";
  if (colon = type.rfind(':'); colon != std::string::npos) {
    number = type.substr(colon + 1);
    type = type.substr(0, colon);
  }
  bool digits = !number.empty() && number.size() < 4 &&
                std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (type == "CPU" && (digits || number == "*")) {
    size_t index = number == "*" ? 0 : static_cast<size_t>(std::stoi(number));
    if (index < devices().parts.size()) return static_cast<int>(index);
  }
  throw InvalidArgumentError("there is no device '" + std::string(name) + "'; the devices are: " + device_list());
}

DeviceScope::DeviceScope(std::string_view name) : before_(thread_state.device) {
  if (!name.empty()) thread_state.device = static_cast<uint8_t>(find_device(name));
}
DeviceScope::~DeviceScope() { thread_state.device = static_cast<uint8_t>(before_); }

}  // namespace thalweg
