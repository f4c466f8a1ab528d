"""tf.keras.datasets against what Keras answered for the same files (tools/make_keras_data_goldens)."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import thalweg as tf

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "keras_data"
ANSWERS = json.loads((GOLDEN / "datasets.json").read_text())


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    shutil.copytree(GOLDEN / "home", tmp_path / "keras")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path / "keras" / "datasets"


def digest(data):
    return [[[str(array.dtype), list(array.shape), hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()]
             for array in part] for part in data]


def plain(data):
    return [[[list(x) for x in xs], str(ys.dtype), ys.tolist()] for xs, ys in data]


def test_mnist_comes_with_the_package():
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    assert isinstance(x_train, np.ndarray) and x_train.dtype == y_test.dtype == np.uint8
    assert (x_train.shape, y_train.shape) == ((60000, 28, 28), (60000,))
    assert (x_test.shape, y_test.shape) == ((10000, 28, 28), (10000,))
    assert y_train[:5].tolist() == [5, 0, 4, 1, 9]
    assert x_train.sum(dtype="int64") == 1567298545
    x_train[0, 0, 0] = 7  # users scale in place


def test_mnist_from_a_named_folder(tmp_path, monkeypatch):
    np.savez(tmp_path / "mnist.npz", x_train=[1], y_train=[2], x_test=[3], y_test=[4])
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    assert tf.keras.datasets.mnist.load_data()[1][1].tolist() == [4]


def test_images():
    assert digest(tf.keras.datasets.fashion_mnist.load_data()) == ANSWERS["fashion_mnist"]
    assert digest(tf.keras.datasets.cifar10.load_data()) == ANSWERS["cifar10"]
    assert digest(tf.keras.datasets.cifar100.load_data()) == ANSWERS["cifar100"]["fine"]
    assert digest(tf.keras.datasets.cifar100.load_data(label_mode="coarse")) == ANSWERS["cifar100"]["coarse"]
    with pytest.raises(ValueError, match="label_mode"):
        tf.keras.datasets.cifar100.load_data("medium")


@pytest.mark.parametrize("options, expected", ANSWERS["imdb"])
def test_imdb(options, expected):
    data = tf.keras.datasets.imdb.load_data(**options)
    assert data[0][0].dtype == object
    assert plain(data) == expected


@pytest.mark.parametrize("options, expected", ANSWERS["reuters"])
def test_reuters(options, expected):
    assert plain(tf.keras.datasets.reuters.load_data(**options)) == expected


@pytest.mark.parametrize("options, expected", ANSWERS["boston_housing"])
def test_boston_housing(options, expected):
    assert digest(tf.keras.datasets.boston_housing.load_data(**options)) == expected


def test_words_and_labels():
    assert tf.keras.datasets.imdb.get_word_index() == ANSWERS["word_index"][0]
    assert tf.keras.datasets.reuters.get_word_index() == ANSWERS["word_index"][1]
    assert tf.keras.datasets.reuters.get_label_names() == tuple(ANSWERS["label_names"])


def test_rows_of_one_length_are_a_matrix():
    assert tf.keras.datasets.imdb.load_data(path="imdb_square.npz")[0][0].shape == (5, 5)


def test_old_names():
    imdb = tf.keras.datasets.imdb
    assert plain(imdb.load_data(nb_words=30)) == plain(imdb.load_data(num_words=30))
    with pytest.raises(TypeError, match="number_of_words"):
        imdb.load_data(number_of_words=3)


def test_a_missing_file_says_where_it_goes(home):
    (home / "imdb.npz").unlink()
    with pytest.raises(tf.errors.NotFoundError, match=f"put it at {home}/imdb.npz"):
        tf.keras.datasets.imdb.load_data()


def test_code_in_a_file_does_not_run(home):
    marker = home / "ran"
    evil = np.empty(1, dtype=object)

    class Evil:
        def __reduce__(self):
            return (pathlib.Path.touch, (marker,))

    evil[0] = Evil()
    np.savez(home / "reuters.npz", x=evil, y=[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="only numbers, text"):
        tf.keras.datasets.reuters.load_data()
    assert not marker.exists()


@pytest.mark.parametrize("statement", [
    "import thalweg.keras as k", "from thalweg import keras as k", "import thalweg; k = thalweg.keras",
    "from thalweg.keras import datasets, utils; import thalweg; k = thalweg.keras"])
def test_import_in_any_way(statement):
    program = f"""
import sys, thalweg
assert "thalweg.keras" not in sys.modules
{statement}
assert k.datasets.mnist.load_data and k.utils.to_categorical and k.preprocessing.sequence.pad_sequences
"""
    subprocess.run([sys.executable, "-c", program], check=True)
