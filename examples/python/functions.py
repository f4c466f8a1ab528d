"""Functions: traced once for each kind of arguments, then run from a plan; loops may depend on values."""

import thalweg as tf

w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(0.0)
traced = 0


@tf.function
def step(x, y):
    global traced
    traced += 1
    print("tracing a step for batches of shape", x.shape)  # not seen when the plan runs
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w + b - y))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.05 * dw)
    b.assign_sub(0.05 * db)
    return loss


x = tf.reshape(tf.linspace(-1.0, 1.0, 24), [12, 2])
y = x @ tf.constant([[2.0], [-1.0]]) + 0.5
for epoch in range(9):
    for row in range(0, 12, 5):  # 5 rows, 5 rows, 2 rows
        loss = step(x[row:row + 5], y[row:row + 5])
    if epoch % 4 == 0:
        print(f"epoch {epoch}: loss {loss.numpy():.4f}")
print(f"traced {traced} times, b = {b.numpy():.4f}")


@tf.function
def root(a):
    return tf.while_loop(lambda guess: tf.abs(guess * guess - a) > 1e-4,
                         lambda guess: ((guess + a / guess) / 2.0,), [a])[0]


for a in (2.0, 9.0, 2.0):
    value = tf.constant(a)
    with tf.GradientTape() as tape:
        tape.watch(value)
        result = root(value)
    print(f"root of {a:.4f}: {result.numpy():.4f}, slope {tape.gradient(result, value).numpy():.4f}")


def sum_of_powers(row):
    """The sum of a row's powers until they are small."""
    return tf.while_loop(lambda power, total: tf.reduce_max(power) > 0.01,
                         lambda power, total: (power * row, total + power * row), [row, row])[1]


sums = tf.map_fn(sum_of_powers, tf.constant([[0.5, 0.25], [0.1, 0.8]]))
print(f"{tf.reduce_sum(sums).numpy():.4f}")
