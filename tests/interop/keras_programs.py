#!/usr/bin/env python3
"""Programs as people write them with Keras give the numbers that TensorFlow gives.

    keras_programs.py [--count N]

Each program is a function of `tf` that returns what it computed: losses, outputs, names. Random models (random_models.py) try many
layers; these try the ways in which classes, tapes and functions meet.
"""

import importlib
import json
import sys

import both
import numpy as np

TOLERANCE = 2e-4
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def draw(*shape, seed=0):
    return np.random.RandomState(seed).rand(*shape).astype("float32")


def set_weights(model, seed=0, positive=False):
    """The same weights in both engines; positive ones do for variances too."""
    random = np.random.RandomState(seed)
    drawn = [random.randn(*w.shape).astype("float32") * 0.2 for w in model.get_weights()]
    model.set_weights([np.abs(w) + 0.05 for w in drawn] if positive else drawn)
    return model


def history(model, x, y=None, **options):
    return model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0, **options).history


@program
def variational_autoencoder(tf):
    layers = tf.keras.layers

    class Sampling(layers.Layer):
        def call(self, inputs):
            mean, log_variance = inputs
            return mean + tf.exp(0.5 * log_variance) * 0.1

    class Autoencoder(tf.keras.Model):
        def __init__(self, encoder, decoder):
            super().__init__()
            self.encoder, self.decoder = encoder, decoder
            self.total, self.divergence = tf.keras.metrics.Mean(name="total"), tf.keras.metrics.Mean(name="divergence")

        @property
        def metrics(self):
            return [self.total, self.divergence]

        def train_step(self, data):
            with tf.GradientTape() as tape:
                mean, log_variance, z = self.encoder(data)
                errors = tf.keras.losses.binary_crossentropy(data, self.decoder(z))
                divergence = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance), axis=1))
                total = tf.reduce_mean(tf.reduce_sum(errors, axis=-1)) + divergence
            self.optimizer.apply_gradients(zip(tape.gradient(total, self.trainable_weights), self.trainable_weights))
            self.total.update_state(total)
            self.divergence.update_state(divergence)
            return {"loss": self.total.result(), "divergence": self.divergence.result()}

    images = tf.keras.Input((8, 8, 1))
    x = layers.Flatten()(layers.Conv2D(4, 3, activation="relu", strides=2, padding="same")(images))
    mean, log_variance = layers.Dense(2)(x), layers.Dense(2)(x)
    encoder = set_weights(tf.keras.Model(images, [mean, log_variance, Sampling()([mean, log_variance])]), 1)
    codes = tf.keras.Input((2,))
    x = layers.Reshape((4, 4, 4))(layers.Dense(64, activation="relu")(codes))
    x = layers.Conv2DTranspose(1, 3, activation="sigmoid", strides=2, padding="same")(x)
    model = Autoencoder(encoder, set_weights(tf.keras.Model(codes, x), 2))
    model.compile(optimizer=tf.keras.optimizers.Adam())
    return history(model, draw(16, 8, 8, 1))


@program
def adversarial_networks(tf):
    layers = tf.keras.layers

    class Adversaries(tf.keras.Model):
        def __init__(self, discriminator, generator):
            super().__init__()
            self.discriminator, self.generator = discriminator, generator

        def compile(self, optimizers, loss):
            super().compile()
            self.optimizers, self.judge = optimizers, loss

        def train_step(self, real):
            count = tf.shape(real)[0]
            noise = tf.ones((count, 3)) * tf.reshape(tf.range(3.0), (1, 3))
            both = tf.concat([self.generator(noise), real], 0)
            losses = []
            for network, inputs, labels in ((self.discriminator, both, tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], 0)),
                                            (self.generator, noise, tf.zeros((count, 1)))):
                with tf.GradientTape() as tape:
                    found = network(inputs)
                    losses.append(self.judge(labels, found if network is self.discriminator else self.discriminator(found)))
                gradients = tape.gradient(losses[-1], network.trainable_weights)
                self.optimizers[len(losses) - 1].apply_gradients(zip(gradients, network.trainable_weights))
            return {"discriminator": losses[0], "generator": losses[1]}

    sizes = tf.keras.Input((6,)), tf.keras.Input((3,))
    discriminator = set_weights(tf.keras.Sequential([sizes[0], layers.Dense(8), layers.LeakyReLU(0.2), layers.Dense(1)]), 1)
    generator = set_weights(tf.keras.Sequential([sizes[1], layers.Dense(8), layers.BatchNormalization(), layers.Dense(6)]), 2, True)
    model = Adversaries(discriminator, generator)
    model.compile([tf.keras.optimizers.Adam(3e-4) for _ in range(2)], tf.keras.losses.BinaryCrossentropy(from_logits=True))
    return history(model, draw(12, 6))


