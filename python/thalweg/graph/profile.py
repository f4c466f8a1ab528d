"""Where the time of traced functions goes."""

import collections

from thalweg import _thalweg

ProfileRow = collections.namedtuple("ProfileRow", ["op", "node", "count", "nanoseconds", "bytes"])


class Profile:
    """What was measured while functions ran; print it for the table of the ops that took most of the time."""

    def __init__(self, text, total_nanoseconds, kernels_nanoseconds, ops, nodes):
        self._text = text
        self.total_nanoseconds = total_nanoseconds
        self.kernels_nanoseconds = kernels_nanoseconds
        self.ops = [ProfileRow(*row) for row in ops]
        self.nodes = [ProfileRow(*row) for row in nodes]

    def __str__(self):
        return self._text

    __repr__ = __str__


def profile(function, *args, **kwargs):
    """Calls a function twice and measures the second call: `print(tf.profile(step, x, y))`."""
    return Profile(*_thalweg.profile(lambda: function(*args, **kwargs)))
