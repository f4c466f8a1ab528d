"""Training curves: what make_keras_goldens stores of one."""

import keras_models
import tensorflow as tf
from keras_rows import to_tensorflow
from op_rows import Tensor

STEPS = 50
OPTIMIZERS = {
    "sgd": {"class_name": "SGD", "config": {"learning_rate": 0.05, "momentum": 0.9}},
    "adam": {"class_name": "Adam", "config": {"learning_rate": 0.01}},
    "rmsprop": {"class_name": "RMSprop", "config": {"learning_rate": 0.005}},
    "adagrad": {"class_name": "Adagrad", "config": {"learning_rate": 0.05}},
}


def run(row):
    """One model from the same weights on the same batches with each optimizer."""
    values, case = row.values, row.case
    batches = {name: row.tensors(values[name], name) for name in ("x", "y")}
    initial, curves = None, []
    for name, serialized in OPTIMIZERS.items():
        tf.keras.backend.clear_session()
        model = keras_models.build(values)
        if initial is None:
            initial = [row.draw(weight.dtype.name, weight.shape, distribution(weight), f"weight{place}")
                       for place, weight in enumerate(model.weights)]
            case |= {"model": keras_models.describe(model), "loss": values["loss"],
                     "x": row.store(batches["x"]), "y": row.store(batches["y"]),
                     "weights": [{"name": weight.name, "trainable": weight.trainable, "value": row.store(value)}
                                 for weight, value in zip(model.weights, initial, strict=True)]}
        model.set_weights([value.values for value in initial])
        optimizer = getattr(tf.keras.optimizers, serialized["class_name"]).from_config(dict(serialized["config"]))
        model.compile(optimizer, tf.keras.losses.get(values["loss"]))
        curves.append({"optimizer": serialized | {"name": name}} | train(row, model, batches))
    case["curves"] = curves


def distribution(weight):
    """Ones and zeros where Keras begins with those, random numbers elsewhere."""
    name = weight.name.split("/")[-1]
    if "gamma" in name or "variance" in name:
        return "uniform(0.9, 1.1)"
    return "normal(0, 0.1)" if weight.shape.rank < 2 else "normal(0, 0.4)"


def train(row, model, batches):
    """Step i takes batch i modulo their number; batches lie along the first axis."""
    x, y = (to_tensorflow(batches[name]) for name in ("x", "y"))
    count = int(y.shape[0])
    losses = []
    for step in range(STEPS):
        batch = step % count
        inputs = [part[batch] for part in x] if isinstance(x, list) else x[batch]
        losses.append(model.train_on_batch(inputs, y[batch]))
    return {"losses": row.store(Tensor("float32", losses)), "weights": row.store([weight.value() for weight in model.weights]),
            "state_names": [variable.name for variable in model.optimizer.variables]}
