"""tf.GradientTape: values and texts are those of TensorFlow 2.15."""

import collections
import gc
import logging
import threading
import weakref

import pytest

import thalweg as tf

USED = "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
Pair = collections.namedtuple("Pair", "a b")


def taped(function, *watched, **options):
    with tf.GradientTape(**options) as tape:
        for tensor in watched:
            tape.watch(tensor)
        result = function()
    return tape, result


def test_gradient_of_variables_and_tensors():
    x, w = tf.constant(3.0), tf.Variable(2.0)
    tape, y = taped(lambda: w * w * x, x)
    dx, dw = tape.gradient(y, [x, w])
    assert float(dx) == 4 and float(dw) == 12
    tape, y = taped(lambda: x * w)
    assert tape.gradient(y, x) is None
    tape, y = taped(lambda: w * 2.0)
    assert float(tape.gradient(w, w)) == 1


@pytest.mark.parametrize("sources", [
    lambda x, w: {"a": [x, w], "b": (w,)}, lambda x, w: Pair(x, [w]), lambda x, w: (x, w), lambda x, w: [[x], w],
    lambda x, w: collections.OrderedDict(z=x, a=w), lambda x, w: [],
])
def test_results_mirror_the_sources(sources):
    x, w = tf.constant(3.0), tf.Variable(2.0)
    tape, y = taped(lambda: x * w, x)
    found = tape.gradient(y, sources(x, w))
    assert type(found) is type(sources(x, w))
    assert tf.nest.map_structure(float, found) == tf.nest.map_structure(
        lambda source: 2.0 if source is x else 3.0, sources(x, w))


def test_targets_and_output_gradients():
    x, w = tf.constant(3.0), tf.Variable(2.0)

    def gradient(target, **options):
        tape, y = taped(lambda: x * w)
        return float(tape.gradient(target(y), w, **options))

    assert gradient(lambda y: {"q": y, "r": [y, y]}) == 9
    assert gradient(lambda y: [y, y], output_gradients=[tf.constant(2.0), 5.0]) == 21
    assert gradient(lambda y: [y, y], output_gradients=[tf.constant(2.0)]) == 9
    assert gradient(lambda y: y, output_gradients=3.0) == 9
    assert gradient(lambda y: y, output_gradients=tf.Variable(3.0)) == 9


def test_unconnected():
    x, w, table = tf.constant(3.0), tf.Variable(2.0), tf.Variable([[1.0, 2.0]])
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        tape, y = taped(lambda: x * w)
        dx, dw, dt = tape.gradient(y, [x, w, table], unconnected_gradients=zero)
        assert [float(dx), float(dw)] == [0, 3] and dt.numpy().tolist() == [[0, 0]]
    tape, y = taped(lambda: x * w)
    with pytest.raises(ValueError) as error:
        tape.gradient(y, w, unconnected_gradients="nonsense")
    assert str(error.value) == "Unknown value for unconnected_gradients: 'nonsense'"
    assert [member.value for member in tf.UnconnectedGradients] == ["none", "zero"]


def test_a_tape_plays_once_unless_persistent():
    w = tf.Variable(2.0)
    tape, y = taped(lambda: w * w)
    assert float(tape.gradient(y, w)) == 4
    for again in (lambda: tape.gradient(y, w), lambda: tape.jacobian(y, w), lambda: tape.batch_jacobian(y, w)):
        with pytest.raises(RuntimeError) as error:
            again()
        assert str(error.value) == USED
    tape, y = taped(lambda: w * w, persistent=True)
    assert [float(tape.gradient(y, w)) for _ in range(3)] == [4, 4, 4]
    with tape:
        z = y * w
    assert float(tape.gradient(z, w)) == 12


