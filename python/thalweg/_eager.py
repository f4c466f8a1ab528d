"""Eager execution, which is all there is for now, and tf.function over it."""

import functools


def executing_eagerly():
    """Whether ops run at once."""
    return True


def enable_eager_execution(*args, **kwargs):
    """Eager execution is always on; programs of TensorFlow 1 ask for it."""


class Function:
    """A function under tf.function. It runs eagerly, op by op: the same values, without the speed of a graph."""

    def __init__(self, python_function, input_signature=None):
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = input_signature

    def __call__(self, *args, **kwargs):
        return self.python_function(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def get_concrete_function(self, *args, **kwargs):
        """The callable itself: there is one for all signatures."""
        return self

    def __repr__(self):
        return f"<tf.function {self.__name__}>"


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Marks a function, as `@tf.function` or `@tf.function(...)`. It runs eagerly until tracing exists."""
    if func is not None:
        return Function(func, input_signature)
    return lambda inner: Function(inner, input_signature)
