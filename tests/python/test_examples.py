"""The examples print what TensorFlow 2.15 prints for the same programs."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "examples" / "python"
# These print what their twins in C++ do, to the letter.
TWINS = ("dynamic_rnn", "keras_custom", "keras_functional", "keras_sequential", "keras_subclassing",
         "keras_training_loop")
EXPECTED = {
    "linear_regression": """before: loss 67.0199
step 50: loss 0.2655
step 100: loss 0.2628
step 150: loss 0.2628
step 200: loss 0.2628
slope 2.9960, offset 2.0044
""",
    "line_search": """step 1: rate 0.000977, value 5.101113, at [-0.989453, 1.085938]
step 2: rate 0.001953, value 5.047011, at [-1.064332, 1.044172]
step 3: rate 0.000977, value 4.114039, at [-1.023451, 1.061483]
step 4: rate 0.001953, value 4.108085, at [-1.026765, 1.056002]
step 5: rate 0.001953, value 4.102153, at [-1.020256, 1.055316]
""",
    "custom_gradient": """at 0.0: plain 0.5, stable 0.5
at 100.0: plain nan, stable 1.0
unclipped [3. 4.]
clipped   [0.6 0.8]
""",
    "higher_order": """x^4 at 2: 16.0 32.0 48.0 48.0
gradient: ['2.1612', '3.3659']
hessian: [['-3.3659', '2.1612'], ['2.1612', '1.6829']]
hessian times direction: ['-5.5271', '0.4783']
""",
    "modules": """steps:0 ()
regressor/first/bias:0 (4,)
regressor/first/kernel:0 (1, 4)
regressor/second/bias:0 (4,)
regressor/second/kernel:0 (4, 4)
regressor/head/bias:0 (1,)
regressor/head/kernel:0 (4, 1)
submodules: 3
step 0: loss 0.2413
step 50: loss 0.0438
step 100: loss 0.0162
step 150: loss 0.0109
step 200: loss 0.0089
steps: 201
""",
    "functions": """tracing a step for batches of shape (5, 2)
tracing a step for batches of shape (2, 2)
epoch 0: loss 1.2683
epoch 4: loss 0.0597
epoch 8: loss 0.0032
traced 2 times, b = 0.3830
root of 2.0000: 1.4142, slope 0.3536
root of 9.0000: 3.0000, slope 0.1667
root of 2.0000: 1.4142, slope 0.3536
5.3997
""",
    # TensorFlow counts the memory of GPUs alone; these are the sizes of the variables.
    "variable_lifetime": """one variable of 4 MB: 4 MB more
a snapshot and a changed value: 8 MB more; 0.0 1.0
without the snapshot: 4 MB more
without the variable: 0 MB more; alive: False
""",
}


EXPECTED |= {name: (ROOT / "tests" / "golden" / "examples" / f"{name}.txt").read_text() for name in TWINS}


def run(name, *arguments):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", *arguments], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


@pytest.mark.parametrize("name", EXPECTED)
def test_prints(name):
    assert run(name) == EXPECTED[name]


def test_mnist():
    text = run("mnist", "1")
    assert "dense_1 (Dense)             (None, 10)                1290" in text
    assert re.search(r"Test accuracy: 9[5-9]\.", text)
    assert "This is a 7; the model says 7" in text and text.count("@@") > 100


def test_every_example_is_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*EXPECTED, "mnist"}
