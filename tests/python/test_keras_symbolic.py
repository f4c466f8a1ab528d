"""Tensors of models, and models made of them, against what Keras answered (tools/make_keras_goldens symbolic)."""

import pathlib
import sys

import numpy as np
import pytest
import thalweg as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from golden_files import read_manifest  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "keras" / "symbolic.npz"
CASES = read_manifest(GOLDEN)["cases"]
DATA = np.load(GOLDEN)["data"].tobytes()
keras = tf.keras
layers = keras.layers


def tensor(entry):
    values = np.frombuffer(DATA, entry["dtype"], int(np.prod(entry["shape"])), entry["offset"])
    return values.reshape(entry["shape"])


def run(case):
    keras.backend.clear_session()
    names = {"tf": tf, "keras": keras, "layers": layers, "np": np}
    exec(case["code"], names)
    return names


def plain(value):
    """A configuration as the goldens have it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is Ellipsis:
        return {"class_name": "__ellipsis__"}
    return getattr(value, "name", value)


def feed(case):
    inputs = case["inputs"]
    given = [tensor(entry) for entry in inputs] if isinstance(inputs, list) else tensor(inputs)
    return dict(zip(case["feeds"], given, strict=True)) if case["feeds"] else given


def check_call(model, case):
    model.set_weights([tensor(weight["value"]) for weight in case["weights"]])
    outputs = tf.nest.flatten(model(feed(case)))
    assert len(outputs) == len(case["outputs"])
    for output, expected in zip(outputs, case["outputs"], strict=True):
        assert output.dtype.name == expected["dtype"]
        np.testing.assert_allclose(output.numpy(), tensor(expected), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['class']}-{case['row']}")
class TestAsInKeras:
    def test_texts(self, case):
        names = run(case)
        assert [layer.name for layer in names["model"].layers] == case["layers"]
        for shown in case["shown"]:
            value = eval(shown["code"], names)
            assert repr(value) == shown["repr"]
            assert str(value) == shown["str"]

    def test_config(self, case):
        names = run(case)
        expected = case["model"]["config"]
        got = plain(names["model"].get_config())
        for ours, theirs in zip(got["layers"], expected["layers"], strict=True):
            assert ours.get("inbound_nodes") == theirs.get("inbound_nodes")
            assert ours["class_name"] == theirs["class_name"]
            if ours["class_name"] in ("TFOpLambda", "SlicingOpLambda"):
                assert ours == theirs
        assert got.get("output_layers") == expected.get("output_layers")

    def test_summary(self, case):
        model = run(case)["model"]
        for summary in case["summaries"]:
            lines = []
            model.summary(print_fn=lines.append, **summary["args"])
            assert "\n".join(lines) + "\n" == summary["text"]

    def test_plot(self, case):
        model = run(case)["model"]
        for plot in case["plots"]:
            assert str(keras.utils.model_to_dot(model, **plot["args"])) == plot["text"]

    def test_call(self, case):
        names = run(case)
        check_call(names["model"], case)
        with keras.utils.custom_object_scope({"Blend": names.get("Blend")}):
            check_call(keras.models.clone_model(names["model"]), case)
            check_call(type(names["model"]).from_config(case["model"]["config"]), case)


def test_variables_are_read_at_each_call():
    rate = tf.Variable(2.0)
    x = keras.Input((2,))
    model = keras.Model(x, [x * rate, rate - x, tf.concat([x, x * rate], 1)])
    values = np.array([[1.0, 2.0]], "float32")
    assert model(values)[0].numpy().tolist() == [[2.0, 4.0]]
    rate.assign(3.0)
    assert [y.numpy().tolist() for y in model(values)] == [[[3.0, 6.0]], [[2.0, 1.0]], [[1.0, 2.0, 3.0, 6.0]]]
    assert model.predict(values, verbose=0)[0].tolist() == [[3.0, 6.0]]
    rate.assign(4.0)
    assert model.predict(values, verbose=0)[0].tolist() == [[4.0, 8.0]]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(values)[0])
    assert tape.gradient(loss, rate).numpy() == 3.0
    with pytest.raises(ValueError, match="variable"):
        model.get_config()


@pytest.mark.parametrize("use", [len, bool, float, int, np.array, lambda x: x.op, list])
def test_values_are_refused(use):
    with pytest.raises(TypeError):
        use(keras.Input((3,)))


def test_attributes():
    x = keras.Input((3,), batch_size=2)
    assert tf.is_tensor(x) and keras.backend.is_keras_tensor(x) and not hasattr(x, "numpy")
    assert x._keras_history.layer.name == x.name and x._keras_history[1:] == (0, 0)
    assert x.type_spec.shape == (2, 3)
    first, second = x
    assert first.shape == (3,) and second._keras_history.layer.name == "tf.__operators__.getitem_1"
    y = keras.Input((None, 3))
    y.set_shape((None, 4, 3))
    assert y.shape == (None, 4, 3)
    with pytest.raises(ValueError, match="not compatible"):
        y.set_shape((None, 5, 3))


def test_summary_of_an_unbuilt_model():
    with pytest.raises(ValueError, match="This model has not yet been built"):
        keras.Sequential([layers.Dense(2)]).summary()


def test_names_of_functions_that_were_read_are_not_given_again():
    x = keras.Input((3,))
    config = keras.Model(x, tf.nn.relu(x)).get_config()
    keras.backend.clear_session()
    model = keras.Model.from_config(config)
    longer = keras.Model(model.input, tf.nn.relu(model.output))
    assert len({layer.name for layer in longer.layers}) == 3


def test_a_mask_of_none_is_no_mask():
    inputs = keras.Input((2, 3))
    x, pool = layers.Masking()(inputs), layers.GlobalAveragePooling1D
    model = keras.Model(inputs, [pool()(x), pool()(x, mask=None)])
    for one in (model, keras.Model.from_config(model.get_config())):
        masked, whole = one(tf.constant([[[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]]))
        np.testing.assert_array_equal(masked, [[1.0, 1.0, 1.0]])
        np.testing.assert_array_equal(whole, [[0.5, 0.5, 0.5]])


def test_layers_that_losses_and_metrics_bring_come_last():
    inputs = keras.Input((4,))
    x = layers.Dense(3, name="first")(inputs)
    model = keras.Model(inputs, layers.Dense(1, name="last")(x))
    model.add_loss(tf.abs(tf.reduce_mean(x)))
    model.add_metric(x, name="activation")
    names = [layer.name for layer in model.layers]
    assert names[1:3] == ["first", "last"] and names[-2:] == ["add_loss", "add_metric"]
    lines = []
    model.summary(print_fn=lines.append)
    assert any("add_metric (AddMetric)" in line for line in lines)


def test_a_variable_cannot_begin_with_a_tensor_of_a_model():
    with pytest.raises(TypeError, match="intermediate Keras symbolic"):
        tf.Variable(tf.keras.Input((3,)))


def test_tensors_know_the_calls_that_made_them():
    x = tf.keras.Input((3,))
    dense = tf.keras.layers.Dense(2)
    dense(x)
    y = dense(x * 2.0)
    assert y.node.layer is dense and y.node.input_shapes == (None, 3) and y.node.output_shapes == (None, 2)
    assert x.node.inbound_layers == []


def test_masks_are_found_where_other_calls_were_dropped():
    embedding = tf.keras.layers.Embedding(4, 2, mask_zero=True)
    embedding(tf.keras.Input((3,)))
    y = tf.keras.layers.Masking()(embedding(tf.keras.Input((3,))))
    assert y.node.layer.get_input_mask_at(0).dtype == tf.bool


def test_a_reshape_that_cannot_be_is_refused_at_once():
    for size, target in [(5, (2, 3)), (3, (-1, 2)), (4, (5,))]:
        with pytest.raises(ValueError, match="total size of new array must be unchanged"):
            tf.keras.layers.Reshape(target)(tf.keras.Input((size,)))
    assert tf.keras.layers.Reshape((2, 3))(tf.keras.Input((None,))).shape == [None, 2, 3]
    assert tf.keras.layers.Reshape((-1, 3))(tf.keras.Input((None, 2))).shape == [None, None, 3]
