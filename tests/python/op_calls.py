"""Runs calls that are written down as data: raw ops and public functions with tensors as (dtype, shape, content).

The content of strings is a tuple of bytes, of everything else the little-endian bytes in C order.
"""

import sys

import numpy as np

import thalweg as tf

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "uint64", "bool", "complex64", "complex128", "string")
TOLERANCES = {"float64": (1e-10, 1e-12), "complex128": (1e-10, 1e-12), "float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-2)}
# Where tf.raw_ops calls an input or attribute otherwise than graphs do.
RENAMED = {"reduction_indices": ("axis",), "split_dim": ("axis",), "squeeze_dims": ("axis",), "dim": ("axis",),
           "t": ("x",), "e": ("y",), "input": ("condition",)}


def decode(reference):
    """The tensor of (dtype, shape, content)."""
    dtype, shape, content = reference
    if dtype == "string":
        array = np.empty(len(content), object)
        array[:] = content
        return tf.constant(array.reshape(shape), tf.string, shape)
    if dtype == "bfloat16":
        return tf.bitcast(tf.constant(np.frombuffer(content, np.uint16).reshape(shape)), tf.bfloat16)
    return tf.constant(np.frombuffer(content, dtype).reshape(shape))


def encode(tensor):
    """(dtype, shape, content) of a tensor."""
    name = tensor.dtype.name
    shape = tuple(tensor.shape.as_list())
    if name in ("resource", "variant"):
        return name, shape, b""
    if name == "bfloat16":
        tensor = tf.bitcast(tensor, tf.uint16)
    array = np.asarray(tensor.numpy(), object if name == "string" else None)  # NumPy's own bytes lose zeros at their end
    return name, shape, tuple(array.reshape(-1)) if name == "string" else array.tobytes()


def decode_all(value):
    if isinstance(value, tf.Tensor):
        return value
    return [decode(item) for item in value] if isinstance(value, list) else decode(value)


def make_variable(reference, is_initialized):
    """The handle of a fresh variable that holds the tensor, or only has its dtype and shape."""
    value = decode(reference) if is_initialized else None
    handle = tf.raw_ops.VarHandleOp(dtype=tf.as_dtype(reference[0]), shape=reference[1])
    if is_initialized:
        tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    return handle


def read_variable(handle, dtype):
    """What a variable holds, encoded, or None."""
    if not tf.raw_ops.VarIsInitializedOp(resource=handle):
        return None
    return encode(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.as_dtype(dtype)))


def make_list(reference, is_initialized, batch):
    """The handle of the list of a tensor's rows, or of elements that are not set; a batch has it several times."""
    dtype, shape, _ = reference
    if is_initialized:
        handle = tf.raw_ops.TensorListFromTensor(tensor=decode(reference), element_shape=tf.constant(shape[1:], tf.int32))
    else:
        handle = tf.raw_ops.TensorListReserve(element_shape=tf.constant(shape[1:], tf.int32), num_elements=shape[0],
                                              element_dtype=tf.as_dtype(dtype))
    return handle if batch is None else tf.stack([handle] * batch)


def attribute(value):
    """An attribute as a call takes it: dtypes are named, tensors are {"tensor": reference}."""
    if isinstance(value, dict):
        return decode(value["tensor"])
    if isinstance(value, list):
        return [attribute(item) for item in value]
    if isinstance(value, str):
        return tf.as_dtype(value) if value in DTYPES else float(value) if value in ("nan", "inf", "-inf") else value
    return value


def flatten(answer):
    """The tensors of a result, in order."""
    if answer is None:
        return []
    if isinstance(answer, (list, tuple)):
        return [tensor for item in answer for tensor in flatten(item)]
    return [tf.convert_to_tensor(answer)]


def parameter_names(op):
    """The keywords of a raw op, as tf.raw_ops has them."""
    description = op._description
    return {name for name, *_ in description["inputs"]} | {name for name, *_ in description["attributes"]}


def run_op(name, inputs, attrs):
    """The flat results of tf.raw_ops.<name>; inputs and attributes have the names they have in graphs.

    Inputs are encoded tensors and the handles of variables.
    """
    op = getattr(tf.raw_ops, name)
    known = parameter_names(op)

    def keyword(given):
        return given if given in known else next((other for other in RENAMED.get(given, ()) if other in known), given)

    keywords = {keyword(given): decode_all(value) for given, value in inputs.items()}
    for given, value in attrs.items():
        # The lengths of lists are no parameters: the lists say them.
        if keyword(given) in known or value in DTYPES:
            keywords[keyword(given)] = attribute(value)
    return flatten(op(**keywords))


def find_function(name):
    """A public function by its dotted name, or None."""
    found = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def run_function(name, inputs, attrs):
    """The flat results of a public function."""
    keywords = {given: decode_all(value) for given, value in inputs.items()}
    keywords |= {given: attribute(value) for given, value in attrs.items()}
    positional = [keywords.pop(given) for given in ("equation",) if given in keywords] + keywords.pop("args", [])
    return flatten(find_function(name)(*positional, **keywords))


def reals(reference):
    """The elements as real numbers, complex ones as pairs."""
    dtype, _, content = reference
    if dtype == "bfloat16":
        return (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    values = np.frombuffer(content, dtype)
    if dtype.startswith("complex"):
        return values.view(np.float64 if dtype == "complex128" else np.float32).astype(np.float64)
    return values.astype(np.float64)


def difference(got, expected, tolerance=None, check="value"):
    """What tells two encoded tensors apart, or an empty text."""
    if got[0] != expected[0]:
        return f"dtype {got[0]}, expected {expected[0]}"
    if tuple(got[1]) != tuple(expected[1]):
        return f"shape {list(got[1])}, expected {list(expected[1])}"
    if check == "shape" or got[2] == expected[2] or got[0] in ("resource", "variant"):
        return ""
    is_exact = got[0] == "string" or (tolerance is None and (got[0] == "bool" or "int" in got[0]))
    if is_exact:
        if got[0] == "string":
            a, b = np.array(got[2] + (b"",), object)[:-1], np.array(expected[2] + (b"",), object)[:-1]
        else:
            a, b = np.frombuffer(got[2], got[0]), np.frombuffer(expected[2], got[0])
        wrong = np.flatnonzero(a != b)
        if not len(wrong):  # truth values of other bytes than 0 and 1
            return "" if set(got[2]) <= {0, 1} else "truth values that are neither 0 nor 1"
        return f"{len(wrong)} of {len(a)} elements differ; element {wrong[0]} is {a[wrong[0]]!r}, expected {b[wrong[0]]!r}"
    relative, absolute = TOLERANCES.get(got[0], (1e-5, 1e-6)) if tolerance is None else (tolerance, tolerance)
    a, b = reals(got), reals(expected)
    # Sums of large terms err by their size.
    absolute = min(absolute * float(max(1.0, np.max(np.abs(b), where=np.isfinite(b), initial=0.0))), sys.float_info.max)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= absolute + relative * np.abs(b)) & np.isfinite(b)
        wrong = np.flatnonzero(~same)
        if not len(wrong):
            return ""
        worst = wrong[np.argmax(np.nan_to_num(np.abs(a - b)[wrong], nan=np.inf))]
    return f"{len(wrong)} of {len(a)} elements differ; element {worst} is {a[worst]:.9g}, expected {b[worst]:.9g}"
