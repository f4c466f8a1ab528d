#!/usr/bin/env python3
"""Random Keras models, built here and in the real TensorFlow with the same weights: what they answer must agree, or both must refuse.

    random_models.py [--models 300] [--seed 0] [--first 0] [--only NUMBER_OR_JSON] [--layer Conv2D]

Run with the package on PYTHONPATH and TensorFlow's Python in $THALWEG_TENSORFLOW_PYTHON; tools/run_interop does both. TensorFlow's side draws the
models (model_drawing.py) and runs them, this side runs what it is sent; model_runs.py is the program of both. Compared are the names, shapes
and types of layers and weights, outputs, masks, losses, gradients by inputs and weights, weights after training, metrics, predictions,
summaries, configurations and models made from them. Numbers agree within TOLERANCE of the largest number of their tensor. A model that
differs is printed as JSON, and `--only` runs it again.
"""

import argparse
import collections
import json
import os
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4
NO_KERNEL = re.compile("only support(s|s the|ed for) NHWC|on device type CPU|on the CPU|not supported on CPU|is currently disabled")  # a matter of the device
SMALLEST_SCALE = 0.1  # where numbers cancel, what is left hangs on the order of a sum


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first model")
    parser.add_argument("--only", default="", help="the number of a model, or one as JSON")
    parser.add_argument("--layer", default="", help="only models with this layer in turn")
    parser.add_argument("--show", type=int, default=20, help="models that differ to print")
    parser.add_argument("--engine", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        serve(options.engine)
    else:
        sys.exit(compare(options))


def serve(engine):
    """One side: answers each model that it reads. A number is a model that is drawn here."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an engine prints is no answer
    tf = __import__(engine)
    import model_drawing
    import model_runs
    drawers = {}
    while (request := receive(requests)) is not None:
        if "number" in request:
            key = request["seed"]
            if key not in drawers:
                drawers[key] = model_drawing.Drawer(tf, key, request["names"])
            spec = drawers[key].draw(request["number"])
        else:
            spec = request["spec"]
        send(answers, {"spec": spec})
        begin = time.monotonic()
        run = model_runs.Run(tf, spec)
        run.run()
        send(answers, {"answers": run.answers, "messages": run.messages, "seconds": time.monotonic() - begin})


def send(stream, message):
    content = pickle.dumps(message, 4)
    stream.write(struct.pack("q", len(content)) + content)
    stream.flush()


def receive(stream):
    header = stream.read(8)
    if len(header) < 8:
        return None
    size = struct.unpack("q", header)[0]
    content = stream.read(size)
    return pickle.loads(content) if len(content) == size else None


class Side:
    """An engine in a process of its own, which is started anew where a model ends it."""

    def __init__(self, python, engine):
        self.command = [python, __file__, "--engine", engine]
        self.process = None

    def ask(self, request):
        if self.process is None:
            environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        send(self.process.stdin, request)

    def answer(self):
        answer = receive(self.process.stdout)
        if answer is None:
            self.process.wait()
            self.process = None
        return answer

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.kill()
            self.process.wait()


DIED = {"answers": {"build": {"raises": "the end of its process"}}, "messages": {}, "seconds": 0}


def compare(options):
    import thalweg
    begin = time.monotonic()
    layers = {name for name in dir(thalweg.keras.layers) if name[0].isupper()}
    theirs = Side(os.environ["THALWEG_TENSORFLOW_PYTHON"], "tensorflow")
    ours = Side(sys.executable, "thalweg")
    report = Report(options)
    for request in requests(options, sorted(layers)):
        theirs.ask(request)
        drawn = theirs.answer()
        if drawn is None:
            print(f"TensorFlow ended while it drew model {request.get('number')}")
            continue
        spec = drawn["spec"]
        ours.ask({"spec": spec})
        wanted = theirs.answer() or DIED
        answer = (ours.answer() and ours.answer()) or DIED
        report.add(request.get("number", -1), spec, wanted, answer)
    theirs.end()
    ours.end()
    return report.finish(layers, time.monotonic() - begin)


def requests(options, names):
    if options.only.startswith("{"):
        yield {"spec": json.loads(options.only)}
    elif options.only:
        yield {"number": int(options.only), "seed": options.seed, "names": names}
    elif options.layer:
        import model_layers
        themes = [name for name in model_layers.LAYERS if name in names]
        for k in range(options.models):
            yield {"number": themes.index(options.layer) + (options.first + k) * len(themes), "seed": options.seed, "names": names}
    else:
        for number in range(options.first, options.first + options.models):
            yield {"number": number, "seed": options.seed, "names": names}


class Report:
    def __init__(self, options):
        import yaml
        self.options = options
        self.known = yaml.safe_load((HERE / "known_differences.yaml").read_text()).get("models", [])
        self.classes = collections.Counter()
        self.num_models = self.num_wrong = self.num_refused = self.num_without_kernel = 0
        self.num_known = collections.Counter()
        self.stages = collections.Counter()
        self.seconds = [0.0, 0.0]

    def add(self, number, spec, wanted, answer):
        self.num_models += 1
        self.seconds[0] += wanted["seconds"]
        self.seconds[1] += answer["seconds"]
        self.classes.update(set(classes(spec)))
        if "raises" in wanted["answers"]["build"]:
            self.num_refused += 1
        found = []
        text = json.dumps(spec)
        without_kernel = [stage for stage, message in wanted["messages"].items() if NO_KERNEL.search(message)]
        self.num_without_kernel += bool(without_kernel)
        for difference in differences(wanted["answers"], answer["answers"], without_kernel):
            row = next((k for k, row in enumerate(self.known) if re.search(row["seen"], difference) and re.search(row.get("model", ""), text)), None)
            if row is None:
                found.append(difference)
            else:
                self.num_known[row] += 1
        if not found:
            return
        self.num_wrong += 1
        self.stages.update({difference.split(":")[0].split(" ")[0] for difference in found})
        if self.num_wrong <= self.options.show:
            print(f"model {number} of seed {self.options.seed} differs:")
            for difference in found[:6]:
                print(f"  {difference[:600]}")
            for stage in wanted["messages"] | answer["messages"]:
                print(f"  {stage}: TensorFlow {wanted['messages'].get(stage, 'accepts')!r}\n  Thalweg {answer['messages'].get(stage, 'accepts')!r}")
            print(f"  --only '{text}'", flush=True)

    def finish(self, layers, seconds):
        import model_layers
        drawn = {name for name in layers if name in model_layers.LAYERS or name in INSIDE}
        rare = sorted(name for name in drawn if self.classes[name] < 2)
        whole = not self.options.only and not self.options.layer and self.num_models >= 300
        missing = sorted(layers - drawn - NOT_DRAWN)
        print(f"random_models.py: {self.num_models} compared, {self.num_wrong} differ, {self.num_refused} refused by TensorFlow, "
              f"{self.num_without_kernel} without a kernel there, "
              f"{sum(self.num_known.values())} known differences; {len(drawn) - len(rare)} of {len(drawn)} layers at least twice, "
              f"{seconds:.0f} s (TensorFlow's runs {self.seconds[0]:.0f} s, Thalweg's {self.seconds[1]:.0f} s)")
        if self.stages:
            print("  stages that differ: " + ", ".join(f"{stage} {count}" for stage, count in self.stages.most_common()))
        if missing:
            print("  layers that are not drawn: " + " ".join(missing))
        if whole and rare:
            print("  layers drawn less than twice: " + " ".join(rare))
        return 1 if self.num_wrong or (whole and rare) or missing else 0


INSIDE = {"SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"}  # drawn as parts of others
NOT_DRAWN = {"Layer", "Lambda", "Wrapper", "AbstractRNNCell", "TFOpLambda", "Input", "InputLayer", "InputSpec", "ConvLSTMCell", "HashedCrossing", *(
    f"{name}{d}D" for name in ("AvgPool", "MaxPool", "GlobalAvgPool", "GlobalMaxPool", "Convolution", "SeparableConvolution") for d in (1, 2, 3)), *(
    f"Convolution{d}DTranspose" for d in (1, 2, 3))}


def classes(value):
    """The classes of a model, those inside others too."""
    if isinstance(value, list):
        return [name for item in value for name in classes(item)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("class", "layer") if isinstance(value.get(key), str)]
    return own + [name for item in value.values() for name in classes(item)]


def differences(wanted, answer, without_kernel):
    """What differs, each as `stage: text`."""
    for stage in wanted:
        if stage not in answer or stage in without_kernel:
            return
        yield from unlike(stage, wanted[stage], answer[stage])


def unlike(place, wanted, answer):
    if isinstance(wanted, dict) and "raises" in wanted or isinstance(answer, dict) and "raises" in answer:
        if wanted != answer:
            yield f"{place}: {said(answer)}, TensorFlow {said(wanted)}"
    elif isinstance(wanted, np.ndarray) and isinstance(answer, np.ndarray):
        yield from unlike_arrays(place, wanted, answer)
    elif isinstance(wanted, dict) and isinstance(answer, dict):
        for key in wanted.keys() | answer.keys():
            if key not in wanted or key not in answer:
                yield f"{place} {key}: {'there' if key in answer else 'missing'}, {(answer if key in answer else wanted)[key]!r}"
            else:
                yield from unlike(f"{place} {key}", wanted[key], answer[key])
    elif isinstance(wanted, list) and isinstance(answer, list):
        if len(wanted) != len(answer):
            yield f"{place}: {len(answer)} items, TensorFlow {len(wanted)}: {answer!r:.200}, TensorFlow {wanted!r:.200}"
        else:
            for k, (one, other) in enumerate(zip(wanted, answer, strict=True)):
                yield from unlike(f"{place} {k}", one, other)
    elif isinstance(wanted, np.ndarray) or isinstance(answer, np.ndarray):
        yield f"{place}: {'nothing' if answer is None else 'a tensor'}, TensorFlow {'nothing' if wanted is None else 'a tensor'}"
    elif wanted != answer and not (isinstance(wanted, float) and isinstance(answer, float) and abs(wanted - answer) < 1e-6 * abs(wanted)):
        yield f"{place}: {answer!r:.200}, TensorFlow {wanted!r:.200}"


def said(answer):
    return f"raises {answer['raises']}" if isinstance(answer, dict) and "raises" in answer else "accepts"


def unlike_arrays(place, wanted, answer):
    if wanted.dtype != answer.dtype or wanted.shape != answer.shape:
        yield f"{place}: {answer.dtype}{list(answer.shape)}, TensorFlow {wanted.dtype}{list(wanted.shape)}"
    elif wanted.dtype.kind != "f":
        if not np.array_equal(wanted, answer):
            yield f"{place}: {answer.tolist()!r:.200}, TensorFlow {wanted.tolist()!r:.200}"
    elif wanted.size:
        finite = np.isfinite(wanted)
        scale = max(np.abs(wanted[finite]).max(initial=0), SMALLEST_SCALE)
        close = np.isclose(answer, wanted, rtol=0, atol=TOLERANCE * scale, equal_nan=True)
        if not close.all():
            where = tuple(np.argwhere(~close)[0])
            yield f"{place}: {(~close).sum()} of {wanted.size} elements differ, {list(map(int, where))} is {answer[where]}, TensorFlow {wanted[where]}"


if __name__ == "__main__":
    main()
