"""TensorFlow's logger: warnings go through Python's logging, which is imported when there is something to say."""

import sys

_logger = None
_said = set()


def get_logger():
    """The logger of the package. It is called "tensorflow", the name that programs give to logging.getLogger."""
    global _logger
    if _logger is None:
        import logging

        _logger = logging.getLogger("tensorflow")
        if not _logger.handlers and not logging.getLogger().handlers:
            handler = logging.StreamHandler(sys.stderr)
            handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
            _logger.addHandler(handler)
            _logger.propagate = False
            _logger.setLevel(logging.INFO if getattr(sys, "ps1", None) else logging.WARNING)
    return _logger


_interactive = True


def set_interactive(interactive):
    """Whether progress is shown on sys.stdout, or told to the logger."""
    global _interactive
    _interactive = interactive


def is_interactive():
    return _interactive


def write(text):
    """Shows what the engine has to show, such as progress."""
    if not _interactive:
        get_logger().info("%s", text.strip("\b\r\n"))
    elif sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


# What Keras gives to Python's `warnings`, not to the logger.
_SAID_BY_PYTHON = ("The initializer is unseeded", "`binary_", "`categorical_", "`sparse_categorical_")


def warn(text):
    """Says what the engine warns of. TensorFlow speaks of targets and sources without derivatives only when debugged."""
    if text.startswith(_SAID_BY_PYTHON):
        import warnings

        warnings.warn(text, stacklevel=3)
        return
    quiet = text.startswith(("The dtype of the target", "The dtype of the source"))
    (get_logger().debug if quiet else get_logger().warning)("%s", text)


def warn_once_here(text):
    """Says it once for each line of the program that calls the caller."""
    frame = sys._getframe(2)
    place = (frame.f_code.co_filename, frame.f_lineno, text)
    if place not in _said:
        _said.add(place)
        get_logger().warning("%s", text)
