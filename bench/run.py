#!/usr/bin/env python3
"""Measures the workloads here, as bare kernels and in peers (TensorFlow, JAX, PyTorch), in one sitting, and prints one table.

    run.py BUILD_FOLDER [--only matmul_1000,exp_1m] [--rounds 2] [--no-peers] [--no-neighbour]

Everything is measured in turn, round after round, and the best time of each counts: a machine that is slow for a minute
is slow for all of them. One thread is pinned to one core.
Ratios say how many times faster than the peer, which is TensorFlow unless the row names another;
`short` marks a target that is missed. A row `within floor` says how many times the bare kernels' time the workload takes.
traced_* are functions, TensorFlow's are tf.function (traced_chain_1m: with jit_compile, so XLA), its ResNet-50 is frozen;
while_loop_turn is one turn of a loop, question_* one question about a tensor (`if`, cond, or without a function), resnet50_trace
tracing and planning (TensorFlow: what the first call takes more than later ones). keras_fit_mlp is an epoch of 60,000 examples in batches
of 32, keras_fit_cnn one of 1,280 in batches of 128, keras_*_step a step of Adam in a function. Peers are found or installed by
tools/make_tensorflow_env and bench/peers/make_peer_env; a row says when the package registry did not answer.
Compare only numbers of one run: the machine decides the rest.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# Targets: ("times", n) is n times faster than TensorFlow at 1 and 2 threads, ("seconds", s) an absolute time,
# ("memory", n) n times faster or within 1.3 of copying, None only shows. `also` has other peers with how many times faster, `within` how
# many times the floor it may take. Floors: benchmarks of kernels_bench.cc and floors_bench.cc whose times add up.
CONV = ("conv_forward", "conv_backward_filter")
SECOND = "batch:32/size:26/in:32/out:64/window:3/stride:1/pad:0"
FIRST = "batch:32/size:28/in:1/out:32/window:3/stride:1/pad:0"
WORKLOADS = {
    "scalar_add": {"target": ("seconds", 60e-9)},
    "matmul_10": {"target": ("times", 100), "floor": ["gemm_float32/m:10/k:10/n:10/transposes:0"]},
    "matmul_1000": {"target": ("times", 1), "floor": ["gemm_float32/m:1000/k:1000/n:1000/transposes:0"]},
    "matmul_1024": {"target": ("times", 1), "floor": ["gemm_float32/m:1024/k:1024/n:1024/transposes:0"]},
    "chain_1m": {"target": ("times", 2)},
    "exp_1m": {"target": ("memory", 2), "floor": ["engine/copy_1m"]},
    "tanh_1m": {"target": ("memory", 2), "floor": ["engine/copy_1m"]},
    "sigmoid_1m": {"target": ("memory", 2), "floor": ["engine/copy_1m"]},
    "log_1m": {"target": ("memory", 2), "floor": ["engine/copy_1m"]},
    "erf_1m": {"target": ("memory", 2), "floor": ["engine/copy_1m"]},
    "softmax_1024x1000": {"target": ("times", 1), "floor": ["softmax_rows/rows:1024/classes:1000"]},
    "reduce_sum_all": {"target": ("times", 1)},
    "reduce_sum_axis_0": {"target": ("times", 1)},
    "reduce_sum_axis_1": {"target": ("times", 1)},
    "transpose_1024x1000": {"target": ("times", 1)},
    "mnist_convs_b32": {"target": ("times", 1.8), "floor": [f"{name}/{FIRST}" for name in CONV] +
                        [f"{name}/{SECOND}" for name in (*CONV, "conv_backward_input")]},
    "resnet50_convs_b1": {"target": ("times", 1.2), "floor": ["resnet50_forward"]},
    "resnet50_convs_b16": {"target": ("times", 1.2), "slow": True},
    "max_pool": {"target": ("times", 1), "floor": ["max_pool"]},
    "avg_pool": {"target": ("times", 1), "floor": ["average_pool"]},
    "batch_norm": {"target": ("times", 1), "floor": ["batch_norm_train"]},
    "taped_add_1000": {"target": ("seconds", 100e-6)},
    "scalar_chain_100": {"target": ("times", 100)},
    "mlp_step": {"target": ("times", 25)},
    "mlp_step_function": {"target": ("times", 2)},
    "adam_10m": {"target": ("memory", 5), "also": {"PyTorch": 1}, "floor": ["engine/pass_10m"]},
    "traced_add": {"target": ("seconds", 150e-9)},
    "traced_chain_1m": {"target": ("times", 1.3), "floor": ["engine/copy_1m"]},
    "traced_mlp_step": {"target": ("times", 3), "also": {"JAX": 1.5}, "floor": ["floor/mlp_step"], "within": 1.3},
    "traced_cnn_step": {"target": ("times", 1.8), "floor": ["floor/cnn_step"], "within": 1.25},
    "traced_lstm_step": {"target": ("times", 2), "also": {"PyTorch": 1.4}},
    "while_loop_turn": {"target": ("times", 8)},
    "resnet50_b1": {"target": ("times", 1.3), "also": {"PyTorch": 1}, "floor": ["resnet50_forward"]},
    "resnet50_trace": {"target": ("times", 5), "slow": True},
    "keras_fit_mlp": {"target": ("times", 4), "slow": True},
    "keras_fit_cnn": {"target": ("times", 1.7), "slow": True},
    "keras_lstm_step": {"target": ("times", 2), "also": {"PyTorch": 1.4}},
    "keras_predict_one": {"target": ("times", 200)},
    "keras_call_one": {"target": ("times", 30)},
    "keras_transformer_step": {"target": ("times", 1), "slow": True},
    "question_if": {"target": None},
    "question_cond": {"target": None},
    "question_eager": {"target": None},
}
PYTHON_TARGETS = {"scalar_add": 100, "traced_add": 200, "matmul_10": 60, "mlp_step": 15, "import": 15, "keras_fit_mlp": 3}
MEMORY = {"deep_mlp": "a 50-layer MLP step", "cnn": "a CNN step as a function"}
# What finds or makes a peer's Python, what it runs, and what may say where that Python is.
PEERS = {
    "TensorFlow": (["tools/make_tensorflow_env"], "tensorflow_peer.py", "THALWEG_TENSORFLOW_PYTHON"),
    "JAX": (["bench/peers/make_peer_env", "jax"], "jax_peer.py", "THALWEG_JAX_PYTHON"),
    "PyTorch": (["bench/peers/make_peer_env", "torch"], "torch_peer.py", "THALWEG_TORCH_PYTHON"),
}
FIRST_ADD_SECONDS = 20e-3
NEIGHBOUR_RATIO = 1.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/dev")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-neighbour", action="store_true")
    options = parser.parse_args()
    bench = ROOT / options.build / "bench"
    only = [name for name in options.only.split(",") if name]
    names = [name for name in WORKLOADS if not only or name in only]

    floors = sorted({floor for name in names for floor in WORKLOADS[name].get("floor", ())})
    pythons = {peer: ("", "no peer") if options.no_peers else python_of(peer, names) for peer in PEERS}
    ours, floor, own_python = {1: {}, 2: {}}, {1: {}, 2: {}}, {1: {}, 2: {}}
    theirs = {peer: {1: {}, 2: {}, "missing": missing} for peer, (_, missing) in pythons.items()}
    for _ in range(options.rounds):
        for threads in (1, 2):
            keep_best(ours[threads], run_benchmarks(bench, [f"engine/{name}" for name in names], threads))
            keep_best(floor[threads], run_benchmarks(bench, floors, threads))
            keep_best(own_python[threads], run_python(options.build, only, threads))
            for peer, (python, _) in pythons.items():
                keep_best(theirs[peer][threads], run_peer(peer, python, names, only, threads))
    rows = [row for name in names for row in rows_of(name, ours, floor, theirs)]
    rows += python_rows(only, own_python, theirs["TensorFlow"]) + first_add_row(bench, only)
    print_table(rows)
    for model, title in MEMORY.items():
        if not only or f"{model}_memory" in only:
            print_memory(options.build, model, title, pythons["TensorFlow"][0])
    if not only or "training_memory" in only:
        print_training_memory(bench)
    if not options.no_neighbour:
        print_neighbour(bench, [name for name in names if not WORKLOADS[name].get("slow")], ours[1])


def keep_best(best, times):
    for name, value in times.items():
        best[name] = min(value, best.get(name, value))


def pinned(threads):
    return ["taskset", "-c", "0"] if threads == 1 else []


def run_benchmarks(bench, names, threads, repetitions=3):
    """Seconds by name, of those that this build has: the best repetition."""
    if not names:
        return {}
    pattern = f"^({'|'.join(names)})/threads:{threads}(/|$)"
    command = [*pinned(threads), str(bench / "thalweg_bench"), f"--benchmark_filter={pattern}", "--benchmark_format=json",
               "--benchmark_min_time=0.2", f"--benchmark_repetitions={repetitions}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        print(f"no answer from {bench / 'thalweg_bench'} for {' '.join(names)}", file=sys.stderr)
        return {}
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    best = {}
    for result in json.loads(done.stdout)["benchmarks"]:
        if result.get("run_type") == "aggregate" or result.get("error_occurred"):
            continue
        keep_best(best, {result["name"].split("/threads:")[0]: result["real_time"] * scale[result["time_unit"]]})
    return best


def python_of(peer, names):
    """The Python that has this peer, and what rows say where it gave no time."""
    if peer != "TensorFlow" and not any(peer in WORKLOADS[name].get("also", ()) for name in names):
        return "", "no peer"
    command, _, variable = PEERS[peer]
    if found := os.environ.get(variable):
        return found, "no answer"
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    if made.returncode == 0:
        return made.stdout.strip(), "no answer"
    return "", "registry did not answer" if made.returncode == 3 else "no peer"


def run_lines(command, environment=None):
    """Seconds by name from a program that prints `name seconds` lines."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, env=environment)
    pairs = [line.split() for line in done.stdout.splitlines() if len(line.split()) == 2]
    return {name: float(value) for name, value in pairs}


