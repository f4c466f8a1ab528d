"""A line through points, by gradient descent: variables, a tape, and assignments."""

import thalweg as tf

# Points on y = 3 x + 2, moved a little up and down; no random numbers, so that every run prints the same.
x = tf.linspace(-1.0, 1.0, 50)
y = 3.0 * x + 2.0 + 0.1 * tf.sin(40.0 * x)

slope = tf.Variable(0.0, name="slope")
offset = tf.Variable(0.0, name="offset")


def loss():
    return tf.reduce_mean(tf.square(slope * x + offset - y))


print(f"before: loss {float(loss()):.4f}")
for step in range(1, 201):
    with tf.GradientTape() as tape:
        value = loss()
    by_slope, by_offset = tape.gradient(value, [slope, offset])
    slope.assign_sub(0.1 * by_slope)
    offset.assign_sub(0.1 * by_offset)
    if step % 50 == 0:
        print(f"step {step}: loss {float(value):.4f}")
print(f"slope {slope.numpy():.4f}, offset {offset.numpy():.4f}")
