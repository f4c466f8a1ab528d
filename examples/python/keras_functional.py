"""A model with two inputs, a layer that both share, a residual, and two outputs: tickets of a help desk."""

import thalweg as tf

keras = tf.keras
layers = keras.layers

keras.utils.set_random_seed(1)
title, body = keras.Input((4,), name="title"), keras.Input((4,), name="body")
words = layers.Dense(8, activation="relu", name="words")
features = layers.Concatenate()([words(title), words(body)])
features = layers.Add()([features, layers.Dense(16, activation="tanh")(features)])
priority = layers.Dense(1, activation="sigmoid", name="priority")(features)
department = layers.Dense(3, name="department")(features)
model = keras.Model([title, body], [priority, department], name="tickets")
model.summary()

# Titles and bodies of 64 made-up tickets; what they are about follows from their first words.
titles, bodies = tf.random.normal([64, 4], seed=2), tf.random.normal([64, 4], seed=3)
urgent = tf.cast(titles[:, 0] + bodies[:, 0] > 0.0, tf.float32)
desk = tf.argmax(titles[:, 0:3], axis=1)

model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.02),
              loss={"priority": "binary_crossentropy",
                    "department": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
              metrics={"department": ["accuracy"]},
              loss_weights={"priority": 1.0, "department": 0.5})
history = model.fit({"title": titles, "body": bodies}, {"priority": urgent, "department": desk},
                    epochs=30, verbose=0, shuffle=False)
for name, numbers in history.history.items():
    print(f"{name}: {numbers[0]:.3f} in the first epoch, {numbers[-1]:.3f} in the last")

p, d = model([titles, bodies])
print(f"outputs {p.shape} and {d.shape}")

# Layers are shared by the models they are in: this one reads titles as the first has learned to.
reader = keras.Model(title, words(title), name="reader")
changed = tf.reduce_max(tf.abs(reader.get_weights()[0] - words.get_weights()[0]))
print(f"a reader of {len(reader.weights)} weights, which differ by {changed:.1f}")
