"""The files that hold expected values: two arrays of bytes, `manifest` (JSON) and `data`, in an .npz file."""

import ast
import hashlib
import io
import json
import zipfile


def hash_of(path):
    """What a golden file remembers of the table that it was made from."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save(path, manifest, data):
    import numpy as np

    content = json.dumps(manifest, separators=(",", ":"), allow_nan=False).encode()
    with open(path, "wb") as file:
        np.savez_compressed(file, manifest=np.frombuffer(content, np.uint8), data=np.frombuffer(data, np.uint8))


def read_manifest(path):
    """The manifest of a golden file, read without NumPy: a version 1 .npy header, then bytes."""
    stream = io.BytesIO(zipfile.ZipFile(path).read("manifest.npy"))
    stream.seek(8)
    header = ast.literal_eval(stream.read(int.from_bytes(stream.read(2), "little")).decode())
    return json.loads(stream.read(header["shape"][0]))
