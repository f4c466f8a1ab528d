"""Losses, metrics, initializers, regularizers, constraints and activations as programs use and extend them."""

import copy
import pickle

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras

Y_TRUE = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], "float32")
Y_PRED = np.array([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.5, 0.2, 0.3]], "float32")


def test_losses_that_change_those_of_keras():
    class Tripled(keras.losses.MeanSquaredError):
        def call(self, y_true, y_pred):
            return 3.0 * super().call(y_true, y_pred)

    plain = float(keras.losses.MeanSquaredError()(Y_TRUE, Y_PRED))
    assert float(Tripled()(Y_TRUE, Y_PRED)) == pytest.approx(3 * plain)
    assert float(Tripled(reduction="sum")(Y_TRUE, Y_PRED)) == pytest.approx(9 * plain)
    assert Tripled(name="t").get_config() == {"reduction": "auto", "name": "t", "fn": "mean_squared_error"}
    model = keras.Sequential([keras.layers.Dense(3, kernel_initializer="zeros")])
    model.compile("sgd", Tripled())
    assert model.evaluate(Y_TRUE, Y_TRUE, verbose=0) == pytest.approx(1.0)


def test_reduction_and_name_can_be_set():
    loss = keras.losses.MeanAbsoluteError()
    mean = float(loss(Y_TRUE, Y_PRED))
    loss.reduction, loss.name = "sum", "total"
    assert float(loss(Y_TRUE, Y_PRED)) == pytest.approx(3 * mean)
    assert loss.get_config() == {"reduction": "sum", "name": "total", "fn": "mean_absolute_error"}


@pytest.mark.parametrize("make", [lambda: keras.losses.Huber(2.0), lambda: keras.initializers.HeNormal(3),
                                  lambda: keras.regularizers.L1L2(0.1, 0.2), lambda: keras.constraints.MaxNorm(3.0)])
def test_copies(make):
    made = make()
    assert copy.deepcopy(made).get_config() == made.get_config()


def test_arguments_that_nobody_takes():
    for make in (keras.losses.Hinge, keras.metrics.Mean, keras.initializers.Ones, keras.constraints.NonNeg):
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            make(foo=1)


def test_modules_of_configurations():
    assert keras.losses.serialize(keras.losses.Poisson())["module"] == "keras.losses"
    assert keras.optimizers.serialize(keras.optimizers.Adam())["module"] == "keras.optimizers"
    assert keras.optimizers.serialize(keras.optimizers.SGD())["module"] == "keras.optimizers.experimental"
    older = keras.losses.serialize(keras.losses.Poisson(), use_legacy_format=True)
    assert older == {"class_name": "Poisson", "config": {"reduction": "auto", "name": "poisson", "fn": "poisson"}}


def test_functions_by_name_and_back():
    whole = keras.losses.serialize(keras.losses.mean_squared_error)
    assert whole == {"module": "builtins", "class_name": "function", "config": "mean_squared_error",
                     "registered_name": "function"}
    for _ in range(2):
        assert keras.losses.deserialize(whole) is keras.losses.mean_squared_error
        assert keras.activations.deserialize("relu") is keras.activations.relu
    assert keras.activations.serialize(tf.nn.relu) == "relu"
    assert keras.activations.get("leaky_relu") is tf.nn.leaky_relu
    with pytest.raises(ValueError, match="Could not interpret"):
        keras.losses.get(3)