@program
def fine_tuning(tf):
    layers = tf.keras.layers
    base = tf.keras.Sequential([tf.keras.Input((8,)), layers.Dense(6, activation="relu"), layers.BatchNormalization(),
                                layers.Dense(4)], name="base")
    base.trainable = False
    inputs = tf.keras.Input((8,))
    model = set_weights(tf.keras.Model(inputs, layers.Dense(3, activation="softmax")(base(inputs, training=False))), 3, True)
    x, y = draw(16, 8), np.arange(16) % 3
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
    frozen, counts = history(model, x, y), [len(model.trainable_weights)]
    base.trainable = True
    base.layers[0].trainable = False
    model.compile(tf.keras.optimizers.SGD(1e-2, momentum=0.9, nesterov=True), "sparse_categorical_crossentropy")
    return frozen, counts + [len(model.trainable_weights)], history(model, x, y, validation_split=0.25)


@program
def sequence_to_sequence(tf):
    layers = tf.keras.layers
    source, target = tf.keras.Input((None, 5)), tf.keras.Input((None, 4))
    _, *states = layers.LSTM(6, return_state=True)(source)
    decoder, classes = layers.LSTM(6, return_sequences=True, return_state=True), layers.Dense(4, activation="softmax")
    model = set_weights(tf.keras.Model([source, target], classes(decoder(target, initial_state=states)[0])))
    model.compile("rmsprop", "categorical_crossentropy")
    x, given = draw(8, 7, 5), draw(8, 3, 4)
    losses = history(model, [x, given], np.eye(4, dtype="float32")[np.arange(24).reshape(8, 3) % 4])
    before = [tf.keras.Input((6,)), tf.keras.Input((6,))]
    outputs, *after = decoder(target, initial_state=before)
    step, encode = tf.keras.Model([target, *before], [classes(outputs), *after]), tf.keras.Model(source, states)
    token, now, tokens = np.zeros((1, 1, 4), "float32"), encode.predict(x[:1], verbose=0), []
    for _ in range(3):
        outputs, *now = step.predict([token, *now], verbose=0)
        tokens.append(int(np.argmax(outputs[0, -1])))
        token = np.eye(4, dtype="float32")[None, None, tokens[-1]]
    return losses, tokens, outputs


