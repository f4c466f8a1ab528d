#!/usr/bin/env python3
"""The examples in C++ and Python print the numbers that TensorFlow gives for the Python ones.

    examples.py [--show]

tests/golden/examples/<name>.txt is what examples/cpp/<name>.cc prints (a test of its own sees to that); its numbers are compared, in
order, with those of examples/python/<name>.py, run with Thalweg and with TensorFlow. Memory is shown by Thalweg alone; numbers that
dropout has a part in are not TensorFlow's: there the words are compared.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOLERANCE = 2e-4
OURS_ALONE = {"variable_lifetime"}  # TensorFlow keeps no count of a CPU's memory
DROPS_OUT = {"keras_training_loop"}  # layers draw their masks with other generators than Keras's
# TensorFlow would fetch the data from the network.
LOAD_MNIST = f"""
import numpy
files = numpy.load({str(ROOT / "data" / "mnist.npz")!r})
tf.keras.datasets.mnist.load_data = lambda: (
    (files["x_train"], files["y_train"]), (files["x_test"], files["y_test"]))
"""
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan)(?![\w])")


def numbers(text):
    """The numbers of a printed text; shapes and dtypes are none."""
    text = re.sub(r"shape=\([^)]*\), dtype=\w+", "", text)
    return [float(found) for found in NUMBER.findall(text)]


def run(python, program, engine):
    """What a program prints with `import thalweg as tf` answered by an engine."""
    source = program.read_text()
    if engine != "thalweg":
        source = source.replace("import thalweg as tf\n", f"import {engine} as tf\n{LOAD_MNIST}", 1)
    done = subprocess.run([python, "-c", source], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program.name} with {engine}:\n{done.stderr[-2000:]}")
    return done.stdout


def agree(name, text, reference):
    """Whether two texts have the same numbers, or the same words; both may have NaN in one place."""
    if name in DROPS_OUT:
        return NUMBER.sub("", text) == NUMBER.sub("", reference)
    some, others = numbers(text), numbers(reference)
    same = [abs(a - b) <= TOLERANCE * max(1, abs(b)) or (a != a and b != b) for a, b in zip(some, others)]
    return len(some) == len(others) and all(same)


def main():
    wrong, count = 0, 0
    for golden in sorted((ROOT / "tests" / "golden" / "examples").glob("*.txt")):
        program = ROOT / "examples" / "python" / f"{golden.stem}.py"
        texts = {"C++": golden.read_text(), "Python": run(sys.executable, program, "thalweg")}
        if golden.stem not in OURS_ALONE:
            texts["TensorFlow"] = run(os.environ["THALWEG_TENSORFLOW_PYTHON"], program, "tensorflow")
        reference = list(texts)[-1]
        for side, text in texts.items():
            if not agree(golden.stem, text, texts[reference]):
                print(f"{golden.stem}: {side} and {reference} differ\n{text}\n{texts[reference]}")
                wrong += 1
        count += 1
    print(f"examples.py: {count} examples compared, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
