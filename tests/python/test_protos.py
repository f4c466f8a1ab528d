"""TensorProtos as Python programs meet them. The bytes are those that TensorFlow 2.15 writes."""

import numpy as np
import pytest

import thalweg as tf

TensorProto = tf.compat.v1.TensorProto


@pytest.mark.parametrize("value, content", [
    (np.float32(3), b"\x08\x01\x12\x00*\x04\x00\x00@@"),
    (np.array([1, 0, 2], np.int32), b'\x08\x03\x12\x04\x12\x02\x08\x03"\x0c\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00'),
    (np.array([1, 0, 2], np.uint16), b"\x08\x11\x12\x04\x12\x02\x08\x03:\x03\x01\x00\x02"),
    (np.array([True, False, True]), b"\x08\n\x12\x04\x12\x02\x08\x03Z\x03\x01\x00\x01"),
    (np.float16(3), b"\x08\x13\x12\x00j\x03\x80\x84\x01"),
    (np.uint64(3), b"\x08\x17\x12\x00\x8a\x01\x01\x03"),
    (np.zeros((0, 3), np.float32), b"\x08\x01\x12\x06\x12\x00\x12\x02\x08\x03"),
])
def test_bytes_are_tensorflows(value, content):
    proto = tf.make_tensor_proto(value)
    assert proto.SerializeToString() == content
    assert proto.ByteSize() == len(content)
    again = tf.make_ndarray(TensorProto.FromString(content))
    assert again.dtype == value.dtype
    np.testing.assert_array_equal(again, value)


def test_fields():
    proto = tf.make_tensor_proto([[1.5, 2.5]])
    assert proto.dtype == tf.float32.as_datatype_enum
    assert [dim.size for dim in proto.tensor_shape.dim] == [1, 2]
    assert proto.tensor_content == np.array([1.5, 2.5], np.float32).tobytes()
    assert tf.make_tensor_proto(["a", "bc"]).string_val == [b"a", b"bc"]
    assert tf.make_tensor_proto(7).int_val == [7]
    assert tf.make_tensor_proto(proto) is proto
    written = TensorProto(dtype=1, tensor_shape=tf.make_tensor_proto([0.0] * 3).tensor_shape, float_val=[1.0, 2.0])
    np.testing.assert_array_equal(tf.make_ndarray(written), np.array([1, 2, 2], np.float32))
    assert written == TensorProto.FromString(written.SerializeToString())


def test_shapes():
    filled = tf.make_tensor_proto(1.0, shape=[2, 2])
    assert filled.float_val == [1.0]
    np.testing.assert_array_equal(tf.make_ndarray(filled), np.ones((2, 2), np.float32))
    np.testing.assert_array_equal(tf.make_ndarray(tf.make_tensor_proto([1, 2, 3, 4], shape=[2, 2])), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="Too many elements"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)
    with pytest.raises(ValueError, match="None values not supported"):
        tf.make_tensor_proto(None)


def test_bad_bytes():
    for content in (b"junk", b"\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="no TensorProto"):
            TensorProto.FromString(content)
    with pytest.raises(tf.errors.InvalidArgumentError, match="64 MB"):
        huge = tf.make_tensor_proto(1.0)
        huge.tensor_shape = tf.compat.v1.TensorShapeProto(dim=[type(tf.make_tensor_proto([1]).tensor_shape.dim[0])(size=1 << 40)])
        tf.make_ndarray(huge)


def test_serialize_tensor():
    x = tf.constant([[1, 2], [3, 4]], tf.int64)
    again = tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.int64)
    np.testing.assert_array_equal(again.numpy(), x.numpy())
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.int32)
