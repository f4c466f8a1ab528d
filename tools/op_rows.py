"""Reads the op cases of tests/op_cases: rows of a YAML file become tensors and attribute values.

The row format is described in tests/op_cases/README.md. Needs NumPy, PyYAML and ml_dtypes, not TensorFlow.
"""

import hashlib
import itertools
import math
import re

import ml_dtypes
import numpy as np
import yaml

DTYPES = {
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_, "complex64": np.complex64, "complex128": np.complex128, "string": np.object_,
}
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = {"complex64": "float32", "complex128": "float64"}
ROW_KEYS = {"_tolerance", "_error", "_why", "_note", "_check", "_each", "_as", "_unset"}

VARIABLE, UNINITIALIZED = "resource ", "uninitialized"
LIST = re.compile(r"list(\[\d+\])? ")
SPEC = re.compile(r"(\w+)(?:\[([\d,\s]*)\])?(?:\s+(\w+)(?:\(([^)]*)\))?)?(?:\s*=\s*(.*))?", re.DOTALL)


class Tensor:
    """A value with the name of its dtype; strings are object arrays of bytes.

    A variable is the value that it has before the call, or only a dtype and a shape while it is uninitialised. A list
    of tensors is the tensor of its rows, in the same way; `batch` of them, or a scalar where that is None.
    """

    is_variable = False
    is_list = False
    is_initialized = True
    batch = None

    def __init__(self, dtype, values):
        self.dtype = dtype
        self.values = np.ascontiguousarray(values, DTYPES[dtype]).reshape(np.shape(values))


def load_rows(path):
    """The operations of a YAML file, in order: [(name, [row, ...])]."""
    with open(path, encoding="utf-8") as file:
        return list((yaml.safe_load(file) or {}).items())


def is_spec(value):
    """Whether a YAML value describes a tensor, a variable or a list, as `float32[2,3]`, `resource int32 = [1, 2]` do."""
    match = SPEC.fullmatch(LIST.sub("", value.removeprefix(VARIABLE), 1)) if isinstance(value, str) else None
    return bool(match) and match[1] in DTYPES and (match[2] is not None or match[5] is not None)


def parse(spec, seed):
    """The tensor a spec describes; `seed` is the text its random numbers come from."""
    listed = LIST.match(spec)
    if listed or spec.startswith(VARIABLE):
        spec = spec[listed.end():] if listed else spec.removeprefix(VARIABLE)
        content, _, last = spec.rpartition(" ")
        made = parse(content if last == UNINITIALIZED else spec, seed)
        made.is_variable, made.is_list, made.is_initialized = not listed, bool(listed), last != UNINITIALIZED
        made.batch = int(listed[1][1:-1]) if listed and listed[1] else None
        return made
    match = SPEC.fullmatch(spec)
    dtype, dims, distribution, arguments, literal = match.groups()
    shape = None if dims is None else tuple(int(dim) for dim in dims.split(",") if dim.strip())
    if literal is not None:
        loader = yaml.BaseLoader if dtype == "string" else yaml.SafeLoader
        return from_literal(dtype, yaml.load(literal, loader), shape, encoded=distribution == "hex")
    digest = hashlib.sha256(seed.encode()).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    numbers = [float(argument) for argument in (arguments or "").split(",") if argument.strip()]
    return Tensor(dtype, draw(generator, dtype, shape, distribution or "normal", numbers))


def from_literal(dtype, literal, shape=None, encoded=False):
    """The tensor of explicit values; a shape broadcasts a scalar or gives empty lists their form."""
    values = np.array(convert_leaves(dtype, literal, encoded), DTYPES[dtype])
    if shape is not None:
        values = values.reshape(shape) if values.size == math.prod(shape) else np.broadcast_to(values, shape)
    return Tensor(dtype, values)


def convert_leaves(dtype, literal, encoded):
    if isinstance(literal, list):
        return [convert_leaves(dtype, item, encoded) for item in literal]
    if dtype == "string":
        return bytes.fromhex(str(literal)) if encoded else str(literal).encode()
    if dtype == "bool":
        return bool(literal)
    if dtype in COMPLEX:
        return complex(literal.replace(" ", "")) if isinstance(literal, str) else complex(literal)
    if dtype in FLOATS:
        return float(literal)
    return int(literal)


