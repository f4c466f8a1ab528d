"""A step function over time."""

import thalweg as tf


def _spread(mask, x):
    """A mask [batch, 1] over the dimensions of x."""
    return tf.reshape(mask, [-1] + [1] * (len(x.shape) - 1))


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    """Calls `step_function(inputs_of_a_step, states)` step by step: the last output, all of them, and the last states.

    Inputs are [batch, time, ...]. Where the mask [batch, time] is false, states stay and the output is the one before.
    """
    def swap(x):
        return tf.transpose(x, [1, 0, *range(2, len(x.shape))])

    if not time_major:
        inputs = tf.nest.map_structure(swap, inputs)
        mask = mask if mask is None else swap(mask)
    length = tf.nest.flatten(inputs)[0].shape[0]
    if length is None:
        raise ValueError("rnn takes inputs whose number of steps is known")
    constants = list(constants or [])
    states, outputs, before = list(initial_states), [], None
    for step in reversed(range(length)) if go_backwards else range(length):
        output, new_states = step_function(tf.nest.map_structure(lambda x: x[step], inputs), [*states, *constants])
        new_states = list(new_states)
        if mask is not None:
            kept = mask[step]
            previous = tf.zeros_like(output) if before is None or zero_output_for_mask else before
            output = tf.where(_spread(kept, output), output, previous)
            new_states = [tf.where(_spread(kept, new), new, old) for new, old in zip(new_states, states)]
        before, states = output, new_states
        outputs.append(output)
    stacked = tf.stack(outputs if return_all_outputs else outputs[-1:])
    return outputs[-1], stacked if time_major else swap(stacked), states if unroll else tuple(states)
