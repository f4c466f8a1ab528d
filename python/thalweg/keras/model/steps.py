"""The steps of models that train, test or predict in their own way."""

from thalweg.autodiff.tape import GradientTape

KINDS = ("train", "test", "predict")


def makes_function(cls, kind):
    """Whether a class writes how a function of an iterator is made of its steps."""
    return not getattr(getattr(cls, f"make_{kind}_function"), "_is_engine", False)


def makes_functions(cls):
    return any(makes_function(cls, kind) for kind in KINDS)


def make_function(model, kind, force):
    """The function of an iterator that runs a step on the next batch, made once."""
    import thalweg as tf
    made = getattr(model, f"{kind}_function")
    if made is None or force:
        step = getattr(model, f"{kind}_step")
        traced = step if model.run_eagerly else tf.function(step, reduce_retracing=True)

        def made(iterator):
            return traced(next(iterator))

        setattr(model, f"{kind}_function", made)
    return made


def run(model, kind, data):
    """One step: by the function that the model's class makes, or by its method."""
    if not makes_function(type(model), kind):
        return getattr(model, f"{kind}_step")(data)
    made = model.__dict__.setdefault("_made_functions", {})  # asked for once, however often fit runs
    if kind not in made:
        made[kind] = getattr(model, f"make_{kind}_function")()
        setattr(model, f"{kind}_function", made[kind])
    return made[kind](iter([data]))


def forget_functions(model):
    """So that they are made anew."""
    for name in ("_made_functions", *(f"{kind}_function" for kind in KINDS)):
        model.__dict__.pop(name, None)


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
