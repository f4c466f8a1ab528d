"""Tensors of models: what Keras prints of them, the configurations of models that are made of them, and their pictures."""

import sys
import types

import numpy as np
import tensorflow as tf
from keras_layers import draw_weight
from keras_models import describe, summaries
from keras_rows import plain, to_tensorflow


def run(row):
    """A model that the row's code makes, the texts of expressions, summaries and pictures, and a call."""
    values, case = row.values, row.case
    names = {"tf": tf, "keras": tf.keras, "layers": tf.keras.layers, "np": np}
    exec(values["code"], names)  # noqa: S102: the row is a program
    model = names["model"]
    row.stage = "call"
    case |= {"code": values["code"], "has_classes": values.get("classes", False), "model": describe(model),
             "summaries": summaries(model, values), "plots": [{"args": plain(options), "text": plot(model, options)} for options in values.get("plots", [])],
             "layers": [layer.name for layer in model.layers]}
    shown = [(code, eval(code, names)) for code in values.get("show", [])]  # noqa: S307
    case["shown"] = [{"code": code, "repr": repr(value), "str": str(value)} for code, value in shown]
    inputs = row.tensors(values["inputs"], "inputs")
    model.set_weights([draw_weight(row, weight, place).values for place, weight in enumerate(model.weights)])
    case["weights"] = [{"name": weight.name, "value": row.store(weight)} for weight in model.weights]
    case["inputs"] = row.store(inputs)
    case["feeds"] = values.get("feeds")
    given = to_tensorflow(inputs)
    outputs = model(dict(zip(values["feeds"], given, strict=True)) if "feeds" in values else given)
    case["outputs"] = row.store(tf.nest.flatten(outputs))


class Graph:
    """As much of pydot as Keras uses; `text` is the graph in Graphviz's language, layers numbered as they come."""

    def __init__(self, graph_name=None, style=None):
        self.name, self.settings, self.parts, self.edges = graph_name, [("style", style)] if style else [], [], []

    def set(self, key, value):
        self.settings.append((key, value))

    def set_node_defaults(self, **defaults):
        self.defaults = defaults

    def add_node(self, node):
        self.parts.append(node)

    def add_subgraph(self, graph):
        self.parts.append(graph)

    def add_edge(self, edge):
        self.edges.append(edge)

    def get_nodes(self):
        return [part for part in self.parts if isinstance(part, Node)]

    def get_node(self, name):
        return [node for node in self.get_nodes() if node.name == name]

    def get_edge(self, source, target):
        return (source, target) in self.edges


class Node:
    def __init__(self, name, label):
        self.name, self.label = name, label

    def get_name(self):
        return self.name


def plot(model, options):
    """What model_to_dot makes, in the form that tests compare."""
    module = types.ModuleType("pydot")
    module.Dot = module.Cluster = Graph
    module.Dot.create = lambda *_: None
    module.Node, module.Edge = Node, lambda source, target: (source, target)
    from keras.src.utils import vis_utils

    sys.modules["pydot"] = vis_utils.pydot = module
    vis_utils.check_pydot = vis_utils.check_graphviz = lambda: True
    graph = vis_utils.model_to_dot(model, **options)
    numbers, lines, edges = {}, ["digraph G {"], []

    def number(name):
        return f"layer_{numbers.setdefault(name, len(numbers))}"

    def setting(value):
        return {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value

    def quoted(text):
        return '"' + text.replace('"', '\\"') + '"'

    def add(graph, indent):
        for part in graph.parts:
            if isinstance(part, Node):
                lines.append(f"{indent}{number(part.name)} [label={quoted(part.label)}];")
                continue
            lines.append(f"{indent}subgraph {quoted('cluster_' + part.name)} {{")
            lines.extend(f"{indent}  {key}={quoted(value) if key == 'label' else value};" for key, value in part.settings)
            add(part, indent + "  ")
            lines.append(indent + "}")
        edges.extend(f"  {number(source)} -> {number(target)};" for source, target in graph.edges)

    lines.extend(f"  {key}={setting(value)};" for key, value in graph.settings)
    lines.append("  node [shape=record];")
    add(graph, "  ")
    return "\n".join([*lines, *edges, "}"]) + "\n"
