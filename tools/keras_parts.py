"""Losses, metrics, initializers, regularizers, constraints and activations: what make_keras_goldens stores of one case."""

import golden_gradients
import tensorflow as tf
from keras_rows import plain, to_tensorflow

keras = tf.keras


def run_loss(row):
    loss = row.construct(getattr(keras.losses, row.name))
    given = read(row, ("y_true", "y_pred", "sample_weight", "mask"))
    row.stage = "call"
    y_true, y_pred, sample_weight, mask = (to_tensorflow(value) for value in given.values())
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        # The mask rides on what reaches the loss, as it does on a layer's output.
        masked = activated(row, tf.identity(y_pred))
        if mask is not None:
            masked._keras_mask = mask
        value = loss(y_true, masked, sample_weight)
    row.case |= {"name": loss.name, "value": row.store(value), "gradient": gradient_of(row, tape, value, y_pred),
                 "get_config": plain(loss.get_config())}


def activated(row, y_pred):
    """Predictions that an activation of Keras makes of y_pred, where the row names one."""
    row.case["activation"] = row.values.get("activation")
    return y_pred if row.case["activation"] is None else keras.activations.get(row.case["activation"])(y_pred)


def read(row, names):
    """The tensors of a row by name, each stored in the case; None where the row has none."""
    given = {name: row.tensors(row.values.get(name), name) for name in names}
    row.case |= {name: row.argument(value) if not hasattr(value, "dtype") else row.store(value) for name, value in given.items()}
    return given


def gradient_of(row, tape, value, source):
    """The gradient of the sum of value times fixed numbers; None for those that have none."""
    if not (source.dtype.is_floating and value.dtype.is_floating):
        return None
    gradient = tape.gradient(value, source, output_gradients=golden_gradients.weights(value))
    return None if gradient is None else row.store(tf.convert_to_tensor(gradient))


MODULES = {"loss_functions": "losses", "metric_functions": "metrics", "utils_functions": "utils"}


def run_function(row):
    """A function of keras.losses, keras.metrics or keras.utils, on tensors and plain arguments."""
    module = MODULES[row.family]
    args = {name: row.tensors(value, name) for name, value in row.values.items() if not name.startswith("_")}
    row.case |= {"module": module, "args": {name: row.argument(value) for name, value in args.items()}, "gradient": None}
    row.stage = "call"
    made = {name: to_tensorflow(value) for name, value in args.items()}
    with tf.GradientTape() as tape:
        tape.watch(made.get("y_pred", []))
        value = tf.convert_to_tensor(getattr(getattr(keras, module), row.name)(**made))
    row.case["value"] = row.store(value)
    if "y_pred" in made:
        row.case["gradient"] = gradient_of(row, tape, value, made["y_pred"])


def run_metric(row):
    metric = row.construct(getattr(keras.metrics, row.name))
    updates = [row.tensors(update, f"update{place}") for place, update in enumerate(row.values["updates"])]
    row.case |= {"name": metric.name, "updates": [{name: row.store(value) for name, value in update.items()} for update in updates]}
    row.stage = "call"
    row.case["initial_result"] = result_before_update(row, metric)
    results = []
    for update in updates:
        made = {name: to_tensorflow(value) for name, value in update.items()}
        if "mask" in made:
            made["y_pred"]._keras_mask = made.pop("mask")
        if "y_pred" in made:
            made["y_pred"] = activated(row, made["y_pred"])
        metric.update_state(**made)
        results.append(row.store(metric.result()))
    row.case |= {"results": results, "variables": variables(row, metric)}
    metric.reset_state()
    row.case |= {"variables_after_reset": variables(row, metric), "get_config": plain(metric.get_config())}


def result_before_update(row, metric):
    """What a fresh metric answers; None where it cannot yet."""
    try:
        return row.store(metric.result())
    except Exception:  # Metrics that take their shape from the first update refuse in their own ways.
        return None


def variables(row, metric):
    return [{"name": variable.name, "value": row.store(variable)} for variable in metric.variables]


def run_initializer(row):
    initializer = row.construct(getattr(keras.initializers, row.name))
    shape, dtype = row.values["shape"], row.values.get("dtype", "float32")
    row.case |= {"shape": shape, "dtype": dtype}
    row.stage = "call"
    value = initializer(tuple(shape), dtype=dtype)
    if row.case["check"] == "shape":
        numbers = value.numpy()
        row.case["statistics"] = {"mean": float(numbers.mean()), "deviation": float(numbers.std()),
                                  "low": float(numbers.min()), "high": float(numbers.max())}
    else:
        row.case["value"] = row.store(value)
    row.case["get_config"] = plain(initializer.get_config())


def run_regularizer(row):
    regularizer = row.construct(getattr(keras.regularizers, row.name))
    x = to_tensorflow(read(row, ("x",))["x"])
    row.stage = "call"
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = tf.convert_to_tensor(regularizer(x))
    gradient = tape.gradient(value, x)
    row.case |= {"value": row.store(value), "gradient": row.store(gradient), "get_config": plain(regularizer.get_config())}


def run_constraint(row):
    constraint = row.construct(getattr(keras.constraints, row.name))
    w = to_tensorflow(read(row, ("w",))["w"])
    row.stage = "call"
    row.case |= {"value": row.store(constraint(w)), "get_config": plain(constraint.get_config())}


def run_activation(row):
    function = getattr(keras.activations, row.name)
    x = to_tensorflow(read(row, ("x",))["x"])
    args = row.values.get("args") or {}
    row.case["args"] = plain(args)
    row.stage = "call"
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x, **args)
    row.case |= {"value": row.store(value), "gradient": gradient_of(row, tape, value, x)}
