"""tf.data: elements one after the other, made by the engine's stages."""

from thalweg import _thalweg

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

_engine = _thalweg.data


def _to_tensors(structure):
    """Tuples and dicts are structure; everything else, lists too, is a tensor."""
    if isinstance(structure, tuple):
        return tuple(_to_tensors(item) for item in structure)
    if isinstance(structure, dict):
        return {key: _to_tensors(item) for key, item in structure.items()}
    return _thalweg.convert_to_tensor(structure)


class Dataset:
    """Elements that can be gone through again and again: `for x, y in dataset:` is a new pass each time."""

    def __init__(self, stage):
        self._stage = stage

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: these tensors."""
        return Dataset(_engine.from_tensors(_to_tensors(tensors)))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of these tensors."""
        return Dataset(_engine.from_tensor_slices(_to_tensors(tensors)))

    @staticmethod
    def range(*args, name=None):
        """Numbers, as Python's range has them."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        numbers = [int(arg) for arg in args]
        start, stop, step = {1: (0, *numbers, 1), 2: (*numbers, 1), 3: numbers}[len(numbers)]
        return Dataset(_engine.range(start, stop, step))

    def batch(self, batch_size, drop_remainder=False, name=None):
        """Neighbours become one element with a new first dimension."""
        return Dataset(self._stage.batch(int(batch_size), bool(drop_remainder)))

    def repeat(self, count=None, name=None):
        """All elements that many times, or without end."""
        return Dataset(self._stage.repeat(-1 if count is None else int(count)))

    def take(self, count, name=None):
        """The first elements."""
        return Dataset(self._stage.take(int(count)))

    def skip(self, count, name=None):
        """What comes after the first elements."""
        return Dataset(self._stage.skip(int(count)))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Each element is drawn from a buffer of so many."""
        return Dataset(self._stage.shuffle(int(buffer_size), seed, reshuffle_each_iteration is not False))

    def prefetch(self, buffer_size, name=None):
        """A thread makes elements ahead of those that are used."""
        return Dataset(self._stage.prefetch(-1 if buffer_size is None else int(buffer_size)))

    def cardinality(self, name=None):
        """How many elements there are, as a tensor; -1: without end, -2: nobody knows."""
        return _thalweg.constant(self._stage.cardinality(), "int64")

    @property
    def element_spec(self):
        """What is known of an element."""
        return self._stage.element_spec()

    def as_numpy_iterator(self):
        """A pass whose elements hold NumPy's arrays."""
        from thalweg import nest
        return (nest.map_structure(lambda tensor: tensor.numpy(), element) for element in self)

    def __iter__(self):
        return iter(self._stage)

    def __len__(self):
        count = self._stage.cardinality()
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self):
        return True

    def __repr__(self):
        return f"<_{self._stage.describe()[1:]}"
