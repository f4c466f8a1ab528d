"""tf.print, with the texts of TensorFlow 2.15."""

import collections
import io
import sys

import pytest

import thalweg as tf

Pair = collections.namedtuple("Pair", "a b")
X = tf.range(10)


@pytest.mark.parametrize("inputs, options, text", [
    ([X], {}, "[0 1 2 ... 7 8 9]\n"),
    ([X], {"summarize": -1}, "[0 1 2 3 4 5 6 7 8 9]\n"),
    ([X], {"summarize": 2}, "[0 1 ... 8 9]\n"),
    (["a", X, 1, 2.5, None, True], {}, "a [0 1 2 ... 7 8 9] 1 2.5 None True\n"),
    ([tf.constant("hi")], {}, "hi\n"),
    ([[tf.constant(1), tf.constant("s")]], {}, '[1, "s"]\n'),
    ([{"b": X, "a": [tf.constant(1.5), 2]}], {}, "{'a': [1.5, 2], 'b': [0 1 2 ... 7 8 9]}\n"),
    ([Pair(tf.constant(1), "q")], {}, "Pair(a=1, b='q')\n"),
    ([collections.OrderedDict([("z", tf.constant(1)), ("a", tf.constant(2))])], {}, "OrderedDict([('z', 1), ('a', 2)])\n"),
    (["a", "b"], {"sep": "|", "end": "!"}, "a|b!"),
    (["{}", X], {}, "{} [0 1 2 ... 7 8 9]\n"),
    ([], {}, "\n"),
], ids=repr)
def test_text(tmp_path, inputs, options, text):
    path = tmp_path / "printed"
    assert tf.print(*inputs, output_stream=f"file://{path}", **options) is None
    assert path.read_text() == text


def test_streams(capsys, monkeypatch):
    tf.print("to stderr")
    tf.print("to stdout", output_stream=sys.stdout)
    assert capsys.readouterr() == ("to stdout\n", "to stderr\n")
    replaced = io.StringIO()
    monkeypatch.setattr(sys, "stdout", replaced)
    tf.print(tf.constant([1, 2]), output_stream=sys.stdout)
    assert replaced.getvalue() == "[1 2]\n"


@pytest.mark.parametrize("options", [{"output_stream": "a file"}, {"output_stream": 3}, {"foo": 1}], ids=repr)
def test_bad_calls(options):
    pytest.raises(ValueError, tf.print, "a", **options)


def test_files_grow(tmp_path):
    for word in ("one", "two"):
        tf.print(word, output_stream=f"file://{tmp_path / 'log'}")
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
