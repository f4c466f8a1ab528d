"""tf.random.Generator, whose state is an object of the program, and the generator that a program shares."""

import enum

from thalweg import _thalweg, dtypes
from thalweg._thalweg import Tensor, convert_to_tensor


class Algorithm(enum.Enum):
    """How random bits are made. A CPU knows Philox, which is also what it selects."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NUMBERS = {"philox": 1, "threefry": 2, "autoselect": 3}
_COUNTER_SIZES = {1: 2, 2: 1, 3: 2}
_WORD = (1 << 64) - 1


def _refuse_algorithm(alg):
    raise ValueError(f"Argument `alg` got unsupported value {alg}. Supported values are 1 for the Philox algorithm, 2 for "
                     "the ThreeFry algorithm, and 3 for auto-selection.")


def _algorithm_number(alg):
    if isinstance(alg, int):
        return alg
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, Tensor):
        return int(alg)
    if not isinstance(alg, str):
        raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")
    number = _NUMBERS.get(alg.strip().lower().replace("-", "").replace("_", ""))
    return _refuse_algorithm(alg) if number is None else number


def _counter_size(algorithm):
    size = _COUNTER_SIZES.get(algorithm)
    return _refuse_algorithm(algorithm) if size is None else size


def _signed(value):
    """Python's integers above 2^63 as the int64 with the same bits, also inside lists."""
    if isinstance(value, (list, tuple)):
        return [_signed(item) for item in value]
    return value - _WORD - 1 if isinstance(value, int) and value > _WORD >> 1 else value


def _words(value):
    """Numbers as the int64 that states are made of."""
    from thalweg import cast

    return cast(_signed(value), dtypes.int64)


def _check_shape(tensor, shape):
    if tensor.shape.as_list() != shape:
        raise ValueError(f"Shapes {tensor.shape} and {shape} are incompatible")


def _shape_tensor(shape):
    empty = isinstance(shape, (list, tuple)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int64 if empty else None)


def create_rng_state(seed, alg):
    """The state a seed stands for. A number is cut into words, lowest first; a list is taken as it is, zeros before it."""
    from thalweg import concat, reshape, zeros

    size = _counter_size(_algorithm_number(alg)) + 1
    if isinstance(seed, int):
        seed = [seed >> 64 * i & _WORD for i in range(size)]
    words = reshape(_words(seed), [-1])[:size]
    return concat([zeros([size - len(words)], dtypes.int64), words], 0)


def _join(key, counter, algorithm):
    from thalweg import concat, reshape

    counter, key = _words(counter), _words(key)
    _check_shape(counter, [_counter_size(algorithm)])
    _check_shape(key, [])
    return concat([counter, reshape(key, [1])], 0)


