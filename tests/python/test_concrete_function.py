"""Traces as programs see them: their arguments by name, their signatures, and how they are called."""

import collections
import gc

import pytest

import thalweg as tf

Pair = collections.namedtuple("Pair", "u v")
FLOAT = "TensorSpec(shape=(), dtype=tf.float32, name=None)"


def test_arguments_have_the_names_of_parameters():
    seen = []

    @tf.function
    def f(x, y, k=3, *rest, d=None):
        seen.append([t.name for t in (x, *y, *rest, d["a"], d["b"])])
        return x

    one = tf.constant(1.0)
    f(one, [one, one], 3, one, d={"b": one, "a": one})
    assert seen == [["x:0", "y:0", "y_1:0", "rest_0:0", "d:0", "d_1:0"]]


def test_signatures_are_printed_as_tensorflow_does():
    @tf.function
    def f(x, y, k=3, *rest, d=None, **more):
        return {"o": x + y[0], "n": None, "t": (x, [y[1]])}

    one = tf.constant(1.0)
    c = f.get_concrete_function(one, [one, one], 3, one, 7, d={"a": one, "b": Pair(1.0, one)}, q="s")
    assert c.pretty_printed_signature() == f"""Input Parameters:
  x (POSITIONAL_ONLY): {FLOAT}
  y (POSITIONAL_ONLY): List[{FLOAT}, {FLOAT}]
  k (POSITIONAL_ONLY): Literal[3]
  rest_0 (POSITIONAL_ONLY): {FLOAT}
  rest_1 (POSITIONAL_ONLY): Literal[7]
  d (KEYWORD_ONLY): Dict[['a', {FLOAT}], ['b', Pair[['u', Literal[1.0]], ['v', {FLOAT}]]]]
  q (KEYWORD_ONLY): Literal['s']
Output Type:
  Dict[['o', {FLOAT}], ['n', Literal[None]], ['t', Tuple[{FLOAT}, List[{FLOAT}]]]]
Captures:
  None"""
    assert c.pretty_printed_signature(verbose=False) == (
        f"(x: {FLOAT}, y: List[{FLOAT}, {FLOAT}], k: Literal[3], rest_0: {FLOAT}, rest_1: Literal[7], /, *, "
        f"d: Dict[['a', {FLOAT}], ['b', Pair[['u', Literal[1.0]], ['v', {FLOAT}]]]], q: Literal['s']) -> "
        f"Dict[['o', {FLOAT}], ['n', Literal[None]], ['t', Tuple[{FLOAT}, List[{FLOAT}]]]]")
    args, kwargs = c.structured_input_signature
    assert [spec.name for spec in tf.nest.flatten(args) if isinstance(spec, tf.TensorSpec)] == ["x", "y_0", "y_1", "rest_0"]
    assert (kwargs["d"]["a"].name, kwargs["d"]["b"].v.name, kwargs["q"]) == ("d_a", "d_b_v", "s")
    assert str(c).startswith("ConcreteFunction Input Parameters:\n") and repr(c).startswith("<ConcreteFunction (x: ")
    assert f.pretty_printed_concrete_signatures() == c.pretty_printed_signature()


def test_inputs_and_outputs_are_tensors_of_the_graph():
    w = tf.Variable(2.0)
    table = tf.constant([1.0, 2.0])
    f = tf.function(lambda x, flag=True: (x * w, table), input_signature=None)
    c = f.get_concrete_function(tf.TensorSpec([None], name="hello"))
    assert [(t.name, t.shape.as_list(), t.dtype) for t in c.inputs] == [("hello:0", [None], tf.float32)]
    assert [t.shape.as_list() for t in c.outputs] == [[None], [2]]
    assert [t.shape.as_list() for t in c.structured_outputs] == [[None], [2]]
    assert len(c.captured_inputs) == 1 and c.captured_inputs[0].dtype == tf.resource
    assert "Captures:\n  " in c.pretty_printed_signature() and "tf.resource" in c.pretty_printed_signature()


def test_calls_look_like_the_function_or_give_tensors_alone():
    @tf.function
    def f(x, y, scale=2.0):
        return (x - y["a"]) * scale

    c = f.get_concrete_function(tf.TensorSpec([]), {"a": tf.TensorSpec([])})
    three, one = tf.constant(3.0), tf.constant(1.0)
    for result in (c(three, {"a": one}, 2.0), c(x=three, y={"a": one}, scale=2.0), c(three, one), c(three, y=one), c(3.0, 1.0)):
        assert result.numpy() == 4.0
    with pytest.raises(TypeError, match=r"Can not cast 3.0 to Literal\[2.0\]"):
        c(three, {"a": one}, 3.0)
    with pytest.raises(TypeError, match=r"missing a required argument: 'y'.*\n.*flat signature.*f\(x, y\) missing required arguments: y"):
        c(three)
    with pytest.raises(TypeError, match=r"f\(x, y\) takes 2 positional arguments, got 4"):
        c(three, one, one, one)
    with pytest.raises(TypeError, match=r"Can not cast TensorSpec\(shape=\(2,\)"):
        c(three, tf.ones([2]))
    with pytest.raises(TypeError, match="got unexpected keyword arguments: z"):
        c(three, one, z=one)


def test_a_variable_is_an_argument_by_itself():
    v, other = tf.Variable(1.0), tf.Variable(2.0)
    c = tf.function(lambda x, variable: x + variable).get_concrete_function(tf.TensorSpec([]), v)
    assert c(tf.constant(1.0), v).numpy() == 2.0
    with pytest.raises(TypeError, match="the variable that was traced"):
        c(tf.constant(1.0), other)


def test_tensors_outlive_their_graphs():
    kept = []

    def make():
        @tf.function
        def f(x):
            kept.extend([x + 1.0, tf.reduce_sum(x).op])
            raise KeyError("stop")

        with pytest.raises(KeyError):
            f(tf.ones([3]))

    make()
    gc.collect()
    tf.function(lambda x: tf.sin(x) + 1.0)(tf.ones([3]))  # takes the memory
    assert repr(kept[0]) == "<tf.Tensor 'unknown:0' shape=(3,) dtype=float32>"
    assert repr(kept[1]) == "<tf.Operation 'unknown' type=unknown>"
    with pytest.raises(TypeError, match="outside of the function"):
        kept[0] + 1.0


def test_a_tensor_of_another_dtype_is_an_invalid_argument():
    c = tf.function(lambda x, y: x * y).get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]))
    for one, two in [(tf.constant(1), tf.constant(1.0)), (tf.constant(1.0), tf.constant(1))]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a float32 tensor but is a int32 tensor"):
            c(one, two)
        with pytest.raises(tf.errors.InvalidArgumentError):
            c(x=one, y=two)


def test_a_graph_lists_its_ops():
    graph = tf.function(lambda x: tf.nn.relu(x @ tf.ones((2, 2)))).get_concrete_function(tf.TensorSpec([2, 2])).graph
    assert [op.type for op in graph.get_operations()] == ["Placeholder", "Const", "MatMul", "Relu"]
    assert graph.get_operation_by_name("Relu").type == "Relu"
    with pytest.raises(KeyError):
        graph.get_operation_by_name("Tanh")
    assert [t.name for t in graph.inputs] == ["x:0"] and [t.shape for t in graph.outputs] == [[2, 2]]
