#!/usr/bin/env python3
"""Times every op (and public function that is none) beside TensorFlow and lists what is 1.5 times slower or more.

    sweep.py [BUILD_FOLDER] [--only Cast,Bessel] [--sizes 100,10000,1000000] [--threads 1,2] [--rounds 3] [--all]

The inputs are rows of tests/op_cases, grown to about so many elements. Each side runs in its own process, and a call is timed in both in
turn. What seems slower is measured again when everything else is done, in several rounds of which the best counts, and listed if it is
slower again. sweep_exceptions.yaml has what stays, with the reason. What is printed while it runs was measured once; `--all` shows every ratio. Ends with 1 if the list is not empty.
Everything takes an hour; a name or two with --only half a minute.
"""

import argparse
import fnmatch
import os
import pathlib
import pickle
import subprocess
import sys

import run
import yaml

HERE = pathlib.Path(__file__).resolve().parent
SLOWER = 1.5
BUDGET = 0.03  # seconds for each timing


class Side:
    """A process of sweep_side.py."""

    def __init__(self, python, package, threads, build):
        environment = os.environ | {"PYTHONPATH": str(HERE.parent / build / "python")}
        self.process = subprocess.Popen([python, str(HERE / "sweep_side.py"), package, str(threads)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, *order):
        """The answer, or None where the call was refused."""
        try:
            pickle.dump(order, self.process.stdin, 4)
            self.process.stdin.flush()
            verdict, content = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError):
            sys.exit(f"The process of one side ended at {order[0]}: {order[1]['name'] if order[0] == 'prepare' else order[1:]}")
        if verdict == "bad" and order[0] != "prepare":
            sys.exit(content)
        return content if verdict == "good" else None


class Pair:
    """Both packages with the same number of threads."""

    def __init__(self, tensorflow, threads, build):
        self.theirs = Side(tensorflow, "tensorflow", threads, build)
        self.ours = Side(sys.executable, "thalweg", threads, build)

    def times(self, call, rounds):
        """The best seconds (ours, theirs), or None where the sides do not do the same."""
        shapes = [answer and answer["shapes"] for answer in (side.ask("prepare", call) for side in (self.ours, self.theirs))]
        if shapes[0] is None or shapes[0] != shapes[1]:
            return None
        best = [float("inf")] * 2
        for _ in range(rounds):
            for place, side in enumerate((self.theirs, self.ours)):
                best[1 - place] = min(best[1 - place], side.ask("time", BUDGET, 1))
        return best


class Exceptions:
    def __init__(self):
        self.rows = yaml.safe_load((HERE / "sweep_exceptions.yaml").read_text()) or []

    def reason(self, name, dtypes, size, threads):
        for row in self.rows:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in row["op"].split()) \
                    and any(fnmatch.fnmatchcase(dtypes, pattern) for pattern in row.get("dtype", "*").split()) \
                    and size in row.get("sizes", [size]) and threads in row.get("threads", [threads]):
                return row["why"]
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/dev")
    parser.add_argument("--only", default="", help="parts of names")
    parser.add_argument("--sizes", default="100,10000,1000000")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    tensorflow, missing = run.python_of("TensorFlow", [])
    if not tensorflow:
        sys.exit(f"TensorFlow: {missing}")
    pairs = {threads: Pair(tensorflow, threads, options.build) for threads in map(int, options.threads.split(","))}
    first = next(iter(pairs.values()))
    words = tuple(word for word in options.only.split(",") if word)
    found = first.theirs.ask("cases", first.ours.ask("names"), words)

    slow, measured, left_out = [], 0, set()
    for number, (name, dtypes) in enumerate(found):
        for size in map(int, options.sizes.split(",")):
            call = first.theirs.ask("make", number, size)
            for threads, pair in pairs.items() if call else ():
                times = pair.times(call, 1)
                if times is None:
                    left_out.add(f"{name} {dtypes}")
                    continue
                measured += 1
                ratio = times[0] / times[1]
                if options.all or ratio >= SLOWER:
                    print_line(name, dtypes, size, threads, times, [ratio], call)
                if ratio >= SLOWER:
                    slow.append((name, dtypes, size, threads, ratio, number))
    print(f"{measured} measurements of {len({name for name, _ in found})} ops and functions, {len(slow)} of them slower at first")
    if left_out:
        print("the sides do not do the same: " + ", ".join(sorted(left_out)))

    exceptions, listed = Exceptions(), 0
    for name, dtypes, size, threads, ratio, number in slow:
        call = first.theirs.ask("make", number, size)
        times = pairs[threads].times(call, options.rounds)
        if times[0] / times[1] < SLOWER:
            continue
        reason = exceptions.reason(name, dtypes, size, threads)
        listed += reason is None
        print_line(name, dtypes, size, threads, times, [ratio, times[0] / times[1]], call, reason)
    print(f"{listed} slower than TensorFlow without a reason")
    sys.exit(1 if listed else 0)


def print_line(name, dtypes, size, threads, times, ratios, call, reason=None):
    shapes = " ".join(str(list(value[1])).replace(" ", "") for value in call["inputs"].values() if isinstance(value, tuple))
    print(f"{name:30s} {dtypes:20s} {size:>8d} {threads} {run.duration(times[0]):>9s} against {run.duration(times[1]):>9s}  "
          f"{'  '.join(f'{ratio:6.2f}x' for ratio in ratios)}  {shapes}{f'  ({reason})' if reason else ''}", flush=True)


if __name__ == "__main__":
    main()
