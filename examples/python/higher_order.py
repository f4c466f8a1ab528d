"""Derivatives of derivatives: tapes inside tapes, jacobians, hessians, and products with a vector."""

import thalweg as tf

# x^4 has derivatives 4 x^3, 12 x^2, 24 x.
x = tf.Variable(2.0)
with tf.GradientTape() as third:
    with tf.GradientTape() as second:
        with tf.GradientTape() as first:
            y = x**4
        dy = first.gradient(y, x)
    d2y = second.gradient(dy, x)
d3y = third.gradient(d2y, x)
print("x^4 at 2:", y.numpy(), dy.numpy(), d2y.numpy(), d3y.numpy())


def shown(vector):
    return [f"{float(element):.4f}" for element in vector]


def f(p):
    return tf.sin(p[0]) * p[1] ** 2


# The hessian is the jacobian of the gradient.
point = tf.constant([1.0, 2.0])
with tf.GradientTape() as outer:
    outer.watch(point)
    with tf.GradientTape() as inner:
        inner.watch(point)
        value = f(point)
    gradient = inner.gradient(value, point)
hessian = outer.jacobian(gradient, point)
print("gradient:", shown(gradient))
print("hessian:", [shown(row) for row in hessian])

# The product of the hessian with a vector, without the hessian: forwards over backwards.
direction = tf.constant([1.0, -1.0])
with tf.autodiff.ForwardAccumulator(point, direction) as forward:
    with tf.GradientTape() as tape:
        tape.watch(point)
        value = f(point)
    gradient = tape.gradient(value, point)
print("hessian times direction:", shown(forward.jvp(gradient)))
