#!/usr/bin/env python3
"""What Python programs see beside values: operators with other types, NumPy functions on tensors, errors of indexing, dtype
objects, TensorShape, the forms of tf.constant. Each expression is evaluated here and in the real TensorFlow.

    python_api.py [--count 3000] [--seed 0]
"""

import re
import warnings

import numpy as np

import both

SETTING = """
s = tf.constant(3.0)
i = tf.constant(7)
v = tf.constant([1.0, -2.0, 3.5])
w = tf.constant([4, -5, 6])
m = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
k = tf.constant([[1, 2, 3], [4, 5, 6]])
l = tf.constant([1, 2, 3], tf.int64)
u = tf.constant([1, 2, 255], tf.uint8)
h = tf.constant([1.5, 2.5], tf.float16)
d = tf.constant([0.1, 0.2, 0.3], tf.float64)
b = tf.constant([True, False, True])
c = tf.constant([1 + 2j, 3 - 1j])
t = tf.constant(["a", "bc", ""])
e = tf.zeros([0, 3])
n = np.array([1.0, 2.0, 3.0], np.float32)
g = np.array([1, 2, 3])
a = tf.TensorShape([2, None, 3])
p = tf.TensorShape([2, 4, 3])
q = tf.TensorShape(None)
"""

TENSORS = ["s", "i", "v", "w", "m", "k", "l", "u", "h", "d", "b", "c", "t", "e"]
OTHERS = ["2", "2.5", "-1", "True", "1j", "[1, 2, 3]", "[1.0, 2.0, 3.0]", "(1, 2, 3)", "n", "g", "np.float32(2)", "np.int64(2)",
          "np.float64(0.5)", "None", "'a'", "b'a'", "[]", "1e10", "300", "2**40", "np.array(2)", "np.array([[1], [2]])"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]
UNARY = ["-{}", "~{}", "abs({})", "+{}", "not {}", "bool({})", "int({})", "float({})", "len({})", "list({})", "iter({}) is not None",
         "hash({})", "{}.shape", "{}.dtype", "{}.ndim", "{}.numpy()", "{}.get_shape()", "{}.shape.as_list()", "{}.device",
         "str({}.dtype)", "repr({}.dtype)", "complex({})", "round({})", "np.array({}).dtype", "np.asarray({})", "{}.numpy().dtype",
         "range({})", "[1, 2, 3, 4, 5, 6, 7, 8][{}]", "tf.is_tensor({})", "{}.__index__()", "'%s' % {}", "format({})", "{} is {}",
         "{} in [1]", "{}.foo", "{}.T", "reversed({})", "max({})", "sum({})", "sorted({})", "tuple({})", "{}._shape_tuple()"]
NUMPY = ["np.{}({})".format(name, "{}") for name in
         ("abs", "exp", "sqrt", "sum", "mean", "max", "argmax", "sort", "transpose", "shape", "ndim", "size", "ravel", "cumsum",
          "square", "sign", "isnan", "negative", "floor", "any", "all", "prod", "zeros_like", "ones_like", "array", "squeeze", "real")]
NUMPY += ["np.add({}, 1)", "np.multiply({0}, {0})", "np.stack([{0}, {0}])", "np.concatenate([{0}, {0}])", "np.dot({0}, {0})",
          "np.expand_dims({}, 0)", "np.tile({}, 2)", "np.where({})", "np.maximum({}, 0)", "np.allclose({0}, {0})", "np.array_equal({0}, {0})"]
KEYS = ["0", "-1", "5", "-9", "1:", ":-1", "::2", "::-1", "...", "None", "0, 1", "0, 0, 0", "..., 0", "..., None", "1, ...", "0, ..., 1",
        "..., ...", "True", "'a'", "1.5", "[0, 1]", "tf.constant(0)", "tf.constant(1):", "np.int64(0)", "i", "b", "[True, False, True]",
        "np.array([True, False, True])", "slice(None)", "slice(0, 2)", "::0", "(0,)", "()", "w", "m > 2.0", "tf.newaxis", "0:100", "100:", "1:0"]
DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
          "complex64", "complex128", "string", "resource", "variant", "half", "double"]
ABOUT_DTYPES = ["{}", "repr({})", "str({})", "{}.name", "{}.size", "{}.min", "{}.max", "{}.is_floating", "{}.is_integer", "{}.is_complex",
                "{}.is_bool", "{}.is_unsigned", "{}.is_numeric_compatible", "{}.base_dtype", "{}.real_dtype", "{}.as_numpy_dtype",
                "{}.as_datatype_enum", "{}.limits", "{} == '{}'[3:]", "{} == np.float32", "{} != tf.float32", "hash({}) == hash({})",
                "{} == 1", "{} in (tf.float32, tf.int32)", "tf.as_dtype({})", "{}.is_compatible_with(tf.float32)", "np.dtype({})"]
