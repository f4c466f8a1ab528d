"""Composed functions as GraphDefs, both ways: TensorFlow runs those that Thalweg traced, Thalweg those of TensorFlow.

    tests/interop/graph_defs.py

Both sides trace the functions below, with known and with unknown dimensions. TensorFlow's are taken as they were traced,
where they use no variables, and frozen (variables become constants, functions are inlined). TensorFlow's side is this file
again, in its own Python.
"""

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCE = {"rtol": 2e-5, "atol": 2e-5}
# What freezing makes of these has ops of TensorFlow's runtime alone; as they were traced they are compared all the same.
NOT_FROZEN = {"switch": "Case becomes _SwitchN"}


def array(*shape, low=-1.0, high=1.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def functions(tf):
    """(name, function, arguments); arguments with a first dimension are traced a second time without it."""
    made = []

    def case(*arguments):
        return lambda f: made.append((f.__name__, f, [np.asarray(a) for a in arguments]))

    image, matrix = array(2, 8, 8, 3), array(4, 6)
    scalar = np.float32

    @case(matrix, array(6, 5, seed=1), array(5, seed=2))
    def dense(x, w, b):
        return tf.nn.relu(tf.matmul(x, w) + b)

    @case(array(4, 5), np.int32([0, 3, 2, 1]))
    def cross_entropy(logits, labels):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    @case(image, array(3, 3, 3, 4, seed=1))
    def convolution(x, w):
        return tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "VALID")

    @case(matrix)
    def moments(x):
        mean, variance = tf.nn.moments(x, [0])
        return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3), mean

    @case(array(2, 3, 4), array(2, 5, 4, seed=1))
    def attention(q, k):
        weights = tf.nn.softmax(tf.einsum("bqd,bkd->bqk", q, k) / 2.0)
        return tf.einsum("bqk,bkd->bqd", weights, k)

    @case(matrix, np.int32([2, 0]))
    def gather_scatter(x, indices):
        rows = tf.gather(x, indices)
        return tf.tensor_scatter_nd_update(x, indices[:, None], -rows), tf.math.unsorted_segment_sum(x, [0, 1, 0, 1], 2)

    @case(np.array([b"flow", b"", b"thalweg"], object))
    def texts(s):
        return tf.strings.join([tf.strings.upper(s), s], "-"), tf.strings.length(s)

    @case(np.int32([7, -7, 3]), np.int32([2, 2, -2]))
    def integers(a, b):
        return a // b, a % b, tf.bitwise.bitwise_xor(a, b), tf.cast(a, tf.float32) / 2

    @case(matrix)
    def dynamic_shapes(x):
        n = tf.shape(x)[0]
        return tf.reshape(x, [n * 2, -1]) + tf.zeros([n * 2, 1]), tf.broadcast_to(x[:, :1], tf.shape(x))

    @case(matrix)
    def order(x):
        values, indices = tf.math.top_k(x, 3)
        return values, indices, tf.argmax(x, 1), tf.cumsum(x, 1), tf.sort(x, 1)

    @case(matrix)
    def parts(x):
        a, b, c = tf.split(x, 3, 1)
        return tf.concat([c, a], 1), tf.stack([a, b]), tf.unstack(x, axis=1)[2], x[..., ::-2]

    @case(array(4, 8))
    def spectrum(x):
        return tf.abs(tf.signal.rfft(x)), tf.signal.irfft(tf.signal.rfft(x))

    @case(array(3, 3), array(3, 2, seed=1))
    def linear_algebra(a, b):
        s = tf.matmul(a, a, transpose_b=True) + 2.0 * tf.eye(3)
        return tf.linalg.cholesky(s), tf.linalg.solve(s, b), tf.linalg.det(s)

    @case(scalar(3))
    def conditional(x):
        return tf.cond(x > 0, lambda: x * x, lambda: x - 1.0)

    @case(scalar(-3))
    def nested_conditional(x):
        return tf.cond(x > 0, lambda: x, lambda: tf.cond(x < -2.0, lambda: tf.exp(x), lambda: -x))

    @case(np.int32(1), matrix)
    def switch(i, x):
        return tf.switch_case(i, [lambda: x, lambda: x * 2.0, lambda: tf.zeros_like(x)])

    @case(np.int32(27))
    def collatz(n):
        return tf.while_loop(
            lambda n, steps: n > 1,
            lambda n, steps: (tf.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1), (n, tf.constant(0)))[1]

    @case(np.int32(4))
    def growing(n):
        return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, x[-1:] * 2.0], 0)),
                             (tf.constant(0), tf.constant([1.0])),
                             shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]

    @case(scalar(0.5))
    def bounded_loop(x):
        return tf.while_loop(lambda y: y < 100.0, lambda y: (y * 2.0,), (x,), maximum_iterations=3)[0]

    @case(np.int32(5), scalar(1.5))
    def loop_with_branches(n, x):
        def body(i, y):
            return i + 1, tf.cond(i % 2 == 0, lambda: y * x, lambda: y - 1.0)

        return tf.while_loop(lambda i, y: i < n, body, (tf.constant(0), x))[1]

    @case(np.int32(3))
    def loop_in_loop(n):
        def body(i, total):
            inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (tf.constant(0), total))
            return i + 1, inner[1]

        return tf.while_loop(lambda i, t: i <= n, body, (tf.constant(0), tf.constant(0)))[1]

    @case(matrix, array(6, 5, seed=1))
    def gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_sum(tf.tanh(tf.matmul(x, w)) ** 2)
        return tape.gradient(loss, [x, w])

    @case(image, array(3, 3, 3, 4, seed=1))
    def convolution_gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_sum(tf.nn.max_pool2d(tf.nn.elu(tf.nn.conv2d(x, w, 2, "SAME")), 2, 2, "VALID"))
        return tape.gradient(loss, [x, w])

    @case(scalar(2))
    def conditional_gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0, lambda: x ** 3, lambda: -x)
        return tape.gradient(y, x)

    @case(scalar(1.1), np.int32(3))
    def loop_gradient(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * y + x), (tf.constant(0), x))[1]
        return tape.gradient(y, x)

    def loop_in_a_branch(x):
        def loop():
            return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (tf.constant(0), x))[1]

        return tf.cond(x > 0, loop, lambda: x * 2.0)

    @case(scalar(1.1))
    def gradient_of_a_loop_in_a_branch(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loop_in_a_branch(x)
        return tape.gradient(y, x)

    @case(scalar(-1.1))
    def second_gradient_of_a_loop_in_a_branch(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = loop_in_a_branch(x)
            first = inner.gradient(y, x)
        return first + outer.gradient(first, x)

    @case(array(3))
    def second_gradient(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    @tf.function
    def helper(x):
        return tf.sin(x) + 1.0

    @case(array(3))
    def nested_functions(x):
        return helper(helper(x)) * 2.0

    @case(scalar(0.5))
    def functions_in_branches(x):
        return tf.cond(x > 0, lambda: helper(x), lambda: helper(-x) * 2.0)

    @case(scalar(0.5))
    def functions_in_loops(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, helper(y)), (tf.constant(0), x))[1]

    @case(scalar(0.5))
    def function_gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = helper(helper(x))
        return tape.gradient(y, x)

    @case(np.int32([3, 4]))
    def random_normal(seed):
        return tf.random.stateless_normal([4, 3], seed), tf.random.stateless_truncated_normal([5], seed)

    @case(np.int32([3, 4]))
    def random_integers(seed):
        return (tf.random.stateless_uniform([7], seed, 0, 10, tf.int32),
                tf.random.stateless_uniform([7], seed, -1.0, 1.0))

    @case(np.int32(3))
    def random_loop(n):
        return tf.while_loop(lambda i, x: i < n,
                             lambda i, x: (i + 1, x + tf.random.stateless_normal([3], tf.stack([i, 7]))),
                             (tf.constant(0), tf.zeros([3])))[1]

    weights, offset = tf.Variable(array(6, 5, seed=1)), tf.Variable(array(5, seed=2))

    @case(matrix)
    def variables(x):
        return tf.matmul(x, weights) + offset

    @case(matrix)
    def variable_gradient(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.matmul(x, weights) + offset) ** 2)
        return tape.gradient(loss, [weights, offset])

    @case(scalar(2))
    def variables_in_branches(x):
        return tf.cond(x > 0, lambda: x * tf.reduce_sum(offset), lambda: tf.reduce_max(weights))

    @case(scalar(2))
    def variables_in_loops(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 0.5 + tf.reduce_sum(offset)),
                             (tf.constant(0), x))[1]

    return made


