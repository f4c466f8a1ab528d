"""The gradients that TensorFlow gives for the op cases: what make_goldens --gradients writes to tests/golden/gradients."""

import collections

import golden_runner
import numpy as np
import op_rows
import tensorflow as tf
from tensorflow.python.eager import execute

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
Result = collections.namedtuple("Result", "cases data")


def run_family(path, deadly, progress):
    """One entry per row that succeeds and has a floating input: gradients by input, or why there are none.

    TensorFlow dies of some rows: the number of each goes to `progress` before it is tried, those in `deadly` are not.
    """
    blob = bytearray()
    cases = []
    for number, call in enumerate(golden_runner.calls(path, [])):
        watched = [(name, place) for name, value in call.inputs.items() for place, tensor in enumerate(as_list(value))
                   if tensor.dtype in FLOATS and not tensor.is_list]
        if "_error" in call.values or "_as" in call.values or call.values.get("_check") == "shape" or not watched:
            continue
        case = {"op": call.name, "row": call.row, "variant": call.variant}
        if number in deadly:
            cases.append(case | {"missing": "TensorFlow crashes"})
            continue
        progress.write_text(str(number))
        try:
            gradients = run(path, call)
        except LookupError:
            case["missing"] = "TensorFlow has no gradient"
        except Exception as failure:  # A row that TensorFlow cannot differentiate says so; nothing is compared then.
            case["missing"] = f"{type(failure).__name__}: {str(failure)[:120]}"
        else:
            if gradients is None:
                continue
            case["gradients"] = [[name, place, None if gradient is None else golden_runner.refer(gradient, blob)]
                                 for (name, place), gradient in zip(watched, gradients, strict=True)]
        cases.append(case)
    return Result(cases, bytes(blob))


def as_list(value):
    return value if isinstance(value, list) else [value]


def run(path, call):
    """The gradients of the floating inputs, None for rows without floating outputs."""
    watched = []
    convert, call_op = golden_runner.to_tensorflow, execute.execute
    with tf.GradientTape() as tape:
        def watch(tensor):
            made = convert(tensor)
            if tensor.dtype in FLOATS:
                tape.watch(made)
                watched.append(made)
            return made

        def record(name, count, inputs, attrs, ctx):
            results = call_op(name, count, inputs, attrs, ctx)
            listed = results if isinstance(results, list) else [results]
            execute.record_gradient(name.decode(), inputs, attrs, listed)
            return results

        golden_runner.to_tensorflow, execute.execute = watch, record
        try:
            outputs = answer(path, call)
        finally:
            golden_runner.to_tensorflow, execute.execute = convert, call_op
    outputs = [output for output in outputs if output.dtype.name in FLOATS]
    if not outputs:
        return None
    gradients = tape.gradient(outputs, watched, output_gradients=[weights(output) for output in outputs])
    if not any(int(np.prod(output.shape)) for output in outputs):
        # Of nothing the gradients are 0: TensorFlow leaves their memory unset.
        gradients = [None if gradient is None else tf.zeros_like(source) for source, gradient in zip(watched, gradients, strict=True)]
    return [None if gradient is None else golden_runner.from_tensorflow(in_shape_of(source, tf.convert_to_tensor(gradient)))
            for source, gradient in zip(watched, gradients, strict=True)]


def in_shape_of(source, gradient):
    """Sums over what was broadcast, where TensorFlow leaves that out."""
    if gradient.shape == source.shape:
        return gradient
    more = gradient.shape.rank - source.shape.rank
    axes = [axis for axis in range(gradient.shape.rank) if axis < more or source.shape[axis - more] == 1 != gradient.shape[axis]]
    return tf.reshape(tf.reduce_sum(gradient, axes), source.shape)


def answer(path, call):
    tf.random.set_seed(0)
    if not golden_runner.is_function_family(path):
        return golden_runner.run_op(call)
    tensors = []
    kept = golden_runner.from_tensorflow
    golden_runner.from_tensorflow = tensors.append
    try:
        golden_runner.run(path, call)
    finally:
        golden_runner.from_tensorflow = kept
    return tensors


def weights(output):
    """What every output's gradient starts with; tests/op_cases/gradient_test.cc has the same numbers."""
    count = int(np.prod(output.shape))
    numbers = ((np.arange(count + 1) * 7 + 3) % 11 - 5) / 4 + 0.1
    values = numbers[:-1] + 1j * numbers[1:] if output.dtype.is_complex else numbers[:-1]
    return tf.constant(values.astype(op_rows.DTYPES[output.dtype.name]).reshape(output.shape), output.dtype)
