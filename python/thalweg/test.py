"""tf.test: what programs ask about the machine, and gradients checked by differences."""

from thalweg import config
from thalweg._thalweg import convert_to_tensor
from thalweg.autodiff.tape import GradientTape


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


def _numeric_jacobian(f, arguments, which, delta):
    """Differences to both sides of every element of one argument."""
    import numpy

    columns = []
    base = arguments[which]
    for i in range(base.size):
        step = numpy.zeros(base.size, base.dtype)
        step[i] = delta
        sides = []
        for sign in (1, -1):
            moved = list(arguments)
            moved[which] = base + (sign * step).reshape(base.shape)
            sides.append(numpy.asarray(f(*map(convert_to_tensor, moved))).reshape(-1))
        columns.append((sides[0] - sides[1]) / (2 * delta))
    return numpy.stack(columns, axis=1) if columns else numpy.zeros((0, 0), base.dtype)


def compute_gradient(f, x, delta=None):
    """Two tuples of jacobians of f, one matrix for each of the arguments x: by the tape and by differences."""
    import numpy

    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
                         f"{type(x)}")
    delta = 1.0 / 1024 if delta is None else delta
    tensors = [convert_to_tensor(value) for value in x]
    with GradientTape() as tape:
        tape.watch(tensors)
        result = f(*tensors)
    size = numpy.asarray(result).size
    by_tape = tuple(numpy.asarray(convert_to_tensor(jacobian)).reshape(size, -1)
                    for jacobian in tape.jacobian(result, tensors, unconnected_gradients="zero"))
    arrays = [numpy.asarray(tensor) for tensor in tensors]
    return by_tape, tuple(_numeric_jacobian(f, arrays, i, delta) for i in range(len(arrays)))
