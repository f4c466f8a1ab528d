"""Functions with gradients of their own, and functions of functions: values and texts of TensorFlow 2.15."""

import gc
import weakref

import numpy as np
import pytest

import thalweg as tf
import thalweg.contrib.eager as tfe


def gradient(function, sources):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        result = function()
    return tape.gradient(result, sources)


@tf.custom_gradient
def tenfold(x):
    """x^2 with another gradient."""
    return x * x, lambda upstream: 10.0 * upstream * x


def test_first_and_second_order():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = gradient(lambda: tenfold(x), x)
    assert float(first) == 30 and float(outer.gradient(first, x)) == 10
    assert tenfold.__name__ == "tenfold" and tenfold.__doc__ == "x^2 with another gradient." and float(tenfold(2.0)) == 4


def test_several_results_and_structures():
    x, v = tf.constant(3.0), tf.Variable(2.0)

    @tf.custom_gradient
    def two(a, b):
        return [a + b, a * b], lambda da, db: (da * 2.0, db * 3.0)

    p, q = two(x, v)
    assert float(p) == 5 and float(q) == 6
    assert [float(g) for g in gradient(lambda: two(x, v), [x, v])] == [2, 3]

    @tf.custom_gradient
    def of_structure(d):
        return d["a"] * d["b"][0], lambda upstream: {"a": upstream * 5.0, "b": [upstream * 6.0]}

    assert [float(g) for g in gradient(lambda: of_structure({"a": x, "b": [v]}), [x, v])] == [5, 6]


def test_variables_inside():
    x, v = tf.constant(3.0), tf.Variable(2.0)
    seen = []

    @tf.custom_gradient
    def uses(x):
        def backward(upstream, variables=None):
            seen.extend(variables)
            return upstream * 100.0, [upstream * 200.0]

        return x * v, backward

    assert [float(g) for g in gradient(lambda: uses(x), [x, v])] == [100, 200] and seen[0] is v

    @tf.custom_gradient
    def forgets(x):
        return x * v, lambda upstream: upstream

    with pytest.raises(TypeError, match="@tf.custom_gradient grad_fn must accept keyword argument 'variables', since "
                                        "function uses variables: "):
        forgets(x)


def test_arguments_that_are_no_tensors():
    x = tf.constant([1.0, 2.0])

    @tf.custom_gradient
    def clipped(x, norm, scale=1.0):
        return tf.identity(x) * scale, lambda upstream: [tf.clip_by_norm(upstream, norm), None]

    assert gradient(lambda: tf.reduce_sum(clipped(x, 1.0, scale=2.0) * [3.0, 4.0]), x).numpy().tolist() == [
        0.6000000238418579, 0.800000011920929]

    @tf.custom_gradient
    def cut(x):
        return x * 2.0, lambda upstream: None

    assert gradient(lambda: cut(x), x) is None


def test_errors_of_the_gradient_pass_through():
    x = tf.constant(3.0)

    class Mine(Exception):
        pass

    @tf.custom_gradient
    def fails(x):
        def backward(upstream):
            raise Mine("mine")

        return x * 1.0, backward

    with pytest.raises(Mine, match="mine"):
        gradient(lambda: fails(x) * 2.0, x)

    @tf.custom_gradient
    def too_many(x):
        return x * 1.0, lambda upstream: (upstream, upstream)

    with pytest.raises(ValueError) as error:
        gradient(lambda: too_many(x), x)
    assert str(error.value) == "custom_gradient function expected to return 1 gradients, but returned 2 instead."

    @tf.custom_gradient
    def wrong_shape(x):
        return x * 1.0, lambda upstream: tf.ones([3])

    with pytest.raises((ValueError, tf.errors.OpError)):
        gradient(lambda: wrong_shape(x), x)


def test_the_function_is_freed_with_the_tape():
    x = tf.constant(3.0)

    class Kept:
        pass

    kept = Kept()
    alive = weakref.ref(kept)

    @tf.custom_gradient
    def holds(x, kept=kept):
        return x * 1.0, lambda upstream, held=kept: upstream

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = holds(x)
    assert float(tape.gradient(y, x)) == 1
    del kept, holds
    gc.collect()
    assert alive() is None


def test_recompute_grad():
    x, v, calls = tf.constant(3.0), tf.Variable(2.0), []

    @tf.recompute_grad
    def f(a):
        calls.append(1)
        return tf.sin(a * v)

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert len(calls) == 1 and y.numpy() == np.float32(-0.2794155)
    dx, dv = tape.gradient(y, [x, v])
    assert len(calls) == 2
    assert [dx.numpy(), dv.numpy()] == pytest.approx([2 * np.cos(6.0), 3 * np.cos(6.0)], rel=1e-6)


def test_grad_pass_through():
    x = tf.constant(3.0)
    through = tf.grad_pass_through(tf.round)
    assert float(through(3.9)) == 4
    assert float(gradient(lambda: through(x * 1.25), x)) == 1.25


def test_forward_accumulator():
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as forward:
        y, z, c = x * x * x, x + 1.0, tf.constant(1.0) * 2.0
    assert float(forward.jvp(y)) == 54 and float(forward.jvp(z)) == 2 and float(forward.jvp(x)) == 2
    assert forward.jvp(c) is None and float(forward.jvp(c, unconnected_gradients="zero")) == 0
    assert tf.nest.map_structure(float, forward.jvp([y, {"a": z}])) == [54, {"a": 2}]
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as forward:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3.0)
        backward = tape.gradient(y, v)
    assert backward.numpy().tolist() == [3, 12] and forward.jvp(backward).numpy().tolist() == [6, 0]


def test_forward_accumulators_nest():
    primal = tf.constant(1.1)
    with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as inner:
            result = primal**3.5
    first = inner.jvp(result)
    assert float(first) == pytest.approx(4.4417057, rel=1e-6)
    assert float(outer.jvp(first)) == pytest.approx(10.094786, rel=1e-6)
    with pytest.raises(ValueError, match="specified as a primal multiple times"):
        tf.autodiff.ForwardAccumulator([primal, primal], [primal, primal])
    with inner, pytest.raises(ValueError, match="Accumulator is already recording."):
        inner.__enter__()


def test_compute_gradient():
    by_tape, by_differences = tf.test.compute_gradient(
        lambda a, b: a * a * b, [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
    assert [j.tolist() for j in by_tape] == [[[6, 0], [0, 16]], [[1, 0], [0, 4]]]
    for expected, found in zip(by_tape, by_differences):
        assert found == pytest.approx(expected, abs=1e-2)


def test_functions_of_functions():
    def square(x):
        return tf.multiply(x, x)

    first = tfe.gradients_function(square)
    second = tfe.gradients_function(lambda x: first(x)[0])
    third = tfe.gradients_function(lambda x: second(x)[0])
    assert float(first(3.0)[0]) == 6 and float(second(3.0)[0]) == 2 and third(3.0) == [None]
    value, (dx, dy) = tfe.value_and_gradients_function(lambda x, y: x * x * x * y - x * y * y)(2.0, 3.0)
    assert [float(value), float(dx), float(dy)] == [6, 27, -4]
    assert [float(g) for g in tfe.gradients_function(lambda x, y: x * y, params=[1])(2.0, 3.0)] == [2]
    w = tfe.Variable(2.0)
    ((by_w, variable),) = tfe.implicit_gradients(lambda x: w * x)(5.0)
    assert float(by_w) == 5 and variable is w
    with pytest.raises(ValueError, match="Cannot differentiate a function that returns None"):
        tfe.gradients_function(lambda x: None)(1.0)
