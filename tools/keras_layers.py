"""Layers: what make_keras_goldens stores of one case."""

import random

import golden_gradients
import numpy as np
import op_rows
import tensorflow as tf
from keras_rows import plain, to_tensorflow

SCALES = {"variance": "uniform(0.5, 1.5)", "gamma": "normal(1, 0.2)"}


def run(row):
    values, case = row.values, row.case
    layer = row.construct(getattr(tf.keras.layers, row.name))
    adapt = row.tensors(values.get("adapt"), "adapt")
    calls = [values] + values.get("then", [])
    given = [read_call(row, call, place) for place, call in enumerate(calls)]
    case |= {"name": layer.name, "adapt": row.store(adapt), "calls": [stored_inputs(row, call) for call in given]}
    row.stage = "call"
    if adapt is not None:
        layer.adapt(to_tensorflow(adapt))
    # The first call makes the weights and gives them the names that they have in a model.
    call_layer(row, layer, given[0])
    if getattr(layer, "stateful", False):
        layer.reset_states()
    initials = [None] * len(layer.weights)
    if adapt is None:
        initials = stored_initials(row, given[0])
        layer.set_weights([draw_weight(row, weight, place).values for place, weight in enumerate(layer.weights)])
    trainable = {id(weight) for weight in layer.trainable_weights}
    case["weights"] = [{"name": weight.name, "trainable": id(weight) in trainable, "initial": initial, "value": row.store(weight)}
                       for weight, initial in zip(layer.weights, initials, strict=True)]
    for call, result in zip(given, case["calls"], strict=True):
        if call["reset_states"]:
            layer.reset_states()
        result |= answer(row, layer, call)
    config = layer.get_config() | ({"data_format": "channels_first"} if row.moved else {})
    shapes = confirmed(output_shape(row, layer, given[0]["inputs"]), case["calls"][0]["outputs"])
    case |= {"output_shape": shapes, "count_params": int(layer.count_params()), "get_config": plain(config)}


def stored_initials(row, call):
    """The values that weights have when they are made, None for those that are random."""
    made = []
    for seed in (1, 2):
        tf.random.set_seed(seed)
        random.seed(seed)
        layer = row.construct(getattr(tf.keras.layers, row.name))
        # In training a call may change weights.
        args = {name: value for name, value in call["args"].items() if name != "training"}
        call_layer(row, layer, call | {"args": args})
        made.append(layer.weights)
    return [row.store(first) if np.array_equal(first.numpy(), second.numpy()) else None for first, second in zip(*made, strict=True)]


def read_call(row, call, place):
    path = f"call{place}"
    return {"inputs": row.tensors(call["inputs"], path + "/inputs"), "args": row.tensors(call.get("call") or {}, path + "/args"),
            "input_masks": row.tensors(call.get("input_masks"), path + "/masks"),
            "arg_masks": row.tensors(call.get("arg_masks"), path + "/argument masks"), "reset_states": call.get("reset_states", False)}


def stored_inputs(row, call):
    return {"inputs": row.store(call["inputs"]), "args": {name: row.argument(value) for name, value in call["args"].items()},
            "input_masks": row.store(call["input_masks"]), "arg_masks": row.store(call["arg_masks"]), "reset_states": call["reset_states"]}


def draw_weight(row, weight, place):
    """Random values that suit a weight; integers keep what they are."""
    if not weight.dtype.is_floating:
        return op_rows.Tensor(weight.dtype.name, weight.numpy())
    name = weight.name.split("/")[-1]
    given = row.values.get("weights", {}).get(str(place))
    distribution = given or next((text for part, text in SCALES.items() if part in name), "normal(0, 0.5)")
    return row.draw(weight.dtype.base_dtype.name, weight.shape, distribution, f"weight{place}")


def call_layer(row, layer, call, watch=lambda tensors: tensors):
    inputs = watch(to_tensorflow(call["inputs"]))
    args = watch(to_tensorflow(call["args"]))
    if call["input_masks"] is not None:
        for tensor, mask in zip(tf.nest.flatten(inputs), as_list(to_tensorflow(call["input_masks"])), strict=True):
            if mask is not None:
                tensor._keras_mask = mask
    for name, mask in (to_tensorflow(call["arg_masks"]) or {}).items():
        args[name]._keras_mask = mask
    if not row.moved:
        return layer(inputs, **args)
    outputs = layer(tf.transpose(inputs, channels_last(layer, inputs.shape.rank)), **args)
    return tf.nest.map_structure(lambda output: tf.transpose(output, channels_first(layer, output.shape.rank)), outputs)


def channels_last(layer, rank):
    axis = channel_axis(layer, rank)
    return [*range(axis), *range(axis + 1, rank), axis]


def channels_first(layer, rank):
    axis = channel_axis(layer, rank)
    return [*range(axis), rank - 1, *range(axis, rank - 1)]


