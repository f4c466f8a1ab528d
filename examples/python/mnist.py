"""The first program of every guide: a network that reads handwritten digits; the data come with the library.

    mnist.py [epochs]
"""

import sys

import thalweg as tf

keras = tf.keras
layers = keras.layers


def draw(image):
    """A digit as text: two characters for each pixel, darker where there is more ink."""
    ink = " .:-=+*#%@"
    for row in image[2:26]:
        print("  " + "".join(2 * ink[int(shade * 9.99)] for shade in row).rstrip())


epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
keras.utils.set_random_seed(7)
(train_x, train_y), (test_x, test_y) = keras.datasets.mnist.load_data()
train_x, test_x = train_x / 255.0, test_x / 255.0

model = keras.Sequential([
    layers.Flatten(input_shape=(28, 28)),
    layers.Dense(128, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(10, activation="softmax"),
])
model.summary()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_x, train_y, epochs=epochs)

_, accuracy = model.evaluate(test_x, test_y)
print(f"\nTest accuracy: {100 * accuracy:.2f} %")

probabilities = model.predict(test_x[:3], verbose=0)
for i in range(3):
    digit = probabilities[i].argmax()
    print(f"\nThis is a {test_y[i]}; the model says {digit} ({100 * probabilities[i, digit]:.1f} %):")
    draw(test_x[i])
