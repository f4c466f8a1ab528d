#!/usr/bin/env python3
"""str(), repr() and format() of random tensors, here and in the real TensorFlow: the same characters.

    printing.py [--count 2000] [--seed 0]
"""

import numpy as np

import both

DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "uint64", "bool", "complex64", "complex128", "string"]
SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12, 17]


def answers(tf, count, seed):
    for number in range(count):
        generator = np.random.default_rng([seed, number])
        tensor, what = draw(tf, generator)
        yield f"{number} {what} str", str(tensor)
        yield f"{number} {what} repr", repr(tensor)
        yield f"{number} {what} format", f"{tensor}"


def draw(tf, generator):
    dtype = DTYPES[generator.integers(len(DTYPES))]
    shape = [int(SIZES[generator.integers(len(SIZES))]) for _ in range(generator.integers(0, 5))]
    if generator.random() < 0.1:  # more than a thousand elements are summarised
        shape = [[1001], [40, 40], [7, 200], [3, 20, 30], [1200, 1], [2, 2, 2, 200]][generator.integers(6)]
    size = int(np.prod(shape, dtype=np.int64))
    what = f"{dtype}{shape}"
    if dtype == "string":
        letters = [b"a", b"Z", b" ", b"'", b'"', b"\\", b"\n", b"\x00", b"\xff", "\u00e9".encode(), b"0"]
        values = [b"".join(letters[i] for i in generator.integers(0, len(letters), generator.integers(0, 6))) for _ in range(size)]
        array = np.empty(size, object)
        array[:] = values
        return tf.constant(array.reshape(shape), tf.string, shape), what
    if dtype == "bool":
        return tf.constant(generator.integers(0, 2, shape).astype(bool)), what
    if "int" in dtype:
        limits = np.iinfo(dtype)
        small = generator.random() < 0.5
        low, high = (max(limits.min, -100), 100) if small else (limits.min, limits.max)
        return tf.constant(generator.integers(low, high, shape, dtype=dtype, endpoint=True)), what
    values = draw_reals(generator, size)
    if dtype.startswith("complex"):
        values = values + 1j * draw_reals(generator, size)
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            return tf.cast(tf.constant(values.astype(np.float32).reshape(shape)), tf.bfloat16), what
        return tf.constant(values.astype(dtype).reshape(shape)), what


def draw_reals(generator, size):
    """Numbers of one of the kinds that NumPy's printer tells apart."""
    kind = generator.integers(7)
    values = generator.standard_normal(size)
    if kind == 1:
        values = np.round(values * 10)
    elif kind == 2:
        values = np.round(values, 2)
    elif kind == 3:
        values = values * 10.0 ** generator.integers(-12, 12, size)
    elif kind == 4:
        values = values * 10.0 ** generator.integers(-45, 39)
    elif kind == 5:
        values = np.round(values * 1e9)
    if generator.random() < 0.3:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-8, 1e8, 1e16, 0.1])
        chosen = generator.random(size) < 0.3
        values[chosen] = special[generator.integers(0, len(special), int(chosen.sum()))]
    return values


if __name__ == "__main__":
    both.main(__file__, 2000, answers)
