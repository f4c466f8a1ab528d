"""Older names of tf.config, and memory."""

from thalweg import _thalweg, config
from thalweg.config import (LogicalDeviceConfiguration as VirtualDeviceConfiguration, get_visible_devices,
                            list_logical_devices, list_physical_devices, set_visible_devices,
                            get_logical_device_configuration as get_virtual_device_configuration,
                            set_logical_device_configuration as set_virtual_device_configuration)


def set_memory_growth(device, enable):
    """Whether a GPU's memory grows on demand; a CPU has no such setting."""
    _thalweg.set_memory_growth(config._check_physical(device), bool(enable))


def get_memory_growth(device):
    """What set_memory_growth was told for a GPU."""
    return _thalweg.get_memory_growth(config._check_physical(device))


def _memory(device):
    from thalweg.errors import InvalidArgumentError

    try:
        return _thalweg.memory_info(device)
    except InvalidArgumentError:
        raise ValueError(f"No matching devices found for {device!r}") from None


def get_memory_info(device):
    """The bytes that a device's tensors occupy: {'current': ..., 'peak': ...}."""
    current, peak = _memory(device)
    return {"current": current, "peak": peak}


def get_memory_usage(device):
    """The bytes that a device's tensors occupy now."""
    return _memory(device)[0]


def reset_memory_stats(device):
    """The peak is what is occupied now."""
    _memory(device)
    _thalweg.reset_peak_memory(device)


def get_device_details(device):
    """Nothing more is known of a CPU."""
    config._check_physical(device)
    return {}


def get_synchronous_execution():
    """Ops have finished when they return."""
    return True


def set_synchronous_execution(enable):
    """Ops have finished when they return, whatever is asked for."""


def enable_op_determinism():
    """Results repeat their bits already, at any number of threads."""


def tensor_float_32_execution_enabled():
    """float32 is always computed as float32."""
    return False


def enable_tensor_float_32_execution(enabled):
    """A setting of GPUs."""
