"""How bench measures a Python call, and what its programs are asked."""

import argparse
import statistics
import time


def seconds(call, budget=1.0, rounds=5):
    """The best median over several rounds, after a warm-up: a busy machine disturbs single rounds."""
    for _ in range(3):
        call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-8)
    count = max(1, min(200_000, int(budget / rounds / once)))
    samples = min(count, 50)
    inner = max(1, count // samples)
    best = float("inf")
    for _ in range(rounds):
        times = []
        for _ in range(samples):
            start = time.perf_counter()
            for _ in range(inner):
                call()
            times.append((time.perf_counter() - start) / inner)
        best = min(best, statistics.median(times))
    return best


def asked(description):
    """The threads and the workloads that a program of bench/peers is to use."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    return parser.parse_args()
