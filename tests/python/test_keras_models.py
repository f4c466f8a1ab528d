"""The structure of models: layers, inputs and outputs, calls, copies."""

import copy
import pickle

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


@pytest.fixture
def model():
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    both = layers.Add(name="both")([layers.Dense(5, name="left")(a), layers.Dense(5, name="right")(b)])
    return keras.Model([a, b], [layers.Dense(1, name="one")(both), layers.Dense(2, name="two")(both)], name="m")


def test_ends(model):
    assert model.input_names == ["a", "b"] and model.output_names == ["one", "two"]
    assert model.input_shape == [(None, 3), (None, 4)] and model.output_shape == [(None, 1), (None, 2)]
    chain = keras.Sequential([layers.Dense(2, input_shape=(3,), name="d")])
    assert chain.input_names == ["d_input"] and chain.output_names == ["d"]

    class Mine(keras.Model):
        pass

    x = keras.Input((3,))
    mine = Mine(x, layers.Dense(2)(x))
    assert mine.input_shape == (None, 3) and mine.output_shape == (None, 2) and mine.inputs[0].shape == (None, 3)


def test_calls(model):
    left, both = model.get_layer("left"), model.get_layer("both")
    assert left.input.shape == (None, 3) and left.get_output_at(0).shape == (None, 5)
    assert both.input_shape == [(None, 5), (None, 5)] and both.get_output_shape_at(0) == (None, 5)
    (node,) = both.inbound_nodes
    assert [layer.name for layer in node.inbound_layers] == ["left", "right"] and node.layer is both
    with pytest.raises(ValueError, match="Asked to get input at node 3, but the layer has only 1 inbound nodes."):
        left.get_input_at(3)
    with pytest.raises(AttributeError, match="Layer n is not connected, no input to return."):
        layers.Dense(2, name="n").input
    with pytest.raises(AttributeError, match='The layer "n" has never been called and thus has no defined output shape.'):
        layers.Dense(2, name="n").output_shape
    shared = layers.Conv2D(2, 1, name="shared")
    kept = shared(keras.Input((3, 3, 1))), shared(keras.Input((4, 4, 1)))
    assert len(kept) == len(shared.inbound_nodes) == 2
    with pytest.raises(AttributeError, match="has multiple inbound nodes, with different input shapes"):
        shared.input_shape


def test_masks_of_calls():
    words = layers.Embedding(4, 2, mask_zero=True)
    encoded = layers.LSTM(3, return_sequences=True)
    kept = encoded(words(keras.Input((5,))))
    assert kept.shape == (None, 5, 3)
    assert words.input_mask is None and words.output_mask.shape == (None, 5) and words.output_mask.dtype == tf.bool
    assert encoded.input_mask.shape == encoded.get_output_mask_at(0).shape == (None, 5)


def test_copies_with_other_layers(model):
    def frozen(layer):
        made = type(layer).from_config(layer.get_config())
        made.trainable = False
        return made

    clone = keras.models.clone_model(model, clone_function=frozen)
    assert clone.name == "m" and not clone.trainable_weights and len(clone.weights) == 8
    assert clone.get_layer("left") is not model.get_layer("left") and clone.input_names == ["a", "b"]
    other = keras.models.clone_model(model, [keras.Input((3,), name="x"), keras.Input((4,), name="y")])
    assert other.input_names == ["x", "y"]
    other.set_weights(model.get_weights())
    given = [np.ones([2, 3], "float32"), np.ones([2, 4], "float32")]
    np.testing.assert_array_equal(other(given)[1], model(given)[1])
    chain = keras.Sequential([layers.Dense(4, input_shape=(3,), name="d"), layers.Dropout(0.5)])
    wider = keras.models.clone_model(chain, clone_function=lambda layer: layers.Dense(7) if layer.name == "d" else layer)
    assert wider.output_shape == (None, 7)
    with pytest.raises(ValueError, match="Expected `layer_fn` argument to be a callable"):
        keras.models.clone_model(model, clone_function=3)


