"""Which public names of Keras have cases: what make_keras_goldens --coverage prints."""

import collections

import tensorflow as tf

MODULES = ("layers", "losses", "metrics", "optimizers", "optimizers.schedules", "initializers", "regularizers", "constraints", "activations", "callbacks")
HELPERS = {"deserialize", "get", "serialize", "experimental", "legacy", "schedules"}


def report(cases):
    """Prints for each module its names with the number of cases, then those without any."""
    counts = collections.Counter()
    for case in cases:
        counts[case["kind"], case["class"]] += 1
    for path in MODULES:
        module = tf.keras
        for part in path.split("."):
            module = getattr(module, part)
        found, missing = [], []
        for name in dir(module):
            if name.startswith("_") or name in HELPERS:
                continue
            number = cases_of(path.rpartition(".")[2], getattr(module, name), name, counts, module)
            (found if number else missing).append(f"{name} {number}" if number else name)
        print(f"keras.{path}: {len(found)} names with cases: {', '.join(found)}\n  without: {', '.join(missing) or 'none'}")


def cases_of(kind, value, name, counts, module):
    """The cases of a name or of another name for the same object."""
    same = {other for other in dir(module) if getattr(module, other) is value} | {name}
    functions = sum(counts["functions", other] for other in same) if kind in ("losses", "metrics") else 0
    return functions + sum(counts[kind, other] for other in same)
