"""Runs the Keras cases of tests/keras_cases: the half of make_keras_goldens that needs TensorFlow."""

import collections
import random
import re
import traceback

import keras_callbacks
import keras_curves
import keras_layers
import keras_models
import keras_optimizers
import keras_parts
import keras_rows
import keras_symbolic
import keras_training
import op_rows
import tensorflow as tf

Result = collections.namedtuple("Result", "cases data failures")
KINDS = {
    "layers": keras_layers.run, "losses": keras_parts.run_loss, "metrics": keras_parts.run_metric,
    "functions": keras_parts.run_function, "optimizers": keras_optimizers.run,
    "legacy": keras_optimizers.run_legacy, "schedules": keras_optimizers.run_schedule,
    "initializers": keras_parts.run_initializer, "regularizers": keras_parts.run_regularizer,
    "constraints": keras_parts.run_constraint, "activations": keras_parts.run_activation, "curves": keras_curves.run,
    "models": keras_models.run, "callbacks": keras_callbacks.run, "training": keras_training.run,
    "symbolic": keras_symbolic.run,
}
tf.get_logger().setLevel("ERROR")


def kind_of(family):
    return "functions" if family.endswith("_functions") else family.split("_")[0]


def run_family(path):
    """Runs every row of a file. A row marked `_error` must fail in that way, any other must not."""
    blob, cases, failures = bytearray(), [], []
    kind = kind_of(path.stem)
    for name, rows in op_rows.load_rows(path):
        for index, values in enumerate(rows):
            length = len(blob)
            row = keras_rows.Row(path.stem, name, index, values, blob)
            failure = attempt(row, KINDS[kind])
            if failure:
                failures.append(f"{name} row {index}: {failure}")
                del blob[length:]
            else:
                cases.append({"kind": kind} | row.case)
    return Result(cases, bytes(blob), failures)


def attempt(row, run):
    """Fills a row's case; the answer says what went otherwise than the row says."""
    expected = row.values.get("_error")
    tf.keras.backend.clear_session()
    tf.random.set_seed(0)
    random.seed(0)
    try:
        keras_rows.refuse_text_numbers(row.values)
        run(row)
    except Exception as failure:  # Whatever Keras raises is the answer of an `_error` row, and a row to repair otherwise.
        if type(failure).__name__ == expected:
            row.case["error"] = {"class": expected, "stage": row.stage, "message": message_of(failure)}
            return None
        place = traceback.extract_tb(failure.__traceback__)[-1]
        return f"{type(failure).__name__}: {str(failure)[:400]} ({place.filename.rpartition('/')[2]}:{place.lineno})"
    return f"no {expected}" if expected else None


def message_of(failure):
    """An exception's text, without tracebacks that traced functions put before it, and what differs from run to run."""
    text = re.sub(r"(?s)^in user code:.*?\n    \w+: ", "", str(failure))
    text = re.sub(r'(?s)^Graph execution error:.*\n  File "[^\n]*\n', "", text)
    return re.sub(r"https?://\S+| at 0x[0-9a-f]+|(?<=_function)_\d+(?=\])", "", text).strip()
