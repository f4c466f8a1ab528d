"""tf.data: sources, transformations, and training on datasets."""

import numpy as np
import pytest
import thalweg as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [np.asarray(element).tolist() for element in dataset.as_numpy_iterator()]


def test_sources():
    assert values(Dataset.range(3)) == [0, 1, 2]
    assert values(Dataset.range(5, 0, -2)) == [5, 3, 1]
    assert values(Dataset.from_tensor_slices([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert values(Dataset.from_tensors([1, 2])) == [[1, 2]]
    features, label = next(iter(Dataset.from_tensor_slices(({"a": [1, 2, 3]}, np.float32([4, 5, 6])))))
    assert features["a"].numpy() == 1 and label.dtype == tf.float32


def test_transformations():
    assert values(Dataset.range(5).batch(2)) == [[0, 1], [2, 3], [4]]
    assert values(Dataset.range(5).batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
    assert values(Dataset.range(2).repeat().take(3)) == [0, 1, 0]
    assert values(Dataset.range(4).skip(2).repeat(2).prefetch(tf.data.AUTOTUNE)) == [2, 3, 2, 3]
    tf.random.set_seed(3)  # what TensorFlow draws then
    assert values(Dataset.range(10).shuffle(4)) == [3, 0, 1, 4, 6, 7, 5, 2, 8, 9]


def test_what_is_known():
    dataset = Dataset.from_tensor_slices(({"a": [1, 2, 3]}, [1.0, 2.0, 3.0])).batch(2)
    assert dataset.element_spec == ({"a": tf.TensorSpec((None,), tf.int32)}, tf.TensorSpec((None,), tf.float32))
    assert repr(dataset) == ("<_BatchDataset element_spec=({'a': TensorSpec(shape=(None,), dtype=tf.int32, name=None)}, "
                             "TensorSpec(shape=(None,), dtype=tf.float32, name=None))>")
    assert len(dataset) == 2 and dataset.cardinality().numpy() == 2
    with pytest.raises(TypeError, match="The dataset is infinite."):
        len(dataset.repeat())
    with pytest.raises(ValueError, match="between 1 and 3 but was 0"):
        Dataset.range()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size must be greater than zero"):
        Dataset.range(3).batch(0)


def model_and_data():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile("sgd", "mse")
    x = np.arange(12, dtype=np.float32).reshape(6, 2) / 12
    return model, x, x.sum(axis=1, keepdims=True) * 2


def test_training_on_a_dataset_is_training_on_its_arrays():
    model, x, y = model_and_data()
    twin = tf.keras.models.clone_model(model)
    twin.compile("sgd", "mse")
    twin.set_weights(model.get_weights())
    dataset = Dataset.from_tensor_slices((x, y)).batch(2)
    on_dataset = model.fit(dataset, epochs=3, verbose=0, validation_data=dataset)
    on_arrays = twin.fit(x, y, batch_size=2, shuffle=False, epochs=3, verbose=0, validation_data=(x, y))
    assert on_dataset.history["loss"] == on_arrays.history["loss"]
    np.testing.assert_allclose(on_dataset.history["val_loss"], on_arrays.history["val_loss"], rtol=1e-6)
    assert model.evaluate(dataset.repeat(), steps=3, verbose=0) == model.evaluate(x, y, batch_size=2, verbose=0)
    assert model.predict(dataset.repeat(), steps=4, verbose=0).shape == (8, 1)


def test_class_weights_count_once():
    weights = []
    for source in ("dataset", "generator", "arrays"):
        model, x, _ = model_and_data()
        labels = np.array([0, 1, 0, 1, 1, 0])
        if source == "dataset":
            model.fit(Dataset.from_tensor_slices((x, labels)).batch(6), class_weight={0: 0.5, 1: 3.0}, verbose=0)
        elif source == "generator":
            model.fit((pair for pair in [(x, labels)]), class_weight={0: 0.5, 1: 3.0}, verbose=0)
        else:
            model.fit(x, labels, batch_size=6, shuffle=False, class_weight={0: 0.5, 1: 3.0}, verbose=0)
        weights.append(model.get_weights()[0])
    np.testing.assert_array_equal(weights[0], weights[2])
    np.testing.assert_array_equal(weights[1], weights[2])


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_an_endless_dataset_needs_a_number_of_steps(method):
    model, x, y = model_and_data()
    with pytest.raises(ValueError, match="When providing an infinite dataset, you must specify the number of steps"):
        getattr(model, method)(Dataset.from_tensor_slices((x, y)).batch(2).repeat(), verbose=0)


def test_a_pass_can_be_asked_for_its_next_element():
    elements = iter(tf.data.Dataset.from_tensor_slices([1, 2]))
    assert elements.element_spec == tf.TensorSpec([], tf.int32)
    assert [int(elements.get_next()), int(next(elements))] == [1, 2]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        elements.get_next()
