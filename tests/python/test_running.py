"""Traced functions while they run: where errors come from, how they are stopped, where their time goes."""

import os
import signal
import threading
import time

import pytest
import thalweg as tf
from thalweg.python.eager import cancellation


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def endless():
    """A loop of half a minute, so that a test that cannot end it fails."""
    return tf.function(lambda x: tf.while_loop(lambda y: True, lambda y: (y + 1.0,), [x], maximum_iterations=300_000_000))


@pytest.fixture
def interrupts():
    """Ctrl-C raises, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_errors_name_the_line():
    @tf.function
    def look_up(table, index):
        doubled = tf.cumsum(table) * 2.0
        return tf.gather(doubled, index)  # the line

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        look_up(tf.ones([3, 3]), tf.constant([7]))
    assert f"[[node GatherV2]] made at test_running.py:{line_of('# the line')} in look_up" in str(caught.value)


def test_errors_of_nested_functions_name_the_line():
    @tf.function
    def inner(table, index):
        return tf.gather(table, index)  # the inner line

    @tf.function
    def outer(table, index):
        return tf.cond(tf.size(index) > 0, lambda: inner(table * 2.0, index), lambda: tf.zeros([1, 3]))

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        outer(tf.ones([3, 3]), tf.constant([7]))
    assert f"made at test_running.py:{line_of('# the inner line')} in inner" in str(caught.value)


def test_cancels_from_another_thread():
    function = endless()
    manager = cancellation.CancellationManager()
    cancelable = manager.get_cancelable_function(function)
    assert not manager.is_cancelled
    stopper = threading.Timer(0.05, manager.start_cancel)
    stopper.start()
    with pytest.raises(tf.errors.CancelledError):
        cancelable(tf.constant(1.0))
    assert manager.is_cancelled
    with pytest.raises(tf.errors.CancelledError):
        cancelable(tf.constant(1.0))
    assert cancellation.context() is None


def test_ctrl_c_ends_a_loop(interrupts):
    function = endless()
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.time()
    with pytest.raises(KeyboardInterrupt):
        function(tf.constant(1.0))
    assert time.time() - start < 10
    doubled = tf.function(lambda x: x * 2.0)
    assert doubled(tf.constant(2.0)) == 4.0


def test_shows_functions(tmp_path):
    v = tf.Variable(tf.ones([8, 8]))

    @tf.function
    def layer(x):
        with tf.name_scope("layer"):
            return tf.reduce_sum(tf.nn.relu(tf.matmul(x, v) + 1.0) * 0.5)

    concrete = layer.get_concrete_function(tf.TensorSpec([4, 8]))
    summary = concrete.summary()
    assert "1 variable, 64 parameters" in summary and "MatMul x 1" in summary
    dot = concrete.to_dot()
    assert dot.startswith("digraph") and 'label="layer"' in dot
    concrete.write_dot(tmp_path / "layer.dot", optimized=True)
    assert "Relu" in (tmp_path / "layer.dot").read_text()


def test_profiles():
    w = tf.Variable(tf.ones([64, 64]))
    step = tf.function(lambda x: tf.reduce_sum(tf.matmul(tf.matmul(x, w), w)))
    measured = tf.profile(step, tf.ones([32, 64]))
    by_op = {row.op: row for row in measured.ops}
    assert by_op["MatMul"].count == 2
    assert sum(row.count for row in measured.nodes if row.op == "MatMul") == 2
    assert measured.kernels_nanoseconds <= measured.total_nanoseconds
    assert "MatMul" in str(measured) and "share" in str(measured)
