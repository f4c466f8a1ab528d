"""Training without fit: a convolutional network reads digits; a loss, metrics, a traced step, a loop.

    keras_training_loop.py [steps]
"""

import sys

import thalweg as tf

keras = tf.keras
layers = keras.layers

batch_size = 32


def batch(samples, step):
    x, y = samples
    first = step * batch_size % len(x)
    rows = slice(first, first + batch_size)
    return tf.cast(x[rows], tf.float32) / 255.0, tf.cast(y[rows], tf.int64)


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
keras.utils.set_random_seed(1)
train, test = keras.datasets.mnist.load_data()

model = keras.Sequential([
    layers.Reshape((28, 28, 1), input_shape=(28, 28)),
    layers.Conv2D(32, 5, padding="same", activation="relu"),
    layers.MaxPooling2D((2, 2), (2, 2), padding="same"),
    layers.Conv2D(64, 5, padding="same", activation="relu"),
    layers.MaxPooling2D((2, 2), (2, 2), padding="same"),
    layers.Flatten(),
    layers.Dense(1024, activation="relu"),
    layers.Dropout(0.4),
    layers.Dense(10),
])
optimizer = keras.optimizers.Adam(learning_rate=0.001)
loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = keras.metrics.Mean(name="loss")
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_object(y, logits)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    mean_loss.update_state(loss)
    accuracy.update_state(y, logits)


for step in range(1, steps + 1):
    x, y = batch(train, step - 1)
    train_step(x, y)
    if step % 10 == 0:
        print(f"step {step}: loss {mean_loss.result():.3f}, accuracy {accuracy.result():.3f}")
        mean_loss.reset_state()
        accuracy.reset_state()

for step in range(10):
    x, y = batch(test, step)
    accuracy.update_state(y, model(x, training=False))
print(f"of digits it has not seen: accuracy {accuracy.result():.3f}")
