#!/usr/bin/env python3
"""Random compositions of differentiable functions: the tape's gradients here and in the real TensorFlow.

    gradients.py [--count 2000] [--seed 0]

Each program has two to four leaves of float64 and three to eight steps that use any earlier values, so that subexpressions
are shared, shapes broadcast, and some leaves lead nowhere. What differs is printed as a program that can be run.
"""

import importlib
import json
import sys

import numpy as np

import both

TOLERANCE = 1e-7
LARGE = 1e6  # the sine of such numbers, and with it the gradient, is decided by their last digits
UNARY = ["tf.tanh({})", "tf.sin({})", "tf.cos({})", "tf.sigmoid({})", "tf.exp(0.3 * {})", "tf.square({})", "tf.math.softplus({})", "-{}",
         "tf.sqrt(tf.abs({}) + 0.5)", "tf.math.log(tf.square({}) + 1.0)", "tf.nn.relu({})", "tf.nn.elu({})", "tf.abs({})", "tf.math.erf({})",
         "tf.math.rsqrt({0} * {0} + 1.0)", "tf.nn.gelu({})", "tf.nn.leaky_relu({})", "tf.math.lgamma(tf.abs({}) + 1.0)", "tf.sinh(0.5 * {})",
         "tf.math.digamma(tf.square({}) + 1.0)", "tf.math.expm1(0.3 * {})", "tf.math.atan({})", "tf.math.asinh({})", "tf.nn.selu({})",
         "tf.nn.softsign({})", "tf.nn.silu({})", "tf.math.reciprocal(2.5 + tf.sin({}))", "tf.clip_by_value({}, -0.7, 0.9)", "tf.nn.relu6({})",
         "tf.stop_gradient({0}) * {0}", "tf.math.log_sigmoid({})", "tf.reverse(tf.reshape({}, [-1]), [0])", "tf.math.cumsum(tf.reshape({}, [-1]))",
         "tf.math.cumprod(tf.reshape({}, [-1]), exclusive=True)", "tf.reshape({}, [-1])", "tf.transpose({})", "tf.identity({})",
         "tf.expand_dims({}, 0)", "tf.tile(tf.reshape({}, [1, -1]), [2, 1])", "tf.pad(tf.reshape({}, [-1]), [[1, 2]])",
         "tf.gather(tf.reshape({}, [-1]), [0, 0, -1 + 1])", "tf.reshape({}, [-1])[::-1]", "tf.reshape({}, [-1])[1:]",
         "tf.norm({}) + 0.0", "tf.reduce_logsumexp({})", "tf.reduce_prod(tf.tanh({}))", "tf.math.reduce_std({} + 0.0)",
         "tf.linalg.diag(tf.reshape({}, [-1]))", "tf.sort(tf.reshape({}, [-1]))", "tf.math.top_k(tf.reshape({}, [-1]), 1).values"]
VECTORS = ["tf.nn.softmax({})", "tf.nn.log_softmax({})", "tf.reduce_sum({}, axis=-1)", "tf.reduce_mean({}, axis=0, keepdims=True)",
           "tf.reduce_max({}, axis=-1)", "tf.reduce_min({}, axis=0)", "tf.reduce_prod({}, axis=-1, keepdims=True)", "{}[..., :1]",
           "{}[0]", "tf.roll({}, 1, axis=0)", "tf.unstack({})[0]", "tf.math.l2_normalize({}, axis=-1)", "tf.repeat({}, 2, axis=0)"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / (tf.square({}) + 1.0)", "tf.maximum({}, {})", "tf.minimum({}, {})",
          "tf.math.squared_difference({}, {})", "tf.pow(tf.abs({}) + 0.5, tf.tanh({}))", "tf.math.atan2({}, tf.square({}) + 1.0)",
          "tf.where({0} > 0.1, {0}, {1})", "tf.math.xlogy({}, tf.square({}) + 0.5)", "tf.math.divide_no_nan({}, {})",
          "tf.concat([tf.reshape({}, [-1]), tf.reshape({}, [-1])], 0)", "tf.tensordot(tf.reshape({}, [-1]), tf.reshape({}, [-1]), 0)",
          "tf.add_n([{0}, {0}]) * {1}", "tf.math.multiply_no_nan({}, {})"]
