"""The rows of tests/op_cases through Python: tf.raw_ops and the public functions, by keywords."""

import functools
import json
import pathlib

import numpy as np
import op_calls
import pytest

import thalweg as tf

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
FAMILIES = sorted(path.stem for path in GOLDEN.glob("*.npz"))


@functools.lru_cache(maxsize=1)
def read_family(family):
    """The cases of a golden file by the name of their op or function."""
    with np.load(GOLDEN / f"{family}.npz") as file:
        manifest, data = json.loads(bytes(file["manifest"])), bytes(file["data"])
    cases = {}
    for case in manifest["cases"]:
        cases.setdefault(case["op"], []).append(case)
    return cases, data


def reference(tensor, data):
    """A golden's tensor as (dtype, shape, content)."""
    start = tensor["offset"]
    if tensor["dtype"] == "string":
        ends = np.cumsum([start] + tensor.get("lengths", []))
        content = tuple(data[a:b] for a, b in zip(ends, ends[1:]))
    else:
        content = data[start : start + tensor["bytes"]]
    return tensor["dtype"], tuple(tensor["shape"]), content


def references(value, data):
    """Every tensor inside a value of the manifest, as (dtype, shape, content)."""
    if isinstance(value, list):
        return [references(item, data) for item in value]
    if isinstance(value, dict):
        return reference(value, data) if "offset" in value else {"tensor": reference(value["tensor"], data)}
    return value


def problem(case, data):
    """What is wrong with the answer to one case, or an empty text."""
    inputs = {name: references(value, data) for name, value in case["inputs"].items()}
    variables = {name: op_calls.make_variable(inputs[name], value["variable"] == "initialized")
                 for name, value in case["inputs"].items() if "variable" in value}
    variables_and_lists = variables | {name: op_calls.make_list(inputs[name], value["list"] == "initialized", value["batch"])
                                       for name, value in case["inputs"].items() if "list" in value}
    before = {name: op_calls.read_variable(handle, inputs[name][0]) for name, handle in variables.items()}
    attrs = {name: references(value, data) for name, value in case["attrs"].items()}
    run = op_calls.run_function if case["kind"] == "function" else op_calls.run_op
    if hasattr(tf, "random"):
        tf.random.set_seed(0)
    try:
        got = [op_calls.encode(tensor) for tensor in run(case["op"], inputs | variables_and_lists, attrs)]
    except (tf.errors.OpError, ValueError, TypeError, RuntimeError, AssertionError) as error:
        if not case["error"]:
            return f"raised {type(error).__name__}: {error}"
        after = {name: op_calls.read_variable(handle, inputs[name][0]) for name, handle in variables.items()}
        return "" if after == before else "was refused but changed a variable"
    if case["error"]:
        return f"was accepted, expected {case['error']}"
    if len(got) != len(case["outputs"]):
        return f"gave {len(got)} results, expected {len(case['outputs'])}"
    for place, (mine, golden) in enumerate(zip(got, case["outputs"])):
        check = golden.get("check", case["check"])
        if text := op_calls.difference(mine, reference(golden, data), case["tolerance"], check):
            return f"result {place}: {text}"
    for name, golden in case.get("after", {}).items():
        mine = op_calls.read_variable(variables[name], inputs[name][0])
        if mine is None or golden is None:
            text = "" if mine is golden else "a value is missing or left over"
        else:
            text = op_calls.difference(mine, reference(golden, data), case["tolerance"])
        if text:
            return f"{name} after the call: {text}"
    return ""


def exists(name, case):
    return op_calls.find_function(name) is not None if case["kind"] == "function" else hasattr(tf.raw_ops, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows(family):
    cases, data = read_family(family)
    problems = []
    for name, rows in cases.items():
        if not exists(name, rows[0]):
            continue
        for case in rows:
            if text := problem(case, data):
                problems.append(f"{name} row {case['row']} {case['variant'] or ''}: {text}")
    assert not problems, "\n".join(problems)