DTYPE_FORMS = ["tf.as_dtype('float32')", "tf.as_dtype(np.float32)", "tf.as_dtype(float)", "tf.as_dtype(int)", "tf.as_dtype(bool)",
               "tf.as_dtype(str)", "tf.as_dtype('foo')", "tf.as_dtype(1)", "tf.as_dtype(999)", "tf.as_dtype(None)",
               "tf.as_dtype(np.dtype('int8'))", "tf.as_dtype('S')", "tf.as_dtype(np.array([1.0]).dtype)", "tf.DType(1)"]
SHAPES = ["a", "p", "q", "tf.TensorShape([])", "tf.TensorShape([0])", "tf.TensorShape([3, 3])", "m.shape"]
ABOUT_SHAPES = ["{}", "repr({})", "str({})", "{}.rank", "{}.ndims", "{}.dims", "{}.as_list()", "{}.num_elements()", "{}.is_fully_defined()",
                "len({})", "{}[0]", "{}[-1]", "{}[1:]", "{}[:2]", "{}[5]", "{}[::2]", "list({})", "bool({})", "{} == [2, 4, 3]", "{} == p",
                "{} != p", "{} == a", "{}.is_compatible_with(p)", "{}.is_compatible_with([2, 4, 3])", "{}.merge_with(p)",
                "{}.merge_with([None, 4, None])", "{}.concatenate([5])", "{}.concatenate(q)", "{} + [1]", "[1] + {}", "{}.with_rank(3)",
                "{}.with_rank_at_least(2)", "{}.with_rank_at_most(2)", "{}.assert_is_compatible_with(p)", "{}.assert_has_rank(2)",
                "{}.assert_same_rank(p)", "{}.assert_is_fully_defined()", "{}.most_specific_compatible_shape(p)", "{}.as_proto()",
                "hash({}) is not None", "{}.is_subtype_of(p)", "tuple({})", "{} == None", "{} == 3", "{}.most_specific_common_supertype([p])",
                "{} == (2, 4, 3)", "tf.TensorShape({})", "tf.zeros({})", "tf.TensorSpec({}, tf.float32)", "tf.TensorSpec({}, name='x')"]
CONSTANTS = ["1", "1.0", "True", "'text'", "b'bytes'", "None", "[]", "[[]]", "[[], []]", "[1, 2]", "[1, 2.0]", "[1, True]", "[True, 1]",
             "[1.0, True]", "[1, 'a']", "['a', 1]", "[[1], [2, 3]]", "[[1, 2], 3]", "[1, None]", "(1, 2)", "[(1, 2), [3, 4]]", "range(3)",
             "np.arange(3)", "np.arange(3.0)", "np.float16(1)", "np.bool_(True)", "np.array('x')", "np.array(['x', 'yy'])",
             "np.array([b'x'])", "np.array([1, 'a'], object)", "np.array([[1, 2], [3, 4]])[:, 0]", "np.array([], np.int8)", "2**31", "-2**31",
             "2**31 - 1", "2**63", "2**64", "1e40", "1e400", "float('nan')", "1j", "[1j, 2]", "[s, s]", "[s, 1]", "[v, v]", "[v, [1, 2, 3]]",
             "s", "w", "[i, 1.5]", "{1: 2}", "{1, 2}", "object()", "'é'", "[b'a', 'b']", "np.datetime64('2020-01-01')", "a", "tf.float32",
             "np.ones([2, 2]).T", "np.array([1.5])[0]", "[np.float64(1.5)]", "[np.float32(1.5), 2]", "[np.int64(3)]", "bytearray(b'a')", "[[1], [True]]"]
CONSTANT_FORMS = ["tf.constant({})", "tf.convert_to_tensor({})", "tf.constant({}, tf.float32)", "tf.constant({}, tf.int32)", "tf.constant({}, tf.int64)",
                  "tf.constant({}, tf.bool)", "tf.constant({}, tf.string)", "tf.constant({}, tf.uint8)", "tf.constant({}, tf.float16)",
                  "tf.constant({}, tf.complex64)", "tf.constant({}, shape=[2, 2])", "tf.constant({}, shape=[2])", "tf.constant({}, shape=[])",
                  "tf.convert_to_tensor({}, dtype=tf.float64)", "tf.convert_to_tensor({}, dtype_hint=tf.float64)", "tf.cast({}, tf.int32)",
                  "tf.cast({}, tf.float64)", "tf.identity({})", "tf.stack([{0}, {0}])", "tf.shape({})", "tf.add({0}, {0})", "tf.rank({})",
                  "tf.size({})", "tf.zeros_like({})"]