def test_names_of_classes_of_programs():
    @keras.utils.register_keras_serializable("test_parts")
    class Registered(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(y_true - y_pred, -1)

    class Other(keras.initializers.Initializer):
        def __init__(self, value=2.0):
            self.value = value

        def __call__(self, shape, dtype=None):
            return tf.fill(shape, tf.cast(self.value, dtype or tf.float32))

        def get_config(self):
            return {"value": self.value}

    assert keras.losses.serialize(Registered())["registered_name"] == "test_parts>Registered"
    assert type(keras.losses.deserialize(keras.losses.serialize(Registered()))) is Registered
    assert keras.initializers.serialize(Other())["registered_name"] == "Other"
    layer = keras.layers.Dense(1, kernel_initializer=Other)
    np.testing.assert_allclose(layer(np.ones((1, 3), "float32")), [[6.0]])


def test_weights_of_metrics():
    first, second = keras.metrics.CategoricalAccuracy(), keras.metrics.CategoricalAccuracy()
    first.update_state(Y_TRUE, Y_PRED)
    second.update_state(Y_TRUE[:1], Y_PRED[:1])
    first.merge_state([second])
    assert float(first.result()) == pytest.approx(3 / 4)
    second.set_weights(first.get_weights())
    assert [float(w) for w in second.get_weights()] == [3.0, 4.0]
    assert first.trainable_variables == [] and keras.metrics.Mean(dtype="float64").dtype == "float64"
    assert float(copy.deepcopy(first).result()) == pytest.approx(3 / 4)


def test_metrics_inside_metrics():
    class Distance(keras.metrics.Metric):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.mean = keras.metrics.Mean(name="mean")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.mean.update_state(tf.abs(y_true - y_pred), sample_weight)

        def result(self):
            return self.mean.result()

    metric = Distance()
    assert float(metric(Y_TRUE, Y_PRED)) == pytest.approx(2.8 / 9)
    assert [v.name for v in metric.variables] == ["total:0", "count:0"]
    metric.reset_state()
    assert float(metric.result()) == 0.0


def test_missing_attributes_of_classes_of_programs():
    class Needy(keras.metrics.Metric):
        def get_config(self):
            return {"missing": self.missing}

    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        Needy().get_config()


def test_regularizers_by_their_older_names():
    assert isinstance(keras.regularizers.L2(0.5), keras.regularizers.l2)
    assert keras.regularizers.l1(l=0.5).get_config() == {"l1": 0.5}
    assert keras.regularizers.l2(None).get_config()["l2"] == pytest.approx(0.01)
    assert keras.regularizers.orthogonal_regularizer is keras.regularizers.OrthogonalRegularizer
    with pytest.raises(TypeError, match="not recognized"):
        keras.regularizers.l2(foo=1)
    assert keras.regularizers.Regularizer()(tf.ones(3)) == 0.0
    assert isinstance(keras.layers.Dense(1, kernel_regularizer="l2").get_config()["kernel_regularizer"], dict)


def test_shapes_of_partitions():
    assert keras.initializers.Ones()((4, 2), partition_shape=(2, 2), partition_offset=(0, 0)).shape == (2, 2)
    with pytest.raises(TypeError, match="Unknown keyword arguments"):
        keras.initializers.Ones()((4, 2), foo=1)


def test_options_can_be_set():
    regularizer, constraint = keras.regularizers.L2(0.1), keras.constraints.MaxNorm(2.0)
    regularizer.l2, constraint.max_value = 0.5, 1.0
    assert float(regularizer(tf.constant([2.0]))) == 2.0 and regularizer.get_config() == {"l2": 0.5}
    np.testing.assert_allclose(constraint(tf.constant([[2.0]])), [[1.0]], rtol=1e-6)
    initializer, schedule = keras.initializers.Constant(2.0), keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    initializer.value, schedule.initial_learning_rate = 3.0, 1.0
    assert float(initializer(())) == 3.0 and float(schedule(0)) == 1.0
    precision = keras.metrics.Precision()
    precision.class_id = 1
    assert float(precision(np.array([[0.0, 1.0]]), np.array([[0.9, 0.8]]))) == 1.0


def test_losses_of_arrays_keep_their_ranks():
    y_pred = tf.constant([[1.0], [2.0], [3.0], [9.0]])
    loss = keras.losses.MeanSquaredError()
    assert float(loss(np.arange(4.0), y_pred)) == 16.0
    assert float(loss(tf.constant(np.arange(4.0)), y_pred)) == 9.75


def test_weights_of_focal_losses_may_be_several():
    loss = keras.losses.CategoricalFocalCrossentropy(alpha=[0.1, 0.2, 0.3])
    assert loss.get_config()["alpha"] == [0.1, 0.2, 0.3]
    one = keras.losses.CategoricalFocalCrossentropy(alpha=0.2)
    y_true, y_pred = [[0.0, 1.0, 0.0]], [[0.1, 0.7, 0.2]]
    np.testing.assert_allclose(loss(y_true, y_pred), one(y_true, y_pred))
    np.testing.assert_allclose(keras.losses.categorical_focal_crossentropy(y_true, y_pred, alpha=[0.1, 0.2, 0.3])[0],
                               one(y_true, y_pred))


def test_logits_behind_probabilities():
    assert hasattr(keras.activations.sigmoid(tf.ones(2)), "_keras_logits")
    assert not hasattr(tf.ones(2), "_keras_logits")


def test_metrics_show_what_they_count():
    metric = keras.metrics.PrecisionAtRecall(0.5)
    metric.update_state([0, 1], [0.2, 0.8])
    assert metric.true_positives.shape == (200,)
    assert [w.name for w in metric.weights] == ["true_positives:0", "true_negatives:0", "false_positives:0",
                                                "false_negatives:0"]
    np.testing.assert_allclose(keras.metrics.AUC(thresholds=[0.5]).thresholds, [-1e-7, 0.5, 1 + 1e-7])
    assert len(keras.metrics.AUC().thresholds) == 200
    precision = keras.metrics.Precision(thresholds=[0.3, 0.5])
    assert precision.thresholds == [0.3, 0.5] and keras.metrics.Recall().thresholds == [0.5]
    assert keras.metrics.Recall().init_thresholds is None
    one, other = keras.metrics.Mean(), keras.metrics.Mean()
    other.update_state(3.0)
    assert len(one.merge_state([other])) == 2 and float(one.result()) == 3.0


def test_metrics_are_not_made_at_each_trace():
    @tf.function
    def count():
        return keras.metrics.Sum()(3.0)

    with pytest.raises(ValueError, match="tf.function only supports singleton tf.Variables"):
        count()


def test_objects_can_be_written_and_read():
    for made in (keras.losses.Huber(2.0), keras.initializers.HeNormal(3), keras.regularizers.L2(0.5),
                 keras.constraints.MaxNorm(3), keras.metrics.AUC(name="m")):
        other = pickle.loads(pickle.dumps(made))
        assert other.get_config() == made.get_config() and type(other) is type(made)
    mean = keras.metrics.Mean()
    mean.update_state([1.0, 3.0])
    assert float(pickle.loads(pickle.dumps(mean)).result()) == 2.0


def test_initializers_of_parts():
    make = keras.initializers.RandomNormal(seed=1)
    first = make((4, 2), partition_shape=(2, 2), partition_offset=(0, 0))
    second = make((4, 2), partition_shape=(2, 2), partition_offset=(2, 0))
    assert first.shape == (2, 2) and not np.allclose(first, second)
    with pytest.raises(ValueError, match="doesn't support partition-related arguments"):
        keras.initializers.Orthogonal()((4, 2), partition_shape=(2, 2), partition_offset=(0, 0))


def test_what_parts_are_made_of():
    with pytest.raises(ValueError, match="is not a valid regularization penalty number"):
        keras.regularizers.L2("x")
    with pytest.raises(TypeError, match="Could not interpret activation function identifier: 3"):
        keras.activations.get(3)
    assert repr(keras.mixed_precision.Policy("_infer")) == '<Policy "_infer">'
    assert not hasattr(keras.initializers, "ForgetBias") and not hasattr(keras.losses, "Described")


def test_registered_names_of_saving():
    @keras.saving.register_keras_serializable("found")
    class Registered(keras.layers.Layer):
        pass

    assert keras.saving.get_registered_name(Registered) == "found>Registered"
    assert keras.layers.serialize(Registered())["registered_name"] == "found>Registered"


def test_results_of_metrics_of_programs_are_values():
    class Sum(keras.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.total = self.add_weight("total", initializer="zeros")

        def update_state(self, value):
            self.total.assign_add(value)

        def result(self):
            return self.total

    class Several(Sum):
        def result(self):
            return {"total": self.total, "one": 1.0}

    total, several = Sum(), Several()
    first = total(2.0)
    several.update_state(2.0)
    both = several.result()
    total.update_state(3.0)
    several.update_state(3.0)
    assert isinstance(first, tf.Tensor) and float(first) == 2.0  # and not what the variable is now
    assert float(total.result()) == 5.0
    assert all(isinstance(value, tf.Tensor) for value in both.values())
    assert {name: float(value) for name, value in both.items()} == {"total": 2.0, "one": 1.0}


def test_losses_know_their_functions():
    assert keras.losses.MeanSquaredError().fn is keras.losses.mean_squared_error
    assert keras.losses.Huber().fn is keras.losses.huber
    assert not hasattr(keras.losses.Loss(), "fn")


def test_what_is_fixed_of_an_object_can_be_read():
    assert keras.metrics.F1Score().beta == 1.0
    made = keras.initializers.HeNormal()
    assert (made.scale, made.mode, made.distribution) == (2.0, "fan_in", "truncated_normal")
    assert keras.initializers.GlorotUniform().get_config() == {"seed": None}
