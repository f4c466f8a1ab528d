"""Newswires in 46 topics, as the ranks of their words."""

from thalweg._thalweg import keras_datasets
from thalweg.keras.datasets._arrays import renamed, sequences


def load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1,
              oov_char=2, index_from=3, **kwargs):
    """Lists of word numbers, as those of imdb; `test_split` of them are for the test."""
    num_words = renamed(num_words, kwargs)
    return sequences(keras_datasets.reuters(path, num_words, skip_top, maxlen, test_split, seed, start_char, oov_char,
                                            index_from))


def get_word_index(path="reuters_word_index.json"):
    """The rank of each word, before `index_from` is added."""
    return keras_datasets.reuters_word_index(path)


def get_label_names():
    """The topics in the order of their labels."""
    return tuple(keras_datasets.reuters_label_names())
