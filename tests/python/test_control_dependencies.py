"""tf.control_dependencies, tf.group, tf.no_op, tf.tuple and operations."""

import pytest

import thalweg as tf

# Tensors of two elements pass a check that has no effect, others do not.
GOOD, BAD = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
any_length = tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])


def check(x):
    return tf.ensure_shape(x, [2])


def checked(scope_of):
    @any_length
    def f(x):
        with tf.control_dependencies(scope_of(check(x))):
            return tf.identity(x)
    return f


@pytest.mark.parametrize("scope_of", [lambda c: [c], lambda c: [c.op], lambda c: [tf.group(c, tf.no_op())],
                                      lambda c: [[c], None]])
def test_listed_ops_are_needed(scope_of):
    f = checked(scope_of)
    assert f(GOOD).numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(BAD)


def test_scopes_can_be_left():
    @any_length
    def f(x):
        with tf.control_dependencies([check(x)]):
            with tf.control_dependencies(None):
                return tf.identity(x)

    assert f(BAD).shape == [3]
    with pytest.raises(TypeError, match="Control inputs must be Operations or Tensors"):
        tf.function(lambda: tf.control_dependencies([3]).__enter__())()


def test_effects_run_in_program_order():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        with tf.control_dependencies([v.assign_add(1.0)]):
            first = tf.identity(v)
        done = tf.group(v.assign_add(10.0))
        with tf.control_dependencies([done]):
            return first, v.read_value()

    assert [t.numpy() for t in f()] == [2, 12]


def test_eager():
    calls = []
    with tf.control_dependencies([tf.constant(1)]):
        assert tf.identity(2).numpy() == 2
    with tf.control_dependencies(lambda: calls.append(1)):
        pass
    assert calls == [1]
    assert tf.group(tf.constant(1)) is None and tf.no_op() is None
    assert [t.numpy() for t in tf.tuple([tf.constant(1), tf.constant(2)])] == [1, 2]


def test_tuple_waits_for_all():
    @any_length
    def f(x):
        return tf.tuple([x * 2.0, None, check(x)])[0]

    assert f(GOOD).numpy().tolist() == [2, 4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(BAD)


def test_operations():
    seen = {}

    @tf.function
    def f(x):
        y = tf.matmul(x, x)
        seen.update(name=y.op.name, type=y.op.type, text=repr(y.op), same=y.op == y.op, other=y.op == x.op)
        return y

    f(tf.eye(2))
    assert seen == {"name": "MatMul", "type": "MatMul", "text": "<tf.Operation 'MatMul' type=MatMul>", "same": True,
                    "other": False}
    with pytest.raises(AttributeError):
        tf.constant(1).op


def test_graph_defs_have_them():
    concrete = checked(lambda c: [c]).get_concrete_function()
    graph_def = concrete.graph.as_graph_def()
    assert [list(node.input)[1:] for node in graph_def.node if node.op == "Identity"] == [["^EnsureShape"]]
