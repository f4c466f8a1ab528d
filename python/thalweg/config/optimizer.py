"""What is done to the graphs of functions before they run."""

from thalweg import _thalweg

_options = {"disable_model_pruning": False, "disable_meta_optimizer": False}


def set_experimental_options(options):
    """Switches rewritings of graphs on and off by name, for functions that have not run yet."""
    for name, value in options.items():
        _thalweg.set_optimizer_option(name, bool(value))
    _options.update(options)


def get_experimental_options():
    """The options that were set."""
    return dict(_options)


def set_jit(enabled):
    """Fuses all that can be in functions that have not run yet, as their own `jit_compile` does: True, False or "autoclustering"."""
    _thalweg.set_jit(enabled in (True, "autoclustering"))


def get_jit():
    """Whether it was switched on: "autoclustering", else an empty string."""
    return "autoclustering" if _thalweg.get_jit() else ""
