"""Optimizers and learning rate schedules: what make_keras_goldens stores of one case."""

import numpy as np
import tensorflow as tf
from keras_rows import plain, to_tensorflow

STEPS = 5


def run(row):
    """Five steps over the row's variables, with random gradients that are the same for every optimizer."""
    values, case = row.values, row.case
    optimizer = row.construct(getattr(tf.keras.optimizers, row.name))
    initial, made, steps = start(row)
    case |= {"name": optimizer.name, "exclude_from_weight_decay": values.get("exclude_from_weight_decay")}
    row.stage = "call"
    exclude(row, optimizer)
    traced, tracer = run_in_function(row, steps, variables_of(initial))
    after, rates, differs = [], [], False
    for step, other in zip(steps, traced, strict=True):
        optimizer.apply_gradients(list(zip(step, made, strict=True)))
        after.append(row.store([variable.value() for variable in made]))
        rates.append(float(optimizer.learning_rate.numpy()))
        differs |= not all(np.allclose(a, b, 1e-5, 1e-6) for a, b in zip(made, other, strict=True))
    case |= {"after": after, "learning_rates": rates, "iterations": int(optimizer.iterations),
             "state": state(row, optimizer),
             "in_function": None if not differs else "traces" if values.get("none") else
             {"after": row.store(traced), "state": state(row, tracer)}}
    optimizer.finalize_variable_values(made)
    finalized = row.store([variable.value() for variable in made]) if optimizer.use_ema else None
    case |= {"finalized": finalized, "get_config": plain(optimizer.get_config())}


def start(row):
    """The variables of a row, first as they are drawn, and the gradients of each step; both are stored."""
    initial = {name: row.tensors(spec, f"variable/{name}") for name, spec in row.values["variables"].items()}
    made = variables_of(initial)
    steps = [[gradient(row, variable, name, step) for name, variable in zip(initial, made, strict=True)]
             for step in range(row.values.get("steps", STEPS))]
    row.case |= {"variables": [{"name": variable.name, "value": row.store(value)}
                               for variable, value in zip(made, initial.values(), strict=True)],
                 "gradients": [row.store(step) for step in steps]}
    return initial, made, steps


def run_legacy(row):
    """The same with an optimizer of keras.optimizers.legacy."""
    optimizer = row.construct(getattr(tf.keras.optimizers.legacy, row.name))
    _, made, steps = start(row)
    row.stage = "call"
    after = []
    for step in steps:
        optimizer.apply_gradients([pair for pair in zip(step, made, strict=True) if pair[0] is not None])
        after.append(row.store([variable.value() for variable in made]))
    row.case |= {"name": optimizer._name, "after": after, "iterations": int(optimizer.iterations),
                 "state": [{"name": variable.name, "value": row.store(variable)} for variable in optimizer.weights],
                 "get_config": plain(optimizer.get_config())}


def variables_of(initial):
    return [tf.Variable(to_tensorflow(value), name=name) for name, value in initial.items()]


def exclude(row, optimizer):
    if row.values.get("exclude_from_weight_decay"):
        optimizer.exclude_from_weight_decay(var_names=row.values["exclude_from_weight_decay"])


def state(row, optimizer):
    return [{"name": variable.name, "value": row.store(variable)} for variable in optimizer.variables]


def run_in_function(row, steps, made):
    """The same steps with another optimizer, each in a function that is traced once for the gradients it has."""
    optimizer = row.construct(getattr(tf.keras.optimizers, row.name))
    exclude(row, optimizer)

    @tf.function(reduce_retracing=True)
    def apply(gradients):
        optimizer.apply_gradients(list(zip(gradients, made, strict=True)))

    after = []
    for step in steps:
        apply(step)
        after.append([variable.numpy() for variable in made])
    return after, optimizer


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
