"""Host functions: tf.py_function and tf.numpy_function, compared with what TensorFlow 2.15 does."""

import gc
import threading
import weakref

import numpy as np
import pytest

import thalweg as tf

both = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])


@both
def test_values_and_structures(wrap):
    x = tf.constant([1.0, 2.0, 3.0])
    assert wrap(lambda a: tf.py_function(lambda v: v * 2, [a], tf.float32))(x).numpy().tolist() == [2, 4, 6]
    pair = wrap(lambda a: tf.py_function(lambda v: (v, v.numpy().sum()), [a], (tf.float32, tf.float64)))(x)
    assert isinstance(pair, list) and pair[0].numpy().tolist() == [1, 2, 3] and pair[1].dtype == tf.float64
    assert wrap(lambda a: tf.py_function(lambda v: None, [a], []))(x) == []
    assert wrap(lambda a: tf.py_function(lambda v: "é", [a], tf.string))(x).numpy() == "é".encode()
    assert wrap(lambda a: tf.py_function(func=lambda: 3, inp=[], Tout=tf.int64, name="three"))(x).numpy() == 3
    array = wrap(lambda a: tf.numpy_function(lambda v: np.sinh(v), [a], tf.float32))(x)
    np.testing.assert_allclose(array.numpy(), np.sinh([1, 2, 3]), rtol=1e-6)
    many = wrap(lambda a: tf.numpy_function(lambda v: (v, v + 1), [a], [tf.float32, tf.float32]))(x)
    assert [t.numpy().tolist() for t in many] == [[1, 2, 3], [2, 3, 4]]


def test_what_they_are_given():
    seen = []

    @tf.function
    def f(number, text):
        tf.py_function(lambda *a: seen.extend(type(v).__name__ for v in a), [number, text], [])
        tf.numpy_function(lambda *a: seen.extend(type(v).__name__ for v in a), [number, text], [])
        return number

    f(tf.constant(1), tf.constant(["a", "b"]))
    assert seen == ["EagerTensor", "EagerTensor", "int32", "ndarray"]


def test_decorators():
    @tf.py_function(Tout=tf.float32)
    def double(x):
        """Twice."""
        return 2 * x

    @tf.numpy_function(Tout=tf.float32)
    def half(x):
        return x / np.float32(2)

    assert double(tf.constant(3.0)).numpy() == 6 and double.__doc__ == "Twice."
    assert tf.function(lambda x: half(double(x)))(tf.constant(3.0)).numpy() == 3
    with pytest.raises(TypeError, match="Missing required argument: 'Tout'"):
        tf.py_function(lambda: 1, [])


def test_once_per_run_in_program_order():
    order = []
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.py_function(lambda: order.append("a"), [], [])
        v.assign_add(x)
        tf.numpy_function(lambda value: order.append(float(value)), [v], [])
        tf.numpy_function(lambda: order.append("unused"), [], [], stateful=False)
        tf.py_function(lambda: v.assign(10.0), [], tf.float32)
        return v + 0.0

    assert f(tf.constant(2.0)).numpy() == 10
    assert order == ["a", 3.0]
    f(tf.constant(2.0))
    assert order == ["a", 3.0, "a", 12.0]


def test_unused_results_without_state_are_not_computed():
    calls = []

    @tf.function
    def f(x):
        tf.numpy_function(lambda v: calls.append(1) or v, [x], tf.float32, stateful=False)
        return x

    f(tf.constant(1.0))
    assert not calls


