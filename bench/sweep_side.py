"""One side of bench/sweep.py: makes calls ready and times them, in Thalweg or in TensorFlow. Run by that package's own Python.

    sweep_side.py thalweg|tensorflow THREADS

Reads pickled orders from standard input and answers each on standard output. Rows of tests/op_cases become calls in TensorFlow's
process, whose registry knows what an op takes; both sides get the same bytes.
"""

import importlib
import math
import os
import pathlib
import pickle
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE, THREADS = sys.argv[1], int(sys.argv[2])
LIMIT = 0.25  # seconds that a call may take: a matrix of 1000 x 1000 has slow decompositions, of which a batch of small ones is made
MAIN_DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64", "string")
MOST_STRINGS = 10_000  # they are drawn one by one

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
if THREADS > 1 or len(os.sched_getaffinity(0)) > 1:
    os.sched_setaffinity(0, range(THREADS))
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "interop")]
tf = sys.modules["thalweg"] = importlib.import_module(PACKAGE)  # op_calls asks for thalweg, and works with either
import op_calls  # noqa: E402: it imports the package that was chosen above
from timing import seconds  # noqa: E402

if PACKAGE == "tensorflow":
    import inspect

    import drawing
    import tensorflow_worker

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def names():
    """Every op and public function; of those that do the same the first."""
    ops = [name for name in vars(tf.raw_ops) if not name.startswith("_")]
    seen = {name.lower() for name in ops}
    functions = []
    for name in tf._thalweg.functions():
        last = name.rpartition(".")[2].replace("_", "")
        if last not in seen:
            seen.add(last)
            functions.append(name)
    return ops + functions


def dtypes_of(entry, row, letter):
    return drawing.REAL_DTYPES if entry.is_function else drawing.golden_runner.allowed(entry.op_def, row, letter)


def cases(wanted, fits):
    """[(name, dtypes, rows)] of what has rows: those of one choice of dtypes, of which the first that grows is measured."""
    found = {}
    for entry in drawing.Drawer(0, [name for name in wanted if fits(name)]).entries:
        for row in entry.good:
            if "special" in str(row):
                continue
            for _, values in drawing.op_rows.variants(row, lambda letter: dtypes_of(entry, row, letter)):
                specs = [match for _, _, match in drawing.specs(values)]
                kinds = [value for key, value in values.items() if not key.startswith("_") and value in op_calls.DTYPES]
                if specs and (entry.name == "Cast" or specs[0][1] in MAIN_DTYPES):
                    found.setdefault((entry.name, "->".join([specs[0][1], *kinds])), []).append((entry, values))
    return [(name, dtypes, rows) for (name, dtypes), rows in found.items()]


def grown(row, size):
    """The row with about `size` elements in its largest input: all dimensions larger, or one of them. Equal ones stay equal.

    Each comes as a list, in which the same dimensions grown less stand before it: nobody waits for what is far too slow.
    """
    places = [(key, place, match) for key, place, match in drawing.specs(row) if match[5] is None and match[2]]
    shapes = [drawing.dims_of(match) for _, _, match in places]
    sizes = list(dict.fromkeys(dim for shape in shapes for dim in shape if dim > 1))
    if not sizes or any(0 in shape for shape in shapes):
        return

    def multiplied(chosen, factor):
        return {dim: max(1, round(dim * factor)) if dim in chosen else dim for dim in [1, *sizes]}

    def largest(changed):
        return max(math.prod(changed[dim] for dim in shape) for shape in shapes)

    def with_elements(chosen, size):
        low, high = 1 / max(sizes), float(size)
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if largest(multiplied(chosen, middle)) < size else (low, middle)
        changed = multiplied(chosen, high)
        if not size / 3 <= largest(changed) <= size * 3:
            return None
        new = dict(row)
        for (key, place, match), shape in zip(places, shapes):
            drawing.put(new, key, place, drawing.write_spec(match, dims=[changed.get(dim, dim) for dim in shape]))
        for key, value in new.items():
            if drawing.SHAPE_WORDS.search(key) and isinstance(value, list) and all(type(item) is int for item in value):
                new[key] = [changed.get(item, item) for item in value]
        return new

    for chosen in [sizes, *([dim] for dim in sizes if len(sizes) > 1)]:
        steps = [with_elements(chosen, elements) for elements in (size // 100, size // 10, size) if elements >= 100]
        if steps[-1]:
            yield [new for new in steps if new]


def make(rows, size):
    """The call of the first row that TensorFlow takes at a size within the limit, or None."""
    for (entry, row), _ in zip(rows, range(6)):
        if "string" in str(row) and size > MOST_STRINGS:
            continue
        for steps in grown(row, size):
            try:
                for new in steps:
                    call = call_of(entry, new)
                    if prepare(call)["seconds"] > (LIMIT if new is steps[-1] else LIMIT / 10):  # the next has ten times as much
                        break
                else:
                    return call
            except Exception:  # whatever the reason, the next one may fit
                continue
    return None


def call_of(entry, row):
    inputs, attrs = entry.arguments(row, f"sweep/{entry.name}")
    call = {"name": entry.name, "is_function": entry.is_function, "row": row,
            "inputs": {name: tensorflow_worker.pack(value) for name, value in inputs.items()},
            "attrs": {name: tensorflow_worker.pack_attribute(value) for name, value in attrs.items()}}
    return call if entry.is_function else with_keywords(call)


def with_keywords(call):
    """Inputs and attributes under the names that tf.raw_ops has for them."""
    known = inspect.signature(getattr(tf.raw_ops, call["name"])).parameters

    def keyword(given):
        return given if given in known else next((other for other in op_calls.RENAMED.get(given, ()) if other in known), given)

    return call | {part: {keyword(name): value for name, value in call[part].items() if keyword(name) in known} for part in ("inputs", "attrs")}


def prepare(call):
    """Makes a call the one that is timed; how long its second run takes, and the shapes of its results."""
    keywords = {name: op_calls.decode_all(value) for name, value in call["inputs"].items()}
    keywords |= {name: op_calls.attribute(value) for name, value in call["attrs"].items()}
    positional = [keywords.pop(name) for name in ("equation",) if name in keywords] + keywords.pop("args", [])
    function = op_calls.find_function(call["name"]) if call["is_function"] else getattr(tf.raw_ops, call["name"])
    prepare.run = lambda: function(*positional, **keywords)
    start = time.perf_counter()
    answer = prepare.run()
    took = time.perf_counter() - start
    if took < 2 * LIMIT:
        start = time.perf_counter()
        answer = prepare.run()
        took = time.perf_counter() - start
    return {"seconds": took, "shapes": [tuple(tensor.shape) for tensor in op_calls.flatten(answer)]}


def answer(order):
    kind, *arguments = order
    if kind == "time":
        return seconds(prepare.run, *arguments)
    if kind == "prepare":
        return prepare(*arguments)
    if kind == "names":
        return names()
    if kind == "cases":
        words = arguments[1]
        answer.cases = cases(arguments[0], lambda name: not words or any(word in name for word in words))
        return [(name, dtypes) for name, dtypes, _ in answer.cases]
    number, size = arguments
    return make(answer.cases[number][2], size)


def main():
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the packages print is no answer
    while True:
        try:
            order = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            content = ("good", answer(order))
        except Exception as error:
            content = ("bad", f"{type(error).__name__}: {error}"[:300])
        pickle.dump(content, output, 4)
        output.flush()


if __name__ == "__main__":
    main()
