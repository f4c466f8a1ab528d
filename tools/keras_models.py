"""Whole models: what make_keras_goldens stores of one, and how a row's list of layers becomes one."""

import tensorflow as tf
from keras_layers import draw_weight, watched_call
from keras_rows import plain

keras = tf.keras
SEVERAL_ARGUMENTS = {"MultiHeadAttention"}


def run(row):
    """A call of a functional or sequential model, its description, and what summary() prints."""
    values, case = row.values, row.case
    model = build(values)
    inputs = row.tensors(values["inputs"], "inputs")
    args = row.tensors(values.get("call") or {}, "args")
    case |= {"model": describe(model), "inputs": row.store(inputs), "args": {name: row.argument(value) for name, value in args.items()}}
    row.stage = "call"
    model.set_weights([draw_weight(row, weight, place).values for place, weight in enumerate(model.weights)])
    case["weights"] = [{"name": weight.name, "trainable": weight.trainable, "value": row.store(weight)} for weight in model.weights]
    outputs, find_gradients = watched_call(row, model, {"inputs": inputs, "args": args, "input_masks": None, "arg_masks": None})
    case |= {"outputs": row.store(outputs), "losses": [row.store(loss) for loss in model.losses],
             "gradients": find_gradients(),
             "layers": [{"name": layer.name, "class": type(layer).__name__, "count_params": int(layer.count_params())} for layer in model.layers],
             "input_names": list(model.input_names), "output_names": list(model.output_names), "count_params": int(model.count_params()),
             "input_shape": plain(model.input_shape), "output_shape": plain(model.output_shape), "summaries": summaries(model, values)}


def describe(model):
    return {"class_name": type(model).__name__, "config": plain(model.get_config())}


def summaries(model, values):
    """What summary() prints, for each set of arguments that the row asks for."""
    answers = []
    for options in [{}, *values.get("summaries", [])]:
        lines = []
        model.summary(print_fn=lines.append, **options)
        answers.append({"args": plain(options), "text": "\n".join(lines) + "\n"})
    return answers


def build(values):
    """A model from a list of layers `[class, config, names of what it follows ...]`: a chain where no names are given, else a graph.

    `Model` as class makes a model of the layers in its config; `Again` calls the layer named there once more.
    """
    listed = [(entry[0], dict(entry[1]), entry[2:]) for entry in values["layers"]]
    options = {"name": values["name"]} if "name" in values else {}
    if sum(kind == "Input" for kind, _, _ in listed) < 2 and not any(inbound for _, _, inbound in listed):
        return keras.Sequential([make(kind, config) for kind, config, _ in listed], **options)
    layers, tensors, inputs = {}, {}, []
    for kind, config, inbound in listed:
        if kind == "Input":
            tensor = keras.Input(**config)
            inputs.append(tensor)
            tensors[tensor.node.layer.name] = tensor
            continue
        layer = layers[config["layer"]] if kind == "Again" else make(kind, config)
        sources = [tensors[name] for name in inbound]
        name = config.get("name", layer.name)
        tensors[name] = layer(*sources) if len(sources) == 1 or kind in SEVERAL_ARGUMENTS else layer(sources)
        layers[name] = layer
    outputs = [tensors[name] for name in values.get("outputs", [name])]
    if values.get("dicts"):
        inputs_by_name = {tensor.node.layer.name: tensor for tensor in inputs}
        return keras.Model(inputs_by_name, dict(zip(values["outputs"], outputs, strict=True)), **options)
    return keras.Model(inputs[0] if len(inputs) == 1 else inputs, outputs[0] if len(outputs) == 1 else outputs, **options)


def make(kind, config):
    if kind == "Input":
        return keras.Input(**config)
    if kind == "Model":
        return build(config)
    if kind in SEVERAL_ARGUMENTS:
        return getattr(keras.layers, kind)(**config)
    return keras.layers.deserialize({"class_name": kind, "config": config})
