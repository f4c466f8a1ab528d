"""Cells, those that programs write too, wrappers, and what layers demand of their inputs."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers
from thalweg.keras.layers import InputSpec

X = tf.ones([2, 4, 3])


class Sum(layers.AbstractRNNCell):
    def __init__(self, units, **kwargs):
        self.units = units
        super().__init__(**kwargs)

    @property
    def state_size(self):
        return self.units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")

    def call(self, inputs, states):
        output = inputs @ self.kernel + states[0]
        return output, [output]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Count(layers.Layer):
    state_size = [tf.TensorShape([2]), 3]

    def call(self, inputs, states, constants=None):
        step = 1.0 if constants is None else constants[0]
        return tf.concat(states, 1), [states[0] + step, states[1] + 2 * step]

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return [tf.ones([batch_size, 2], dtype), tf.zeros([batch_size, 3], dtype)]


def test_cells_of_programs():
    layer = layers.RNN(Sum(2))
    np.testing.assert_array_equal(layer(X), np.full([2, 2], 12.0))
    np.testing.assert_array_equal(tf.function(layer)(X), np.full([2, 2], 12.0))
    assert [w.name for w in layer.weights] == ["rnn/sum/kernel:0"]
    output, *states = layers.RNN(Count(), return_state=True)(X, constants=tf.fill([2, 1], 0.5))
    assert output.shape == (2, 5) and [s.numpy()[0, 0] for s in states] == [3.0, 4.0]
    stacked = layers.RNN([Sum(2), layers.LSTMCell(3)], return_sequences=True)(keras.Input((4, 3)))
    assert stacked.shape == (None, 4, 3)
    assert Sum(2).get_initial_state(batch_size=3, dtype="float32").shape == (3, 2)
    again = layers.RNN.from_config(layer.get_config(), custom_objects={"Sum": Sum})
    assert again.cell.units == 2
    with pytest.raises(ValueError, match="The RNN cell should have a `state_size` attribute"):
        layers.RNN(layers.Dense(2))
    with pytest.raises(NotImplementedError):
        layers.AbstractRNNCell().state_size


class Pair(layers.Layer):
    """Two inputs, two outputs, two states."""

    def __init__(self, rows, columns, **kwargs):
        self.rows, self.columns = rows, columns
        self.state_size = [tf.TensorShape([rows]), tf.TensorShape([rows, columns])]
        self.output_size = [tf.TensorShape([rows]), tf.TensorShape([rows, columns])]
        super().__init__(**kwargs)

    def build(self, input_shapes):
        self.kernel = self.add_weight(shape=(input_shapes[1][2], self.columns), initializer="ones", name="kernel")

    def call(self, inputs, states):
        vector, matrix = tf.nest.flatten(inputs)
        sums = states[0] + vector, states[1] + matrix @ self.kernel
        return sums, sums


@pytest.mark.parametrize("mask", [None, [[True, True, False, False, True]] * 4])
def test_cells_of_several_inputs(mask):
    x = tf.ones([4, 5, 2]), tf.ones([4, 5, 2, 3])
    steps = 5.0 if mask is None else 3.0
    layer = layers.RNN(Pair(2, 3), return_sequences=True, return_state=True)
    for run in (layer, tf.function(layer)):
        (vector, matrix), *states = run(x, mask=None if mask is None else [tf.constant(mask), None])
        assert vector.shape == (4, 5, 2) and matrix.shape == (4, 5, 2, 3)
        assert matrix[3, 4, 1, 2] == 3 * steps and [float(tf.reduce_max(s)) for s in states] == [steps, 3 * steps]


def test_models_of_cells_of_several_inputs():
    inputs = keras.Input((None, 2)), keras.Input((None, 2, 3))
    model = keras.Model(inputs, layers.RNN(Pair(2, 3))(inputs))
    model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
    x = [np.ones([6, 5, 2], "float32"), np.ones([6, 5, 2, 3], "float32")]
    y = [np.zeros([6, 2], "float32"), np.zeros([6, 2, 3], "float32")]
    history = model.fit(x, y, batch_size=3, verbose=0)
    assert history.history["loss"][0] > 100 and len(model.predict(x, verbose=0)) == 2
    with pytest.raises(ValueError, match="different lengths: 5 and 4 steps"):
        layers.RNN(Pair(2, 3))((tf.ones([1, 5, 2]), tf.ones([1, 4, 2, 3])))


def test_wrappers():
    class Twice(layers.Wrapper):
        def call(self, x):
            return 2 * self.layer(x)

    layer = Twice(layers.Dense(2, kernel_initializer="ones"), name="twice")
    np.testing.assert_array_equal(layer(tf.ones([1, 3])), [[6.0, 6.0]])
    assert layer.layer.built and len(layer.weights) == 2
    assert Twice.from_config(layer.get_config()).layer.units == 2
    assert isinstance(layers.Bidirectional(layers.LSTM(2)), layers.Wrapper) and isinstance(layers.GRU(2), layers.RNN)
    assert not isinstance(layers.Dense(2), layers.Wrapper)
    with pytest.raises(ValueError, match="Layer 3 supplied to wrapper is not a supported layer type"):
        layers.Wrapper(3)


class OwnLSTM(layers.LSTM):
    pass


@pytest.mark.parametrize("make", [lambda: OwnLSTM(2), lambda: layers.RNN(Sum(2)), lambda: layers.RNN([Sum(3), Sum(2)])])
def test_both_directions_are_of_a_programs_class(make):
    layer, model = make(), layers.Bidirectional(make())
    assert model(X).shape == (2, 4)
    assert type(model.forward_layer) is type(model.backward_layer) is type(layer)
    assert type(model.backward_layer.cell) is type(layer.cell)
    assert [type(one) for one in getattr(model.backward_layer.cell, "cells", ())] == [
        type(one) for one in getattr(layer.cell, "cells", ())]


def test_both_directions_are_built_by_hand():
    layer = layers.Bidirectional(layers.LSTM(2))
    layer.build((None, 4, 3))
    names = [w.name.split("/", 1) for w in layer.weights]
    assert [rest for _, rest in names[:3]] == ["lstm_cell/kernel:0", "lstm_cell/recurrent_kernel:0", "lstm_cell/bias:0"]
    assert names[0][0].startswith("forward_lstm") and names[3][0].startswith("backward_lstm")
    layer.set_weights([np.zeros(w.shape) for w in layer.weights])
    np.testing.assert_array_equal(layer(X), np.zeros([2, 4]))


class TwoSums(layers.Layer):
    state_size = output_size = 1

    def call(self, inputs, states):
        output = states[0] + tf.reduce_sum(inputs[0], -1, keepdims=True) + 2 * tf.reduce_sum(inputs[1], -1, keepdims=True)
        return output, [output]


def test_both_directions_of_several_sequences():
    x, y = tf.reshape(tf.range(6.0), [1, 3, 2]), tf.ones([1, 3, 1])
    both = layers.Bidirectional(layers.RNN(TwoSums(), return_sequences=True))
    np.testing.assert_array_equal(both((x, y)), [[[3, 21], [10, 18], [21, 11]]])


class Demanding(layers.Layer):
    def __init__(self, spec):
        super().__init__(name="demanding")
        self.input_spec = spec

    def call(self, x):
        return x


@pytest.mark.parametrize("spec, message", [
    ({"ndim": 3}, r"expected ndim=3, found ndim=2. Full shape received: \({}, 3\)"),
    ({"min_ndim": 3}, r"expected min_ndim=3, found ndim=2. Full shape received: \({}, 3\)"),
    ({"max_ndim": 1}, "expected max_ndim=1, found ndim=2"),
    ({"axes": {-1: 4}}, r"expected axis -1 of input shape to have value 4, but received input with shape \({}, 3\)"),
    ({"dtype": "int32"}, "expected dtype=int32, found dtype=<dtype: 'float32'>"),
    ({"shape": (None, 4)}, r"expected shape=\(None, 4\), found shape=\({}, 3\)")])
def test_demands_of_a_programs_layer(spec, message):
    for x, batch in ((tf.ones([2, 3]), 2), (keras.Input((3,)), None)):
        with pytest.raises(ValueError, match='Input 0 of layer "demanding" is incompatible with the layer: '
                           + message.replace("{}", str(batch))):
            Demanding(InputSpec(**spec))(x)
    assert Demanding(InputSpec(ndim=2))(tf.ones([2, 3])).shape == (2, 3)


def test_input_specs():
    assert repr(InputSpec(shape=(None, 3), dtype=tf.float32)) == "InputSpec(dtype=float32, shape=(None, 3), ndim=2)"
    assert repr(InputSpec.from_config(InputSpec(ndim=2, axes={1: 2}).get_config())) == "InputSpec(ndim=2, axes={1: 2})"
    dense = layers.Dense(2)
    assert repr(dense.input_spec) == "InputSpec(min_ndim=2)"
    dense(tf.ones([1, 3]))
    assert repr(dense.input_spec) == "InputSpec(min_ndim=2, axes={-1: 3})"
    assert repr(keras.Sequential([layers.Dense(2, input_shape=(3,))]).input_spec) == "[InputSpec(shape=(None, 3), ndim=2)]"
    with pytest.raises(ValueError, match='Layer "demanding" expects 2 input'):
        Demanding([InputSpec(ndim=2), InputSpec(ndim=2)])(tf.ones([2, 3]))
    with pytest.raises(TypeError, match="Layer input_spec must be an instance of InputSpec. Got: 2"):
        Demanding(2)
    with pytest.raises(ValueError, match="Axis 3 is greater than the maximum allowed value: 1"):
        InputSpec(ndim=2, axes={3: 1})


@pytest.mark.parametrize("made, sizes", [
    (lambda: layers.LSTM(2, stateful=True), [2, 2]), (lambda: layers.GRU(3, stateful=True), [3]),
    (lambda: layers.RNN([layers.LSTMCell(2), Sum(3)], stateful=True), [2, 2, 3])])
def test_states_that_are_kept(made, sizes):
    layer = made()
    assert layer.stateful and layer.states == [None] * len(sizes)
    layer(X)
    assert [state.numpy().shape for state in layer.states] == [(2, size) for size in sizes]
    layer.reset_states([np.ones([2, size]) for size in sizes])
    assert [state.numpy().sum() for state in layer.states] == [2.0 * size for size in sizes]
    layer.reset_states()
    assert not any(state.numpy().any() for state in layer.states)
    with pytest.raises(ValueError, match="states, but it received 4 state values"):
        layer.reset_states([X] * 4)


def test_sizes_of_states():
    assert layers.LSTMCell(3).state_size == [3, 3] and layers.GRUCell(3).state_size == layers.GRUCell(3).output_size == 3
    with pytest.raises(AttributeError, match="Layer must be stateful."):
        layers.LSTM(2).reset_states()
    assert layers.LSTM(2).get_initial_state(X)[0].shape == (2, 2)


def test_states_of_stacked_cells_are_grouped_by_cells():
    rnn = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], return_state=True)
    output, (h, c), state = rnn(tf.ones([1, 4, 1]))
    assert output.shape == (1, 3) and h.shape == c.shape == (1, 2) and state.shape == (1, 3)


def test_states_have_the_batch_of_the_sequence():
    output = layers.GRU(2)(keras.Input((3, 4), batch_size=5), initial_state=[keras.Input((2,))])
    assert output.shape == (5, 2)


def test_cells_give_the_states_to_begin_with():
    x = tf.ones([2, 3])
    assert layers.GRUCell(4).get_initial_state(batch_size=2, dtype=tf.float64).dtype == tf.float64
    assert [s.shape for s in layers.LSTMCell(4).get_initial_state(x)] == [(2, 4), (2, 4)]
    stacked = layers.StackedRNNCells([layers.SimpleRNNCell(4), layers.LSTMCell(5)])
    assert [s.shape for s in tf.nest.flatten(stacked.get_initial_state(x))] == [(2, 4), (2, 5), (2, 5)]
    cell = layers.SimpleRNNCell(4)
    output, states = cell(x, cell.get_initial_state(x))
    assert output.shape == tf.nest.flatten(states)[0].shape == (2, 4)
    with pytest.raises(ValueError, match="batch_size"):
        cell.get_initial_state()


class Plain:
    """A cell that is no layer."""

    state_size = 2

    def call(self, inputs, states):
        output = inputs + states[0]
        return output, [output]


def test_cells_may_be_plain_objects():
    layer = layers.RNN(Plain(), return_sequences=True)
    assert isinstance(layer.cell, Plain)
    np.testing.assert_array_equal(layer(tf.ones([1, 3, 2]))[0, :, 0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="should have a `call` method"):
        layers.RNN(3)
    with pytest.raises(ValueError, match="All cells must have a `call` method"):
        layers.RNN([3])


def test_sizes_of_states_may_come_from_build():
    class Late(layers.Layer):
        state_size = output_size = None

        def build(self, shape):
            self.state_size = self.output_size = shape[-1]

        def call(self, x, states):
            return x, [states[0] + 1.0]

    assert layers.RNN(Late())(tf.ones([1, 2, 1]), initial_state=tf.ones([1, 1])).shape == (1, 1)


def test_sizes_by_name_are_refused():
    class Named(layers.Layer):
        state_size = {"p": 2}

        def call(self, x, states):
            return x, states

    with pytest.raises(TypeError, match="numbers, TensorShapes, or lists of them"):
        layers.RNN(Named())(tf.ones([1, 2, 2]))


def test_constants_of_models():
    class Adding(layers.Layer):
        state_size = 2

        def call(self, x, states, constants):
            [before], [constant] = states, constants
            return x + before + constant, [x]

    x, constant = keras.Input((None, 2)), keras.Input((2,))
    model = keras.Model([x, constant], layers.RNN(Adding())(x, constants=constant))
    assert model([tf.ones([1, 3, 2]), tf.ones([1, 2])]).shape == (1, 2)
    assert layers.RNN(Adding())(x, constants=tf.ones([6, 2])).shape[1] == 2


def test_shapes_of_stacked_cells():
    layer = layers.RNN([layers.LSTMCell(3), layers.GRUCell(4)], return_state=True, return_sequences=True)
    assert layer.compute_output_shape((None, 5, 2)) == [(None, 5, 4), (None, 3), (None, 3), (None, 4)]
    assert layer.cell.state_size == ([3, 3], 4)
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        layers.LSTMCell(2).get_initial_state()


def test_cells_give_states_as_they_take_them():
    for cell in (layers.GRUCell(2), layers.SimpleRNNCell(2)):
        _, state = cell(tf.ones([1, 1]), tf.zeros([1, 2]))
        _, states = cell(tf.ones([1, 1]), [tf.zeros([1, 2])])
        assert state.shape == (1, 2) and len(states) == 1
        np.testing.assert_array_equal(state, states[0])


def test_states_may_be_nested():
    class Nested(layers.Layer):
        state_size, output_size = (2, (3, 4)), 2

        def call(self, inputs, states):
            a, (b, c) = states
            return a, (a + 1.0, (b, c))

    output, a, (b, c) = layers.RNN(Nested(), return_state=True)(tf.ones([1, 2, 3]))
    np.testing.assert_array_equal(output, [[1.0, 1.0]])
    assert a.shape == (1, 2) and b.shape == (1, 3) and c.shape == (1, 4)