class Generator:
    """A stream of random numbers: every method that draws moves its state on. Threads may share a generator."""

    def __init__(self, copy_from=None, state=None, alg=None):
        """A copy of another generator, or one with this state."""
        if copy_from is not None:
            assert alg is None and state is None
            algorithm, words = copy_from.algorithm, copy_from.state
        else:
            assert alg is not None and state is not None
            algorithm, words = _algorithm_number(alg), _words(state)
            _check_shape(words, [_counter_size(algorithm) + 1])
        self._algorithm = algorithm
        self._handle = _thalweg.make_variable("StateVar", words)

    @classmethod
    def from_state(cls, state, alg):
        """The generator with this state: the words of the counter, then the key."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """The generator that starts where this seed says."""
        algorithm = _algorithm_number(1 if alg is None else alg)
        return cls(state=create_rng_state(seed, algorithm), alg=algorithm)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """The generator that starts where nobody can predict."""
        from thalweg import raw_ops

        algorithm = _algorithm_number(1 if alg is None else alg)
        words = raw_ops.NonDeterministicInts(shape=[_counter_size(algorithm) + 1], dtype=dtypes.int64)
        return cls(state=words, alg=algorithm)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """The generator with this key, a scalar, and this counter, a vector."""
        algorithm = _algorithm_number(alg)
        return cls(state=_join(key, counter, algorithm), alg=algorithm)

    def reset(self, state):
        """Takes another state."""
        words = _words(state)
        _check_shape(words, [_counter_size(self._algorithm) + 1])
        _thalweg.assign_variable(self._handle, words)

    def reset_from_seed(self, seed):
        """Starts anew where this seed says."""
        _thalweg.assign_variable(self._handle, create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key, counter):
        """Starts anew with this key and counter."""
        _thalweg.assign_variable(self._handle, _join(key, counter, self._algorithm))

    @property
    def state(self):
        """The state now: the words of the counter, then the key."""
        return _thalweg.read_variable(self._handle)

    @property
    def key(self):
        """The last word of the state."""
        return self.state[-1]

    @property
    def algorithm(self):
        """1 for Philox, 2 for ThreeFry, 3 for the device's choice."""
        return self._algorithm

    def skip(self, delta):
        """Moves on as if `delta` numbers had been drawn; returns the state before."""
        from thalweg import cast, raw_ops

        return raw_ops.RngReadAndSkip(resource=self._handle, alg=self._algorithm, delta=cast(delta, dtypes.uint64))

    def _draw(self, op, shape, **arguments):
        """Moves on by the elements of the shape; the numbers come from where the state stood."""
        from thalweg import bitcast, raw_ops, reduce_prod

        words = bitcast(self.skip(reduce_prod(shape)), dtypes.uint64)
        size = _counter_size(self._algorithm)
        return getattr(raw_ops, op)(shape=shape, key=words[size : size + 1], counter=words[:size], alg=self._algorithm,
                                    **arguments)

    def _draw_normal(self, op, shape, mean, stddev, dtype):
        shape = _shape_tensor(shape)
        mean, stddev = convert_to_tensor(mean, dtype=dtype), convert_to_tensor(stddev, dtype=dtype)
        return self._draw(op, shape, dtype=dtype) * stddev + mean

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal with this mean and standard deviation."""
        return self._draw_normal("StatelessRandomNormalV2", shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal, drawn again until it lies within two standard deviations of the mean."""
        return self._draw_normal("StatelessTruncatedNormalV2", shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Uniform in [minval, maxval), real numbers or integers; all values of an integer type where both are None."""
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_integer:
            maxval = 1 if maxval is None else maxval
        elif (minval is None) != (maxval is None):
            raise ValueError(f"For integer dtype {dtype}, minval and maxval must be both `None` or both non-`None`; got "
                             f"minval={minval} and maxval={maxval}")
        shape = _shape_tensor(shape)
        if minval is None and dtype.is_integer:
            return self._draw("StatelessRandomUniformFullIntV2", shape, dtype=dtype)
        low, high = convert_to_tensor(minval, dtype=dtype), convert_to_tensor(maxval, dtype=dtype)
        if dtype.is_integer:
            return self._draw("StatelessRandomUniformIntV2", shape, minval=low, maxval=high)
        return self._draw("StatelessRandomUniformV2", shape, dtype=dtype) * (high - low) + low

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Uniform over all values of an integer type."""
        return self._draw("StatelessRandomUniformFullIntV2", _shape_tensor(shape), dtype=dtype)

    def make_seeds(self, count=1):
        """Seeds for stateless functions, one in each column: int64[2, count]."""
        from thalweg import stack, zeros_like

        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count=1):
        """New generators, independent of this one and of each other."""
        keys = self.uniform_full_int([count], dtypes.int64)
        zeros = [0] * _counter_size(self._algorithm)
        return [Generator(state=zeros + [key], alg=self._algorithm) for key in keys.numpy().tolist()]


_global_generator = None


def get_global_generator():
    """The generator that a program shares; unpredictable until one is set."""
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator):
    """Makes this the generator that a program shares."""
    global _global_generator
    _global_generator = generator
