#!/usr/bin/env python3
"""Random calls, made here and in the real TensorFlow: dtype, shape and values must agree, or both must refuse.

    differential.py [--calls 20000] [--seed 0] [--first 0] [--only Gather,reduce_sum,indexing]

Run with the package on PYTHONPATH and TensorFlow's Python in $THALWEG_TENSORFLOW_PYTHON; tools/run_interop does both. A
disagreement is printed as a row for tests/op_cases. known_differences.yaml lists those that stay, with the reason.
"""

import argparse
import collections
import fnmatch
import mmap
import os
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import time

import free_results
import numpy as np
import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--only", default="", help="parts of the names of ops and functions, or `indexing`")
    parser.add_argument("--show", type=int, default=3, help="disagreements to print for each op")
    options = parser.parse_args()
    # The calls are made in a child, so that one that ends the process is shown like any other.
    current = mmap.mmap(-1, 1 << 20)
    child = os.fork()
    if child == 0:
        os._exit(compare(options, current))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        call = pickle.loads(current[8 : 8 + struct.unpack("q", current[:8])[0]])
        print(f"Thalweg ended with signal {os.WTERMSIG(status)} on\n{as_row(call)}")
    sys.exit(1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def compare(options, current):
    import op_calls
    import thalweg as tf

    names = [name for name in vars(tf.raw_ops) if not name.startswith("_")] + list(tf._thalweg.functions())
    known = KnownDifferences()
    counts = collections.Counter()
    found = collections.Counter()
    started = time.perf_counter()
    for number, call, theirs in calls_of_tensorflow(options, names):
        content = pickle.dumps(call)
        if len(content) < len(current) - 8:
            current[: 8 + len(content)] = struct.pack("q", len(content)) + content
        ours = ("skipped",) if theirs[0] == "crash" and not call["inputs"] else run(op_calls, tf, call)
        verdict, text = judge(op_calls, call, ours, theirs)
        if text and (reason := known.reason(call, text)):
            verdict, text = "known differences", ""
        counts[verdict] += 1
        counts["calls"] += 1
        if not text:
            continue
        found[call["name"]] += 1
        if found[call["name"]] <= options.show:
            print(f"# {call['name']}, call {number} of seed {options.seed}: {text}\n{as_row(call)}", flush=True)
    seconds = time.perf_counter() - started
    print(f"{counts.pop('calls', 0)} calls in {seconds:.0f} s: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    if found:
        print("disagreements: " + ", ".join(f"{name} {count}" for name, count in found.most_common()))
    return 1 if found else 0


def calls_of_tensorflow(options, names):
    """(number, call, what TensorFlow answered) of each call drawn."""
    worker = subprocess.Popen([os.environ["THALWEG_TENSORFLOW_PYTHON"], str(HERE / "tensorflow_worker.py")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if not os.environ.get("THALWEG_SHOW_WORKER") else None)
    only = tuple(word for word in options.only.split(",") if word)
    pickle.dump({"seed": options.seed, "names": names, "only": only, "first": options.first, "count": options.calls}, worker.stdin)
    worker.stdin.close()
    while True:
        header = worker.stdout.read(8)
        if len(header) < 8:
            sys.exit("The TensorFlow process ended early; THALWEG_SHOW_WORKER=1 shows what it says.")
        message = pickle.loads(worker.stdout.read(struct.unpack("q", header)[0]))
        if "end" in message:
            break
        yield from message.get("batch", ())
    worker.wait()


def run(op_calls, tf, call):
    """What Thalweg makes of a call, in the form of the worker's answers."""
    try:
        if call["kind"] == "indexing":
            x = op_calls.decode(call["inputs"]["x"])
            key = op_calls.decode(call["inputs"]["mask"]) if "mask" in call["inputs"] else tuple(call["items"])
            return "values", [op_calls.encode(x[key])]
        if "andom" in call["name"] or "random" in call["family"] or call["name"].endswith(("dropout", "shuffle")):
            tf.random.set_seed(0)
        answer = (op_calls.run_function if call["kind"] == "function" else op_calls.run_op)(call["name"], call["inputs"], call["attrs"])
        return "values", [op_calls.encode(tensor) for tensor in answer]
    except Exception as error:  # its class is the answer
        return "error", type(error).__name__, str(error)[:300]


def judge(op_calls, call, ours, theirs):
    """(verdict, what is wrong or an empty text)."""
    if theirs[0] == "crash":
        return "ended TensorFlow", ""
    if theirs[0] == "no kernel":
        return ("refused by both" if ours[0] == "error" else "without a kernel in TensorFlow"), ""
    if theirs[0] == "error":
        if ours[0] == "error":
            return "refused by both", ""
        return "disagree", f"TensorFlow refuses: {theirs[1]}: {theirs[2]}"
    if ours[0] == "error":
        return "disagree", f"refused: {ours[1]}: {ours[2]}"
    if len(ours[1]) != len(theirs[1]):
        return "disagree", f"{len(ours[1])} results, TensorFlow gives {len(theirs[1])}"
    free = free_results.difference(call, ours[1], theirs[1])
    if free is not None:
        return ("disagree", free) if free else ("agree", "")
    for place, (mine, expected) in enumerate(zip(ours[1], theirs[1])):
        check = "shape" if place in call["row"].get("_unset", ()) else call["check"]
        if text := op_calls.difference(mine, expected, tolerance_of(op_calls, call, expected), check):
            return "disagree", f"result {place}: {text}"
    return "agree", ""


def tolerance_of(op_calls, call, expected):
    """Sums of many terms differ by the rounding of the largest of them."""
    if expected[0] in ("resource", "variant"):  # only their shapes can be compared
        return None
    dtype = expected[0]
    if dtype in ("string", "bool") or "int" in dtype or not expected[2]:
        return call["tolerance"]
    relative, _ = op_calls.TOLERANCES.get(dtype, (1e-5, 1e-6))
    values = np.abs(op_calls.reals(expected))
    values = values[np.isfinite(values)]
    return max(call["tolerance"] or 0, 2 * relative * max(1.0, float(values.max()) if len(values) else 1.0))


class KnownDifferences:
    """The table of differences that stay: each names an op (`*` fits any), a pattern for what was seen, and why."""

    def __init__(self):
        self.rows = yaml.safe_load((HERE / "known_differences.yaml").read_text())["calls"]

    def reason(self, call, text):
        row = None
        for known in self.rows:
            if not any(fnmatch.fnmatchcase(call["name"], name) for name in known["op"].split()):
                continue
            row = row or f"{as_row(call)} {call['row']}"  # as written out, and as it was drawn
            if re.search(known.get("seen", ""), text) and re.search(known.get("row", ""), row):
                return known["why"]
        return None


def as_row(call):
    """The call as a row of tests/op_cases. Small tensors are written out, large ones drawn anew."""
    if call["kind"] == "indexing":
        return f"indexing: x = {call['row']['x']}, x[{call['row'].get('mask', call['row'].get('items'))}]"
    row = {key: value for key, value in call["row"].items() if key not in ("_each", "_error", "_note")}
    for name, value in call["inputs"].items():
        row[name] = [literal(item, row[name][place]) for place, item in enumerate(value)] if isinstance(value, list) \
            else literal(value, row.get(name))
    cells = ", ".join(f"{key}: {yaml_value(value)}" for key, value in row.items())
    return f"{call['name']}:\n  - {{{cells}}}"


def literal(reference, written):
    dtype, shape, content = reference
    size = int(np.prod(shape, dtype=np.int64))
    if size > 60:
        return written
    head = f"{dtype}[{','.join(map(str, shape))}]"
    if dtype == "string":
        return f"{head} hex = {nested([item.hex() for item in content], shape)}"
    if dtype == "bfloat16":
        values = [float(value) for value in (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32)]
    else:
        values = np.frombuffer(content, dtype).tolist()
    texts = [str(value).lower() if isinstance(value, bool) else str(value).strip("()") if isinstance(value, complex) else repr(value)
             for value in values]
    return f"{head} = {nested(texts, shape)}"


def nested(texts, shape):
    if not shape:
        return texts[0]
    if 0 in shape:
        return "[]"
    step = len(texts) // shape[0]
    return "[" + ", ".join(nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def yaml_value(value):
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*", value):
        return value
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(yaml_value(item) for item in value) + "]"
    return {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else str(value)


if __name__ == "__main__":
    main()
