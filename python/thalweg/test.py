"""tf.test: what programs ask about the machine."""

from thalweg import config


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU to run on."""
    return bool(config.list_physical_devices("GPU"))


def gpu_device_name():
    """The name of the first GPU, or an empty text."""
    return ""


def is_built_with_cuda():
    """The engine has no CUDA."""
    return False


def is_built_with_rocm():
    """The engine has no ROCm."""
    return False


def is_built_with_gpu_support():
    """The engine runs on CPUs."""
    return False