def run_peer(peer, python, names, only, threads):
    wanted = [name for name in names if peer == "TensorFlow" or peer in WORKLOADS[name].get("also", ())]
    if peer == "TensorFlow":
        wanted += [name for name in PYTHON_TARGETS if name not in wanted and (not only or name in only)]
    if not python or not wanted:
        return {}
    return run_lines([*pinned(threads), python, str(HERE / "peers" / PEERS[peer][1]), "--threads", str(threads), "--only", ",".join(wanted)])


def ratios_of(others, times):
    return {threads: others[threads] / times[threads] if others.get(threads) and times.get(threads) else None for threads in (1, 2)}


def mark_of(times, ratios, amount, missing):
    known = [ratio for ratio in ratios.values() if ratio is not None]
    return "not there" if times[1] is None else missing if not known else "ok" if min(known) >= amount else "short"


def rows_of(name, ours, floor, theirs):
    """The lines of one workload: against TensorFlow, other peers and the floor; seconds or None in each column."""
    workload = WORKLOADS[name]
    times = {threads: ours[threads].get(f"engine/{name}") for threads in (1, 2)}
    parts = {threads: [floor[threads].get(part) for part in workload.get("floor", ())] for threads in (1, 2)}
    floors = {threads: sum(parts[threads]) if parts[threads] and None not in parts[threads] else None for threads in (1, 2)}
    peer = {threads: theirs["TensorFlow"][threads].get(name) for threads in (1, 2)}
    ratios = ratios_of(peer, times)
    kind, amount = workload["target"] or ("nothing", 0)
    mark = mark_of(times, ratios, amount, theirs["TensorFlow"]["missing"])
    target = f"{amount:g}x" + (" or memory" if kind == "memory" else "")
    if kind == "seconds" and times[1]:
        mark = "ok" if times[1] <= amount else "short"
    if kind == "memory" and all(floors[n] and times[n] and times[n] <= 1.3 * floors[n] for n in (1, 2)):
        mark = "ok"
    if kind == "nothing":
        mark = "" if times[1] else "not there"
    target = {"seconds": f"{amount * 1e9:.0f} ns", "nothing": "-"}.get(kind, target)
    rows = [[name, *times.values(), *floors.values(), *peer.values(), *ratios.values(), target, mark]]
    for other, wanted in workload.get("also", {}).items():
        peer = {threads: theirs[other][threads].get(name) for threads in (1, 2)}
        ratios = ratios_of(peer, times)
        mark = mark_of(times, ratios, wanted, theirs[other]["missing"])
        rows.append([f"  {other}", *times.values(), None, None, *peer.values(), *ratios.values(), f"{wanted:g}x", mark])
    if wanted := workload.get("within"):
        ratios = ratios_of(times, floors)
        worst = max((ratio for ratio in ratios.values() if ratio), default=None)
        mark = "not there" if worst is None else "ok" if worst <= wanted else "short"
        rows.append(["  within floor", *times.values(), *floors.values(), None, None, *ratios.values(), f"at most {wanted:g}x", mark])
    return rows


