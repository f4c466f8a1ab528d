"""How many threads compute."""

from thalweg import _thalweg

_intra = 0
_inter = 0


def get_intra_op_parallelism_threads():
    """The threads that compute one op; 0 when the engine chooses."""
    return _intra


def set_intra_op_parallelism_threads(num_threads):
    """The threads that compute one op; 0 lets the engine choose. Before the first op only."""
    global _intra
    if num_threads == _intra:
        return
    if _thalweg.is_started():
        raise RuntimeError("Intra op parallelism cannot be modified after initialization.")
    _thalweg.set_num_threads(int(num_threads))
    _intra = int(num_threads)


def get_inter_op_parallelism_threads():
    """The number that was set; eager ops run one after the other."""
    return _inter


def set_inter_op_parallelism_threads(num_threads):
    """Kept for programs that set it; eager ops run one after the other. Before the first op only."""
    global _inter
    if num_threads == _inter:
        return
    if _thalweg.is_started():
        raise RuntimeError("Inter op parallelism cannot be modified after initialization.")
    _inter = int(num_threads)
