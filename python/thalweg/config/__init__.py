"""Devices, threads and memory."""

from collections import namedtuple

from thalweg import _thalweg
from thalweg.graph.function import functions_run_eagerly, run_functions_eagerly

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"], module="thalweg.config")
LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"], module="thalweg.config")


class LogicalDeviceConfiguration(namedtuple(
        "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"])):
    """One part of a split device. `memory_limit` is in MB."""

    __slots__ = ()

    def __new__(cls, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        return super().__new__(cls, memory_limit, experimental_priority, experimental_device_ordinal)


_soft_placement = True


def _of_type(devices, kind, device_type):
    return [kind(*device) for device in devices if device_type is None or device[1] == device_type]


def _check_physical(device):
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"Unrecognized device: {device!r}")
    return tuple(device)


def list_physical_devices(device_type=None):
    """The devices the machine has, of one type or all."""
    return _of_type(_thalweg.list_physical_devices(), PhysicalDevice, device_type)


def list_logical_devices(device_type=None):
    """The devices that ops run on. Asking fixes the configuration."""
    return _of_type(_thalweg.list_logical_devices(), LogicalDevice, device_type)


def get_visible_devices(device_type=None):
    """The physical devices that the program may use."""
    return _of_type(_thalweg.get_visible_devices(), PhysicalDevice, device_type)


def set_visible_devices(devices, device_type=None):
    """Limits the program to these devices; before the first op only."""
    if devices is None:
        devices = []
    if isinstance(devices, (PhysicalDevice, str)) or not isinstance(devices, (list, tuple)):
        devices = [devices]
    _thalweg.set_visible_devices([_check_physical(device) for device in devices], device_type or "")


def set_logical_device_configuration(device, logical_devices):
    """Splits a physical device into logical ones; before the first op only."""
    limits = [part.memory_limit for part in logical_devices]
    _thalweg.set_logical_device_configuration(_check_physical(device), limits)


def get_logical_device_configuration(device):
    """How a device is split, or None when it is whole."""
    limits = _thalweg.get_logical_device_configuration(_check_physical(device))
    if limits == [None]:
        return None
    return [LogicalDeviceConfiguration(memory_limit=limit) for limit in limits]


def get_soft_device_placement():
    """Whether ops run on CPU:0 when the device that was asked for is missing."""
    return _soft_placement


def set_soft_device_placement(enabled):
    """Whether ops run on CPU:0 when the device that was asked for is missing; otherwise that is an error."""
    global _soft_placement
    _soft_placement = bool(enabled)


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

from thalweg.config import experimental, optimizer, threading  # noqa: E402  (they use the names above)