def run_python(build, only, threads):
    wanted = [name for name in PYTHON_TARGETS if not only or name in only]
    if not wanted:
        return {}
    environment = os.environ | {"PYTHONPATH": str(ROOT / build / "python")}
    command = [*pinned(threads), sys.executable, str(HERE / "python_bench.py"), "--only", ",".join(wanted)]
    best = {}
    for _ in range(3):
        keep_best(best, run_lines(command, environment))
    return best


def python_rows(only, mine, theirs):
    rows = []
    for name in (name for name in PYTHON_TARGETS if not only or name in only):
        times = {threads: mine[threads].get(name) for threads in (1, 2)}
        others = {threads: theirs[threads].get(name) for threads in (1, 2)}
        ratios = ratios_of(others, times)
        mark = mark_of(times, ratios, PYTHON_TARGETS[name], theirs["missing"])
        rows.append([f"python {name}", *times.values(), None, None, *others.values(), *ratios.values(), f"{PYTHON_TARGETS[name]}x", mark])
    return rows


def first_add_row(bench, only):
    """How long the smallest program takes, from start to end."""
    program = bench / "first_add"
    if (only and "first_add" not in only) or not program.exists():
        return []
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run([program], stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - start)
    mark = "ok" if best <= FIRST_ADD_SECONDS else "short"
    return [["first_add", best, None, None, None, None, None, None, None, "20 ms", mark]]


