"""Steepest descent with a line search: how far to go is decided by Python's control flow, step by step."""

import thalweg as tf


def bowl(point):
    """Rosenbrock's function: a long bent valley whose lowest place is (1, 1)."""
    x, y = point[0], point[1]
    return 100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2


def descend(function, point, rate=1.0, enough=1e-4):
    """One step against the gradient, halved until it goes down far enough (Armijo's rule)."""
    with tf.GradientTape() as tape:
        tape.watch(point)
        here = function(point)
    gradient = tape.gradient(here, point)
    steepness = tf.reduce_sum(gradient**2)
    while function(point - rate * gradient) > here - enough * rate * steepness:
        rate /= 2.0
    return point - rate * gradient, rate


point = tf.constant([-1.2, 1.0], dtype=tf.float64)
for step in range(1, 6):
    point, rate = descend(bowl, point)
    print(f"step {step}: rate {rate:.6f}, value {float(bowl(point)):.6f}, at {point.numpy().round(6).tolist()}")
