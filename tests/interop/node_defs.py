"""The NodeDefs of every op-case row, judged by TensorFlow, and TensorFlow's own read by Thalweg.

    tests/interop/node_defs.py BUILD_FOLDER

The C++ harness writes a graph per row: placeholders and the call. TensorFlow imports it, which checks attributes and types
against its registry, makes the same call itself, and compares the attributes of both nodes; the harness reads those that
TensorFlow made. TensorFlow's side is this file again, in its own Python.
"""

import collections
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

# Rows whose calls TensorFlow's kernels take, but not its shape rules.
STRICTER = {"pool|MaxPool|19|"}  # a stride of 0 for the channels
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main(build):
    harness = [str(pathlib.Path(build) / "tests" / "op_cases_tests"), "--gtest_brief=1"]
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        run(harness + ["--gtest_filter=NodeDefs.AreWrittenForTensorFlow"], {"THALWEG_NODES_OUT": ours})
        status = run([os.environ["THALWEG_TENSORFLOW_PYTHON"], __file__, ours, theirs],
                     {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}, show=True)
        status |= run(harness + ["--gtest_filter=NodeDefs.OfTensorFlowAreRead"], {"THALWEG_NODES_IN": theirs}, show=True)
    sys.exit(1 if status else 0)


def run(command, environment, show=False):
    done = subprocess.run(command, env=os.environ | environment, cwd=ROOT, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=None if not show else subprocess.PIPE)
    if show:
        print("\n".join(line for line in done.stdout.splitlines() if not line.startswith(("[=", "[  P", "Running"))))
    if done.returncode and not show:
        sys.exit(f"{command[0]} did not finish")
    if done.returncode > 1:
        print((done.stderr or "")[-2000:])
    return done.returncode


def judge(ours, theirs):
    """TensorFlow's side: imports the graphs of `ours` and writes its own nodes to `theirs`."""
    sys.path.insert(0, str(ROOT / "tools"))
    import golden_runner
    import tensorflow as tf

    calls = {}
    for path in sorted((ROOT / "tests" / "op_cases").glob("*.yaml")):
        if not path.stem.startswith("functions_"):
            for call in golden_runner.calls(path, []):
                if "_error" not in call.values:
                    calls[f"{path.stem}|{call.name}|{call.row}|{call.variant or ''}"] = call
    counts = collections.Counter()
    with open(theirs, "wb") as output:
        for content in parts(ours):
            graph_def = tf.compat.v1.GraphDef.FromString(content)
            node = graph_def.node[-1]
            key = node.attr["_row"].s.decode()
            counts["graphs"] += 1
            # A few shape rules are stricter than the kernels, others than themselves when nothing is known.
            imported, why = import_call(tf, graph_def)
            if imported is None:
                for placeholder in graph_def.node[:-1]:
                    placeholder.attr["shape"].shape.Clear()
                    placeholder.attr["shape"].shape.unknown_rank = True
                imported, _ = import_call(tf, graph_def)
            if imported is None:
                complain(counts, "known" if key in STRICTER else "refused", key, why)
                continue
            counts["imported"] += 1
            if missing := sorted(set(imported.attr) - set(node.attr)):
                complain(counts, "incomplete", key, f"lacks {missing}")
            if key not in calls:
                complain(counts, "unknown", key, "no such row")
                continue
            try:
                made = make(tf, golden_runner, calls[key], graph_def)
            except Exception as failure:  # some rows are only for eager execution
                complain(counts, "not made by TensorFlow", key, str(failure)[:200])
                continue
            if difference := compare(node, made):
                complain(counts, "different", key, difference)
            else:
                counts["equal"] += 1
            made.attr["_row"].s = key.encode()
            content = made.SerializeToString()
            output.write(struct.pack("I", len(content)) + content)
    print("node_defs.py: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(1 if counts["refused"] + counts["incomplete"] + counts["different"] + counts["unknown"] else 0)


def import_call(tf, graph_def):
    """The node of the call as TensorFlow's graph has it, or None and what TensorFlow says against it."""
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
            return graph.get_operation_by_name("call").node_def, ""
    except ValueError as failure:
        return None, str(failure)[:300]


def parts(path):
    content = pathlib.Path(path).read_bytes()
    at = 0
    while at < len(content):
        size, = struct.unpack_from("I", content, at)
        yield content[at + 4:at + 4 + size]
        at += 4 + size


def complain(counts, what, key, why):
    counts[what] += 1
    if counts[what] <= 20:
        print(f"{what}: {key}: {why}")


def make(tf, golden_runner, call, graph_def):
    """The NodeDef of the call when TensorFlow's own Python builds it."""
    from tensorflow.python.framework import op_def_library, op_def_registry

    op_def = op_def_registry.get(call.name)
    kinds = {attr.name: attr.type for attr in op_def.attr}
    given = {name: attribute(tf, golden_runner, kinds[name], value) for name, value in call.attrs.items()}
    with tf.Graph().as_default() as graph:
        types = [(tf.as_dtype(node.attr["dtype"].type), tf.TensorShape(node.attr["shape"].shape)) for node in graph_def.node[:-1]]
        placeholders = iter([tf.compat.v1.placeholder(dtype, shape) for dtype, shape in types])
        keywords = {}
        for argument in op_def.input_arg:
            value = call.inputs[argument.name]
            many = argument.number_attr or argument.type_list_attr
            keywords[argument.name] = [next(placeholders) for _ in value] if many else next(placeholders)
        derived = {name for argument in op_def.input_arg
                   for name in (argument.type_attr, argument.number_attr, argument.type_list_attr)}
        for attr in op_def.attr:
            if attr.name in derived:
                continue
            if attr.HasField("default_value"):
                keywords[attr.name] = None  # what it is when left out
            if attr.name in given:
                keywords[attr.name] = given[attr.name]
        op_def_library.apply_op(call.name, name="call", **keywords)
        return graph.get_operation_by_name("call").node_def


def attribute(tf, golden_runner, kind, value):
    if kind == "tensor":
        return tf.make_tensor_proto(golden_runner.to_tensorflow(value).numpy())
    if kind == "type":
        return tf.as_dtype(value)
    if kind == "list(type)":
        return [tf.as_dtype(item) for item in value]
    if kind == "shape":
        return tf.TensorShape(value)
    return value


def compare(ours, theirs):
    """How the attributes differ, or nothing. Some tensors are lists here and bytes there."""
    import tensorflow as tf

    names = {name for name in set(ours.attr) | set(theirs.attr) if not name.startswith("_")}
    for name in sorted(names):
        mine, its = ours.attr.get(name), theirs.attr.get(name)
        if mine == its:
            continue
        if mine is not None and its is not None and mine.HasField("tensor") and its.HasField("tensor"):
            if tf.make_ndarray(mine.tensor).tobytes() == tf.make_ndarray(its.tensor).tobytes():
                continue
        return f"{name} is {mine}, TensorFlow's {its}".replace("\n", " ")
    return ""


if __name__ == "__main__":
    judge(*sys.argv[1:]) if len(sys.argv) == 3 else main(sys.argv[1])
