"""The Keras goldens: up to date with their tables, and of the form that tests/keras_cases/README.md describes."""

import ast
import io
import json
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDENS = sorted((ROOT / "tests" / "golden" / "keras").glob("*.npz"))
ELEMENT_BYTES = {"bool": 1, "uint8": 1, "int8": 1, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "int64": 8, "float64": 8}


def read(path, entry):
    stream = io.BytesIO(zipfile.ZipFile(path).read(entry + ".npy"))
    stream.seek(8)
    header = ast.literal_eval(stream.read(int.from_bytes(stream.read(2), "little")).decode())
    assert header["descr"] == "|u1"
    return stream.read(header["shape"][0])


def tensors(value):
    """Every reference to a tensor in a manifest."""
    if isinstance(value, list):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        if "bytes" in value:
            yield value
        else:
            for item in value.values():
                yield from tensors(item)


def test_goldens_are_those_of_the_tables():
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_keras_goldens", "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_tensors_lie_in_the_data(path):
    manifest = json.loads(read(path, "manifest"))
    size = len(read(path, "data"))
    assert manifest["cases"]
    for reference in tensors(manifest["cases"]):
        assert 0 <= reference["offset"] <= reference["offset"] + reference["bytes"] <= size
        count = 1
        for dim in reference["shape"]:
            count *= dim
        if reference["dtype"] == "string":
            assert (len(reference["lengths"]), sum(reference["lengths"])) == (count, reference["bytes"])
        elif reference.get("check") != "shape":
            assert reference["bytes"] == count * ELEMENT_BYTES[reference["dtype"]]


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_cases_have_their_keys(path):
    for case in json.loads(read(path, "manifest"))["cases"]:
        assert {"kind", "class", "row", "config", "check", "tolerance", "error"} <= case.keys()
        if case["error"]:
            assert case["error"].keys() == {"class", "stage", "message"} and case["error"]["message"]
            assert "File \"" not in case["error"]["message"]
        elif case["kind"] == "layers":
            assert {"name", "weights", "calls", "output_shape", "count_params", "get_config"} <= case.keys()
            assert all({"outputs", "gradients", "losses", "weights_after"} <= call.keys() for call in case["calls"])


def test_goldens_stay_small():
    assert sum(path.stat().st_size for path in GOLDENS) < 6_000_000
