"""Film reviews, bad (0) or good (1), as the ranks of their words."""

from thalweg._thalweg import keras_datasets
from thalweg.keras.datasets._arrays import renamed, sequences


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
              index_from=3, **kwargs):
    """Lists of word numbers. Words from `num_words` on and below `skip_top` become `oov_char`; sequences of `maxlen` and
    longer are left out; `index_from` is added to each word, and `start_char` begins each sequence."""
    num_words = renamed(num_words, kwargs)
    return sequences(keras_datasets.imdb(path, num_words, skip_top, maxlen, seed, start_char, oov_char, index_from))


def get_word_index(path="imdb_word_index.json"):
    """The rank of each word, before `index_from` is added."""
    return keras_datasets.imdb_word_index(path)