def traces(tf):
    """(name, concrete function, arguments) for every function and kind of shape."""
    for name, f, arguments in functions(tf):
        for unknown in (False, True):
            if unknown and not any(a.ndim for a in arguments):
                continue
            specs = [tf.TensorSpec([None, *a.shape[1:]] if unknown and a.ndim else a.shape,
                                   tf.string if a.dtype == object else a.dtype) for a in arguments]
            label = name + (" with unknown dimensions" if unknown else "")
            try:
                yield label, tf.function(f).get_concrete_function(*specs), arguments
            except Exception as failure:  # say which, and go on
                yield label, failure, arguments


def flat(tf, results):
    return [np.asarray(leaf.numpy()) for leaf in tf.nest.flatten(results)]


def same(a, b):
    if len(a) != len(b) or any(x.shape != y.shape or x.dtype != y.dtype for x, y in zip(a, b)):
        return False
    return all(np.array_equal(x, y) if x.dtype.kind in "iubOS" else np.allclose(x, y, **TOLERANCE) for x, y in zip(a, b))


def compare(what, entries, run):
    wrong = 0
    for name, entry in entries.items():
        if isinstance(entry, str):
            problem = entry
        else:
            try:
                got = run(entry)
                problem = "" if same(got, entry["values"]) else f"gives {got}, expected {entry['values']}"
            except Exception as failure:
                problem = f"{type(failure).__name__}: {failure}"
        if problem:
            wrong += 1
            print(f"{what}: {name}: {problem}"[:1500])
    print(f"graph_defs.py: {what}: {len(entries) - wrong} of {len(entries)} graphs give the same values")
    return wrong


