"""Which public names of Keras have cases: what make_keras_goldens --coverage prints."""

import collections
import inspect

import tensorflow as tf

MODULES = ("layers", "losses", "metrics", "optimizers", "optimizers.schedules", "initializers",
           "regularizers", "constraints", "activations", "callbacks")
HELPERS = {"deserialize", "get", "serialize", "experimental", "legacy", "schedules"}
REASONS = {
    "a base class or a helper": {"AbstractRNNCell", "InputSpec", "Layer", "Wrapper", "Loss", "Reduction", "Metric", "Optimizer",
                                 "LearningRateSchedule", "Initializer", "Regularizer", "Constraint", "Callback", "CallbackList", "BaseLogger"},
    "takes a function": {"Lambda", "MeanMetricWrapper", "LambdaCallback"},
    "text, lookup or random images": {"IntegerLookup", "StringLookup", "TextVectorization", "RandomBrightness", "RandomContrast", "RandomCrop",
                                      "RandomFlip", "RandomHeight", "RandomRotation", "RandomTranslation", "RandomWidth", "RandomZoom"},
    "belongs to feature columns": {"DenseFeatures"},
    "writes files or speaks to servers": {"BackupAndRestore", "ModelCheckpoint", "RemoteMonitor", "SidecarEvaluatorModelExport", "TensorBoard"},
    "prints times": {"ProgbarLogger"},
}


def report(cases):
    """Prints for each module its names with the number of cases, then those without any and why."""
    counts = collections.Counter((case["kind"], case["class"]) for case in cases)
    for path in MODULES:
        module = tf.keras
        for part in path.split("."):
            module = getattr(module, part)
        names = [name for name in dir(module) if not name.startswith("_") and name not in HELPERS]
        numbers = {name: cases_of(path.rpartition(".")[2], module, name, counts) for name in names}
        found = [f"{name} {number}" for name, number in numbers.items() if number]
        print(f"keras.{path}: {len(found)} of {len(names)} names have cases\n  {', '.join(found)}")
        for reason, group in [*REASONS.items(), ("no case", None)]:
            known = set().union(*REASONS.values()) if group is None else set()
            missing = [name for name in names if not numbers[name] and (name not in known if group is None else name in group)]
            if missing:
                print(f"  {reason}: {', '.join(missing)}")


def cases_of(kind, module, name, counts):
    """The cases of a name, or of another name for the same object; functions that make objects have those of the class."""
    value = getattr(module, name)
    same = {other for other in dir(module) if getattr(module, other) is value} | {name}
    if kind in ("layers", "regularizers") and not inspect.isclass(value):
        same |= {other for other in dir(module) if other.lower() == name.replace("_", "")} | ({"InputLayer"} if name == "Input" else set())
    functions = sum(counts["functions", other] for other in same) if kind in ("losses", "metrics") else 0
    return functions + sum(counts[kind, other] for other in same)
