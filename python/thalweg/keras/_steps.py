"""The steps of training for models that compute their loss or their metrics in their own way."""

from thalweg._tape import GradientTape


def pack(x, y=None, sample_weight=None):
    """A batch as train_step gets it: x, (x, y) or (x, y, sample_weight). A tuple of inputs is put into another."""
    if y is None:
        return (x,) if isinstance(x, tuple) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack(data):
    """x, y and sample_weight of a batch; None for those that it does not have."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: "
                         f"{data}")
    return data + (None,) * (3 - len(data))


def train(model, data):
    x, y, sample_weight = unpack(data)
    with GradientTape() as tape:
        y_pred = model(x, training=True)
        loss = model.compute_loss(x, y, y_pred, sample_weight)
    model.optimizer.minimize(loss, model.trainable_variables, tape=tape)
    return model.compute_metrics(x, y, y_pred, sample_weight)


def test(model, data):
    x, y, sample_weight = unpack(data)
    y_pred = model(x, training=False)
    model.compute_loss(x, y, y_pred, sample_weight)
    return model.compute_metrics(x, y, y_pred, sample_weight)