def test_copies_know_the_programs_classes():
    class Shift(layers.Layer):
        def __init__(self, by=1.0, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def call(self, x):
            return x + self.by

        def get_config(self):
            return {**super().get_config(), "by": self.by}

    x = keras.Input((3,))
    model = keras.Model(x, tf.nn.relu(Shift(2.0)(x)))
    for made in (keras.models.clone_model(model),
                 keras.Model.from_config(model.get_config(), custom_objects={"Shift": Shift})):
        np.testing.assert_array_equal(made(np.zeros([1, 3], "float32")), [[2.0, 2.0, 2.0]])


def test_models_without_weights_yet():
    model = keras.Sequential([layers.Dense(2)], name="late")
    with pytest.raises(ValueError, match="Weights for model 'late' have not yet been created"):
        model.weights
    with pytest.raises(ValueError, match="You tried to call `count_params` on layer late"):
        model.count_params()
    assert model.inputs is None and model.input_names is None
    model.build((None, 3))
    assert len(model.weights) == 2


def test_what_is_given_when_a_model_is_made():
    x = keras.Input((3,))
    assert not keras.Model(x, layers.Dense(2)(x), trainable=False).trainable_weights
    with pytest.raises(TypeError, match="Keyword argument not understood:', 'color'"):
        keras.Model(x, layers.Dense(2)(x), color=1)
    with pytest.raises(ValueError, match="Only provide the `shape` OR `batch_input_shape`"):
        keras.Input((3,), batch_shape=(2, 3))
    assert keras.Input(tensor=x) is x


def test_what_models_refuse():
    with pytest.raises(ValueError, match="All layers in a Sequential model should have a single output tensor"):
        keras.Sequential([layers.LSTM(2, return_state=True, input_shape=(3, 2)), layers.Dense(2)])
    x = keras.Input((3,))
    with pytest.raises(ValueError, match='The name "x" is used 2 times in the model. All layer names should be unique.'):
        keras.Model(x, layers.Dense(2, name="x")(layers.Dense(2, name="x")(x)))


def test_deep_copies_have_the_same_weights(model):
    other = copy.deepcopy(model)
    assert other.get_layer("left") is not model.get_layer("left")
    for ours, theirs in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    dense = layers.Dense(2)
    dense(tf.ones([1, 3]))
    np.testing.assert_array_equal(copy.deepcopy(dense).kernel, dense.kernel)
    assert dense.get_build_config() == {"input_shape": (1, 3)}


def test_configurations_of_subclassed_models():
    class Net(keras.Model):
        def __init__(self, units=2):
            super().__init__()
            self.dense = layers.Dense(units)

        def call(self, x):
            return self.dense(x)

    assert Net(units=3).get_config() == {"units": 3}
    assert keras.models.clone_model(Net(3))(tf.ones([1, 2])).shape == (1, 3)

    class Known(keras.Model):
        def __init__(self):
            x = keras.Input((3,))
            super().__init__(inputs=x, outputs=layers.Dense(2)(x))

    class Trained(keras.Model):
        def train_step(self, data):
            return {}

    x = keras.Input((3,))
    trained = Trained(x, layers.Dense(2)(x))
    assert Known().get_config() == {} and "layers" in trained.get_config()
    assert isinstance(keras.models.clone_model(trained), Trained)
    assert keras.models.clone_model(Known()).output_shape == (None, 2)


def test_a_class_may_change_what_a_cell_of_the_library_gives():
    class Doubled(layers.LSTMCell):
        def call(self, inputs, states, training=None):
            output, states = super().call(inputs, states, training=training)
            return 2 * output, states

    class Mine(layers.LSTM):
        pass

    x = tf.ones([1, 2, 3])
    keras.utils.set_random_seed(1)
    once = layers.RNN(layers.LSTMCell(2))(x)
    keras.utils.set_random_seed(1)
    np.testing.assert_allclose(layers.RNN(Doubled(2))(x), 2 * once, rtol=1e-6)
    with keras.utils.custom_object_scope({"Mine": Mine}):
        assert layers.Bidirectional(Mine(2))(x).shape == (1, 4)


def test_summaries_show_connections_beside_inputs_that_nothing_takes():
    used, unused = keras.Input((2,)), keras.Input((3,))
    lines = []
    keras.Model([used, unused], layers.Dense(1)(used)).summary(print_fn=lambda line: lines.append(line))
    assert any("Connected to" in line for line in lines)
    lines.clear()
    keras.Model(used, layers.Dense(1)(used)).summary(print_fn=lambda line: lines.append(line))
    assert not any("Connected to" in line for line in lines)


def test_a_list_of_one_stands_for_what_is_in_it():
    x = keras.Input((3,))
    made = keras.Model([x], [layers.Dense(2)(x)])
    assert made.input_shape == (None, 3) and made.output_shape == (None, 2) and not isinstance(made.output, list)
    again = keras.Model(made.inputs, made.outputs)
    assert again(np.ones((1, 3))).shape == (1, 2) and layers.Dense(1)(again(x)).shape == (None, 1)


def test_a_model_may_begin_in_the_middle_of_another():
    x = keras.Input((4,))
    a = layers.Dense(3, name="a")(x)
    b = layers.Dense(2, name="b")(a)
    tail = keras.Model(a, b)
    assert [layer.name for layer in tail.layers][1:] == ["b"]
    np.testing.assert_array_equal(tail(np.ones((1, 3))), tail.get_layer("b")(np.ones((1, 3))))
    with pytest.raises(ValueError, match="Please make sure the tensor .* is included in the model inputs"):
        keras.Model(a, b + layers.Dense(2)(keras.Input((2,))))


def test_a_model_is_made_inside_of_a_function():
    @tf.function
    def f():
        x = keras.Input((2,))
        return keras.Model(x, x * 2.0)(tf.ones((1, 2)))

    np.testing.assert_array_equal(f(), [[2, 2]])


def test_taking_the_last_layer_away_keeps_the_rest_connected():
    chain = keras.Sequential([layers.Dense(2), layers.Dense(1)])
    chain.build((None, 3))
    chain.pop()
    assert len(chain.weights) == 2 and chain.output_shape == (None, 2) and chain.layers[0].output.shape == (None, 2)


def test_sequential_takes_modules_and_dicts():
    class Twice(tf.Module):
        def __call__(self, x):
            return x * 2.0

    np.testing.assert_array_equal(keras.Sequential([Twice()])(tf.ones((1, 2))), [[2, 2]])

    class Both(layers.Layer):
        def call(self, x):
            return {key: value * 1.0 for key, value in x.items()}

    chain = keras.Sequential([Both(), Both()])
    both = {"a": np.ones((2, 3), "float32"), "b": np.ones((2, 2), "float32")}
    chain.compile(loss="mse")
    assert list(chain.fit(both, both, verbose=0).history) == ["loss", "a_loss", "b_loss"]
    assert chain.fit({"a": both["a"]}, {"a": both["a"]}, verbose=0).history["a_loss"] == [0]


def test_a_model_of_many_layers_is_trained():
    class Big(keras.Model):
        def __init__(self):
            super().__init__()
            self.listed = [layers.Dense(2) for _ in range(100)]
            for i in range(60):
                setattr(self, f"d{i}", layers.Dense(2))

        def call(self, x):
            for layer in self.listed:
                x = layer(x)
            for i in range(60):
                x = getattr(self, f"d{i}")(x)
            return x

    big, x = Big(), np.ones((8, 2), "float32")
    big.compile("sgd", "mse")
    for _ in range(3):
        big.fit(x, x, verbose=0)
    assert len(big.weights) == 320


def test_super_is_not_forgotten():
    class Forgetful(keras.Model):
        def __init__(self):
            self.units = 3  # what is no layer may come first
            self.d = layers.Dense(self.units)

    with pytest.raises(RuntimeError, match="forgot to call `super\\(\\).__init__\\(\\)`"):
        Forgetful()


def test_losses_of_a_graph_are_listed_before_it_is_called():
    d = layers.Dense(2, activity_regularizer="l2", kernel_regularizer="l2")
    a, b = keras.Input((2,)), keras.Input((2,))
    shared = keras.Model([a, b], [d(a), d(b)])
    assert len(shared.losses) == 3
    shared([tf.ones((1, 2)), tf.ones((1, 2))])
    assert len(shared.losses) == 3 and all(loss.numpy() >= 0 for loss in shared.losses)
    x = keras.Input((2,))
    y = layers.Dense(1)(x)
    added = keras.Model(x, y)
    added.add_loss(tf.reduce_mean(y))
    assert len(added.losses) == 1


def test_slices_with_ends_from_the_model():
    x, n = keras.Input((4, 2)), keras.Input((), dtype=tf.int32, batch_size=1)
    assert keras.Model([x, n], x[:, :n[0]])([tf.ones((1, 4, 2)), tf.constant([2])]).shape == (1, 2, 2)
    table = tf.reshape(tf.range(20), (10, 2))
    assert keras.Model(n, table[:n[0]]).predict(np.array([3]), batch_size=1, verbose=0).shape == (3, 2)
    np.testing.assert_array_equal(keras.Model(n, table[n[0]:, -1])(tf.constant([8])), [17, 19])


def test_built_for_a_list_of_shapes():
    class Sum(keras.Model):
        def __init__(self):
            super().__init__()
            self.d = layers.Dense(2)

        def call(self, x):
            return self.d(x[0]) + self.d(x[1])

    made = Sum()
    made.build([(None, 3), (None, 3)])
    assert len(made.weights) == 2


def test_missing_inputs_are_named():
    a, b = keras.Input((2,), name="1"), keras.Input((2,), name="2")
    with pytest.raises(ValueError, match="""Missing data for input "2". You passed a data dictionary with keys \\['1'\\]. """
                                         """Expected the following keys: \\['1', '2'\\]"""):
        keras.Model({"1": a, "2": b}, a + b)({"1": tf.ones((1, 2))})


class Doubling(layers.Layer):
    def call(self, x):
        return x * 2.0


def make_chain():
    made = keras.Sequential([layers.Dense(2, input_shape=(3,)), Doubling(), layers.Dense(1)])
    made.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae", keras.metrics.RootMeanSquaredError()])
    made.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    return made


@pytest.mark.parametrize("another", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_and_pickles_go_on_where_the_model_stands(another):
    first = make_chain()
    second = another(first)
    x, y = np.ones((4, 3)), np.ones((4, 1))
    assert second.name == first.name and second.loss == "mse" and type(second.optimizer) is keras.optimizers.Adam
    assert second.evaluate(x, y, verbose=0) == first.evaluate(x, y, verbose=0)
    histories = [made.fit(x, y, epochs=2, verbose=0).history for made in (first, second)]
    assert histories[0] == histories[1] and second.optimizer.iterations.numpy() == 3
    assert second.layers[0] is not first.layers[0]


def test_pickles_of_graphs_and_unbuilt_models(model):
    again = pickle.loads(pickle.dumps(model))
    inputs = [np.ones((2, 3)), np.ones((2, 4))]
    for one, other in zip(model(inputs), again(inputs)):
        np.testing.assert_array_equal(one, other)
    assert len(pickle.loads(pickle.dumps(keras.Sequential([layers.Dense(1)]))).layers) == 1


def test_json(model):
    again = keras.models.model_from_json(model.to_json())
    assert again.get_config() == model.get_config() and type(again) is type(model)
    chain = keras.models.model_from_json(make_chain().to_json(), custom_objects={"Doubling": Doubling})
    assert [type(layer).__name__ for layer in chain.layers] == ["Dense", "Doubling", "Dense"]