def test_before_and_inside_its_scope():
    x, w = tf.constant(3.0), tf.Variable(2.0)
    tape = tf.GradientTape()
    assert tape.watched_variables() == ()
    with pytest.raises(RuntimeError) as error:
        tape.gradient(x, x)
    assert str(error.value) == USED
    with pytest.raises(AttributeError):
        tape.watch(x)
    with pytest.raises(ValueError, match="Tape is not recording."):
        tape.reset()
    with tape:
        with pytest.raises(ValueError) as error:
            tape.__enter__()
        assert str(error.value) == (
            "Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        y = w * w
        assert float(tape.gradient(y, w)) == 4
    with tape:  # begins anew
        y = w * 3.0
    assert float(tape.gradient(y, w)) == 3


@pytest.mark.parametrize("call, kind, text", [
    (lambda tape, y, w: tape.gradient(None, w), TypeError,
     "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be "
     "differentiated, but received None."),
    (lambda tape, y, w: tape.gradient(y, None), TypeError,
     "Cannot convert the argument `type_value`: None to a TensorFlow DType."),
    (lambda tape, y, w: tape.gradient(y, 3.0), AttributeError, "'float' object has no attribute 'dtype'"),
    (lambda tape, y, w: tape.gradient(3.0, w), AttributeError, "'float' object has no attribute 'dtype'"),
    (lambda tape, y, w: tape.watch(3.0), ValueError,
     "Passed in object 3.0 of type 'float', not tf.Tensor or tf.Variable or ExtensionType."),
    (lambda tape, y, w: tape.batch_jacobian(y, w), ValueError, "Shape () must have rank at least 2"),
    (lambda tape, y, w: tape.jacobian(y, w, experimental_use_pfor=False), RuntimeError,
     "GradientTape must be created with persistent=True to compute the jacobian with eager execution enabled and with  "
     "experimental_use_pfor set to False."),
    (lambda tape, y, w: tape.stop_recording().__enter__(), ValueError, "Tape is not recording."),
])
def test_refused(call, kind, text):
    w = tf.Variable(2.0)
    tape, y = taped(lambda: w * w)
    with pytest.raises(kind) as error:
        call(tape, y, w)
    assert str(error.value) == text


def test_watched_variables_are_the_objects():
    a, b = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    tape, y = taped(lambda: a * b)
    assert len(tape.watched_variables()) == 1 and tape.watched_variables()[0] is a
    da, db = tape.gradient(y, [a, b])
    assert float(da) == 2 and db is None and tape.watched_variables()[0] is a
    tape, y = taped(lambda: a * b, b, watch_accessed_variables=False)
    da, db = tape.gradient(y, [a, b])
    assert da is None and float(db) == 1


def test_a_variable_that_is_gone_can_be_watched():
    v = tf.Variable(2.0, name="gone")
    tape, y = taped(lambda: v * v, persistent=True)
    alive = weakref.ref(v)
    del v
    gc.collect()
    assert alive() is None
    (again,) = tape.watched_variables()
    assert again.name == "gone:0" and float(tape.gradient(y, again)) == 4


def test_stop_recording_and_reset():
    w = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            y = w * 1.0
        z = w * 3.0
    assert tape.gradient(y, w) is None and float(tape.gradient(z, w)) == 3
    with tf.GradientTape() as tape:
        y = w * 1.0
        tape.reset()
        z = w * 3.0
    assert float(tape.gradient([y, z], w)) == 3


def test_higher_orders():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert float(first) == 27 and float(outer.gradient(first, x)) == 18


def test_assigned_values_are_constants():
    w, a = tf.Variable(2.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        a.assign(w * 2.0)
        y = a * 3.0
    dw, da = tape.gradient(y, [w, a])
    assert dw is None and float(da) == 3


def test_gradients_pass_through_lists_and_slices_but_not_constants():
    w = tf.Variable(2.0)

    def gradient(function):
        tape, y = taped(function)
        found = tape.gradient(y, w)
        return found if found is None else float(found)

    assert gradient(lambda: tf.reduce_sum([w, w * w])) == 5
    assert gradient(lambda: tf.convert_to_tensor([[w, 1.0], [2.0, w]])) == 2
    assert gradient(lambda: tf.constant([1.0, 2.0]) * [w, w]) == 3
    assert gradient(lambda: tf.stack([w, w])) == 2
    assert gradient(lambda: w[None][0] * 3.0) == 3
    assert gradient(lambda: tf.identity(w)) == 1
    assert gradient(lambda: tf.constant(w)) is None and gradient(lambda: tf.constant([w, w])) is None


def test_jacobians():
    x, w = tf.constant(3.0), tf.Variable(2.0)
    tape, y = taped(lambda: tf.stack([x, x * x]), x, persistent=True)
    assert tape.jacobian(y, x).numpy().tolist() == [1, 6]
    assert tape.jacobian(y, [x, w])[1] is None
    found = tape.jacobian(y, {"a": x, "b": w}, unconnected_gradients="zero", parallel_iterations=2)
    assert found["a"].numpy().tolist() == [1, 6] and found["b"].numpy().tolist() == [0, 0]
    assert tape.jacobian(y, x, experimental_use_pfor=False).numpy().tolist() == [1, 6]
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tape, y = taped(lambda: m * m, m)
    assert tape.batch_jacobian(y, m).numpy().tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]


def test_warnings_go_through_logging(caplog):
    tf.get_logger().propagate, before = True, tf.get_logger().propagate
    w, i = tf.Variable(2.0), tf.constant(3)
    try:
        with caplog.at_level(logging.WARNING, "tensorflow"):
            tape, y = taped(lambda: i * i, i)
            assert tape.gradient(y, i) is None
            with tf.GradientTape(persistent=True) as tape:
                y = w * w
                for _ in range(3):
                    tape.gradient(y, w)
    finally:
        tf.get_logger().propagate = before
    first, second = [record.getMessage() for record in caplog.records]
    assert first == "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    assert second.startswith("Calling GradientTape.gradient on a persistent tape inside its context is significantly less")


def test_threads_have_tapes_of_their_own():
    w, found = tf.Variable(2.0), []

    def work():
        tape, y = taped(lambda: w * w * w)
        found.append(float(tape.gradient(y, w)))

    with tf.GradientTape() as tape:
        y = w * w
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert float(tape.gradient(y, w)) == 4 and found == [12] * 4


def test_a_tape_may_die_in_another_thread():
    w = tf.Variable(2.0)
    holder = [taped(lambda: w * w, persistent=True)[0]]
    open_tape = tf.GradientTape()
    open_tape.__enter__()
    holder.append(open_tape)
    del open_tape
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()
    gc.collect()
    tape, y = taped(lambda: w * w)
    assert float(tape.gradient(y, w)) == 4


def test_a_tape_in_a_cycle_is_collected():
    w = tf.Variable(tf.zeros([256, 1024]))
    tape, y = taped(lambda: tf.exp(w) * tf.sin(w), persistent=True)
    tape.own = tape
    alive = weakref.ref(tape)
    del tape, y
    gc.collect()
    assert alive() is None


def test_errors_in_the_scope_close_the_tape():
    w = tf.Variable(2.0)
    with pytest.raises(KeyError):
        with tf.GradientTape() as tape:
            y = w * w
            raise KeyError
    assert float(tape.gradient(y, w)) == 4


def test_gradients_of_what_was_computed_on_the_way():
    inputs = tf.keras.Input((4,))
    hidden = tf.keras.layers.Dense(3, kernel_initializer="ones")(inputs)
    model = tf.keras.Model(inputs, [hidden, tf.keras.layers.Dense(2, kernel_initializer="ones")(hidden)])
    with tf.GradientTape() as tape:
        between, outputs = model(tf.ones([1, 4]))
        chosen = outputs[:, tf.argmax(outputs[0])]
    assert tape.gradient(chosen, between).numpy().tolist() == [[1.0, 1.0, 1.0]]
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, y) == 18.0
