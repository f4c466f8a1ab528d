"""A recurrent network over any cell: a loop over time that is written as one."""

import thalweg as tf

keras = tf.keras
layers = keras.layers


class DynamicRNN(keras.Model):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def call(self, batch):
        states = self.cell.get_initial_state(batch_size=batch.shape[0], dtype=tf.float32)
        outputs = []
        for x in tf.unstack(batch, axis=1):  # [batch, time, features]
            output, states = self.cell(x, states)
            outputs.append(output)
        return tf.stack(outputs, axis=1), states


def show(name, cell):
    model = DynamicRNN(cell)
    x = tf.sin(tf.reshape(tf.range(24.0), [2, 4, 3]))
    y, states = model(x)
    traced, _ = tf.function(model)(x)
    layer = layers.RNN(cell, return_sequences=True)
    print(f"{name}: outputs {y.shape}, states {len(tf.nest.flatten(states))}, the last value {y[-1, -1, -1]:.4f}")
    print(f"  as a graph and as the layer: {equal(y, traced)} {equal(y, layer(x))}")


def equal(a, b):
    return bool(tf.reduce_max(tf.abs(a - b)) < 1e-6)


keras.utils.set_random_seed(1)
show("SimpleRNNCell", layers.SimpleRNNCell(2))
show("LSTMCell", layers.LSTMCell(2))
show("GRUCell", layers.GRUCell(2))
