"""Modules: variables are found wherever a model keeps them, and trained together."""

import thalweg as tf


class Dense(tf.Module):
    def __init__(self, inputs, units, name=None):
        super().__init__(name)
        with self.name_scope:
            start = tf.reshape(tf.linspace(-0.9, 0.9, inputs * units), [inputs, units])
            self.kernel = tf.Variable(start, name="kernel")
            self.bias = tf.Variable(tf.zeros([units]), name="bias")

    def __call__(self, x):
        return x @ self.kernel + self.bias


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        with self.name_scope:
            self.blocks = [Dense(1, 4, "first"), Dense(4, 4, "second")]
            self.head = Dense(4, 1, "head")
        self.steps = tf.Variable(0, trainable=False, name="steps")

    def __call__(self, x):
        for block in self.blocks:
            x = tf.tanh(block(x))
        return self.head(x)


model = Regressor()
for variable in model.variables:
    print(variable.name, variable.shape)
print("submodules:", len(model.submodules))

x = tf.reshape(tf.linspace(-1.0, 1.0, 21), [21, 1])
y = x * x
for step in range(201):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    for variable, gradient in zip(model.trainable_variables, gradients):
        variable.assign_sub(0.1 * gradient)
    model.steps.assign_add(1)
    if step % 50 == 0:
        print(f"step {step}: loss {float(loss):.4f}")
print("steps:", int(model.steps))