def export_ours():
    import thalweg as tf
    from thalweg import _thalweg

    entries = {}
    for name, concrete, arguments in traces(tf):
        try:
            if isinstance(concrete, Exception):
                raise concrete
            graph, names, results, captures, _ = _thalweg.graph_def_of(concrete._body)
            entries[name] = {"graph": graph.SerializeToString(), "inputs": names, "outputs": results,
                             "captures": [(node, v.numpy()) for node, v in captures], "arguments": arguments,
                             "values": flat(tf, concrete(*[tf.constant(a) for a in arguments]))}
        except Exception as failure:
            entries[name] = f"not written: {type(failure).__name__}: {failure}"
    return entries


def run_theirs(entry):
    import thalweg as tf
    from thalweg import _thalweg

    f = _thalweg.function_from_graph_def(entry["graph"], entry["inputs"], entry["outputs"])
    return [np.asarray(t.numpy()) for t in f(*[tf.constant(a) for a in entry["arguments"]])]


def tensorflow_side(ours, theirs):
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    def run_ours(entry):
        graph = tf.compat.v1.GraphDef.FromString(entry["graph"])
        held = [tf.Variable(value) for _, value in entry["captures"]]
        inputs = [name + ":0" for name in entry["inputs"]] + [name + ":0" for name, _ in entry["captures"]]
        imported = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=""), [])
        f = imported.prune(inputs, entry["outputs"])
        results = f(*[tf.constant(a) for a in entry["arguments"]], *[v.handle for v in held])
        return [np.asarray(t.numpy()) for t in results]

    entries = {}
    for name, concrete, arguments in traces(tf):
        try:
            if isinstance(concrete, Exception):
                raise concrete
            values = flat(tf, concrete(*[tf.constant(a) for a in arguments]))

            def entry(f):
                return {"graph": f.graph.as_graph_def().SerializeToString(), "inputs": [t.name for t in f.inputs],
                        "outputs": [t.name for t in f.outputs], "arguments": arguments, "values": values}

            if not concrete.captured_inputs:
                entries[name] = entry(concrete)
            if name.split()[0] not in NOT_FROZEN:
                frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
                entries[name + ", frozen"] = entry(frozen)
        except Exception as failure:
            entries[name] = f"not written by TensorFlow: {type(failure).__name__}: {failure}"
    pathlib.Path(theirs).write_bytes(pickle.dumps(entries))
    sys.exit(1 if compare("ours in TensorFlow", pickle.loads(pathlib.Path(ours).read_bytes()), run_ours) else 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder) / "ours", pathlib.Path(folder) / "theirs"
        ours.write_bytes(pickle.dumps(export_ours()))
        status = subprocess.run([os.environ["THALWEG_TENSORFLOW_PYTHON"], __file__, str(ours), str(theirs)], check=False,
                                env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}).returncode
        if not theirs.exists():
            sys.exit("TensorFlow's side did not finish")
        status |= compare("TensorFlow's here", pickle.loads(theirs.read_bytes()), run_theirs)
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    tensorflow_side(*sys.argv[1:]) if len(sys.argv) == 3 else main()