PLAIN = ["tf.range(3)", "tf.range(3.0)", "tf.range(1, 10, 3)", "tf.range(5, 0, -2)", "tf.range(0)", "tf.range(3, dtype=tf.float32)", "tf.range(1, 2, 0)",
         "tf.zeros([2, 2])", "tf.ones(3)", "tf.ones((2,), tf.bool)", "tf.fill([2], 'x')", "tf.fill([2, 2], 1.5)", "tf.eye(2)", "tf.linspace(0.0, 1.0, 5)",
         "tf.reshape(m, [-1])", "tf.reshape(m, [4])", "tf.reshape(m, (3, 2))", "tf.reshape(w, [1, -1, 1])", "tf.concat([v, v], 0)", "tf.concat([m, v], 0)",
         "tf.split(v, 3)", "tf.split(m, [1, 2], axis=1)", "tf.unstack(m)", "tf.matmul(m, m, transpose_b=True)", "tf.matmul(m, m)", "tf.reduce_sum(m, 5)",
         "tf.reduce_sum(b)", "tf.where(b)", "tf.where(b, v, -v)", "tf.where(b, 1, 2)", "tf.where(b, 1.5, v)", "tf.argmax(m, 1)", "tf.add(v, w)",
         "tf.gather(v, 7)", "tf.gather(m, [0, 1], axis=1)", "tf.add_n([v, v, 1.0])", "tf.equal(v, 1)", "tf.maximum(v, 0)", "tf.pow(2, 3)", "tf.pow(2.0, w)",
         "tf.math.top_k(v, 2)", "tf.nn.softmax(v)", "tf.unique(w)", "tf.meshgrid([1, 2], [3, 4])", "tf.boolean_mask(m, [True, False])", "tf.squeeze(tf.ones([1, 2, 1]))",
         "tf.expand_dims(v, 3)", "tf.transpose(m, [0, 0])", "tf.tile(v, [2, 2])", "tf.pad(v, [[1, 1]])", "tf.one_hot([0, 2], 3)", "tf.strings.length(t)",
         "tf.strings.join(['a', t])", "tf.strings.as_string(v)", "tf.strings.upper(t)", "m.shape[0] * 2", "v.shape.concatenate([1])", "tf.add(1, 2)",
         "tf.add('a', 'b')", "tf.divide(1, 2)", "tf.divide(w, 2)", "v.numpy().sum()", "len(tf.constant(1))", "for_each(m)", "tf.cumsum(v)", "v + w", "v + d",
         "tf.cast(v, tf.int32)", "tf.cast(t, tf.int32)", "tf.cast('1', tf.int32)", "tf.bitcast(v, tf.int32)", "tf.saturate_cast(w, tf.uint8)",
         "tf.clip_by_value(v, 0, 1)", "tf.debugging.assert_equal(v, v)", "tf.debugging.assert_equal(v, -v)", "tf.norm(v)", "tf.einsum('i,i->', v, v)",
         "tf.tensordot(m, m, [[0, 1], [0, 1]])", "tf.math.reduce_std(v)", "tf.sort(v)", "tf.argsort(v)", "tf.reverse(v, [0])", "tf.repeat([1, 2], 2)",
         "tf.executing_eagerly()", "tf.sequence_mask([1, 3])", "tf.constant([1, 2, 3], foo=1)", "tf.constant()", "tf.add(v)", "tf.reduce_sum(v, keep=1)",
         "hash(v)", "{v: 1}", "{v.ref(): 1}[v.ref()]", "v.ref() == v.ref()", "v == None", "v != None", "v is None", "v == 'a'", "w == 1.5"]


def expressions():
    yield from PLAIN
    yield from DTYPE_FORMS
    yield from (f"{x} {operator} {y}" for x in TENSORS for operator in OPERATORS for y in TENSORS)
    yield from (f"{x} {operator} {y}" for x in TENSORS for operator in OPERATORS for y in OTHERS)
    yield from (f"{y} {operator} {x}" for x in TENSORS for operator in OPERATORS for y in OTHERS)
    yield from (form.replace("{0}", x).replace("{}", x) for x in TENSORS for form in UNARY + NUMPY)
    yield from (f"{x}[{key}]" for x in TENSORS for key in KEYS)
    yield from (form.replace("{}", f"tf.{dtype}") for dtype in DTYPES for form in ABOUT_DTYPES)
    yield from (form.replace("{}", shape) for shape in SHAPES for form in ABOUT_SHAPES)
    yield from (form.replace("{0}", value).replace("{}", value) for value in CONSTANTS for form in CONSTANT_FORMS)


def describe(tf, value):
    """A value as text that names no library."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(describe(tf, item) for item in value)})"
    if isinstance(value, tf.Tensor):
        return f"Tensor {value!r}"
    kind = type(value).__name__
    text = repr(value) if kind != "type" else value.__name__
    return re.sub(r" at 0x[0-9a-f]+", "", f"{kind} {text}").replace("EagerTensor", "Tensor")


def answers(tf, count, seed):
    warnings.simplefilter("ignore")
    scope = {"tf": tf, "np": np, "for_each": lambda x: [row.numpy().tolist() for row in x]}
    exec(SETTING, scope)
    asked = list(dict.fromkeys(expressions()))
    if count < len(asked):
        chosen = sorted(np.random.default_rng(seed).choice(np.arange(len(PLAIN), len(asked)), count - len(PLAIN), replace=False))
        asked = asked[: len(PLAIN)] + [asked[place] for place in chosen]
    for expression in asked:
        try:
            with np.errstate(all="ignore"):
                yield expression, describe(tf, eval(expression, scope))
        except Exception as error:  # its class is the answer
            is_missing = isinstance(error, AttributeError) and "module 'thalweg" in str(error)
            yield expression, f"raises {type(error).__name__}" + (": module" if is_missing else "")


if __name__ == "__main__":
    both.main(__file__, 3000, answers)
