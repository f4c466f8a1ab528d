"""Optimizers and learning rate schedules: what make_keras_goldens stores of one case."""

import numpy as np
import tensorflow as tf
from keras_rows import plain, to_tensorflow

STEPS = 5


def run(row):
    """Five steps over the row's variables, with random gradients that are the same for every optimizer."""
    values, case = row.values, row.case
    optimizer = row.construct(getattr(tf.keras.optimizers, row.name))
    specs = values["variables"]
    initial = {name: row.tensors(spec, f"variable/{name}") for name, spec in specs.items()}
    made = [tf.Variable(to_tensorflow(value), name=name) for name, value in initial.items()]
    steps = [[gradient(row, variable, name, step) for name, variable in zip(initial, made, strict=True)]
             for step in range(values.get("steps", STEPS))]
    case |= {"name": optimizer.name, "exclude_from_weight_decay": values.get("exclude_from_weight_decay"),
             "variables": [{"name": variable.name, "value": row.store(value)} for variable, value in zip(made, initial.values(), strict=True)],
             "gradients": [row.store(step) for step in steps]}
    row.stage = "call"
    if values.get("exclude_from_weight_decay"):
        optimizer.exclude_from_weight_decay(var_names=values["exclude_from_weight_decay"])
    after, rates = [], []
    for step in steps:
        optimizer.apply_gradients(list(zip(step, made, strict=True)))
        after.append(row.store([variable.value() for variable in made]))
        rates.append(float(optimizer.learning_rate.numpy()))
    case |= {"after": after, "learning_rates": rates, "iterations": int(optimizer.iterations),
             "state": [{"name": variable.name, "value": row.store(variable)} for variable in optimizer.variables]}
    optimizer.finalize_variable_values(made)
    finalized = row.store([variable.value() for variable in made]) if optimizer.use_ema else None
    case |= {"finalized": finalized, "get_config": plain(optimizer.get_config())}


def gradient(row, variable, name, step):
    """Random numbers for a variable: dense, of some rows (one of them twice), or none at all."""
    path = f"gradient/{name}/{step}"
    scale = row.values.get("scale", 1)
    if [name, step] in row.values.get("none", []):
        return None
    if name not in row.values.get("sparse", []):
        return to_tensorflow(row.draw(variable.dtype.name, variable.shape, f"normal(0, {scale})", path))
    rows = variable.shape[0]
    indices = np.array([step % rows, (step + 2) % rows, step % rows], np.int32)
    values = row.draw(variable.dtype.name, [len(indices), *variable.shape[1:]], f"normal(0, {scale})", path)
    return tf.IndexedSlices(to_tensorflow(values), tf.constant(indices), tf.constant(variable.shape.as_list()))


def run_schedule(row):
    schedule = row.construct(getattr(tf.keras.optimizers.schedules, row.name))
    steps = row.values["steps"]
    row.case["steps"] = steps
    row.stage = "call"
    made = [tf.convert_to_tensor(schedule(tf.constant(step, tf.int64))) for step in steps]
    row.case |= {"values": row.store(tf.stack(made)), "get_config": plain(schedule.get_config())}
