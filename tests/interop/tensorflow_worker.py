"""TensorFlow's side of differential.py: draws calls, runs them, and sends both. Run by TensorFlow's own Python.

Reads one pickled order {seed, names, only, first, count} from standard input and writes pickled messages to standard
output, each after its length. TensorFlow ends the process on some bad calls, so they run in children of a process that has
imported TensorFlow and never used it; a child that dies is followed by one that starts behind the call that killed it.
"""

import mmap
import os
import pickle
import resource
import signal
import struct
import sys
import traceback

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # the kernels that TensorFlow has on every machine
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import drawing  # noqa: E402: TensorFlow reads the environment when it is imported
from drawing import golden_runner, op_rows  # noqa: E402

BATCH = 100
# What TensorFlow has for other devices, or not yet.
OTHER_DEVICES = ("on device type CPU", "on the CPU", "not supported on CPU", "only support NHWC tensor format for now", "is currently disabled for",
                 "filter_size does not have enough elements")
SECONDS_PER_BATCH = 120


def main():
    order = pickle.load(sys.stdin.buffer)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what TensorFlow prints is no message
    place = mmap.mmap(-1, 16)  # the first call of the batch and the call that runs
    end = order["first"] + order["count"]
    drawer = drawing.Drawer(order["seed"], order["names"], order["only"])
    send(output, {"ops": len(drawer.entries)})
    start, deadly = order["first"], set()
    while True:
        child = os.fork()
        if child == 0:
            run_in_child(lambda: run_from(drawer, start, end, deadly, place, output))
        if os.waitpid(child, 0)[1] == 0:
            break
        start, number = struct.unpack("qq", place[:])
        deadly.add(number)
        send(output, {"batch": [(number, describe(drawer, number), ("crash", "", ""))]})
    send(output, {"end": True})


def run_in_child(work):
    """Never returns: a child must not run its parent's rest."""
    try:
        work()
        os._exit(0)
    except BaseException:  # whatever it was, it is shown, and the parent goes on behind it
        traceback.print_exc()
        os._exit(1)


def send(output, message):
    content = pickle.dumps(message, 4)
    output.write(struct.pack("q", len(content)) + content)
    output.flush()


def describe(drawer, number):
    """The drawn row of a call, without running anything."""
    entry, row = drawer.draw(number)
    return {"kind": "indexing" if entry is None else "op", "name": "indexing" if entry is None else entry.name, "row": row,
            "family": "indexing" if entry is None else entry.family, "inputs": {}, "attrs": {}}


def run_from(drawer, start, end, deadly, place, output):
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    for first in range(start, end, BATCH):
        signal.alarm(SECONDS_PER_BATCH)
        batch = []
        for number in range(first, min(first + BATCH, end)):
            place[:] = struct.pack("qq", first, number)
            if number in deadly:
                continue
            call, outcome = one(drawer, number)
            if call is not None:
                batch.append((number, call, outcome))
        send(output, {"batch": batch})


def one(drawer, number):
    """The call of a number and what TensorFlow makes of it; None for one whose row cannot be read."""
    entry, row = drawer.draw(number)
    seed = f"{drawer.seed}/{number}"
    if entry is None:
        return run_indexing(row, seed)
    try:
        inputs, attrs = entry.arguments(row, seed)
    except (ValueError, TypeError, KeyError, OverflowError, IndexError, AttributeError, golden_runner.tf.errors.OpError):
        return None, None
    call = {"kind": "function" if entry.is_function else "op", "name": entry.name, "family": entry.family, "row": row,
            "inputs": {name: pack(value) for name, value in inputs.items()},
            "attrs": {name: pack_attribute(value) for name, value in attrs.items()},
            "tolerance": golden_runner.tolerance(row), "check": check_of(entry, row)}
    path = drawing.ROOT / "tests" / "op_cases" / f"{entry.family}.yaml"
    written = golden_runner.Call(entry.name, 0, None, inputs, attrs, row)
    if entry.is_function or entry.op_def.is_stateful:
        return call, attempt(lambda: golden_runner.run(path, written)[0])
    return call, attempt(lambda: [golden_runner.from_tensorflow(tensor) for tensor in golden_runner.run_op(written)])


def check_of(entry, row):
    """Random ops without a seed agree in shape only."""
    is_seeded = entry.op_def is None or not entry.op_def.is_stateful or row.get("seed") or row.get("seed2")
    return row.get("_check", "value" if is_seeded else "shape")


def run_indexing(row, seed):
    x = op_rows.parse(row["x"], seed + "/x")
    call = {"kind": "indexing", "name": "indexing", "family": "indexing", "row": row, "inputs": {"x": pack(x)}, "attrs": {},
            "tolerance": None, "check": "value"}
    if "mask" in row:
        mask = op_rows.parse(row["mask"], seed + "/mask")
        call["inputs"]["mask"] = pack(mask)
        return call, attempt(lambda: [golden_runner.from_tensorflow(golden_runner.to_tensorflow(x)[mask.values])])
    call["items"] = row["items"]
    return call, attempt(lambda: [golden_runner.from_tensorflow(golden_runner.to_tensorflow(x)[tuple(row["items"])])])


def attempt(run):
    try:
        return "values", [pack(tensor) for tensor in run()]
    except Exception as error:  # its class is the answer
        text = str(error)
        no_kernel = isinstance(error, golden_runner.tf.errors.UnimplementedError) or \
            any(part in text for part in golden_runner.MISSING_KERNEL + OTHER_DEVICES)
        return "no kernel" if no_kernel else "error", type(error).__name__, text[:300]


def pack(value):
    """(dtype, shape, content), as tests/python/op_calls.py reads it."""
    if isinstance(value, list):
        return [pack(item) for item in value]
    content = tuple(value.values.reshape(-1)) if value.dtype == "string" else value.values.tobytes()
    return value.dtype, value.values.shape, content


def pack_attribute(value):
    if isinstance(value, op_rows.Tensor):
        return {"tensor": pack(value)}
    return [pack_attribute(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