@program
def attention_with_teacher_forcing(tf):
    layers = tf.keras.layers

    class Attention(layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.of_query, self.of_values, self.score = layers.Dense(units), layers.Dense(units), layers.Dense(1)

        def call(self, query, values):
            weights = tf.nn.softmax(self.score(tf.nn.tanh(self.of_query(query[:, tf.newaxis]) + self.of_values(values))), axis=1)
            return tf.reduce_sum(weights * values, axis=1)

    class Decoder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.attention, self.classes = layers.Embedding(8, 4), Attention(6), layers.Dense(8)
            self.gru = layers.GRU(6, return_sequences=True, return_state=True)

        def call(self, token, state, values):
            x = tf.concat([self.attention(state, values)[:, tf.newaxis], self.embedding(token)], axis=-1)
            output, state = self.gru(x)
            return self.classes(tf.reshape(output, (-1, output.shape[2]))), state

    decoder, optimizer = Decoder(), tf.keras.optimizers.Adam()
    judge = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    values, state, tokens = tf.constant(draw(2, 5, 6)), tf.zeros((2, 6)), tf.constant([[1, 2, 3, 0], [4, 5, 6, 7]])
    decoder(tokens[:, :1], state, values)
    set_weights(decoder)

    @tf.function
    def train(tokens, state):
        loss = 0.0
        with tf.GradientTape() as tape:
            for i in range(1, tokens.shape[1]):
                found, state = decoder(tf.expand_dims(tokens[:, i - 1], 1), state, values)
                losses = judge(tokens[:, i], found)
                loss += tf.reduce_mean(losses * tf.cast(tokens[:, i] != 0, losses.dtype))
        gradients = tape.gradient(loss, decoder.trainable_variables)
        optimizer.apply_gradients(zip(gradients, decoder.trainable_variables))
        return loss

    return [train(tokens, state) for _ in range(3)], [w.name for w in decoder.weights]


@program
def encoder_layers(tf):
    layers = tf.keras.layers

    class Encoder(layers.Layer):
        def __init__(self):
            super().__init__()
            self.attention, self.norm = layers.MultiHeadAttention(2, 4), layers.LayerNormalization(epsilon=1e-6)
            self.forward = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(8)])
            self.dropout = layers.Dropout(0.0)

        def call(self, x, training, mask):
            attended = self.attention(x, x, attention_mask=mask)
            return self.norm(x + self.forward(self.dropout(x + attended, training=training)))

    class Classifier(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.classes = layers.Embedding(20, 8), layers.Dense(5)
            self.encoders = [Encoder(), Encoder()]

        def call(self, tokens, training=None):
            x, mask = self.embedding(tokens), tf.cast(tokens != 0, tf.float32)[:, tf.newaxis]
            for encoder in self.encoders:
                x = encoder(x, training, mask)
            return self.classes(tf.reduce_mean(x, 1))

    tokens, labels = np.arange(48).reshape(8, 6) % 20, np.arange(8) % 5
    model = Classifier()
    model.build((None, 6))
    set_weights(model)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return history(model, tokens, labels), model.predict(tokens, verbose=0), [w.name for w in model.weights]


@program
def losses_inside_of_layers(tf):
    layers = tf.keras.layers

    class Endpoint(layers.Layer):
        def __init__(self, name):
            super().__init__(name=name)
            self.judge = tf.keras.losses.BinaryCrossentropy(from_logits=True)
            self.accuracy = tf.keras.metrics.BinaryAccuracy(name="binary_accuracy")

        def call(self, targets, logits):
            self.add_loss(self.judge(targets, logits))
            self.add_metric(self.accuracy(targets, logits), name="accuracy")
            return tf.nn.softmax(logits)

    inputs, targets = tf.keras.Input((3,), name="inputs"), tf.keras.Input((4,), name="targets")
    logits = layers.Dense(4, kernel_regularizer="l2")(inputs)
    model = set_weights(tf.keras.Model([inputs, targets], Endpoint("predictions")(targets, logits)))
    model.add_loss(tf.abs(tf.reduce_mean(logits)))
    model.compile("adam")
    return history(model, {"inputs": draw(8, 3), "targets": draw(8, 4).round()}), [layer.name for layer in model.layers]


@program
def class_activation_map(tf):
    layers = tf.keras.layers
    images = tf.keras.Input((8, 8, 1))
    maps = layers.Conv2D(3, 3, activation="relu", name="last")(images)
    model = set_weights(tf.keras.Model(images, layers.Dense(2)(layers.Flatten()(maps))))
    both = tf.keras.Model(model.inputs, [model.get_layer("last").output, model.output])
    with tf.GradientTape() as tape:
        maps, found = both(draw(1, 8, 8, 1))
        chosen = found[:, tf.argmax(found[0])]
    weights = tf.reduce_mean(tape.gradient(chosen, maps), axis=(0, 1, 2))
    return tf.nn.relu(tf.squeeze(maps[0] @ weights[..., tf.newaxis]))


@program
def gradient_penalty(tf):
    layers = tf.keras.layers
    critic = set_weights(tf.keras.Sequential([layers.Dense(8, input_shape=(5,)), layers.LeakyReLU(0.2), layers.Dense(1)]))
    optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9)

    @tf.function
    def train(real, fake):
        with tf.GradientTape() as tape:
            between = (real + fake) / 2
            with tf.GradientTape() as inner:
                inner.watch(between)
                found = critic(between, training=True)
            norms = tf.sqrt(tf.reduce_sum(inner.gradient(found, between) ** 2, axis=1))
            loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10 * tf.reduce_mean((norms - 1.0) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
        return loss

    return [train(tf.constant(draw(4, 5, seed=i)), tf.constant(draw(4, 5, seed=i + 9))) for i in range(3)]


@program
def learning_to_learn(tf):
    layers = tf.keras.layers
    model = set_weights(tf.keras.Sequential([layers.Dense(4, activation="tanh", input_shape=(2,)), layers.Dense(1)]))
    x, y = tf.constant(draw(5, 2)), tf.constant(draw(5, 1, seed=1))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = inner.gradient(loss, model.trainable_variables)
        kernel, bias, last, offset = (w - 0.1 * g for w, g in zip(model.trainable_variables, gradients))
        adapted = tf.reduce_mean((tf.tanh(x @ kernel + bias) @ last + offset - y) ** 2)
    return adapted, outer.gradient(adapted, model.trainable_variables)


@program
def own_cells_in_both_directions(tf):
    layers = tf.keras.layers

    class Decaying(layers.Layer):
        state_size = output_size = 2

        def call(self, inputs, states):
            now, also = inputs
            output = 0.5 * states[0] + tf.reduce_sum(now, -1, keepdims=True) + 2 * tf.reduce_sum(also, -1, keepdims=True)
            return output, [output]

    class Own(layers.LSTM):
        pass

    several = layers.Bidirectional(layers.RNN(Decaying(), return_sequences=True))
    one = layers.Bidirectional(Own(3), merge_mode="sum")
    one.build((None, 3, 4))
    set_weights(one)
    return several((tf.constant(draw(1, 3, 4)), tf.ones((1, 3, 2)))), one(tf.constant(draw(1, 3, 4)))


@program
def states_between_batches(tf):
    layers = tf.keras.layers
    model = set_weights(tf.keras.Sequential([layers.Embedding(12, 4, batch_input_shape=[2, None]),
                                             layers.GRU(5, return_sequences=True, stateful=True), layers.Dense(12)]))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    tokens = np.arange(24).reshape(4, 6) % 12
    losses = model.fit(tokens, (tokens + 1) % 12, batch_size=2, epochs=2, shuffle=False, verbose=0).history
    model.reset_states()
    first, second = (model.predict(tokens[:2], verbose=0) for _ in range(2))
    return losses, first, second


@program
def masks_that_do_not_count(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((None,), dtype="int32")
    x = layers.Bidirectional(layers.GRU(3, return_sequences=True))(layers.Embedding(10, 4, mask_zero=True)(inputs))
    pooled = layers.GlobalAveragePooling1D()(x), layers.GlobalAveragePooling1D()(x, mask=None)
    model = set_weights(tf.keras.Model(inputs, [*pooled, layers.Attention()([x, x]), layers.Attention()([x, x], mask=None)]))
    return model(np.array([[1, 2, 0, 0], [3, 0, 4, 0]]))


def plain(value):
    """What JSON takes."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, str) else np.asarray(value).tolist()


def agree(some, others):
    if isinstance(others, dict):
        return some.keys() == others.keys() and all(agree(some[key], others[key]) for key in others)
    if isinstance(others, list):
        return len(some) == len(others) and all(map(agree, some, others))
    return some == others if isinstance(others, str) else abs(some - others) <= TOLERANCE * max(1, abs(others))


def main():
    options = both.make_parser(len(PROGRAMS), len(PROGRAMS)).parse_args()
    if options.engine:
        engine = importlib.import_module(options.engine)
        for name, run in list(PROGRAMS.items())[:options.count]:
            print(json.dumps([name, plain(run(engine))]))
        return
    ours, theirs = map(both.lines, both.run_sides(__file__, options))
    wrong = [(name, found, wanted) for (name, found), (_, wanted) in zip(ours, theirs, strict=True) if not agree(found, wanted)]
    for name, found, wanted in wrong[:options.show]:
        print(f"{name}\n  Thalweg:    {found}\n  TensorFlow: {wanted}")
    print(f"keras_programs.py: {len(ours)} programs compared, {len(wrong)} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
