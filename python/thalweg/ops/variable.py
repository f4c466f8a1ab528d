"""tf.Variable: the engine's variable type with the rest of TensorFlow's class."""

import enum
import functools
import threading

from thalweg import _thalweg
from thalweg._thalweg import VariableBase, convert_to_tensor
from thalweg.core.hooks import Reference
from thalweg.core.name_scope import name_scope
from thalweg.core.shapes import as_shape


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregationV2(enum.Enum):
    """How copies of a variable on several devices are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


VariableAggregation = VariableAggregationV2


class _Creators(threading.local):
    """The functions of variable_creator_scope, outermost first."""

    def __init__(self):
        self.stack = []


_creators = _Creators()


class variable_creator_scope:
    """A scope in which variable_creator(next_creator, **kwargs) makes the variables."""

    def __init__(self, variable_creator):
        self._creator = variable_creator

    def __enter__(self):
        _creators.stack.append(self._creator)

    def __exit__(self, *error):
        _creators.stack.pop()


_PARAMETERS = {
    "initial_value": None, "trainable": None, "validate_shape": True, "caching_device": None, "name": None,
    "variable_def": None, "dtype": None, "import_scope": None, "constraint": None,
    "synchronization": VariableSynchronization.AUTO, "aggregation": VariableAggregation.NONE, "shape": None,
    "experimental_enable_variable_lifting": None,
}


class _VariableType(type):
    """Calls of tf.Variable go through the creators; its class is that of variables with a value of their own."""

    def __call__(cls, *args, **kwargs):
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        if not _creators.stack:
            return type.__call__(ResourceVariable, *args, **kwargs)
        given = _PARAMETERS | dict(zip(_PARAMETERS, args)) | kwargs
        create = lambda **arguments: type.__call__(ResourceVariable, **arguments)
        for creator in _creators.stack:
            create = functools.partial(creator, create)
        return create(**given)


def _refuse_in_place(symbol, method, instead):
    def operator(self, other):
        use = f"Use `variable.{method}(value)`" if method else f"Use `variable.assign(variable {symbol} value)`"
        raise RuntimeError(f"`variable {symbol}= value` with `tf.Variable`s is not supported. {use} to modify the "
                           f"variable, or `out = variable {instead} value` if you need to get a new output Tensor.")

    return operator


def _eager_only(text):
    def refuse(self, *args, **kwargs):
        raise RuntimeError(text)

    return refuse


def _undefined(name):
    def refuse(self):
        raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")

    return property(refuse, doc="Graphs only.")


def _checked_enum(kind, value, what, name):
    if value is None:
        return kind(0)
    if isinstance(value, kind):
        return value
    raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}")


class Variable(VariableBase, metaclass=_VariableType):
    """A value that changes. It goes wherever a tensor goes, as the value it has then.

    Gradient tapes watch trainable variables as they are read. The value is changed with assign, assign_add, assign_sub
    and the scatter methods; what was read before keeps its bits.
    """

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None,
                 experimental_enable_variable_lifting=None, **ignored):
        """Holds the initial value, or what it returns if it is a callable, with its dtype and shape or those given."""
        synchronization = _checked_enum(VariableSynchronization, synchronization, "synchronization", name)
        aggregation = _checked_enum(VariableAggregation, aggregation, "aggregation", name)
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                             "providing a `variable_def`. You provided neither.")
        if constraint is not None and not callable(constraint):
            raise ValueError("Argument `constraint` must be None or a callable. a callable. Got a "
                             f"{type(constraint)}:  {constraint}")
        if name is not None and not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        name = "Variable" if name is None else name
        if callable(initial_value) and not isinstance(initial_value, VariableBase):
            with name_scope(name):  # of what it makes
                initial_value = initial_value()
        value = convert_to_tensor(initial_value, dtype=dtype)
        if isinstance(value, _thalweg.KerasTensor):
            raise TypeError(f"You are passing {value}, an intermediate Keras symbolic input/output, to tf.Variable: it has no "
                            "value that a variable could begin with. Make the variable in a layer.")
        if shape is not None:
            wanted = as_shape(shape)
            if not wanted.is_compatible_with(value.shape):
                raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not "
                                 f"compatible with the explicitly supplied `shape` argument ({shape}).")
            shape = wanted
        self._create(value, shape, name, trainable, synchronization.value, aggregation.value)
        if constraint is not None:
            _thalweg.keras.set_constraint(self, constraint)

    constraint = property(_thalweg.keras.constraint_of, doc="What optimizers apply to the value after a step, or None.")
    _in_graph_mode = False
    initializer = property(lambda self: None, doc="Graphs only: an eager variable has its value from the beginning.")
    initial_value = property(_eager_only("This property is not supported when eager execution is enabled."))
    op = _undefined("op")
    graph = _undefined("graph")

    @property
    def name(self):
        """The name it was given, behind that of the scope it was made in: `dense/Variable:0`."""
        return self._shared_name + ":0"

    @property
    def _unique_id(self):
        return f"{self._shared_name}_{id(self.handle)}"

    def get_shape(self):
        """The TensorShape that every value fits."""
        return self.shape

    def set_shape(self, shape):
        """Checks that the variable has this shape."""
        self.shape.merge_with(shape)

    def is_initialized(self, name=None):
        """Whether it has a value."""
        from thalweg import raw_ops

        return raw_ops.VarIsInitializedOp(resource=self.handle)

    def read_value_no_copy(self):
        """The value now, as a tensor."""
        return self.value()

    def ref(self):
        """A hashable reference, for sets and keys: two are equal when the variable is the same object."""
        return Reference(self)

    def experimental_ref(self):
        """The older name of ref."""
        return self.ref()

    def load(self, value, session=None):
        """The older name of assign."""
        self.assign(value)

    def initialized_value(self):
        """Graphs only; see read_value()."""
        raise NotImplementedError

    eval = _eager_only("This operation is not supported when eager execution is enabled.")
    to_proto = _eager_only("This operation is not supported when eager execution is enabled.")

    def count_up_to(self, limit):
        """The value now, and one more in its place; OutOfRangeError once it has reached the limit."""
        from thalweg import errors

        value = self.read_value()
        if int(value) >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        self.assign_add(1)
        return value

    def sparse_read(self, indices, name=None):
        """Rows of the value: those that the indices name."""
        from thalweg import gather

        return gather(self, indices)

    def gather_nd(self, indices, name=None):
        """Slices or elements of the value, at places that each row of the indices names."""
        from thalweg import gather_nd

        return gather_nd(self, indices)

    def _scatter(self, op, indices, updates):
        from thalweg import raw_ops

        getattr(raw_ops, op)(**{"resource" if not op.startswith("ResourceScatterNd") else "ref": self.handle},
                             indices=indices, updates=convert_to_tensor(updates, self.dtype))
        return self._unread()

    def _scatter_slices(self, op, sparse_delta):
        from thalweg.ops.indexed_slices import IndexedSlices

        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}")
        return self._scatter(op, sparse_delta.indices, sparse_delta.values)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Puts values in the place of elements of each example of a batch."""
        import thalweg as tf

        indices = convert_to_tensor(sparse_delta.indices)
        axes = [tf.range(size, dtype=indices.dtype) for size in indices.shape]
        places = [*tf.meshgrid(*axes, indexing="ij")[:-1], indices]
        return self.scatter_nd_update(tf.stack(places, axis=-1), sparse_delta.values)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        made = self.__reduce__()[0]()
        memo[id(self)] = made
        return made

    def __reduce__(self):
        return functools.partial(ResourceVariable, initial_value=self.numpy(), trainable=self.trainable,
                                 name=self._shared_name, dtype=self.dtype, constraint=self.constraint,
                                 synchronization=self.synchronization, aggregation=self.aggregation,
                                 shape=self.shape), ()

    def __complex__(self):
        return complex(self.value())

    __iadd__ = _refuse_in_place("+", "assign_add", "+")
    __isub__ = _refuse_in_place("-", "assign_sub", "*")
    __imul__ = _refuse_in_place("*", None, "*")
    __itruediv__ = _refuse_in_place("/", None, "/")
    __ipow__ = _refuse_in_place("**", None, "**")


