"""Callbacks: what make_keras_goldens stores of one case, a training whose numbers the row makes up."""

import contextlib
import io
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from keras_rows import plain

keras = tf.keras


def run(row):
    """Epochs with the row's logs; the model's only weight is the number of the epoch, counted from 1."""
    values, case = row.values, row.case
    with tempfile.TemporaryDirectory() as folder:
        callback = make(row, folder)
        case |= {"learning_rate": values.get("learning_rate", 0.1), "trainings": [], "table": values.get("table")}
        row.stage = "call"
        for logs in [values["logs"], *values.get("then", [])]:
            case["trainings"].append(train(row, callback, logs, case["learning_rate"]))
        if row.name == "CSVLogger":
            case["file"] = (pathlib.Path(folder) / "log").read_bytes().decode()


def make(row, folder):
    config = row.config()
    if row.name == "CSVLogger":
        path = pathlib.Path(folder) / "log"
        if "before" in row.values:
            path.write_text(row.values["before"])
            row.case["before"] = row.values["before"]
        config["filename"] = str(path)
    if row.name == "LearningRateScheduler":
        config["schedule"] = lambda epoch, rate: row.values["table"][epoch]
    return getattr(keras.callbacks, row.name)(**config)


def train(row, callback, logs, learning_rate):
    """One training: what each epoch leaves behind, what is printed, and how it ends."""
    model = keras.Sequential([keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
    model.compile(keras.optimizers.SGD(learning_rate), "mse")
    model.stop_training = False
    callback.set_model(model)
    callback.set_params({"epochs": len(logs), "steps": 1, "verbose": 1})
    epochs = []
    call(callback.on_train_begin)
    for epoch, numbers in enumerate(logs):
        printed = call(callback.on_epoch_begin, epoch)
        rate = float(model.optimizer.learning_rate.numpy())
        call(callback.on_train_batch_begin, 0)
        model.set_weights([np.array([[epoch + 1.0]])])
        printed += call(callback.on_train_batch_end, 0, dict(numbers))
        given = dict(numbers)
        printed += call(callback.on_epoch_end, epoch, given)
        epochs.append({"logs": plain(numbers), "learning_rate": rate, "learning_rate_after": float(model.optimizer.learning_rate.numpy()),
                       "logs_after": plain({name: float(value) for name, value in given.items()}), "stop_training": bool(model.stop_training),
                       "printed": printed})
        if model.stop_training:
            break
    printed = call(callback.on_train_end)
    result = {"epochs": epochs, "printed": printed, "weight": float(model.get_weights()[0][0, 0])}
    for name in ("stopped_epoch", "best_epoch", "best", "wait"):
        if hasattr(callback, name):
            result[name] = plain(float(getattr(callback, name)))
    if row.name == "History":
        result["history"] = plain(callback.history)
        result["epoch"] = plain(callback.epoch)
    return result


def call(method, *arguments):
    """What a hook prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        method(*arguments)
    return stream.getvalue()
