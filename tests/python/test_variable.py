"""tf.Variable: texts and values are those of TensorFlow 2.15."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import thalweg as tf


@pytest.mark.parametrize("make, text", [
    (lambda: tf.Variable(1.0), "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>"),
    (lambda: tf.Variable([[1, 2], [3, 4]], name="m"),
     "<tf.Variable 'm:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"),
    (lambda: tf.Variable("hello"), "<tf.Variable 'Variable:0' shape=() dtype=string, numpy=b'hello'>"),
    (lambda: tf.Variable(["a", "b"], name="s"),
     "<tf.Variable 's:0' shape=(2,) dtype=string, numpy=array([b'a', b'b'], dtype=object)>"),
    (lambda: tf.Variable([1.0, 2.0], shape=tf.TensorShape(None)),
     "<tf.Variable 'Variable:0' shape=<unknown> dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    (lambda: tf.Variable([[1.0, 2.0]], shape=[None, 2]),
     "<tf.Variable 'Variable:0' shape=(None, 2) dtype=float32, numpy=array([[1., 2.]], dtype=float32)>"),
    (lambda: tf.Variable(lambda: tf.ones([2])),
     "<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 1.], dtype=float32)>"),
    (lambda: tf.Variable(np.arange(2000)),
     "<tf.Variable 'Variable:0' shape=(2000,) dtype=int64, numpy=array([   0,    1,    2, ..., 1997, 1998, 1999])>"),
    (lambda: tf.Variable(1 + 2j), "<tf.Variable 'Variable:0' shape=() dtype=complex128, numpy=(1+2j)>"),
    (lambda: tf.Variable(tf.zeros([0, 3])),
     "<tf.Variable 'Variable:0' shape=(0, 3) dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)>"),
    (lambda: tf.Variable(1.0).assign(2.0), "<tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=2.0>"),
    (lambda: tf.Variable(np.array([1, 2], np.uint8)).assign_add([255, 1]),
     "<tf.Variable 'UnreadVariable' shape=(2,) dtype=uint8, numpy=array([0, 3], dtype=uint8)>"),
])
def test_text(make, text):
    variable = make()
    assert repr(variable) == text and str(variable) == text and f"{variable}" == text


def test_properties():
    v = tf.Variable([1.0, 2.0], constraint=abs, name="weights")
    assert v.name == "weights:0" and v.dtype is tf.float32 and v.shape == [2] and v.get_shape() == [2]
    assert v.device == "/job:localhost/replica:0/task:0/device:CPU:0" and v.trainable is True and v.constraint is abs
    assert v.synchronization is tf.VariableSynchronization.AUTO and v.aggregation is tf.VariableAggregation.NONE
    assert v.handle.dtype is tf.resource and v.handle is v.handle and v.initializer is None
    assert bool(v.is_initialized()) and v.__array_priority__ == 100
    on_read = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    assert on_read.trainable is False and on_read.synchronization is tf.VariableSynchronization.ON_READ
    assert tf.Variable(3.0, aggregation=tf.VariableAggregation.MEAN).aggregation is tf.VariableAggregation.MEAN
    assert tf.Variable(1, dtype=tf.float32).dtype is tf.float32 and tf.Variable(np.float64(1)).dtype is tf.float64
    assert isinstance(v, tf.Variable) and not isinstance(v, tf.Tensor) and tf.is_tensor(v)
    assert type(v).__name__ == "ResourceVariable"
    v.mark = 5
    assert v.mark == 5


@pytest.mark.parametrize("make, kind, text", [
    (lambda: tf.Variable(), ValueError, "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                                        "not providing a `variable_def`. You provided neither."),
    (lambda: tf.Variable([1.0, 2.0], shape=[3]), ValueError,
     "In this `tf.Variable` creation, the initial value's shape ((2,)) is not compatible with the explicitly supplied "
     "`shape` argument ([3])."),
    (lambda: tf.Variable(1.5, dtype=tf.int32), TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    (lambda: tf.Variable(3.0, constraint=5), ValueError,
     "Argument `constraint` must be None or a callable. a callable. Got a <class 'int'>:  5"),
    (lambda: tf.Variable(3.0, synchronization="x"), ValueError,
     "Invalid variable synchronization mode: x for variable: None"),
    (lambda: tf.Variable(3.0, name=5), ValueError, "name for name_scope must be a string."),
])
def test_refused(make, kind, text):
    with pytest.raises(kind) as error:
        make()
    assert str(error.value) == text


def test_assignments():
    v = tf.Variable(1.0)
    assert float(v.assign(2)) == 2 and float(v.assign_add(1.0)) == 3
    assert float(v.assign_sub(1.0).assign_add(5.0)) == 7 and float(v) == 7
    assert v.assign(2.0, use_locking=True, name="x", read_value=False) is None and v.assign(2.0) is not v
    assert isinstance(v.assign(2.0), tf.Variable) and v.assign(2.0).name == "UnreadVariable"
    assert float(v.assign(tf.Variable(4.0))) == 4
    before = v.value()
    v.assign_add(1.0)
    assert float(before) == 4 and float(v.read_value()) == 5
    unknown = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    assert unknown.assign([[1.0, 2.0], [3.0, 4.0]]).shape == tf.TensorShape(None) and unknown.value().shape == [2, 2]


@pytest.mark.parametrize("change, kind, text", [
    (lambda v: v.assign([1.0, 2.0]), ValueError,
     "Cannot assign value to variable ' Variable:0': Shape mismatch.The variable shape (), and the assigned value shape "
     "(2,) are incompatible."),
    (lambda v: v.assign("x"), TypeError, "Cannot convert 'x' to EagerTensor of dtype float"),
    (lambda v: v.assign(tf.constant(1)), ValueError,
     "Tensor conversion requested dtype float32 for Tensor with dtype int32: <tf.Tensor: shape=(), dtype=int32, numpy=1>"),
    (lambda v: v.assign(None), ValueError,
     "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."),
    (lambda v: v.assign(tf.Variable(1)), ValueError,
     "Incompatible type conversion requested to type float32 for `tf.Variable of type int32. (Variable: <tf.Variable "
     "'Variable:0' shape=() dtype=int32, numpy=1>)"),
    (lambda v: v.assign_add([1.0]), tf.errors.InvalidArgumentError, None),
    (lambda v: v.assign_sub(tf.constant(1, tf.float64)), ValueError, None),
    (lambda v: tf.Variable("a").assign_add("b"), tf.errors.InvalidArgumentError, None),
])
def test_refused_assignments_change_nothing(change, kind, text):
    v = tf.Variable(3.0)
    with pytest.raises(kind) as error:
        change(v)
    assert text is None or str(error.value) == text
    assert float(v) == 3


def test_operators():
    v, m = tf.Variable(3.0), tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    results = [v + 1, 1 + v, v - 1, 1 - v, v * 2, 2 * v, v / 2, 2 / v, v // 2, 2 // v, v % 2, 5 % v, v ** 2, 2 ** v, -v,
               abs(v), v + v, v + tf.constant(1.0), tf.constant(1.0) + v]
    assert [round(float(r), 4) for r in results] == [4, 4, 2, -2, 6, 6, 1.5, 0.6667, 1, 0, 1, 2, 9, 8, -3, 3, 6, 4, 4]
    assert all(isinstance(r, tf.Tensor) for r in results)
    assert (m @ tf.ones([3, 1])).numpy().tolist() == [[6], [15]] and (tf.ones([1, 2]) @ m).shape == [1, 3]
    assert bool(v < 4) and bool(3 <= v) and not bool(v > 3) and bool(v == 3.0) and bool(v != 2.0)
    assert (m == m).numpy().all() and not bool(m == [1.0, 2.0]) and v in [v]
    assert (~tf.Variable([True, False])).numpy().tolist() == [False, True]
    assert (tf.Variable([1, 2]) & 1).numpy().tolist() == [1, 0]
    assert np.add(v, 1) == 4 and (np.ones(2) + v).numpy().tolist() == [4, 4] and np.sum(m) == 21
    assert int(v) == 3 and complex(v) == 3 and bool(v) and max(tf.Variable(1.0), v) is v
    assert np.array(m, dtype=np.int32).dtype == np.int32
    for refused in (lambda: +v, lambda: len(m), lambda: range(3)[tf.Variable(1)], lambda: list(v), lambda: f"{v:.2f}"):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(ValueError):
        v == None  # noqa: E711


def test_in_place_operators_are_refused():
    v = tf.Variable(1.0)
    with pytest.raises(RuntimeError) as error:
        v += 1.0
    assert str(error.value) == (
        "`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add(value)` to modify the "
        "variable, or `out = variable + value` if you need to get a new output Tensor.")
    for operator in ("-=", "*=", "/=", "**="):
        with pytest.raises(RuntimeError):
            exec(f"v {operator} 2.0", {"v": v})


def test_hash_and_reference():
    v = tf.Variable(3.0)
    with pytest.raises(TypeError) as error:
        hash(v)
    assert str(error.value) == (
        "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: <tf.Variable 'Variable:0' shape=() "
        "dtype=float32, numpy=3.0>)")
    assert v.ref() == v.ref() and v.ref().deref() is v and v.ref() != tf.Variable(3.0).ref()
    assert {v.ref(): 1}[v.experimental_ref()] == 1


def test_goes_wherever_a_tensor_goes():
    v, m = tf.Variable(2.0), tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert tf.concat([m, m], 0).shape == [4, 3] and tf.stack([v, 1.0]).numpy().tolist() == [2, 1]
    assert tf.convert_to_tensor([v, v]).numpy().tolist() == [2, 2] and float(tf.reduce_sum([1.0, v])) == 3
    assert float(tf.constant(v)) == 2 and float(tf.identity(v)) == 2 and float(tf.add_n([v, v])) == 4
    assert tf.cast(v, tf.int32).dtype is tf.int32 and tf.size(m).numpy() == 6
    assert tf.reshape(m, tf.Variable([3, 2])).shape == [3, 2] and tf.zeros(tf.Variable([2])).shape == [2]
    assert tf.zeros([tf.Variable(2), 1]).shape == [2, 1] and tf.range(tf.Variable(3)).numpy().tolist() == [0, 1, 2]
    assert tf.gather(m, tf.Variable([1])).numpy().tolist() == [[4, 5, 6]] and float(m[tf.Variable(0), 1]) == 2
    assert m.sparse_read([1, 0]).numpy().tolist() == [[4, 5, 6], [1, 2, 3]]
    assert m.gather_nd([[0, 1]]).numpy().tolist() == [2]
    assert [row.shape for row in m] == [[3], [3]] and m[..., None].shape == [2, 3, 1]
    with pytest.raises(ValueError):
        tf.convert_to_tensor(v, dtype=tf.int32)


def test_copies():
    v = tf.Variable(2.0, name="a", trainable=False)
    assert copy.copy(v) is v
    for made in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        made.assign(9.0)
        assert float(v) == 2 and made.name == "a:0" and made.trainable is False
    first, second = copy.deepcopy([v, v])
    assert first is second


def test_counts_up_to_a_limit():
    c = tf.Variable(3)
    assert [int(c.count_up_to(5)), int(c.count_up_to(5)), int(c)] == [3, 4, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        c.count_up_to(5)


def test_graph_only():
    v = tf.Variable(1.0)
    for what, kind in (("initial_value", RuntimeError), ("op", AttributeError), ("graph", AttributeError)):
        with pytest.raises(kind):
            getattr(v, what)
    with pytest.raises(RuntimeError):
        v.eval()


def test_creator_scope():
    def creator(next_creator, **kwargs):
        kwargs["name"] = "made_" + (kwargs["name"] or "here")
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator), tf.variable_creator_scope(creator):
        assert tf.Variable(1.0, name="a").name == "made_made_a:0"
    with tf.variable_creator_scope(lambda next_creator, **kwargs: sorted(kwargs)):
        assert tf.Variable(1.0) == [
            "aggregation", "caching_device", "constraint", "dtype", "experimental_enable_variable_lifting", "import_scope",
            "initial_value", "name", "shape", "synchronization", "trainable", "validate_shape", "variable_def"]
    assert tf.Variable(1.0).name == "Variable:0"


def test_memory_is_freed():
    def used():
        gc.collect()
        return tf.config.experimental.get_memory_info("CPU:0")["current"]

    before = used()
    v = tf.Variable(tf.zeros([256, 1024]))
    alive = weakref.ref(v)
    assert used() - before >= 2**20
    v = None
    assert alive() is None and used() - before < 2**16
    v = tf.Variable(tf.zeros([256, 1024]))
    v.cycle = [v]
    v = None
    assert used() - before < 2**16


def test_threads_share_a_variable():
    v = tf.Variable(tf.zeros([100]))

    def work():
        for _ in range(200):
            v.assign_add(tf.ones([100]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy().tolist() == [800.0] * 100


def test_subclasses_and_bad_use():
    class Mine(tf.Variable):
        pass

    mine = Mine(2.0)
    assert type(mine) is Mine and float(mine * 2.0) == 4
    with pytest.raises(ValueError, match="__init__"):
        Mine.__new__(Mine) + 1.0


def test_scatters():
    m = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    ones = tf.IndexedSlices([[1.0, 1.0, 1.0]], [0])
    assert m.scatter_add(ones).numpy().tolist() == [[2, 3, 4], [4, 5, 6]]
    assert m.scatter_sub(ones).numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert m.scatter_update(tf.IndexedSlices([[9.0] * 3], [1])).numpy().tolist() == [[1, 2, 3], [9, 9, 9]]
    assert m.scatter_mul(tf.IndexedSlices([[2.0] * 3], [1])).numpy().tolist() == [[1, 2, 3], [18, 18, 18]]
    assert m.scatter_div(tf.IndexedSlices([[2.0] * 3], [1])).numpy().tolist() == [[1, 2, 3], [9, 9, 9]]
    assert m.scatter_max(tf.IndexedSlices([[2.0, 2.0, 20.0]], [1])).numpy().tolist() == [[1, 2, 3], [9, 9, 20]]
    assert m.scatter_min(tf.IndexedSlices([[2.0] * 3], [1])).numpy().tolist() == [[1, 2, 3], [2, 2, 2]]
    assert m.scatter_nd_add([[0, 0]], [5.0]).numpy().tolist() == [[6, 2, 3], [2, 2, 2]]
    assert m.scatter_nd_sub([[0, 0]], [5.0]).numpy().tolist() == [[1, 2, 3], [2, 2, 2]]
    assert m.scatter_nd_update([[0, 0]], [5.0]).numpy().tolist() == [[5, 2, 3], [2, 2, 2]]
    assert m.scatter_nd_max([[0, 0]], [50.0]).numpy().tolist() == [[50, 2, 3], [2, 2, 2]]
    assert m.scatter_nd_min([[0, 0]], [5.0]).numpy().tolist() == [[5, 2, 3], [2, 2, 2]]
    square = tf.Variable([[0.0, 0.0], [0.0, 0.0]])
    assert square.batch_scatter_update(tf.IndexedSlices([[1.0], [2.0]], [[0], [1]])).numpy().tolist() == [[1, 0], [0, 2]]
    with pytest.raises(TypeError) as error:
        m.scatter_add([[1.0, 1.0, 1.0]])
    assert str(error.value) == "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: [[1.0, 1.0, 1.0]]"
    before = m.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        m.scatter_add(tf.IndexedSlices([[1.0, 1.0, 1.0]], [7]))
    assert (m.numpy() == before).all()


def test_slice_assignment():
    m = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert m[0].assign([7.0, 8.0, 9.0]).numpy().tolist() == [[7, 8, 9], [4, 5, 6]]
    assert m[:, 1].assign([1.0, 1.0]).numpy().tolist() == [[7, 1, 9], [4, 1, 6]]
    assert m[0, 0].assign(5.0).name == "UnreadVariable" and float(m[0, 0]) == 5
    assert m[0:1].assign([[1.0, 2.0, 3.0]]).numpy().tolist() == [[1, 2, 3], [4, 1, 6]]
    assert m[..., ::-2].assign([[0.0, 9.0], [0.0, 9.0]]).numpy().tolist() == [[9, 2, 0], [9, 1, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        m[0].assign([1.0, 2.0])
    with pytest.raises(AttributeError):
        m[0].assign_add([1.0, 1.0, 1.0])
