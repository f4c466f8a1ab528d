"""Writes an op of TensorFlow's registry as one line: Name(inputs) -> (outputs) {attributes} [flags]."""

import tensorflow as tf
from golden_runner import default_value
from tensorflow.python.framework import op_def_registry

SIGNATURE_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def signature(name):
    """The op's line in the notation of the registry listing: Name(inputs) -> (outputs) {attributes} [flags]."""
    op_def = op_def_registry.get(name)
    inputs = ", ".join(argument_text(argument) for argument in op_def.input_arg)
    outputs = ", ".join(argument_text(argument) for argument in op_def.output_arg)
    line = f"{name}({inputs}) -> ({outputs})"
    if op_def.attr:
        line += " {" + "; ".join(attr_text(attr) for attr in op_def.attr) + "}"
    flags = [flag for flag, holds in (("commutative", op_def.is_commutative), ("aggregate", op_def.is_aggregate),
                                      ("stateful", op_def.is_stateful)) if holds]
    return line + (f" [{' '.join(flags)}]" if flags else "")


def argument_text(argument):
    kind = argument.type_attr or (type_text(argument.type) if argument.type else f"list {argument.type_list_attr}")
    return f"{argument.name}:{argument.number_attr + '*' if argument.number_attr else ''}{kind}"


def type_text(number):
    name = tf.as_dtype(number).name
    return SIGNATURE_NAMES.get(name, name)


def attr_text(attr):
    text = f"{attr.name}:{attr.type}"
    choices = attr.allowed_values.list
    if choices.type:
        text += f" in [{' '.join(type_text(number) for number in choices.type)}]"
    elif choices.s:
        text += f" in {[choice.decode() for choice in choices.s]}"
    if attr.has_minimum:
        text += f" >= {attr.minimum}"
    if attr.HasField("default_value"):
        text += f" = {default_text(attr)}"
    return text


def default_text(attr):
    value = default_value(attr)
    if attr.type == "type":
        return type_text(value)
    if attr.type == "shape":
        return "<unknown>" if value is None else str(list(value))
    if attr.type == "bool":
        return str(value).lower()
    if attr.type == "string":
        return repr(value.decode())
    if attr.type == "float":
        return f"{value:g}"
    return str(value)