def draw(generator, dtype, shape, distribution, numbers):
    """Random values of one of the named distributions."""
    if dtype == "string":
        return draw_strings(generator, shape)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if distribution == "special":
        return np.resize(np.array(special_values(dtype), DTYPES[dtype]), shape)
    if distribution in MATRICES:
        return MATRICES[distribution](draw(generator, dtype, shape, "normal", numbers))
    if dtype in COMPLEX:
        parts = [draw(generator, COMPLEX[dtype], shape, distribution, numbers) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(DTYPES[dtype])
    size = math.prod(shape)
    if distribution == "permutation":
        return generator.permutation(size).reshape(shape).astype(DTYPES[dtype])
    if distribution == "distinct":
        step = 0.25 if dtype in FLOATS else 1
        first = 0 if dtype.startswith("uint") else -(size // 2)
        return ((generator.permutation(size) + first) * step).reshape(shape).astype(DTYPES[dtype])
    if distribution == "ties":
        low = 0 if dtype.startswith("uint") else -1
        return generator.integers(low, 3, shape).astype(DTYPES[dtype])
    if distribution == "sorted":
        return np.sort(draw(generator, dtype, shape, "normal", []), axis=-1)
    if distribution == "probability":
        weights = np.exp(generator.standard_normal(shape))
        return (weights / weights.sum(axis=-1, keepdims=True)).astype(DTYPES[dtype])
    if dtype in FLOATS:
        return draw_floats(generator, shape, distribution, numbers).astype(DTYPES[dtype])
    return draw_integers(generator, dtype, shape, distribution, numbers)


def draw_floats(generator, shape, distribution, numbers):
    if distribution == "uniform":
        return generator.uniform(*numbers, shape)
    if distribution == "positive":
        return np.exp(generator.standard_normal(shape))
    if distribution == "integers":
        return generator.integers(int(numbers[0]), int(numbers[1]), shape, endpoint=True)
    if distribution == "normal":
        mean, deviation = numbers or (0, 1)
        return mean + deviation * generator.standard_normal(shape)
    raise ValueError(f"unknown distribution {distribution!r}")


def draw_integers(generator, dtype, shape, distribution, numbers):
    if distribution in ("uniform", "integers"):
        low, high = (int(number) for number in numbers)
    elif distribution == "positive":
        low, high = 1, 10
    elif distribution == "normal":
        low, high = (0 if dtype.startswith("uint") else -10), 10
    elif distribution == "full":
        information = np.iinfo(DTYPES[dtype])
        low, high = information.min, information.max
    else:
        raise ValueError(f"unknown distribution {distribution!r}")
    return generator.integers(low, high, shape, dtype=DTYPES[dtype], endpoint=True)


def draw_strings(generator, shape):
    letters = "abcdefghijklmnopqrstuvwxyz ABC019"
    values = np.empty(shape, object)
    for index in np.ndindex(*shape):
        values[index] = "".join(generator.choice(list(letters), generator.integers(0, 7))).encode()
    return values


def special_values(dtype):
    """The values that reveal careless kernels, as a cycle."""
    if dtype in COMPLEX:
        return [0, 1, -1, 1j, -1j, 1 + 1j, complex(-0.0, 0.0), complex(math.inf, 0), complex(0, math.inf), complex(math.nan, 0)]
    if dtype not in FLOATS:
        information = np.iinfo(DTYPES[dtype])
        return [information.max, 0, information.min, 1, information.max - 1, 2, information.min + 1, 7]
    information = ml_dtypes.finfo(DTYPES[dtype])
    large, small = float(information.max), float(information.tiny)
    return [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, large, -large, small, -small,
            1e-3, -1e-3, 9.25, -9.25, 30.0, -30.0, 100.0, -100.0]


def spread(values):
    weight = 3 * max(1.0, math.sqrt(min(values.shape[-2:])))
    return (values + weight * np.eye(*values.shape[-2:])).astype(values.dtype)


def positive_definite(values):
    product = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
    product = product @ np.conj(np.swapaxes(product, -1, -2)) / max(1, values.shape[-1])
    return (product + np.eye(values.shape[-1])).astype(values.dtype)


def hermitian(values):
    return (values + np.conj(np.swapaxes(values, -1, -2))) / values.dtype.type(2)


def lower_triangular(values):
    return np.tril(spread(values))


MATRICES = {"regular": spread, "definite": positive_definite, "hermitian": hermitian, "lower": lower_triangular}


def variants(row, all_dtypes):
    """The rows a row with `_each` stands for: [(label, row)]; a row without it stands for itself.

    `_each: all` or `_each: [dtype, ...]` gives the letter T its dtypes; a map names several letters.
    `all_dtypes(letter)` lists what the registry allows.
    """
    each = row.get("_each")
    if each is None:
        return [(None, row)]
    choices = each if isinstance(each, dict) else {"T": each}
    lists = [all_dtypes(letter) if names == "all" else names for letter, names in choices.items()]
    result = []
    for names in itertools.product(*lists):
        bound = dict(zip(choices, names))
        result.append((",".join(names), {key: substitute(value, bound) for key, value in row.items() if key != "_each"}))
    return result


def substitute(value, bound):
    if isinstance(value, list):
        return [substitute(item, bound) for item in value]
    if not isinstance(value, str):
        return value
    if prefix := LIST.match(value) or re.match(VARIABLE, value):
        return prefix[0] + substitute(value[prefix.end():], bound)
    match = re.match(r"\w+", value)
    if match and match[0] in bound and (is_spec("float32" + value[match.end():]) or match.end() == len(value)):
        return bound[match[0]] + value[match.end():]
    return value
