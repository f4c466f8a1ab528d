"""tf.random.Generator, with the numbers that TensorFlow 2.15 draws."""

import pytest

import thalweg as tf

Generator = tf.random.Generator


def state(generator):
    return generator.state.numpy().tolist()


def test_draws_are_tensorflows():
    g = Generator.from_seed(1234)
    assert g.normal([3]).numpy().tolist() == [0.9356608986854553, 1.0854305028915405, -0.937883734703064]
    assert g.uniform([2]).numpy().tolist() == [0.3107341527938843, 0.36818230152130127]
    assert g.truncated_normal([2], 1.0, 2.0).numpy().tolist() == pytest.approx([-1.0991981029510498, 4.487746238708496])
    assert g.uniform([3], 0, 100, tf.int32).numpy().tolist() == [54, 2, 87]
    assert g.uniform_full_int([2]).numpy().tolist() == [4288978007584066042, 7759893060715269298]
    assert g.make_seeds(2).numpy().tolist() == [[6684997737015905965, -571774197512731970], [0, 0]]
    assert [state(new) for new in g.split(2)] == [[0, 0, -7460811823839448953], [0, 0, 8989441819010609658]]
    assert g.skip(5).numpy().tolist() == [5330, 0, 0]
    assert state(g) == [6610, 0, 0]


@pytest.mark.parametrize("seed, words", [
    (1, [1, 0, 0]), (-5, [-5, -1, -1]), (2**70 + 3, [3, 64, 0]), ([1, 2], [0, 1, 2]), ([1, 2, 3, 4], [1, 2, 3]),
    ([2**63 + 5], [0, 0, 5 - 2**63]),
], ids=repr)
def test_seeds_are_states(seed, words):
    assert state(Generator.from_seed(seed)) == words
    assert tf.random.create_rng_state(seed, "philox").numpy().tolist() == words


@pytest.mark.parametrize("alg, number", [
    (None, 1), ("philox", 1), ("ThreeFry", 2), ("auto_select", 3), (1, 1), (tf.random.Algorithm.AUTO_SELECT, 3),
], ids=repr)
def test_algorithms(alg, number):
    g = Generator.from_seed(5, alg)
    assert g.algorithm == number
    assert len(state(g)) == (2 if number == 2 else 3)
    if number == 2:
        pytest.raises(tf.errors.UnimplementedError, g.normal, [3])


@pytest.mark.parametrize("alg, error", [("foo", ValueError), (7, ValueError), (1.5, TypeError)], ids=repr)
def test_unknown_algorithms(alg, error):
    pytest.raises(error, Generator.from_seed, 5, alg)
    pytest.raises(error, tf.random.create_rng_state, 5, alg)


def test_states_and_keys():
    g = Generator.from_state([1, 2, 3], alg="philox")
    assert (state(g), int(g.key)) == ([1, 2, 3], 3)
    copy = Generator(copy_from=g)
    copy.normal([4])
    assert state(g) == [1, 2, 3]
    assert state(Generator.from_key_counter(3, [4, 5], 1)) == [4, 5, 3]
    g.reset([7, 8, 9])
    assert state(g) == [7, 8, 9]
    g.reset_from_seed(77)
    assert state(g) == [77, 0, 0]
    g.reset_from_key_counter(5, [6, 7])
    assert state(g) == [6, 7, 5]
    assert Generator.from_non_deterministic_state().state.shape == [3]
    assert state(Generator.from_non_deterministic_state()) != state(Generator.from_non_deterministic_state())


def test_bad_calls():
    g = Generator.from_seed(1)
    pytest.raises(ValueError, Generator.from_state, [1, 2], "philox")
    pytest.raises(ValueError, Generator.from_key_counter, 3, [4], 1)
    pytest.raises(ValueError, Generator.from_key_counter, [3], [4, 5], 1)
    pytest.raises(ValueError, g.reset, [1])
    pytest.raises(ValueError, g.uniform, [3], dtype=tf.int32)
    pytest.raises(ValueError, g.uniform, [3], None, 3, tf.int32)
    pytest.raises(tf.errors.InvalidArgumentError, g.uniform, [3], 5, 3, tf.int32)
    pytest.raises(tf.errors.InvalidArgumentError, g.normal, [-1])
    pytest.raises(AssertionError, Generator)


def test_global_generator():
    assert tf.random.get_global_generator() is tf.random.get_global_generator()
    g = Generator.from_seed(3)
    tf.random.set_global_generator(g)
    assert tf.random.get_global_generator() is g
    assert tf.random.experimental.get_global_generator() is g
