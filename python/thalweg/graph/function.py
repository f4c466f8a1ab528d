"""tf.function: Python functions traced into graphs by the engine."""

import contextlib
import functools
import os
import sys
import threading
import weakref

from thalweg import _thalweg, nest
from thalweg._thalweg import Tensor, VariableBase, convert_to_tensor
from thalweg.core.specs import TensorSpec
from thalweg.errors import OperatorNotAllowedInGraphError
from thalweg.graph.concrete_function import ConcreteFunction, leaf_paths, packed, parameters_of
from thalweg.ops.indexed_slices import IndexedSlices


_thalweg.name_lines(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)  # errors name the user's, not these


def run_functions_eagerly(run_eagerly):
    """Whether functions run as they are written, op by op: for debugging."""
    _thalweg.run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly():
    """Whether run_functions_eagerly was switched on."""
    return _thalweg.functions_run_eagerly()


def executing_eagerly():
    """Whether ops run at once: not while a function is traced."""
    return not _thalweg.is_tracing()


def enable_eager_execution(*args, **kwargs):
    """Eager execution is always on outside of functions; programs of TensorFlow 1 ask for it."""


@contextlib.contextmanager
def init_scope():
    """Leaves the functions that are being traced: ops inside run at once, and no tape sees them."""
    with _thalweg.Untraced():
        yield


def inside_function():
    """Whether a function is being traced."""
    return _thalweg.is_tracing()


class _ById:
    """Stands for an object that cannot be hashed: equal to itself alone, as long as it lives."""

    def __init__(self, value):
        self._id = id(value)
        try:
            self._alive = weakref.ref(value)
        except TypeError:
            self._alive = lambda: value

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        return isinstance(other, _ById) and self._id == other._id and self._alive() is other._alive() is not None


def _leaf_key(leaf):
    """What tells a leaf that is no tensor from others."""
    try:
        hash(leaf)
    except TypeError:
        return _ById(leaf)
    return (type(leaf), leaf)


def _structure_key(structure):
    if isinstance(structure, dict):
        return ("dict", tuple((key, _structure_key(structure[key])) for key in sorted(structure)))
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return (type(structure), tuple(_structure_key(item) for item in structure))
    if isinstance(structure, (list, tuple)):
        return (type(structure).__name__, tuple(_structure_key(item) for item in structure))
    return None


def _up_to(signature, values):
    """The parts of a call that stand where the specs of a signature are: a list may be one tensor."""
    if not nest.is_nested(signature):
        return [values]
    children = zip(nest._children(signature), nest._children(values))
    return [leaf for spec, value in children for leaf in _up_to(spec, value)]


def _is_array(leaf):
    numpy = sys.modules.get("numpy")  # who has an array has imported it
    return numpy is not None and isinstance(leaf, (numpy.ndarray, numpy.generic))


