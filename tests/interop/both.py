"""Runs one script in Thalweg's Python and in TensorFlow's, and compares what it answers, line by line.

A script has `answers(tf, count, seed)`, which gives (what was asked, answer) pairs of text.
"""

import argparse
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys


def main(script, count, answers):
    """The body of a script: compares the two sides; with --engine it is one of them."""
    parser = make_parser(count, 40)
    parser.add_argument("--show-errors", type=int, default=0, help="different classes of errors to print")
    options = parser.parse_args()
    if options.engine:
        for pair in answers(importlib.import_module(options.engine), options.count, options.seed):
            print(json.dumps(pair))
        return
    ours, theirs = run_sides(script, options)
    pairs = list(zip(lines(ours), lines(theirs), strict=True))
    import yaml  # the side with TensorFlow needs none

    known = yaml.safe_load((pathlib.Path(__file__).parent / "known_differences.yaml").read_text())["expressions"]
    num_known = 0
    wrong, other_errors, missing = [], [], []
    for (question, answer), (_, wanted) in pairs:
        if answer == wanted:
            continue
        if any(re.search(row["expression"], question) and re.search(row.get("seen", ""), answer) for row in known):
            num_known += 1
            continue
        if answer.startswith("raises") and wanted.startswith("raises"):
            other_errors.append((question, answer, wanted))
        else:
            (missing if answer == "raises AttributeError: module" else wrong).append((question, answer, wanted))
    for question, answer, wanted in wrong[: options.show]:
        print(f"{question}\n  Thalweg:    {answer!r}\n  TensorFlow: {wanted!r}")
    for question, answer, wanted in other_errors[: options.show_errors]:
        print(f"{question}: {answer}, TensorFlow {wanted}")
    print(f"{os.path.basename(script)}: {len(pairs)} compared, {len(wrong)} differ, {len(other_errors)} refused by both with "
          f"different classes of errors, {len(missing)} ask for functions that are not there, {num_known} known differences")
    sys.exit(1 if wrong else 0)


def make_parser(count, show):
    """The options that every script of two sides has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", default="")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=show, help="differences to print")
    return parser


def run_sides(script, options):
    """What a script prints with --engine thalweg and with --engine tensorflow, each in its own Python, side by side."""
    arguments = [script, "--count", str(options.count), "--seed", str(options.seed), "--engine"]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    theirs = subprocess.Popen([os.environ["THALWEG_TENSORFLOW_PYTHON"], *arguments, "tensorflow"], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ours = subprocess.run([sys.executable, *arguments, "thalweg"], capture_output=True, text=True, check=False)
    expected, complaint = theirs.communicate()
    if ours.returncode or theirs.returncode:
        sys.exit(f"A side did not finish.\n{ours.stderr[-2000:]}\n{complaint[-2000:]}")
    return ours.stdout, expected


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("[")]
