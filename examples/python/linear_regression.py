"""A line through a thousand noisy points, by gradient descent: variables, a tape, and assignments."""

import thalweg as tf

tf.random.set_seed(7)
x = tf.random.normal([1000])
noise = tf.random.normal([1000])
y = 3.0 * x + 2.0 + 0.5 * noise

slope = tf.Variable(5.0, name="slope")
offset = tf.Variable(10.0, name="offset")


def loss():
    return tf.reduce_mean(tf.square(slope * x + offset - y))


print(f"before: loss {float(loss()):.4f}")
for step in range(1, 201):
    with tf.GradientTape() as tape:
        value = loss()
    by_slope, by_offset = tape.gradient(value, [slope, offset])
    slope.assign_sub(0.05 * by_slope)
    offset.assign_sub(0.05 * by_offset)
    if step % 50 == 0:
        print(f"step {step}: loss {float(value):.4f}")
print(f"slope {slope.numpy():.4f}, offset {offset.numpy():.4f}")
