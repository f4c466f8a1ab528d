"""The name tree: tf.nn, tf.math and the others as real modules, filled from the registry of public functions."""

import importlib
import sys
import types

from thalweg import _thalweg

# Modules that are files of this package and are loaded when someone asks for them.
FILES = ("compat", "contrib", "data", "experimental", "keras", "losses", "test", "train", "version")

# Folders of the package's own code, which are no part of TensorFlow's tree.
ROOMS = {"core", "ops", "graph", "names"}

# Parts of Keras that have a name of their own.
OF_KERAS = {"metrics": "keras.metrics", "optimizers": "keras.optimizers", "initializers": "keras.initializers",
            "zeros_initializer": "keras.initializers.Zeros", "ones_initializer": "keras.initializers.Ones",
            "constant_initializer": "keras.initializers.Constant",
            "random_normal_initializer": "keras.initializers.RandomNormal",
            "random_uniform_initializer": "keras.initializers.RandomUniform"}

# Functions that the package writes in Python, because their arguments are no tensors and values; loaded on demand.
WRITTEN_HERE = {
    "broadcast_static_shape": "thalweg.core.shapes",
    "clip_by_global_norm": "thalweg.ops.written",
    "clip_by_norm": "thalweg.ops.written",
    "clip_by_value": "thalweg.ops.written",
    "get_current_name_scope": "thalweg.ops.written",
    "get_static_value": "thalweg.ops.written",
    "is_symbolic_tensor": "thalweg.ops.written",
    "timestamp": "thalweg.ops.written",
    "gradients": "thalweg.autodiff.tape",
    "AggregationMethod": "thalweg.autodiff.tape",
    "linalg.global_norm": "thalweg.ops.written",
    "make_ndarray": "thalweg.core.protos",
    "make_tensor_proto": "thalweg.core.protos",
    "math.scalar_mul": "thalweg.ops.written",
    "scalar_mul": "thalweg.ops.written",
    "numpy_function": "thalweg.graph.host_functions",
    "print": "thalweg.ops.print",
    "py_function": "thalweg.graph.host_functions",
    "debugging.Assert": "thalweg.ops.debugging",
    "debugging.assert_proper_iterable": "thalweg.ops.debugging",
    "debugging.assert_same_float_dtype": "thalweg.ops.debugging",
    "debugging.assert_shapes": "thalweg.ops.debugging",
    "debugging.is_numeric_tensor": "thalweg.ops.debugging",
    "linalg.svd": "thalweg.ops.written",
    "signal.inverse_stft": "thalweg.ops.written",
    "signal.inverse_stft_window_fn": "thalweg.ops.written",
    "signal.stft": "thalweg.ops.written",
}
WRITTEN_HERE |= {f"random.{prefix}{name}": "thalweg.ops.random" for prefix in ("", "experimental.")
                 for name in ("Algorithm", "Generator", "create_rng_state", "get_global_generator",
                              "set_global_generator")}

# Old spellings of TensorFlow 1 that programs still use, and where the function is now.
OLD_NAMES = {
    "Assert": "debugging.Assert",
    "random_normal": "random.normal",
    "random_uniform": "random.uniform",
    "truncated_normal": "random.truncated_normal",
    "random_shuffle": "random.shuffle",
    "set_random_seed": "random.set_seed",
    "log": "math.log",
    "log1p": "math.log1p",
    "lgamma": "math.lgamma",
    "digamma": "math.digamma",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "rsqrt": "math.rsqrt",
    "reciprocal": "math.reciprocal",
    "floordiv": "math.floordiv",
    "floormod": "math.floormod",
    "mod": "math.floormod",
    "div": "math.divide",
    "is_nan": "math.is_nan",
    "is_inf": "math.is_inf",
    "is_finite": "math.is_finite",
    "ceil": "math.ceil",
    "conj": "math.conj",
    "imag": "math.imag",
    "real": "math.real",
    "angle": "math.angle",
    "count_nonzero": "math.count_nonzero",
    "segment_sum": "math.segment_sum",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "matrix_inverse": "linalg.inv",
    "matrix_determinant": "linalg.det",
    "matrix_solve": "linalg.solve",
    "cholesky": "linalg.cholesky",
    "svd": "linalg.svd",
    "qr": "linalg.qr",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "matrix_diag": "linalg.diag",
    "matrix_transpose": "linalg.matrix_transpose",
    "fft": "signal.fft",
    "ifft": "signal.ifft",
    "space_to_depth": "nn.space_to_depth",
    "depth_to_space": "nn.depth_to_space",
    "string_join": "strings.join",
    "string_split": "strings.split",
    "string_to_number": "strings.to_number",
    "substr": "strings.substr",
    "regex_replace": "strings.regex_replace",
    "confusion_matrix": "math.confusion_matrix",
    "check_numerics": "debugging.check_numerics",
}


def module(path):
    """The module of a dotted path below the package, made where it is not a file."""
    name = "thalweg." + path
    found = sys.modules.get(name)
    if found is None and path.partition(".")[0] in FILES:
        return importlib.import_module(name)
    if found is None:
        found = types.ModuleType(name, f"The functions of tf.{path}.")
        found.__path__ = []  # a package, so that submodules import
        found.__getattr__ = lambda leaf: find_written(path, leaf)
        found.__dir__ = lambda: sorted(set(vars(found)) | written_in(path))
        sys.modules[name] = found
        parent, _, leaf = path.rpartition(".")
        setattr(module(parent) if parent else sys.modules["thalweg"], leaf, found)
    return found


def plant(package):
    """Puts every public function into its module, and tf.raw_ops beside them."""
    for name, function in _thalweg.functions().items():
        if name in WRITTEN_HERE:
            continue
        path, _, leaf = name.rpartition(".")
        if path.partition(".")[0] in FILES:
            continue  # the file itself looks the function up
        scope = vars(module(path)) if path else package
        scope.setdefault(leaf, function)
    for name in WRITTEN_HERE:
        if "." in name:
            module(name.rpartition(".")[0])
    raw_ops = module("raw_ops")
    raw_ops.__doc__ = "Every op of the engine, with TensorFlow's names for op, inputs and attributes."
    vars(raw_ops).update(_thalweg.raw_ops())


def written_in(path):
    """The names of WRITTEN_HERE in a module, or in the package for an empty path."""
    split = (name.rpartition(".") for name in WRITTEN_HERE)
    return {leaf for above, _, leaf in split if above == path}


def find_written(path, leaf):
    """A function of WRITTEN_HERE; the error of a missing attribute for other names."""
    source = WRITTEN_HERE.get(f"{path}.{leaf}")
    if source is None:
        raise AttributeError(f"module 'thalweg.{path}' has no attribute '{leaf}'")
    return getattr(importlib.import_module(source), leaf)


def find(name):
    """The object at a dotted name below the package."""
    found = sys.modules["thalweg"]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def find_old(name):
    """What the package itself lacks: files loaded on demand, and old spellings."""
    if name in FILES:
        return importlib.import_module("thalweg." + name)
    if name in WRITTEN_HERE:
        return getattr(importlib.import_module(WRITTEN_HERE[name]), name)
    if name in OF_KERAS:
        return find(OF_KERAS[name])
    if name in OLD_NAMES:
        return find(OLD_NAMES[name])
    raise AttributeError(f"module 'thalweg' has no attribute '{name}'")
