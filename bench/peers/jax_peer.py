#!/usr/bin/env python3
"""Workloads of bench/run.py in JAX, compiled. Prints `name seconds` lines.

    jax_peer.py [--threads 1] [--only traced_mlp_step]
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import asked, seconds  # noqa: E402: its folder is on the path only now

options = asked(__doc__)
os.environ["JAX_PLATFORMS"] = "cpu"
if options.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402: reads the settings above
import jax.numpy as jnp  # noqa: E402


def uniform(*shape):
    return jax.random.uniform(jax.random.PRNGKey(1), shape, minval=-1, maxval=1)


def adam(weights, first, second, gradients):
    rate = 1e-3 * (1 - 0.999) ** 0.5 / (1 - 0.9)
    first = [m + (g - m) * 0.1 for m, g in zip(first, gradients)]
    second = [v + (g * g - v) * 0.001 for v, g in zip(second, gradients)]
    return [w - rate * m / (jnp.sqrt(v) + 1e-7) for w, m, v in zip(weights, first, second)], first, second


def mlp_step():
    """The step of bench/models.py; its state is handed over, so that JAX may write over it."""

    def loss_of(weights, x, labels):
        logits = jax.nn.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    def step(weights, first, second, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, labels)
        return *adam(weights, first, second, gradients), loss

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    weights = [uniform(*shape) * 0.05 for shape in ((784, 128), (128,), (128, 10), (10,))]
    state = [weights, [jnp.zeros_like(w) for w in weights], [jnp.zeros_like(w) for w in weights]]
    x, labels = uniform(32, 784), jnp.arange(32) % 10

    def call():
        *state[:], loss = compiled(*state, x, labels)
        return loss.block_until_ready()

    return seconds(call)


for name, run in {"traced_mlp_step": mlp_step}.items():
    if not options.only or name in options.only.split(","):
        print(name, run(), flush=True)