class _Call:
    """The arguments of one call: tensors in order, and a key for everything else."""

    def __init__(self, arguments, signature):
        self.arguments = arguments
        if signature is not None:
            args, kwargs = arguments
            if kwargs or len(args) != len(signature):
                raise TypeError(f"Binding inputs to tf.function failed: the input_signature has {len(signature)} "
                                f"arguments, the call {len(args) + len(kwargs)}.")
            self.arguments, self.leaves = (tuple(signature), {}), _up_to(signature, args)
            self.tensors, self.slots, self.rest = [], [True] * len(self.leaves), None
            self._fit(signature)
            return
        leaves = nest.flatten(arguments)
        self.tensors, self.slots, values = [], [], []
        for leaf in leaves:
            if isinstance(leaf, TensorSpec):
                self.slots.append(True)
                self.tensors.append(leaf)
            elif isinstance(leaf, Tensor) or _is_array(leaf):
                self.slots.append(True)
                self.tensors.append(convert_to_tensor(leaf))
            else:
                self.slots.append(False)
                values.append(_leaf_key(leaf) if not isinstance(leaf, VariableBase) else _ById(leaf))
        self.leaves = leaves
        self.rest = (_structure_key(arguments), tuple(self.slots), tuple(values))

    def _fit(self, signature):
        for leaf, spec in zip(self.leaves, nest.flatten(signature)):
            if isinstance(leaf, TensorSpec):
                given = leaf
            else:
                try:
                    leaf = convert_to_tensor(leaf, spec.dtype)
                except (TypeError, ValueError) as error:
                    raise TypeError(f"Binding inputs to tf.function failed due to `{error}`.") from None
                given = TensorSpec.from_tensor(leaf)
            if given.dtype != spec.dtype or not spec.shape.is_compatible_with(given.shape):
                raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {given!r} to {spec!r}`. "
                                f"Received args: {tuple(self.leaves)!r} and kwargs: {{}} for signature: {signature!r}.")
            self.tensors.append(leaf)

    def leaf_names(self, signature, with_paths=False):
        """The parameter of every tensor, or the way from it to the tensor."""
        args, kwargs = self.arguments
        names = parameters_of(signature, args, kwargs)
        values = [*args, *(kwargs[name] for name in sorted(kwargs))]
        paths = [(name, path) for (name, _), value in zip(names, values) for path in leaf_paths(name, value)]
        return [path if with_paths else name for (name, path), slot in zip(paths, self.slots) if slot]

    def with_tensors(self, tensors):
        """The arguments with other tensors in their places."""
        remaining = iter(tensors)
        leaves = [next(remaining) if slot else leaf for slot, leaf in zip(self.slots, self.leaves)]
        return nest.pack_sequence_as(self.arguments, leaves)


def _slices_parts(slices):
    parts = [slices.values, slices.indices, slices.dense_shape]
    return [convert_to_tensor(part) for part in parts if part is not None]


def _result_leaf(leaf):
    if isinstance(leaf, Tensor):
        return leaf
    if isinstance(leaf, VariableBase):
        return leaf.read_value()
    return convert_to_tensor(leaf)


def _engine_specs(leaves):
    """Tensors as they are; specs as the engine takes them."""
    return [(leaf.dtype, leaf.shape, leaf.name) if isinstance(leaf, TensorSpec) else leaf for leaf in leaves]


class Function(_thalweg.FunctionBase):
    """A Python function that is traced at the first call for each kind of arguments, and run from a plan afterwards."""

    def __init__(self, python_function, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
                 name=None):
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._name = name or getattr(python_function, "__name__", "function")
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._traces = _thalweg.Traces(self._name, str(python_function), _engine_specs(nest.flatten(input_signature or ())),
                                       bool(reduce_retracing), bool(jit_compile), bool(autograph))
        self._rests = {}  # for what calls have beside tensors: a number, and names of the tensors
        self._concrete = {}
        self._lock = threading.RLock()  # one thread traces, others wait for what it makes
        self._falls_back = False
        self._bound = weakref.WeakKeyDictionary()
        import inspect  # heavy, and only functions need it
        try:
            self._signature = inspect.signature(python_function)
        except (TypeError, ValueError):
            self._signature = None

    @property
    def python_function(self):
        """The function as it is written."""
        return self._python_function

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            bound = self._bound.get(instance)
        except TypeError:
            bound = instance.__dict__.get("_function_" + self._name)
        if bound is None:
            method = self._python_function.__get__(instance, owner)
            bound = Function(method, self.input_signature, self._autograph, self._jit_compile, self._reduce_retracing)
            try:
                self._bound[instance] = bound
            except TypeError:
                instance.__dict__["_function_" + self._name] = bound
        return bound

    def _bind(self, args, kwargs):
        if self._signature is None:
            return args, kwargs
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: "
                            f"{kwargs} for signature: {self._signature}.") from None
        if self.input_signature is None:
            bound.apply_defaults()
        return bound.args, bound.kwargs

    def _call(self, *args, **kwargs):
        if _thalweg.functions_run_eagerly() or self._falls_back:
            return self._python_function(*args, **kwargs)
        call = _Call(self._bind(args, kwargs), self.input_signature)
        try:
            with self._lock:
                found = self._find(call, False)
        except OperatorNotAllowedInGraphError:
            if not self._autograph or _thalweg.is_tracing():
                raise
            self._falls_back = True  # Python's own control flow decides by values: op by op, with the same results
            return self._python_function(*args, **kwargs)
        if found is None:  # it asks for values: a part of the function around it, which knows them
            return self._python_function(*args, **kwargs)
        if not isinstance(found, ConcreteFunction):
            results, structure = found
            return packed(structure, results)
        if len(call.tensors) == len(args) and not kwargs and found._structure == 0 and all(call.slots):
            _thalweg.set_ready(self, found._body)  # the next call like this one takes the short way
        return found._run(call.tensors)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for tensors like these; TensorSpecs stand for tensors."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        with self._lock:
            return self._find(_Call(self._bind(args, kwargs), self.input_signature), True)

    def experimental_get_tracing_count(self):
        """How often it was traced."""
        return self._traces.tracing_count

    def pretty_printed_concrete_signatures(self, verbose=True):
        """One paragraph per trace: what it takes and gives."""
        texts = [concrete.pretty_printed_signature(verbose) for concrete in self._concrete.values()]
        return ("\n\n" if verbose else "\n").join(texts)

    def _find(self, call, needs_graph):
        """The trace of a call; results and their structure, where tracing had to run it; None inside of a function that will."""

        def body(*tensors):
            args, kwargs = call.with_tensors(tensors)
            results = self._python_function(*args, **kwargs)
            tensors, marks = [], []  # a mark says what `packed` puts in its place
            for leaf in nest.flatten(results):
                parts = _slices_parts(leaf) if isinstance(leaf, IndexedSlices) else []
                marks.append(None if leaf is None else len(parts))
                if leaf is not None:
                    tensors += parts or [_result_leaf(leaf)]
            return tensors, nest.pack_sequence_as(results, marks)

        if call.rest not in self._rests:
            self._rests[call.rest] = str(len(self._rests)), call.leaf_names(self._signature)
        rest, names = self._rests[call.rest]
        found = self._traces.find(_engine_specs(call.tensors), names, rest, body, needs_graph)
        if not isinstance(found, int):
            return found
        concrete = self._concrete.get(found)
        if concrete is None:
            traced, arguments, structure = self._traces.describe(found)
            given = nest.flatten(self.input_signature) if self.input_signature is not None else call.tensors
            given = [leaf.name if isinstance(leaf, TensorSpec) else None for leaf in given]
            specs = [[TensorSpec(shape, dtype, name) for (dtype, shape), name in zip(arguments, names)] for names in
                     (given, [name or path for name, path in zip(given, call.leaf_names(self._signature, True))])]
            concrete = self._concrete[found] = ConcreteFunction(
                traced, structure, parameters_of(self._signature, *call.arguments), *map(call.with_tensors, specs), self._name)
        return concrete

    def __repr__(self):
        return f"<tf.function {self._name}>"


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a function that is traced into a graph, as `@tf.function` or `@tf.function(...)`."""
    relax = bool(reduce_retracing or experimental_relax_shapes)
    jit = jit_compile if jit_compile is not None else experimental_compile

    def make(inner):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        if isinstance(inner, Function):
            inner = inner.python_function
        return Function(inner, input_signature, autograph, jit, relax)

    return make if func is None else make(func)
