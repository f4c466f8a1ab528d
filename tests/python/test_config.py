"""tf.config, tf.device and tf.errors. What must happen before the first op runs in a process of its own."""

import pickle
import subprocess
import sys
import textwrap

import pytest

import thalweg as tf


def in_a_fresh_process(program):
    done = subprocess.run([sys.executable, "-c", "import thalweg as tf\n" + textwrap.dedent(program)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_devices():
    cpu = tf.config.PhysicalDevice(name="/physical_device:CPU:0", device_type="CPU")
    assert tf.config.list_physical_devices() == [cpu] == tf.config.list_physical_devices("CPU")
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_physical_devices("GPU") == [] == tf.config.list_physical_devices("cpu")
    assert tf.config.get_visible_devices("CPU") == [cpu]
    assert repr(tf.config.list_logical_devices()) == "[LogicalDevice(name='/device:CPU:0', device_type='CPU')]"
    assert tf.config.get_logical_device_configuration(cpu) is None
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == "" and not tf.test.is_built_with_cuda()
    for wrong in ("a", 3, None):
        with pytest.raises(ValueError) as error:
            tf.config.set_logical_device_configuration(wrong, [])
        assert str(error.value) == f"Unrecognized device: {wrong!r}"
    with pytest.raises(ValueError) as error:
        tf.config.experimental.set_memory_growth(cpu, True)
    assert str(error.value) == "Cannot set memory growth on non-GPU and non-Pluggable devices"


def test_configuration_texts():
    part = tf.config.LogicalDeviceConfiguration(memory_limit=10)
    assert repr(part) == ("LogicalDeviceConfiguration(memory_limit=10, experimental_priority=None, "
                          "experimental_device_ordinal=None)")
    assert tf.config.experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
    assert tf.config.LogicalDeviceConfiguration() == (None, None, None)


def test_splitting():
    assert in_a_fresh_process("""
        cpu = tf.config.list_physical_devices("CPU")[0]
        parts = [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration(memory_limit=64)]
        tf.config.set_logical_device_configuration(cpu, parts)
        print(len(tf.config.get_logical_device_configuration(cpu)), tf.config.list_logical_devices("CPU")[1])
        with tf.device("/cpu:1"):
            x = tf.constant([1.0, 2.0]) * 2.0
            with tf.device("CPU:0"):
                y = x + x
            with tf.device(None):
                z = x + x
        print(x.device[-5:], y.device[-5:], z.device[-5:], (x + x).device[-5:], x.cpu().device[-5:])
        try:
            with tf.device("/cpu:1"):
                tf.constant(1.0, shape=[1 << 26])
        except tf.errors.ResourceExhaustedError as error:
            print(type(error).__name__)
        try:
            tf.config.set_logical_device_configuration(cpu, parts[:1])
        except RuntimeError as error:
            print(error)
        try:
            tf.config.set_visible_devices([], "CPU")
        except RuntimeError as error:
            print(error)
    """) == ("2 LogicalDevice(name='/device:CPU:1', device_type='CPU')\n"
             "CPU:1 CPU:0 CPU:1 CPU:0 CPU:0\n"
             "ResourceExhaustedError\n"
             "Virtual devices cannot be modified after being initialized\n"
             "Visible devices cannot be modified after being initialized\n")


def test_splitting_after_keras_was_touched():
    assert in_a_fresh_process("""
        tf.keras.layers, tf.keras.datasets
        tf.random.set_seed(1)
        tf.keras.utils.set_random_seed(1)
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        print(len(tf.config.list_logical_devices("CPU")))
        """) == "2\n"


def test_threads():
    assert in_a_fresh_process("""
        threading = tf.config.threading
        print(threading.get_intra_op_parallelism_threads(), threading.get_inter_op_parallelism_threads())
        threading.set_intra_op_parallelism_threads(2)
        threading.set_inter_op_parallelism_threads(3)
        print(threading.get_intra_op_parallelism_threads(), threading.get_inter_op_parallelism_threads())
        tf.constant(1.0) + 1.0
        threading.set_intra_op_parallelism_threads(2)
        for setting in (threading.set_intra_op_parallelism_threads, threading.set_inter_op_parallelism_threads):
            try:
                setting(5)
            except RuntimeError as error:
                print(error)
    """) == ("0 0\n2 3\nIntra op parallelism cannot be modified after initialization.\n"
             "Inter op parallelism cannot be modified after initialization.\n")


def test_memory():
    before = tf.config.experimental.get_memory_info("CPU:0")
    big = tf.constant(1.0, shape=[1 << 20])
    during = tf.config.experimental.get_memory_info("CPU:0")
    assert during["current"] - before["current"] >= 4 << 20 and during["peak"] >= during["current"]
    del big
    tf.config.experimental.reset_memory_stats("CPU:0")
    after = tf.config.experimental.get_memory_info("CPU:0")
    assert after["peak"] < during["peak"]
    with pytest.raises(ValueError) as error:
        tf.config.experimental.get_memory_info("GPU:0")
    assert str(error.value) == "No matching devices found for 'GPU:0'"


def test_missing_devices():
    try:
        with tf.device("/gpu:0"):
            assert (tf.constant(1.0) + 1.0).device.endswith("CPU:0")
        assert tf.config.get_soft_device_placement() is True
        tf.config.set_soft_device_placement(False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="device:CPU:0"):
            with tf.device("/gpu:0"):
                pass
    finally:
        tf.config.set_soft_device_placement(True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        with tf.device("nonsense"):
            pass


def test_errors():
    error = tf.errors.InvalidArgumentError(None, None, "words")
    assert isinstance(error, tf.errors.OpError) and str(error) == "words" == error.message and error.error_code == 3
    assert error.op is None and error.node_def is None and repr(error) == "InvalidArgumentError()"
    assert tf.errors.OutOfRangeError(None, None, "m").error_code == tf.errors.OUT_OF_RANGE
    assert tf.errors.OpError(None, None, "m", 5).error_code == 5
    assert str(pickle.loads(pickle.dumps(error))) == "words"


def test_functions_and_versions():
    @tf.function
    def double(x):
        "Twice x."
        return x + x

    @tf.function(input_signature=[tf.TensorSpec([])], autograph=False)
    def triple(x):
        return x * 3

    class Holder:
        @tf.function
        def method(self, x):
            return x

    assert float(double(tf.constant(2.0))) == 4 and double.__name__ == "double" and double.__doc__ == "Twice x."
    assert float(triple(2.0)) == 6 and Holder().method(5) == 5 and tf.executing_eagerly()
    assert tf.__version__.startswith("2.15.1+thalweg.") and tf.version.VERSION == tf.__version__


def test_old_names():
    import thalweg.contrib.eager as tfe

    assert tfe.num_gpus() == 0 and tf.compat.v1.add is tf.add
    with pytest.raises(AttributeError) as error:
        tf.nothing_of_this_name
    assert str(error.value) == "module 'thalweg' has no attribute 'nothing_of_this_name'"


def test_import_is_light():
    assert in_a_fresh_process("import sys; print('numpy' in sys.modules, 'inspect' in sys.modules)") == "False False\n"


def test_optimizer_options():
    assert tf.config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False}
    assert tf.config.optimizer.get_jit() == ""
    tf.config.optimizer.set_jit(True)
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_jit(False)
    assert tf.config.optimizer.get_jit() == ""

    def make():
        return tf.function(lambda x: tf.exp(x * 1.0) + tf.exp(x * 1.0))

    x = tf.constant([0.5, -1.0])
    optimized = make()(x)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True, "constant_folding": False})
    try:
        assert tf.config.optimizer.get_experimental_options()["constant_folding"] is False
        assert make()(x).numpy().tobytes() == optimized.numpy().tobytes()
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, "constant_folding": True})
