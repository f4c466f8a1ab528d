"""The data sets of Keras, as NumPy arrays: ((x_train, y_train), (x_test, y_test)).

MNIST comes with the package. The others are read from files in Keras's formats, under `datasets` in the folder that
KERAS_HOME names, or in ~/.keras; an error says which file to put where.
"""

from thalweg.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters
