"""tf.keras.utils against what Keras answered (tools/make_keras_data_goldens)."""

import hashlib
import json
import pathlib
import random
import re

import numpy as np
import pytest
import thalweg as tf

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "keras_data"
ANSWERS = json.loads((GOLDEN / "utils.json").read_text())
BARS = json.loads((GOLDEN / "progbar.json").read_text())
utils = tf.keras.utils


def check(result, expected):
    dtype, shape, values = expected
    assert isinstance(result, np.ndarray)
    assert (str(result.dtype), list(result.shape)) == (dtype, shape)
    np.testing.assert_allclose(result.ravel(), np.array(values, "float64"), rtol=1e-6)


@pytest.mark.parametrize("name", ["to_categorical", "to_ordinal"])
def test_labels(name):
    for y, num_classes, expected in ANSWERS[name]:
        check(getattr(utils, name)(y, num_classes), expected)
    assert utils.to_categorical(tf.constant([1, 0]), dtype="bool").tolist() == [[False, True], [True, False]]
    with pytest.raises(IndexError):
        utils.to_categorical([0, 3], 3)


def test_normalize():
    for (dtype, shape, values), axis, order, expected in ANSWERS["normalize"]:
        check(utils.normalize(np.array(values, dtype).reshape(shape), axis, float(order)), expected)


def test_pad_sequences():
    for sequences, options, expected in ANSWERS["pad_sequences"]:
        check(utils.pad_sequences(sequences, **options), expected)
    assert tf.keras.preprocessing.sequence.pad_sequences is utils.pad_sequences
    words = utils.pad_sequences([["a"], ["b", "c"]], dtype=object, value="-")
    assert words.tolist() == [["-", "a"], ["b", "c"]]


@pytest.mark.parametrize("sequences, options", [
    (3, {}), ([1, 2], {}), ([[1]], {"padding": "front"}), ([[1]], {"truncating": "front"}), ([[1]], {"value": "a"}),
    ([[[1, 2]], [[1, 2, 3]]], {}), ([], {})])
def test_pad_sequences_refuses(sequences, options):
    with pytest.raises(ValueError):
        utils.pad_sequences(sequences, **options)


def test_set_random_seed():
    def draw():
        utils.set_random_seed(5)
        return random.random(), np.random.rand(), tf.random.normal([2]).numpy().tolist()

    assert draw() == draw()
    with pytest.raises(ValueError, match="integer"):
        utils.set_random_seed(1.5)
    # Initializers without a seed draw as those of Keras 2.15 do.
    utils.set_random_seed(1)
    drawn = tf.keras.initializers.GlorotUniform()((1, 3))
    np.testing.assert_allclose(drawn, [[-0.5903275, 0.8878101, 1.0738579]], rtol=1e-6)


def test_get_file(tmp_path):
    origin = tmp_path / "a.txt"
    origin.write_bytes(b"abc")
    cache = tmp_path / "cache"
    path = utils.get_file(origin=origin.as_uri(), cache_dir=cache, file_hash=hashlib.sha256(b"abc").hexdigest())
    assert path == str(cache / "datasets" / "a.txt") and pathlib.Path(path).read_bytes() == b"abc"
    with pytest.raises(tf.errors.NotFoundError, match=f"at {cache}/datasets/b.bin"):
        utils.get_file("b.bin", "https://nowhere/b.bin", cache_dir=str(cache))
    with pytest.raises(ValueError, match="incomplete or damaged"):
        utils.get_file("c", str(origin), cache_dir=cache, md5_hash="00")
    with pytest.raises(ValueError, match="origin"):
        utils.get_file("c")
    np.savez(tmp_path / "two.zip", a=1, b=2)
    (tmp_path / "two.zip.npz").rename(tmp_path / "two.zip")
    utils.get_file(origin=str(tmp_path / "two.zip"), cache_dir=cache, extract=True, archive_format=["tar", "zip"])
    assert np.load(cache / "datasets" / "b.npy") == 2


