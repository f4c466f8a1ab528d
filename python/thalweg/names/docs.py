"""Docstrings and signatures of public functions and raw ops, made from their records when someone asks."""

import functools
import inspect
import json
import os

# The engine's kinds of attribute, in its order, as stubs and docs name them.
KINDS = ("bool", "int", "float", "str", "DTypeLike", "ShapeLike", "int | Sequence[int]", "Sequence[float]",
         "Sequence[str]", "Sequence[DTypeLike]", "TensorLike", "Sequence[ShapeLike]", "Callable", "Sequence[Callable]")
# Of required parameters: tensor, tensor_like, tensors, value.
PARAMETER_KINDS = ("TensorLike", "TensorLike", "Sequence[TensorLike]", None)
NONE, ONE, LIST, RECORD = range(4)


@functools.lru_cache(maxsize=None)
def table():
    """The sentences of the C++ headers by public name; empty where the build did not extract them."""
    try:
        with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "_docs.json"), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def sentence(description):
    """What a function computes, in the words of its header."""
    found = table()
    names = description["names"]
    # math.expm1 is declared in the namespace above, as what both names mean.
    return next((found[name] for name in [*names, *(name.split(".")[-1] for name in names)] if name in found), "")


def parameters(description):
    """(name, annotation, default) of each parameter; inspect.Parameter.empty where there is no default."""
    empty = inspect.Parameter.empty
    if "inputs" in description:
        rows = [(name, "Sequence[TensorLike]" if is_list else "TensorLike", empty)
                for name, is_list in description["inputs"]]
        attributes = sorted(description["attributes"], key=lambda row: not row[4])
        rows += [(name, KINDS[kind] + (" | None" if optional and not required else ""), empty if required else default)
                 for name, kind, optional, default, required in attributes]
    else:
        rows = [(name, PARAMETER_KINDS[kind] or KINDS[value] + (" | None" if optional else ""), empty)
                for name, kind, value, optional in description["parameters"]]
        rows += [(name, KINDS[kind] + (" | None" if optional else ""), default)
                 for name, kind, optional, default in description["options"]]
    if all(row[0] != "name" for row in rows):
        rows.append(("name", "str | None", None))
    return rows


def signature(description):
    """The inspect.Signature."""
    kind = inspect.Parameter.KEYWORD_ONLY if "inputs" in description else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind, default=default)
                              for name, _, default in parameters(description) if name.isidentifier()])


def docstring(description):
    """The sentence, then the parameters."""
    lines = [sentence(description) or f"tf.{description['names'][0]}."]
    rows = [row for row in parameters(description) if row[0] != "name"]
    if rows:
        lines += ["", "Args:"]
        for name, annotation, default in rows:
            shown = "" if default is inspect.Parameter.empty else f" = {default!r}"
            lines.append(f"  {name}: {annotation}{shown}")
    if description["result"] == RECORD:
        lines += ["", "Returns: a named tuple of " + ", ".join(description["result_names"]) + "."]
    elif description["result"] == LIST:
        lines += ["", "Returns: a list of tensors."]
    return "\n".join(lines)
