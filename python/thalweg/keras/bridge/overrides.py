"""What a class of a program writes itself, and what it has from the engine."""

import inspect

_METHODS = ("build", "call", "compute_mask", "compute_output_shape", "get_config", "get_initial_state", "reset_states",
            "train_step", "test_step", "predict_step")


def overrides_of(cls):
    """Which methods a class of the program writes itself, and what its `call` takes."""
    found = {}
    for name in _METHODS:
        method = getattr(cls, name, None)
        found[name] = method is not None and not getattr(method, "_is_engine", False)
    parameters = {}
    if found["call"]:
        try:
            parameters = inspect.signature(cls.call).parameters
        except (TypeError, ValueError):
            pass
    takes = tuple(parameters)
    found["first"] = takes[1] if len(takes) > 1 else "inputs"
    found["arguments"] = takes[2:]
    found["get_config"] |= _has_own_arguments(cls)
    for name in ("training", "mask", "constants"):
        found[f"takes_{name}"] = name in takes
    for name in ("training", "mask"):
        found[f"needs_{name}"] = name in takes and parameters[name].default is inspect.Parameter.empty
    found["supports_masking"] = False
    return found


def _has_own_arguments(cls):
    """Whether the constructor that a program wrote takes other arguments than those of every layer."""
    if cls._engine_name is not None or getattr(cls.__init__, "_is_engine", False):
        return False
    parameters = inspect.signature(cls.__init__).parameters.values()
    known = {"self", "trainable", "name", "dtype", "dynamic"}
    kinds = {p.kind for p in parameters}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return several[1] not in kinds or any(p.name not in known and p.kind not in several for p in parameters)


def of_engine(method):
    """A decorator: the method is the engine's, and a class that has it writes none itself."""
    method._is_engine = True
    return method


def given_arguments(made, args, kwargs):
    """The arguments that an object is made with, by name; those without a name of their own are left out."""
    signature = inspect.signature(type(made).__init__)
    try:
        given = signature.bind(made, *args, **kwargs).arguments
    except TypeError:  # which the constructor says itself
        return {}
    several = {p.name for p in signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return {key: value for key, value in list(given.items())[1:] if key not in several}