def without_times(text):
    """Bars and values; times, and the width of what they were, are the clock's."""
    text = re.sub(r"ETA: [0-9:]+s?|\d+s(?= )|\d+[mu]?s/\w+", "TIME", text)
    return re.sub(" +$", "", re.sub(r"\x08+", "<", text), flags=re.MULTILINE)


def is_steady(play):
    """Whether every step is drawn, however fast the clock of the machine goes."""
    times = [call[0] for call in play["calls"]]
    return ("interval" not in play["options"] and all(b - a > 0.05 for a, b in zip(times[1:], times[2:])) and
            all(call[1] == "update" and len(call) < 5 for call in play["calls"][1:]))


@pytest.mark.parametrize("play", filter(is_steady, BARS))
def test_progbar(play, capsys):
    bar = utils.Progbar(play["target"], interval=0, **play["options"])
    for (_, _, current, *rest), text in zip(play["calls"][1:], play["texts"]):
        bar.update(current, *([[(name, float(value)) for name, value in rest[0]]] if rest else []))
        assert without_times(capsys.readouterr().out) == without_times(text)
    assert bar.target == play["target"]


def test_progbar_without_target(capsys):
    bar = utils.Progbar(None, stateful_metrics=["b"], interval=0)
    bar.add(1, [("a", 1.0), ("b", np.float32(1))])
    bar.add(1, [("a", 2.0), ("b", np.array([2.0, 4.0]))])
    bar.target = 2
    bar.update(2, finalize=True)
    lines = re.split("\x08*\r", capsys.readouterr().out)
    assert re.fullmatch(r" {6}1/Unknown - \d+s \d+[mu]?s/step - a: 1.0000 - b: 1.0000", lines[1])
    assert re.fullmatch(r" {6}2/Unknown - \d+s \d+[mu]?s/step - a: 1.5000 - b: 3.0000 *", lines[2])
    assert re.fullmatch(r"2/2 \[=+\] - \d+s \d+[mu]?s/step - a: 1.5000 - b: 3.0000 *\n", lines[3])


def test_parts_of_a_batch():
    assert [utils.pack_x_y_sample_weight(*parts) for parts in [(1,), ([1],), ((1,),), (1, 2), (1, 2, 3)]] == [
        1, [1], ((1,),), (1, 2), (1, 2, 3)]
    assert [utils.unpack_x_y_sample_weight(data) for data in [1, (1,), (1, 2), [1, 2], (1, 2, 3)]] == [
        (1, None, None), (1, None, None), (1, 2, None), (1, 2, None), (1, 2, 3)]
    with pytest.raises(ValueError, match=r"Data is expected to be in format .* found: \(1, 2, 3, 4\)"):
        utils.unpack_x_y_sample_weight((1, 2, 3, 4))


def test_registered_names():
    @utils.register_keras_serializable("pack", "named")
    class Scale(tf.keras.layers.Layer):
        def __init__(self, by=1, **kwargs):
            super().__init__(**kwargs)
            self.by = by

        def get_config(self):
            return {**super().get_config(), "by": self.by}

    assert utils.get_registered_name(Scale) == "pack>named" and utils.get_registered_name(int) == "int"
    assert utils.get_registered_object("pack>named") is Scale and utils.get_registered_object("none") is None
    config = utils.serialize_keras_object(Scale(3, name="s"))
    assert (config["class_name"], config["registered_name"], config["config"]["by"]) == ("Scale", "pack>named", 3)
    assert utils.deserialize_keras_object(config).by == 3
    assert tf.keras.layers.deserialize(tf.keras.layers.serialize(Scale(2))).by == 2
    dense = utils.deserialize_keras_object(utils.serialize_keras_object(tf.keras.layers.Dense(3, name="d")))
    assert (dense.units, dense.name) == (3, "d")
    with pytest.raises(ValueError, match="does not have a get_config"):
        utils.register_keras_serializable()(object)
