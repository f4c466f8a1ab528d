"""tf.contrib.eager, usually imported as tfe."""

from thalweg import config, enable_eager_execution, executing_eagerly


def num_gpus():
    """How many GPUs there are."""
    return len(config.list_physical_devices("GPU"))


def list_devices():
    """The names of the logical devices."""
    return [device.name for device in config.list_logical_devices()]
