"""tf.losses: the losses of Keras, and what older programs call."""

from thalweg.keras.losses import *  # noqa: F401, F403: the same names
from thalweg.keras import losses as _keras_losses


def __getattr__(name):
    return getattr(_keras_losses, name)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=None, reduction=None):
    """The mean cross entropy of logits and labels that are classes."""
    from thalweg import nn, reduce_mean
    losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return reduce_mean(losses * weights)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=None,
                          reduction=None):
    """The mean cross entropy of logits and probabilities."""
    from thalweg import nn, reduce_mean
    if label_smoothing:
        onehot_labels = onehot_labels * (1 - label_smoothing) + label_smoothing / onehot_labels.shape[-1]
    return reduce_mean(nn.softmax_cross_entropy_with_logits(labels=onehot_labels, logits=logits) * weights)