def duration(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 0.9995:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def print_table(rows):
    titles = ["workload", "1 thread", "2 threads", "floor 1", "floor 2", "peer 1", "peer 2", "times 1", "times 2", "target", ""]
    cells = [titles]
    for row in rows:
        cells.append([row[0], *(duration(value) for value in row[1:7]), *("-" if value is None else f"{value:.2f}x" for value in row[7:9]), *row[9:]])
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    for row in cells:
        print("  ".join(text.ljust(width) if column in (0, 9, 10) else text.rjust(width) for column, (text, width) in enumerate(zip(row, widths))).rstrip())


def print_memory(build, model, title, tensorflow):
    """The most memory that training steps of a model take."""
    script = str(HERE / "step_memory.py")
    environment = os.environ | {"PYTHONPATH": str(ROOT / build / "python"), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    commands = {"thalweg": [sys.executable, script, "thalweg", model]}
    if tensorflow:
        commands["tensorflow"] = [tensorflow, script, "tensorflow", model]
    used = {}
    for name, command in commands.items():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, env=environment)
        used[name] = float(done.stdout) if done.returncode == 0 else None
    mine, other = used["thalweg"], used.get("tensorflow")
    mark = "not there" if mine is None else "no peer" if other is None else "ok" if mine <= other else "short"
    print(f"\nmemory of {title}: {'-' if mine is None else f'{mine:.0f} MB'}, "
          f"TensorFlow {'-' if other is None else f'{other:.0f} MB'} (not above)  {mark}")


def print_training_memory(bench):
    """What a program that trains has in memory late, against early."""
    done = subprocess.run([bench / "training_memory"], stdout=subprocess.PIPE, text=True, check=False)
    at = {int(steps): float(megabytes) for steps, megabytes in (line.split() for line in done.stdout.splitlines())}
    early, late = at[100], at[10000]
    print(f"\nmemory of a program that trains: {early:.1f} MB after 100 steps, {late:.1f} MB after 10,000 (at most 1 % more)  "
          f"{'ok' if late <= 1.01 * early else 'short'}")


def print_neighbour(bench, names, alone):
    """Two threads beside a process that keeps one core busy, against one thread alone."""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        beside = run_benchmarks(bench, [f"engine/{name}" for name in names], 2, repetitions=2)
    finally:
        neighbour.kill()
        neighbour.wait()
    print("\n2 threads beside a busy process, against 1 thread alone (at most 1.5x)")
    for name in names:
        one, two = alone.get(f"engine/{name}"), beside.get(f"engine/{name}")
        if one and two and one > 20e-6:
            print(f"{name:22s} {duration(two):>10s} {two / one:6.2f}x  {'ok' if two / one <= NEIGHBOUR_RATIO else 'short'}")


if __name__ == "__main__":
    main()
