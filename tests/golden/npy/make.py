"""Writes the .npy and .npz files of this folder with NumPy: python3 tests/golden/npy/make.py"""
import os
import numpy
from numpy.lib import format as npy_format

here = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(here, name)


base = numpy.arange(6).reshape(2, 3)
dtypes = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
for dtype in dtypes:
    array = (base - 2).astype(dtype) if dtype[0] != "u" else base.astype(dtype)
    if dtype.startswith("complex"):
        array = array + numpy.array(0.5j, dtype)
    numpy.save(path(dtype + ".npy"), array)
numpy.save(path("big_endian.npy"), base.astype(">f4") / numpy.float32(4))
numpy.save(path("big_endian_complex.npy"), numpy.array([1 + 2j, 3 - 4j], ">c16"))
numpy.save(path("fortran.npy"), numpy.asfortranarray(numpy.arange(24, dtype="int32").reshape(2, 3, 4)))
numpy.save(path("fortran_text.npy"), numpy.asfortranarray(numpy.array([["a", "bb"], ["ccc", ""]])))
numpy.save(path("bytes.npy"), numpy.array([b"ab\0c", b"", b"\xff"]))
numpy.save(path("text.npy"), numpy.array(["a\u00f1b", "\U0001f600", "\u20ac"]))
numpy.save(path("text_big_endian.npy"), numpy.array(["h\u00e9"], ">U2"))
numpy.save(path("scalar.npy"), numpy.float64(2.5))
numpy.save(path("empty.npy"), numpy.zeros((0, 3), "float32"))
for major in (2, 3):
    with open(path(f"version{major}.npy"), "wb") as file:
        npy_format.write_array(file, base.astype("int16"), version=(major, 0))
numpy.save(path("objects.npy"), numpy.array([None, 1], dtype=object))
numpy.save(path("structured.npy"), numpy.zeros(2, [("a", "i4"), ("b", "f8")]))
numpy.savez(path("stored.npz"), x=base.astype("float32"), y=numpy.array([7], "int64"))
numpy.savez_compressed(path("deflated.npz"), x=numpy.zeros((100, 7), "float32"), y=numpy.array([b"text"]))
try:
    import ml_dtypes
    numpy.save(path("bfloat16.npy"), numpy.array([1.5, -2, 3.140625], ml_dtypes.bfloat16))
except ImportError:
    print("bfloat16.npy is kept as it is: ml_dtypes is not installed")
