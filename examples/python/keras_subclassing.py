"""A layer and a model as classes: their attributes are configuration, weights and layers."""

import thalweg as tf

keras = tf.keras
layers = keras.layers


class Linear(layers.Layer):
    def __init__(self, units=32, initializer="glorot_uniform", regularizer=None, **options):
        super().__init__(**options)
        self.units = units
        self.initializer = keras.initializers.get(initializer)
        self.regularizer = keras.regularizers.get(regularizer)

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer=self.initializer,
                                      regularizer=self.regularizer)
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, x):
        return x @ self.kernel + self.bias

    def get_config(self):
        return {**super().get_config(), "units": self.units,
                "initializer": keras.initializers.serialize(self.initializer),
                "regularizer": keras.regularizers.serialize(self.regularizer)}


class Residual(layers.Layer):
    def __init__(self, units=8, **options):
        super().__init__(**options)
        self.first = layers.Dense(units, activation="relu")
        self.second = Linear(units)
        self.dropout = layers.Dropout(0.5)

    def call(self, x, training=None):
        return x + self.dropout(self.second(self.first(x)), training=training)


class Classifier(keras.Model):
    def __init__(self, num_classes=10, **options):
        super().__init__(**options)
        self.stem = layers.Dense(8)
        self.blocks = [Residual(), Residual()]
        self.head = layers.Dense(num_classes, activation="softmax")

    def call(self, inputs, training=None):
        x = self.stem(inputs)
        for block in self.blocks:
            x = block(x, training=training)
        return self.head(x)


keras.utils.set_random_seed(1)
layer = Linear(units=3, regularizer=keras.regularizers.L2(0.1), name="linear")
y = layer(tf.ones([2, 4]))
for weight in layer.weights:
    print(weight.name, weight.shape)
print(f"the first row: {y[0, 0]:.4f} {y[0, 1]:.4f} {y[0, 2]:.4f}, the penalty: {layer.losses[0]:.4f}")
copy = Linear.from_config(layer.get_config())
shape = copy(tf.ones([2, 4])).shape
print(f"a copy: {shape}, penalties: {len(copy.losses)}")

model = Classifier(num_classes=3, name="classifier")
x = tf.random.normal([90, 6], seed=1)
y = tf.argmax(x[:, 0:3], axis=1)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
losses = model.fit(x, y, epochs=20, verbose=0, shuffle=False).history["loss"]
for weight in model.weights:
    print(weight.name, weight.shape)
print(f"the loss falls: {losses[-1] < losses[0]}")

model.stem.trainable = False
print(f"{len(model.trainable_weights)} of {len(model.weights)} stay trainable")