class Own(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


@both
@pytest.mark.parametrize("host", [tf.py_function, tf.numpy_function])
def test_exceptions_arrive_as_they_are(wrap, host):
    def raises(error):
        def function(_):
            raise error
        return wrap(lambda a: host(function, [a], tf.float32))

    for error in (ValueError("bad"), KeyError("k"), StopIteration("s"), Own(7), tf.errors.NotFoundError(None, None, "n")):
        f = raises(error)
        for _ in range(2):
            with pytest.raises(type(error)) as caught:
                f(tf.constant(1.0))
            assert caught.value is error


@both
def test_results_are_checked(wrap):
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        wrap(lambda a: tf.py_function(lambda v: v, [a], tf.int32))(x)
    with pytest.raises(TypeError, match="Cannot convert 3.5 to EagerTensor of dtype int32"):
        wrap(lambda a: tf.py_function(lambda v: 3.5, [a], tf.int32))(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects to see 3 values"):
        wrap(lambda a: tf.py_function(lambda v: (v, v), [a], [tf.float32] * 3))(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values, but expects to see 1 values"):
        wrap(lambda a: tf.py_function(lambda v: None, [a], tf.float32))(x)
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        wrap(lambda a: tf.py_function(lambda v: v, [a], [[tf.float32]]))(x)


def test_arrays_are_checked_when_traced():
    f = tf.function(lambda a: tf.numpy_function(lambda v: np.float64(v), [a], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="0-th value returned by pyfunc_[0-9]+ is float64, but expects"):
        f(tf.constant(1.0))


def test_shapes_are_unknown_until_set():
    @tf.function
    def f(x):
        y = tf.py_function(lambda v: v, [x], tf.float32)
        assert y.shape.rank is None
        y.set_shape([None, 2])
        assert y.shape.as_list() == [None, 2]
        return tf.matmul(y, y)

    np.testing.assert_array_equal(f(tf.eye(2)).numpy(), np.eye(2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([2, 3]))


def gradient(host):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = host(lambda v: v * v * v, [x], tf.float32)
        return tape.gradient(y, x)
    return f


@both
def test_gradients(wrap):
    x = tf.constant([1.0, 2.0])
    assert wrap(gradient(tf.py_function))(x).numpy().tolist() == [3, 12]
    assert wrap(gradient(tf.numpy_function))(x) is None


def test_gradients_through_calls_branches_and_loops():
    calls = []

    def square(v):
        calls.append(1)
        return v * v

    @tf.function
    def inner(x):
        y = tf.py_function(square, [x], tf.float32)
        y.set_shape(x.shape)
        return y

    @tf.function
    def f(x):
        y = tf.cond(x > 0, lambda: inner(x), lambda: -x)
        return tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, inner(v)), (tf.constant(0), y))[1]

    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert len(calls) == 3
    assert tape.gradient(y, x).numpy() == pytest.approx(8 * 1.5**7)
    assert len(calls) == 3
    mapped = tf.function(lambda v: tf.map_fn(lambda a: tf.py_function(square, [a], tf.float32), v))
    assert mapped(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1, 4, 9]


def test_threads():
    f = tf.function(lambda a: tf.py_function(lambda v: v + 1, [a], tf.float32))
    f(tf.constant(0.0))
    wrong = []

    def work(k):
        for i in range(100):
            if f(tf.constant(float(k + i))).numpy() != k + i + 1:
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_kept():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.f = tf.function(lambda x: tf.py_function(self.note, [x], tf.float32))

        def note(self, x):
            self.calls += 1
            return x * x

    def use():
        model = Model()
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model.f(x)
        assert tape.gradient(y, x).numpy() == 6
        assert model.calls == 1
        return weakref.ref(model)

    gone = use()
    gc.collect()
    assert gone() is None


def test_functions_made_inside_others_live_on():
    @tf.function
    def outer(x):
        inner = tf.function(lambda a: tf.py_function(lambda v: v + 1, [a], tf.float32))
        return inner(x) * 2

    assert outer(tf.constant(1.0)).numpy() == 4
    gc.collect()
    assert outer(tf.constant(2.0)).numpy() == 6


def test_py_func_of_tensorflow_1():
    assert tf.compat.v1.py_func(lambda v: v * 2, [tf.constant(2.0)], tf.float32).numpy() == 4