def _add_scatters():
    """scatter_add(sparse_delta) and scatter_nd_add(indices, updates), and their kin, by the names of the ops."""
    words = {"add": "Adds to", "sub": "Subtracts from", "mul": "Multiplies", "div": "Divides",
             "min": "Takes the minimum with", "max": "Takes the maximum with", "update": "Puts values in the place of"}
    for how, what in words.items():
        def by_slices(self, sparse_delta, use_locking=False, name=None, _op=f"ResourceScatter{how.capitalize()}"):
            return self._scatter_slices(_op, sparse_delta)

        by_slices.__name__ = f"scatter_{how}"
        by_slices.__doc__ = f"{what} the rows that a tf.IndexedSlices names."
        setattr(Variable, by_slices.__name__, by_slices)
        if how in ("mul", "div"):
            continue

        def by_places(self, indices, updates, name=None, _op=f"ResourceScatterNd{how.capitalize()}"):
            return self._scatter(_op, indices, updates)

        by_places.__name__ = f"scatter_nd_{how}"
        by_places.__doc__ = f"{what} slices or elements at the places that each row of the indices names."
        setattr(Variable, by_places.__name__, by_places)


_add_scatters()


class ResourceVariable(Variable):
    """What tf.Variable makes."""


class _UnreadVariable(Variable):
    """What assignments return: the variable they changed."""

    name = property(lambda self: "UnreadVariable", doc="Not the variable's own: its value has not been read yet.")


def _integer(entry):
    return int(entry.numpy() if hasattr(entry, "numpy") else entry)


def _slice_parts(key):
    """begin, end, strides and the masks of a strided slice."""
    entries = key if isinstance(key, (tuple, list)) else (key,)
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, entry in enumerate(entries):
        first, last, step = 0, 0, 1
        if isinstance(entry, slice):
            step = 1 if entry.step is None else _integer(entry.step)
            first, last = (0 if e is None else _integer(e) for e in (entry.start, entry.stop))
            masks["begin_mask"] |= (entry.start is None) << i
            masks["end_mask"] |= (entry.stop is None) << i
        elif entry is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif entry is None:
            masks["new_axis_mask"] |= 1 << i
        else:
            first = _integer(entry)
            last = first + 1
            masks["shrink_axis_mask"] |= 1 << i
        begin.append(first)
        end.append(last)
        strides.append(step)
    return dict(begin=begin, end=end, strides=strides, **masks)


class _SliceAssign:
    """v[key].assign: puts a value in the place of a part of the variable."""

    __slots__ = ("_variable", "_key")

    def __init__(self, variable, key):
        self._variable = variable
        self._key = key

    def __call__(self, value, name=None):
        from thalweg import raw_ops

        value = convert_to_tensor(value, dtype=self._variable.dtype)
        raw_ops.ResourceStridedSliceAssign(ref=self._variable.handle, value=value, **_slice_parts(self._key))
        return self._variable._unread()


_thalweg.register("variable_classes", (ResourceVariable, _UnreadVariable, _SliceAssign))
_thalweg.register("variable_enums", (VariableSynchronization, VariableAggregation))
