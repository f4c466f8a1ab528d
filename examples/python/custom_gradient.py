"""A gradient of one's own: where the formula that computes a value well is not the one to differentiate."""

import thalweg as tf


def softplus(x):
    return tf.math.log(1.0 + tf.exp(x))


@tf.custom_gradient
def stable_softplus(x):
    e = tf.exp(x)

    def gradient(upstream):
        return upstream * (1.0 - 1.0 / (1.0 + e))  # e / (1 + e), without inf / inf

    return tf.math.log(1.0 + e), gradient


@tf.custom_gradient
def clipped(x):
    """The identity, through which gradients pass no longer than 1."""
    return tf.identity(x), lambda upstream: tf.clip_by_norm(upstream, 1.0)


def derivative(function, at):
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
    return tape.gradient(value, x).numpy()


for at in (0.0, 100.0):
    print(f"at {at}: plain {derivative(softplus, at)}, stable {derivative(stable_softplus, at)}")
print("unclipped", derivative(lambda x: tf.reduce_sum(x * [3.0, 4.0]), [1.0, 2.0]))
print("clipped  ", derivative(lambda x: tf.reduce_sum(clipped(x) * [3.0, 4.0]), [1.0, 2.0]))