def channel_axis(layer, rank):
    """Where channels_first has the channels: after the batch and, in sequences, the time."""
    return 2 if hasattr(layer, "cell") and rank == layer.input_spec[0].ndim else 1


def as_list(value):
    return value if isinstance(value, list) else [value]


def answer(row, layer, call):
    """One call: outputs, masks, losses, gradients and the weights that it changed."""
    before = [weight.numpy() for weight in layer.weights]
    outputs, find_gradients = watched_call(row, layer, call)
    masks = [getattr(output, "_keras_mask", None) for output in outputs]
    result = {"output_mask": row.store(masks) if any(mask is not None for mask in masks) else None,
              "losses": [row.store(loss) for loss in layer.losses]}
    if row.case["check"] == "shape":
        result["outputs"] = [{"dtype": output.dtype.name, "shape": output.shape.as_list(), "offset": 0, "bytes": 0, "check": "shape"}
                             for output in outputs]
        first = outputs[0].numpy()
        result["statistics"] = {"mean": float(first.mean()), "deviation": float(first.std()), "zeros": float((first == 0).mean())}
        return result | {"gradients": None, "weights_after": None}
    result["outputs"] = row.store(outputs)
    result["gradients"] = find_gradients()
    after = [weight.numpy() for weight in layer.weights]
    changed = [not np.array_equal(old, new, equal_nan=new.dtype.kind == "f") for old, new in zip(before, after, strict=True)]
    stored = [row.store(weight) if differs else None for weight, differs in zip(layer.weights, changed, strict=True)]
    return result | {"weights_after": stored if any(changed) else None}


def watched_call(row, layer, call):
    """The flat list of what a layer or model answers, and a function that stores the gradients of it."""
    sources = []
    with tf.GradientTape() as tape:
        def watch(tensors):
            tape.watch([tensor for tensor in tf.nest.flatten(tensors) if differentiable(tensor)])
            sources.append(tensors)
            return tensors

        outputs = tf.nest.flatten(call_layer(row, layer, call, watch))
    return outputs, lambda: gradients(row, tape, outputs, *sources, layer.trainable_weights)


def gradients(row, tape, outputs, inputs, args, weights):
    """The gradients of the sum of the floating outputs, each times fixed numbers; None where there is no way."""
    outputs = [output for output in outputs if output.dtype.is_floating]
    if not outputs:
        return None
    parts = {"inputs": inputs, "args": {name: value for name, value in args.items() if has_float(value)}, "weights": list(weights)}
    flat = tf.nest.flatten(parts)
    places = [place for place, source in enumerate(flat) if differentiable(source)]
    starts = [golden_gradients.weights(output) for output in outputs]
    try:
        found = tape.gradient(outputs, [flat[place] for place in places], output_gradients=starts)
    except LookupError:  # An op on the way has no gradient.
        return None
    if not any(output.shape.num_elements() for output in outputs):
        # Of nothing the gradients are 0: TensorFlow leaves the memory of some unset.
        found = [None if gradient is None else tf.zeros_like(flat[place]) for place, gradient in zip(places, found, strict=True)]
    answers = [None] * len(flat)
    for place, gradient in zip(places, found, strict=True):
        answers[place] = None if gradient is None else row.store(tf.convert_to_tensor(gradient))
    return tf.nest.pack_sequence_as(parts, answers)


def differentiable(source):
    return isinstance(source, (tf.Tensor, tf.Variable)) and source.dtype.is_floating


def has_float(value):
    return any(differentiable(tensor) for tensor in tf.nest.flatten(value))


def output_shape(row, layer, inputs):
    """What the layer says of its output's shape for a batch of unknown size; None where it cannot say."""
    shapes = tf.nest.map_structure(lambda tensor: tf.TensorShape([None, *tensor.values.shape[1:]]), inputs)
    try:
        if row.moved:
            answer = layer.compute_output_shape(tf.TensorShape([shapes[place] for place in channels_last(layer, shapes.rank)]))
            return [[answer[place] for place in channels_first(layer, answer.rank)]]
        answer = layer.compute_output_shape(shapes)
    except Exception:  # Layers that need a whole batch, or more than their first argument, refuse in many ways.
        return None
    return plain(as_shapes(answer))


def confirmed(shapes, outputs):
    """The shapes, if the outputs have them: what some layers say is wrong."""
    sizes = [output["shape"] for output in outputs]
    if shapes is None or [len(shape) for shape in shapes] != [len(size) for size in sizes]:
        return None
    fits = all(dim in (None, size) for shape, found in zip(shapes, sizes, strict=True) for dim, size in zip(shape, found, strict=True))
    return shapes if fits else None


def as_shapes(answer):
    if isinstance(answer, tf.TensorShape):
        return [answer]
    if isinstance(answer, tuple) and all(dim is None or isinstance(dim, int) for dim in answer):
        return [list(answer)]
    return [shape for item in answer for shape in as_shapes(item)]
