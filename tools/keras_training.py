"""Trainings by compile and fit: what make_keras_goldens stores of one case."""

import keras_models
import tensorflow as tf
from keras_layers import draw_weight
from keras_rows import plain, to_tensorflow

keras = tf.keras


def run(row):
    """Fits a model without shuffling, then evaluates it and predicts with it."""
    values, case = row.values, row.case
    model = keras_models.build(values)
    data = {name: row.tensors(values.get(name), name) for name in ("x", "y", "sample_weight")}
    validation = {name: row.tensors(value, f"validation/{name}") for name, value in values.get("validation", {}).items()}
    fit = dict(values.get("fit", {}))
    case |= {"model": keras_models.describe(model), "data": row.store(data), "validation": row.store(validation) or None,
             "compile": plain(values["compile"]), "fit": plain(fit)}
    row.stage = "call"
    model.set_weights([draw_weight(row, weight, place).values for place, weight in enumerate(model.weights)])
    case["weights"] = [{"name": weight.name, "trainable": weight.trainable, "value": row.store(weight)} for weight in model.weights]
    model.compile(**{name: made(name, value) for name, value in values["compile"].items()})
    if "class_weight" in fit:
        fit["class_weight"] = {int(key): value for key, value in fit["class_weight"].items()}
    if validation:
        fit["validation_data"] = tuple(to_tensorflow(validation[name]) for name in ("x", "y", "sample_weight") if name in validation)
    x, y, sample_weight = (numbers(value) for value in data.values())
    history = model.fit(x, y, sample_weight=sample_weight, shuffle=False, verbose=0, **fit)
    case |= {"history": plain(history.history), "epoch": plain(history.epoch),
             "weights_after": row.store([weight.value() for weight in model.weights])}
    batch_size = fit.get("batch_size")
    evaluated = model.evaluate(x, y, sample_weight=sample_weight, batch_size=batch_size, verbose=0)
    case |= {"evaluate": plain(evaluated if isinstance(evaluated, list) else [evaluated]), "metrics_names": list(model.metrics_names),
             "evaluate_dict": plain(model.evaluate(x, y, sample_weight=sample_weight, batch_size=batch_size, verbose=0, return_dict=True)),
             "predict": row.store(tf.nest.flatten(model.predict(x, batch_size=batch_size, verbose=0)))}


def numbers(value):
    """NumPy's arrays, which fit can split for validation."""
    return tf.nest.map_structure(lambda tensor: tensor.numpy() if isinstance(tensor, tf.Tensor) else tensor, to_tensorflow(value))


def made(name, value):
    """An argument of compile with every described object in it made."""
    if isinstance(value, dict) and "class_name" in value:
        module = {"optimizer": keras.optimizers, "loss": keras.losses}.get(name, keras.metrics)
        return getattr(module, value["class_name"]).from_config(dict(value.get("config") or {}))
    if isinstance(value, dict):
        return {key: made(name, item) for key, item in value.items()}
    if isinstance(value, list):
        return [made(name, item) for item in value]
    return value
