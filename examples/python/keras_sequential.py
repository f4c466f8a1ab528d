"""Layers one after the other: rings around the origin, told apart by a small classifier."""

import thalweg as tf

keras = tf.keras
layers = keras.layers

keras.utils.set_random_seed(1)
x = tf.random.normal([600, 2], seed=2)
radius = tf.norm(x, axis=1)
y = tf.cast(radius > 0.8, tf.int32) + tf.cast(radius > 1.5, tf.int32)  # the centre, a ring, all around

model = keras.Sequential(name="rings")
model.add(layers.Dense(32, activation="relu", input_shape=(2,)))
model.add(layers.Dense(32, activation=tf.sin, bias_initializer=keras.initializers.Constant(0.1)))
model.add(layers.Dense(3, activation="softmax", kernel_regularizer=keras.regularizers.L2(0.001)))
model.summary()

model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])
history = model.fit(x, y, batch_size=50, epochs=10, verbose=0, validation_split=0.2, shuffle=False)
for name in ["loss", "accuracy", "val_loss", "val_accuracy"]:
    numbers = history.history[name]
    print(f"{name}: {numbers[0]:.3f} in the first epoch, {numbers[-1]:.3f} in the last")

test_x = tf.constant([[0.1, 0.2], [-0.9, 0.7], [1.5, 2.0]])
probabilities = model.predict(test_x, verbose=0)
for point, row in zip(test_x, probabilities):
    print(f"({point[0]:.1f}, {point[1]:.1f}) is in ring {tf.argmax(row)}: {max(row):.2f}")
results = model.evaluate(test_x, tf.constant([0, 1, 2]), verbose=0, return_dict=True)
print(f"all three right: {results['accuracy'] == 1}")
