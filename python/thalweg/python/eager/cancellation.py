"""Stopping functions that run: between two ops, and at each turn of a loop."""

import threading

from thalweg import _thalweg

_active = threading.local()


class CancellationManager(_thalweg.CancellationManager):
    """Cancels the functions that run under it; they raise CancelledError."""

    def get_cancelable_function(self, concrete_function):
        """The function, which runs under this manager whenever it is called."""

        def cancellable(*args, **kwargs):
            with CancellationManagerContext(self):
                return concrete_function(*args, **kwargs)

        return cancellable


def context():
    """The manager under which this thread runs functions, or None."""
    return getattr(_active, "manager", None)


class CancellationManagerContext:
    """While it is entered, functions of this thread run under a manager."""

    def __init__(self, cancellation_manager):
        self._manager = cancellation_manager
        self._context = _thalweg.CancellationContext(cancellation_manager)

    def __enter__(self):
        self._before = context()
        _active.manager = self._manager
        self._context.__enter__()

    def __exit__(self, *error):
        self._context.__exit__(*error)
        _active.manager = self._before
