"""Classes that are too long for one file."""

import inspect


def part_of(module, name):
    """A decorator for a base that holds some methods of one class: errors and pickles name that class."""
    def rename(part):
        for method in filter(inspect.isfunction, vars(part).values()):
            method.__module__, method.__qualname__ = module, f"{name}.{method.__name__}"
        return part

    return rename
