"""Graphs of traced functions as TensorFlow's messages."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import _thalweg


@tf.function
def choose(x):
    return tf.cond(x > 0, lambda: x * 2.0, lambda: x - 1.0)


def test_as_graph_def_shows_nodes_and_functions():
    graph_def = choose.get_concrete_function(tf.TensorSpec([], tf.float32, name="x")).graph.as_graph_def()
    nodes = {node.name: node for node in graph_def.node}
    assert nodes["x"].op == "Placeholder" and nodes["x"].attr["dtype"].type == 1
    conditional = next(node for node in graph_def.node if node.op == "StatelessIf")
    assert len(conditional.input) == 2 and conditional.input[1] == "x"
    assert len(graph_def.library.function) == 2
    assert graph_def.library.function[0].signature.input_arg[0].type == 1
    assert tf.compat.v1.GraphDef.FromString(graph_def.SerializeToString()) == graph_def


def test_graphs_come_back():
    graph_def = choose.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    f = _thalweg.function_from_graph_def(graph_def.SerializeToString())
    assert f(tf.constant(3.0))[0].numpy() == 6
    assert f(tf.constant(-3.0))[0].numpy() == -4


def test_imported_functions_check_their_arguments():
    graph_def = choose.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    f = _thalweg.function_from_graph_def(graph_def.SerializeToString())
    for arguments in [(), (tf.constant(1),), (tf.constant([1.0, 2.0]),), (tf.constant(1.0), tf.constant(1.0))]:
        with pytest.raises(TypeError):
            f(*arguments)


def test_variables_are_placeholders():
    v = tf.Variable(2.0)
    concrete = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([], tf.float32))
    graph, inputs, outputs, captures, effects = _thalweg.graph_def_of(concrete._body)
    assert len(inputs) == 1 and len(outputs) == 1 and not effects
    [(name, variable)] = captures
    assert variable.numpy() == 2 and name in [node.name for node in graph.node if node.op == "Placeholder"]


def test_bad_graphs_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError):
        _thalweg.function_from_graph_def(b"\xff\xff")
    graph_def = choose.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    with pytest.raises(tf.errors.InvalidArgumentError, match="nowhere"):
        _thalweg.function_from_graph_def(graph_def.SerializeToString(), outputs=["nowhere"])


def test_lists_of_traced_tensors_are_stacked():
    @tf.function(input_signature=[tf.TensorSpec([None, 6])])
    def f(x):
        n = tf.shape(x)[0]
        return tf.reshape(x, [n * 2, -1]) + tf.zeros([n * 2, 1])

    np.testing.assert_array_equal(f(tf.ones([4, 6])).numpy(), np.ones([8, 3]))
