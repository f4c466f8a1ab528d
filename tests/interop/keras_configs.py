"""Configurations of Thalweg's models read by Keras: the same weights must give the same outputs there.

The models are those of tests/keras_cases/symbolic.yaml; each is made here, and its configuration, its weights and what it answers are
given to TensorFlow's Python, which makes it again.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEAST = 15


def main():
    if sys.argv[1:] == ["--keras"]:
        answer()
        return
    models = list(make_models())
    read = subprocess.run([os.environ["THALWEG_TENSORFLOW_PYTHON"], __file__, "--keras"], input=json.dumps(models), text=True,
                          stdout=subprocess.PIPE, check=True)
    answers = json.loads(read.stdout.splitlines()[-1])
    wrong = [difference for model, other in zip(models, answers, strict=True) if (difference := compare(model, other))]
    for line in wrong:
        print(line)
    print(f"keras_configs: Keras read {len(models)} models, {len(wrong)} gave something else")
    sys.exit(1 if wrong or len(models) < LEAST else 0)


def make_models():
    import thalweg as tf
    import yaml

    rng = np.random.default_rng(0)
    for name, rows in yaml.safe_load((ROOT / "tests" / "keras_cases" / "symbolic.yaml").read_text()).items():
        for number, row in enumerate(rows):
            if row.get("classes"):
                continue  # only this side knows them
            tf.keras.backend.clear_session()
            names = {"tf": tf, "keras": tf.keras, "layers": tf.keras.layers, "np": np}
            exec(row["code"], names)  # noqa: S102: the row is a program
            model = names["model"]
            model.set_weights([rng.normal(size=weight.shape) for weight in model.weights])
            inputs = [draw(rng, tensor) for tensor in model.inputs]
            given = dict(zip(sorted(model.input), inputs, strict=True)) if isinstance(model.input, dict) else inputs
            outputs = tf.nest.flatten(model(given if len(inputs) > 1 or isinstance(given, dict) else inputs[0]))
            yield {"name": f"{name} {number}", "class_name": type(model).__name__, "config": plain(model.get_config()),
                   "weights": [weight.tolist() for weight in model.get_weights()],
                   "inputs": [value.tolist() for value in inputs], "dtypes": [str(value.dtype) for value in inputs],
                   "outputs": [np.asarray(value).tolist() for value in outputs]}


def draw(rng, tensor):
    shape = [2 if size is None and place == 0 else 5 if size is None else size for place, size in enumerate(tensor.shape)]
    if tensor.dtype.name == "int32":
        return rng.integers(0, 4, shape).astype("int32")
    return rng.normal(size=shape).astype(tensor.dtype.name)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {"class_name": "__ellipsis__"} if value is Ellipsis else value


def answer():
    """The other side: reads models, and says what they give."""
    import tensorflow as tf
    from keras.src.saving.legacy.saved_model import json_utils

    answers = []
    for model in json.load(sys.stdin):
        try:
            made = getattr(tf.keras, "Sequential" if model["class_name"] == "Sequential" else "Model").from_config(
                json_utils.decode(json.dumps(model["config"])))
            made.set_weights([np.array(value, "float32") for value in model["weights"]])
            inputs = [np.array(value, dtype) for value, dtype in zip(model["inputs"], model["dtypes"], strict=True)]
            given = dict(zip(sorted(made.input), inputs, strict=True)) if isinstance(made.input, dict) else inputs
            outputs = tf.nest.flatten(made(given if len(inputs) > 1 or isinstance(given, dict) else inputs[0]))
            answers.append([value.numpy().tolist() for value in outputs])
        except Exception as failure:  # Whatever Keras raises is what the comparison shows.
            answers.append(f"{type(failure).__name__}: {str(failure)[:300]}")
    print(json.dumps(answers))


def compare(model, other):
    if isinstance(other, str):
        return f"{model['name']}: Keras raises {other}"
    if len(model["outputs"]) != len(other):
        return f"{model['name']}: {len(model['outputs'])} outputs, Keras has {len(other)}"
    for place, (ours, theirs) in enumerate(zip(model["outputs"], other, strict=True)):
        if np.shape(ours) != np.shape(theirs) or not np.allclose(ours, theirs, rtol=1e-3, atol=1e-4):
            return f"{model['name']}: output {place} differs"
    return None


if __name__ == "__main__":
    main()