MATRICES = ["tf.matmul({}, {}, transpose_b=True)", "tf.einsum('ij,kj->ik', {}, {})"]
LEAVES = [(2, 3), (2, 3), (3,), (2, 1), (), (1, 3), (3, 3)]


def program(seed):
    """The text of a random program that leaves `loss` and `leaves`."""
    random = np.random.RandomState(seed)
    lines, names = [], []
    for k in range(random.randint(2, 5)):
        shape = LEAVES[random.randint(len(LEAVES))]
        values = np.round(random.normal(size=shape), 3).tolist()
        lines.append(f"x{k} = tf.constant({values}, tf.float64)")
        names.append(f"x{k}")
    leaves = list(names)
    lines += [f"leaves = [{', '.join(leaves)}]", "with tf.GradientTape() as tape:", "  tape.watch(leaves)"]
    for k in range(random.randint(3, 9)):
        def pick():
            return names[-1 - min(int(random.exponential(1.5)), len(names) - 1)]
        templates = [UNARY, VECTORS, BINARY, BINARY, MATRICES][random.randint(5)]
        text = templates[random.randint(len(templates))]
        text = text.format(pick(), pick())
        lines.append(f"  try: y{k} = {text}")
        lines.append(f"  except Exception: y{k} = {names[-1]} * 1.5")
        names.append(f"y{k}")
    tail = names[len(leaves):][-3:]
    lines.append("  loss = " + " + ".join(f"tf.reduce_sum(tf.sin({name}))" for name in tail))
    lines.append("gradients = tape.gradient(loss, leaves)")
    return "\n".join(lines)


def traced(text):
    """The same program with its steps in a tf.function of the leaves."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("leaves = "))
    names = lines[first].removeprefix("leaves = ")
    body = ["@tf.function", "def compute(*leaves):", f"  {names} = leaves", *("  " + line for line in lines[first + 1:]),
            "  return loss, gradients", "loss, gradients = compute(*leaves)"]
    return "\n".join([*lines[: first + 1], *body])


def answer_to(text, tf):
    scope = {"tf": tf}
    try:
        exec(text, scope)  # noqa: S102: the program is ours
        return [float(scope["loss"])] + [None if g is None else np.asarray(tf.convert_to_tensor(g)).tolist() for g in scope["gradients"]]
    except Exception as error:  # both sides must refuse it
        return f"raises {type(error).__name__}"


def answers(tf, count, seed):
    for number in range(count):
        text = program(seed * 1_000_003 + number)
        answer = answer_to(text, tf)
        if tf.__name__ == "thalweg":  # traced, it must be the same
            again = answer_to(traced(text), tf)
            if not agree(again, answer):
                answer = f"traced {again}, eager {answer}"
        yield answer


def agree(ours, theirs):
    if isinstance(ours, str) or isinstance(theirs, str):
        return isinstance(ours, str) and isinstance(theirs, str) and not ours.startswith("traced")
    if any(gradient is not None and np.any(np.abs(gradient) > LARGE) for gradient in theirs[1:]):
        return True
    for mine, wanted in zip(ours, theirs, strict=True):
        if mine is None or wanted is None:
            if mine is not wanted:
                return False
            continue
        mine, wanted = np.array(mine), np.array(wanted)
        if mine.shape != wanted.shape or not np.allclose(mine, wanted, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return False
    return True


def main():
    options = both.make_parser(2000, 3).parse_args()
    if options.engine:
        for answer in answers(importlib.import_module(options.engine), options.count, options.seed):
            print(json.dumps(answer))
        return
    ours, theirs = both.run_sides(__file__, options)
    pairs = list(zip(map(json.loads, ours.splitlines()), map(json.loads, theirs.splitlines()), strict=True))
    wrong = [number for number, (mine, wanted) in enumerate(pairs) if not agree(mine, wanted)]
    refused = sum(isinstance(mine, str) for mine, _ in pairs)
    for number in wrong[: options.show]:
        mine, wanted = pairs[number]
        print(f"# program {number} of seed {options.seed}\n{program(options.seed * 1_000_003 + number)}\n# Thalweg:    {mine}\n# TensorFlow: {wanted}")
    print(f"gradients.py: {len(pairs)} compositions compared, eager and traced, {len(wrong)} differ, {refused} refused by both")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
