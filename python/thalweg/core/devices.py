"""tf.device: the scope that says where ops run."""

from thalweg import _thalweg
from thalweg.config import get_soft_device_placement


class device:
    """Runs the ops of a scope on a device: `with tf.device("/cpu:1"):`.

    With soft placement, which is on unless tf.config.set_soft_device_placement says otherwise, a device that the
    machine lacks is passed over and ops run on CPU:0. Without it, entering the scope is an error that names the devices
    there are.
    """

    def __init__(self, device_name):
        self._name = device_name
        self._before = []

    def __enter__(self):
        before = _thalweg.current_device()
        if self._name is not None:
            _thalweg.set_current_device(self._find(str(self._name)))
        self._before.append(before)

    def __exit__(self, *error):
        _thalweg.set_current_device(self._before.pop())

    @staticmethod
    def _find(name):
        from thalweg.errors import InvalidArgumentError

        try:
            return _thalweg.find_device(name)
        except InvalidArgumentError:
            if get_soft_device_placement() and _names_a_device(name):
                return 0
            raise


def _names_a_device(name):
    """Whether the text has the form of a device's name, such as /gpu:0 or /job:localhost/device:GPU:1."""
    kind, _, number = name.rsplit("/", 1)[-1].rpartition(":")
    kind = kind.rpartition(":")[2] or number
    return kind.upper() in ("CPU", "GPU", "TPU") and (number.isdigit() or number.upper() == kind.upper())
