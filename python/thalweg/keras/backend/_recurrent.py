"""A step function over time."""

import thalweg as tf


def _swap(x):
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])


def _chosen(kept, new, old):
    """The new value of the examples that count, [batch, 1] or more dimensions, and the old one of the others."""
    return tf.where(tf.reshape(kept, [-1] + [1] * (len(new.shape) - 1)), new, old)


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    """Calls `step_function(inputs_of_a_step, states)` step by step: the last output, all of them, and the last states.

    Inputs are [batch, time, ...]. Where the mask [batch, time] is false, states stay and the output is the one before.
    """
    inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
    if mask is not None:
        mask = tf.cast(mask, tf.bool)
    if not time_major:
        inputs = tf.nest.map_structure(_swap, inputs)
        mask = mask if mask is None else _swap(mask)
    constants = list(constants or [])

    def advance(step, states, before):
        """The outputs and states, as flat lists, after the step of this number."""
        output, new = step_function(tf.nest.map_structure(lambda x: x[step], inputs), [*states, *constants])
        outputs, new = tf.nest.flatten(output), tf.nest.flatten(new)
        if mask is not None:
            if before is None or zero_output_for_mask:
                before = [tf.zeros_like(x) for x in outputs]
            outputs = [_chosen(mask[step], x, old) for x, old in zip(outputs, before)]
            new = [_chosen(mask[step], x, old) for x, old in zip(new, tf.nest.flatten(states))]
        return outputs, new, output

    length = tf.nest.flatten(inputs)[0].shape[0]
    if unroll and length is None:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    run = _loop if length is None else _unroll
    outputs, last, states, structure = run(advance, inputs, list(initial_states), go_backwards, return_all_outputs)
    if not time_major:
        outputs = [_swap(x) for x in outputs]
    pack = lambda flat: tf.nest.pack_sequence_as(structure, flat)
    states = tf.nest.pack_sequence_as(list(initial_states), states)
    return pack(last), pack(outputs), states if unroll else tuple(states)


def _unroll(advance, inputs, states, go_backwards, return_all_outputs):
    length = tf.nest.flatten(inputs)[0].shape[0]
    all_outputs, before, like = [], None, states
    for step in reversed(range(length)) if go_backwards else range(length):
        before, flat, structure = advance(step, states, before)
        states = tf.nest.pack_sequence_as(like, flat)
        all_outputs.append(before)
    kept = all_outputs if return_all_outputs else all_outputs[-1:]
    return [tf.stack(parts) for parts in zip(*kept)], before, tf.nest.flatten(states), structure


def _loop(advance, inputs, states, go_backwards, return_all_outputs):
    """The same for as many steps as there are when it runs."""
    length = tf.shape(tf.nest.flatten(inputs)[0])[0]
    first, _, structure = advance(0, states, None)  # says what outputs are like
    like, flat_states = states, tf.nest.flatten(states)
    arrays = tuple(tf.TensorArray(x.dtype, size=length if return_all_outputs else 1, element_shape=x.shape) for x in first)

    def body(time, arrays, before, states):
        step = length - 1 - time if go_backwards else time
        outputs, new, _ = advance(step, tf.nest.pack_sequence_as(like, list(states)), list(before))
        place = time if return_all_outputs else 0
        return (time + 1, tuple(array.write(place, x) for array, x in zip(arrays, outputs)), tuple(outputs), tuple(new))

    any_batch = lambda values: tuple(tf.TensorShape([None, *x.shape[1:]]) if len(x.shape) else x.shape for x in values)
    _, arrays, last, flat_states = tf.while_loop(
        lambda time, *_: time < length, body,
        (tf.constant(0), arrays, tuple(tf.zeros_like(x) for x in first), tuple(flat_states)),
        shape_invariants=(tf.TensorShape([]), tuple(tf.TensorShape(None) for _ in arrays), any_batch(first),
                          any_batch(flat_states)))
    return [array.stack() for array in arrays], list(last), list(flat_states), structure
