"""Activations, losses and normalisation."""

import thalweg as tf
from thalweg.keras import activations, losses
from thalweg.keras.bridge.settings import epsilon as _epsilon

__all__ = ["batch_normalization", "binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy",
           "categorical_focal_crossentropy", "dropout", "elu", "hard_sigmoid", "in_top_k", "l2_normalize",
           "normalize_batch_in_training", "relu", "sigmoid", "softmax", "softplus", "softsign",
           "sparse_categorical_crossentropy", "tanh"]


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    return activations.relu(x, alpha, max_value, threshold)


def elu(x, alpha=1.0):
    return activations.elu(x, alpha)


def softmax(x, axis=-1):
    return tf.nn.softmax(x, axis=axis)


def softplus(x):
    return tf.nn.softplus(x)


def softsign(x):
    return tf.nn.softsign(x)


def sigmoid(x):
    return tf.sigmoid(x)


def hard_sigmoid(x):
    return activations.hard_sigmoid(x)


def tanh(x):
    return tf.tanh(x)


def dropout(x, level, noise_shape=None, seed=None):
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def l2_normalize(x, axis=None):
    return tf.math.l2_normalize(x, axis=axis)


def in_top_k(predictions, targets, k):
    return tf.math.in_top_k(targets, predictions, k)


def _probabilities(output, from_logits):
    fuzz = tf.cast(_epsilon(), output.dtype)
    return tf.sigmoid(output) if from_logits else tf.clip_by_value(output, fuzz, 1.0 - fuzz)


def binary_crossentropy(target, output, from_logits=False):
    """Of each element."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output, fuzz = _probabilities(output, False), _epsilon()
    return -(target * tf.math.log(output + fuzz) + (1 - target) * tf.math.log(1 - output + fuzz))


def binary_focal_crossentropy(target, output, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False):
    """Of each element; those that are right already count less."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    chance = _probabilities(output, from_logits)
    right = target * chance + (1 - target) * (1 - chance)
    loss = tf.pow(1.0 - right, gamma) * binary_crossentropy(target, chance)
    if apply_class_balancing:
        loss = (target * alpha + (1 - target) * (1 - alpha)) * loss
    return loss


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    return losses.categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def categorical_focal_crossentropy(target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1):
    return losses.categorical_focal_crossentropy(target, output, alpha=alpha, gamma=gamma, from_logits=from_logits,
                                                 axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    return losses.sparse_categorical_crossentropy(target, output, from_logits=from_logits, axis=axis,
                                                  ignore_class=ignore_class)


def _beside(x, vector, axes):
    """A vector of channels with dimensions of one where x is reduced."""
    return vector if vector is None else tf.reshape(vector, [1 if i in axes else -1 for i in range(len(x.shape))])


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    axes = [i for i in range(len(x.shape)) if i != axis % len(x.shape)]
    parts = [_beside(x, part, axes) if part is not None and len(part.shape) <= 1 else part
             for part in (mean, var, beta, gamma)]
    return tf.nn.batch_normalization(x, *parts, epsilon)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """x with its own mean and variance taken out; then these."""
    mean, variance = tf.nn.moments(x, list(reduction_axes))
    parts = [_beside(x, part, reduction_axes) for part in (mean, variance, beta, gamma)]
    return tf.nn.batch_normalization(x, *parts, epsilon), mean, variance
