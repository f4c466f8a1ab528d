"""Thalweg and TensorFlow in one process, whichever comes first, and the TensorProtos of both.

    tests/interop/same_process.py

Runs itself in TensorFlow's Python with Thalweg on its path, in both orders.
"""

import os
import subprocess
import sys

DTYPES = "float32 float64 int32 uint8 int16 int8 complex64 int64 bool uint16 complex128 float16 uint32 uint64".split()
CALLS = [((3,), {}), ((2.5,), {}), (([1, 2],), {}), (([[1.5, 2]],), {}), (("abc",), {}), ((["a", b"b"],), {}), ((True,), {}), ((1 + 2j,), {}),
         ((2**40,), {}), ((1.0,), {"shape": [2, 2]}), (([1, 2],), {"shape": [4]}), (([1, 2, 3, 4],), {"shape": [2, 2]}),
         ((1,), {"dtype": "float64"}), (([],), {"shape": [0]}), (([1, 2, 3],), {"shape": [2]}), ((None,), {}),
         (([1, 2],), {"shape": [3], "verify_shape": True}), (([1, 2],), {"shape": [3], "allow_broadcast": True}),
         ((1,), {"verify_shape": True, "allow_broadcast": True})]


def main():
    python = os.environ["THALWEG_TENSORFLOW_PYTHON"]
    version = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True)
    if version.stdout.strip() != str(sys.version_info[:2]):
        print("same_process.py: not run, the two Pythons are of different versions")
        return 0
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    orders = [["thalweg", "tensorflow"], ["tensorflow", "thalweg"]]
    return max(abs(subprocess.run([python, __file__, *order], env=environment, check=False).returncode) for order in orders)


def compare(first, second):
    modules = {name: __import__(name) for name in (first, second)}
    ours, theirs = modules["thalweg"], modules["tensorflow"]
    import numpy as np

    count, wrong = 0, []
    values = [np.asarray(value).astype(dtype) for dtype in DTYPES for value in (3, [1, 0, 2], np.zeros((0, 3)), [[1, 2], [3, 4]])]
    for value in values:
        mine, its = ours.make_tensor_proto(value), theirs.make_tensor_proto(value)
        content = its.SerializeToString()
        serialized = [tf.io.serialize_tensor(tf.constant(value)).numpy() for tf in (ours, theirs)]
        back = ours.make_ndarray(ours.compat.v1.TensorProto.FromString(content))
        count += 1
        if mine.SerializeToString() != content or serialized[0] != serialized[1] or back.tobytes() != value.tobytes():
            wrong.append(repr(value))
    for arguments, keywords in CALLS:
        count += 1
        if outcome(ours, arguments, keywords) != outcome(theirs, arguments, keywords):
            wrong.append(f"{arguments} {keywords}")
    sums = [(tf.constant([1.0, 2.0]) + tf.constant([3.0, 4.0])).numpy().tolist() for tf in (ours, theirs)]
    if sums[0] != sums[1]:
        wrong.append(str(sums))
    print("\n".join(wrong[:20]) + f"same_process.py: {first} before {second}: {count} TensorProtos compared, {len(wrong)} differ")
    return 1 if wrong else 0


def outcome(tf, arguments, keywords):
    try:
        return tf.make_tensor_proto(*arguments, **keywords).SerializeToString()
    except (TypeError, ValueError) as failure:
        return type(failure).__name__


if __name__ == "__main__":
    sys.exit(compare(*sys.argv[1:]) if len(sys.argv) == 3 else main())
