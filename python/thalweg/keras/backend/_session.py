"""Names, phases and functions of models."""

import contextlib

import thalweg as tf
from thalweg.keras.bridge.objects import _engine

__all__ = ["backend", "clear_session", "function", "get_uid", "gradients", "in_test_phase", "in_train_phase", "learning_phase",
           "learning_phase_scope", "name_scope", "reset_uids", "set_learning_phase", "switch"]

_uids = {}
_phase = None


def backend():
    return "tensorflow"


def clear_session():
    """Automatic names begin anew."""
    global _phase
    _phase = None
    _engine.set_learning_phase(None)
    _engine.clear_session()
    reset_uids()


def get_uid(prefix=""):
    """1, then 2: numbers for names with a prefix."""
    _uids[prefix] = _uids.get(prefix, 0) + 1
    return _uids[prefix]


def reset_uids():
    _uids.clear()


def name_scope(name):
    return tf.name_scope(name)


def learning_phase():
    """1 where layers that nobody tells train, else 0."""
    return 0 if _phase is None else _phase


def set_learning_phase(value):
    """Tells layers whether they train, until something else tells them."""
    global _phase
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    _phase = int(value)
    _engine.set_learning_phase(bool(value))


@contextlib.contextmanager
def learning_phase_scope(value):
    global _phase
    before = _phase
    set_learning_phase(value)
    try:
        yield
    finally:
        _phase = before
        _engine.set_learning_phase(None if before is None else bool(before))


def _value(x):
    return x() if callable(x) else x


def in_train_phase(x, alt, training=None):
    """x, or what it gives, in training; else alt."""
    if training is None:
        training = learning_phase()
    if tf.is_tensor(training):
        return switch(training, x, alt)
    return _value(x) if training else _value(alt)


def in_test_phase(x, alt, training=None):
    return in_train_phase(alt, x, training)


def switch(condition, then_expression, else_expression):
    """One of two by a scalar, or element by element by a condition that is no scalar."""
    condition = tf.cast(condition, "bool")
    if len(condition.shape) == 0:
        return tf.cond(condition, lambda: _value(then_expression), lambda: _value(else_expression))
    then_value, else_value = (tf.convert_to_tensor(_value(x)) for x in (then_expression, else_expression))
    missing = len(then_value.shape) - len(condition.shape)
    if missing < 0:
        raise ValueError(f"Rank of `condition` should be less than or equal to rank of `then_expression` and "
                         f"`else_expression`. ndim(condition)={len(condition.shape)}, ndim(then_expression)="
                         f"{len(then_value.shape)}")
    for _ in range(missing):
        condition = tf.expand_dims(condition, -1)
    return tf.where(condition, then_value, else_value)


def gradients(loss, variables):
    """The gradients of a loss, inside of a function."""
    if tf.executing_eagerly():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    return tf.gradients(loss, variables)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function from the values of inputs of a model to those of outputs, as arrays."""
    if kwargs:
        raise ValueError(f"Session keyword arguments are not supported during eager execution. You passed: {kwargs}")
    if updates:
        raise ValueError(f"`updates` argument is not supported during eager execution. You passed: {updates}")
    model = tf.keras.models.Model(inputs=inputs, outputs=outputs)

    def call(values):
        if isinstance(inputs, (list, tuple)) and len(inputs) == 1 and isinstance(values, (list, tuple)):
            values = values[0]
        results = tf.nest.map_structure(lambda x: x.numpy(), model(values))
        return [results] if isinstance(outputs, (list, tuple)) and not isinstance(results, (list, tuple)) else results

    return call
