"""tf.function: Python functions traced into graphs by the engine."""

import contextlib
import functools
import sys
import threading
import weakref

from thalweg import _thalweg, nest
from thalweg._logging import warn
from thalweg._thalweg import Tensor, VariableBase, convert_to_tensor
from thalweg.errors import OperatorNotAllowedInGraphError
from thalweg.specs import TensorSpec


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


def _spec_of(tensor):
    return TensorSpec(tensor.shape, tensor.dtype)


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
                given = _spec_of(leaf)
            if given.dtype != spec.dtype or not spec.shape.is_compatible_with(given.shape):
                raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {given!r} to {spec!r}`. "
                                f"Received args: {tuple(self.leaves)!r} and kwargs: {{}} for signature: {signature!r}.")
            self.tensors.append(leaf)

    def specs(self, signature):
        """What each tensor looks like; with a signature, what it says."""
        if signature is not None:
            return nest.flatten(signature)
        return [leaf if isinstance(leaf, TensorSpec) else _spec_of(leaf) for leaf in self.tensors]

    def with_tensors(self, tensors):
        """The arguments with other tensors in their places."""
        remaining = iter(tensors)
        leaves = [next(remaining) if slot else leaf for slot, leaf in zip(self.slots, self.leaves)]
        return nest.pack_sequence_as(self.arguments, leaves)


def _result_leaf(leaf):
    if leaf is None or isinstance(leaf, Tensor):
        return leaf
    if isinstance(leaf, VariableBase):
        return leaf.read_value()
    return convert_to_tensor(leaf)


class FuncGraph:
    """The graph of a traced function."""

    def __init__(self, body):
        self._body = body
        self.name = body.name

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        """TensorFlow's message of the graph and the functions inside; variables are placeholders in it."""
        return _thalweg.graph_def_of(self._body)[0]

    def __str__(self):
        return self._body.text


class ConcreteFunction:
    """One trace of a function: for tensors of certain dtypes and shapes."""

    def __init__(self, body, structure, names, specs):
        self._body = body
        self._structure = structure  # of the results; None where there is no tensor
        self._names = names
        self._specs = specs
        self.name = body.name

    def _run(self, tensors):
        results = iter(self._body.call(tensors))
        leaves = [None if leaf is None else next(results) for leaf in self._present]
        return nest.pack_sequence_as(self._structure, leaves) if nest.is_nested(self._structure) else leaves[0]

    @property
    def _present(self):
        return nest.flatten(self._structure)

    def __call__(self, *args, **kwargs):
        tensors = [leaf for leaf in nest.flatten(args) if isinstance(leaf, (Tensor, float, int, list)) or _is_array(leaf)]
        for name in self._names[len(tensors):]:
            if name in kwargs:
                tensors.append(kwargs.pop(name))
        if kwargs or len(tensors) != len(self._specs):
            raise TypeError(f"ConcreteFunction {self.name} takes {len(self._specs)} tensors ({', '.join(self._names)}), "
                            f"got {len(tensors)}" + (f" and {sorted(kwargs)}" if kwargs else ""))
        converted = [convert_to_tensor(tensor, spec.dtype) for tensor, spec in zip(tensors, self._specs)]
        for tensor, spec in zip(converted, self._specs):
            if not spec.shape.is_compatible_with(tensor.shape):
                raise ValueError(f"{self.name}: a tensor of shape {tensor.shape} was given for {spec!r}")
        return self._run(converted)

    @property
    def graph(self):
        """What was traced."""
        return FuncGraph(self._body)

    @property
    def variables(self):
        """The variables it uses."""
        return tuple(self._body.variables)

    @property
    def trainable_variables(self):
        """The variables it uses that tapes watch."""
        return tuple(variable for variable in self._body.variables if variable.trainable)

    @property
    def structured_outputs(self):
        """The results as TensorSpecs in their structure."""
        specs = iter([TensorSpec(shape, dtype) for dtype, shape in self._body.results])
        leaves = [None if leaf is None else next(specs) for leaf in self._present]
        return nest.pack_sequence_as(self._structure, leaves) if nest.is_nested(self._structure) else leaves[0]

    @property
    def structured_input_signature(self):
        """The tensors it takes."""
        return tuple(self._specs), {}

    def __repr__(self):
        return f"<ConcreteFunction {self.name} at 0x{id(self):X}>"


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
        self._traces = {}  # by the rest of the call: lists of (specs, concrete)
        self._tracing_count = 0
        self._tracing = False
        self._lock = threading.RLock()  # one thread traces, others wait for what it makes
        self._called = False
        self._falls_back = False
        self._recent = 0
        self._calls = 0
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
                concrete = self._find(call)
        except OperatorNotAllowedInGraphError:
            if not self._autograph or _thalweg.is_tracing():
                raise
            self._falls_back = True  # Python's own control flow decides by values: op by op, with the same results
            return self._python_function(*args, **kwargs)
        if len(call.tensors) == len(args) and not kwargs and concrete._structure == 0 and all(call.slots):
            _thalweg.set_ready(self, concrete._body)  # the next call like this one takes the short way
        return concrete._run(call.tensors)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for tensors like these; TensorSpecs stand for tensors."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        with self._lock:
            return self._find(_Call(self._bind(args, kwargs), self.input_signature))

    def experimental_get_tracing_count(self):
        """How often it was traced."""
        return self._tracing_count

    def pretty_printed_concrete_signatures(self, verbose=True):
        """One paragraph per trace: what it takes and gives."""
        traces = [trace for group in self._traces.values() for trace in group]
        return "\n\n".join(f"{self._name}({', '.join(map(repr, specs))})\n  Returns:\n    {concrete.structured_outputs!r}"
                           for specs, concrete in traces)

    def _find(self, call):
        specs = call.specs(self.input_signature)
        group = self._traces.get(call.rest, ())
        for traced, concrete in group:
            if all(a.dtype == b.dtype and _covers(a.shape, b.shape) for a, b in zip(traced, specs)):
                self._note(False)
                return concrete
        self._note(True)
        if self._reduce_retracing and self.input_signature is None:
            for traced, _ in group:
                if all(a.dtype == b.dtype for a, b in zip(traced, specs)):
                    specs = [TensorSpec(_relaxed(a.shape, b.shape), a.dtype) for a, b in zip(traced, specs)]
        concrete = self._trace(call, specs)
        self._traces.setdefault(call.rest, []).insert(0, (specs, concrete))
        return concrete

    def _trace(self, call, specs):
        if self._tracing:
            raise RuntimeError(f"{self._name} calls itself while it is traced, without end: use tf.while_loop, or a plain "
                               "function for the recursion")
        self._tracing = True
        try:
            concrete, created = self._trace_once(call, specs, not self._called)
            self._called = True
            if created:  # later calls will not make them either
                concrete, _ = self._trace_once(call, specs, False)
        finally:
            self._tracing = False
        return concrete

    def _trace_once(self, call, specs, may_create_variables):
        found = {}

        def body(*tensors):
            args, kwargs = call.with_tensors(tensors)
            results = self._python_function(*args, **kwargs)
            leaves = [_result_leaf(leaf) for leaf in nest.flatten(results)]
            found["structure"] = (nest.pack_sequence_as(results, [None if leaf is None else 0 for leaf in leaves])
                                  if nest.is_nested(results) else (None if leaves[0] is None else 0))
            return [leaf for leaf in leaves if leaf is not None]

        self._tracing_count += 1
        name = f"__inference_{self._name}_{_next_number()}"
        names = [spec.name or f"arg{i}" for i, spec in enumerate(specs)]
        traced, created = _thalweg.trace(name, [(spec.dtype, spec.shape, spec.name) for spec in specs], body,
                                         may_create_variables, bool(self._jit_compile))
        return ConcreteFunction(traced, found["structure"], names, specs), created

    def _note(self, traced):
        self._calls += 1
        self._recent = self._recent + 1 if traced else max(0, self._recent - 1)
        if self._recent == 5 and self._calls > 5:
            warn(f"5 out of the last 5 calls to {self._python_function} triggered tf.function retracing. Tracing is "
                 "expensive and the excessive number of tracings could be due to (1) creating @tf.function repeatedly in "
                 "a loop, (2) passing tensors with different shapes, (3) passing Python objects instead of tensors. For "
                 "(1), please define your @tf.function outside of the loop. For (2), @tf.function has "
                 "reduce_retracing=True option that can avoid unnecessary retracing. For (3), please refer to "
                 "https://www.tensorflow.org/guide/function#controlling_retracing and "
                 "https://www.tensorflow.org/api_docs/python/tf/function for  more details.")

    def __repr__(self):
        return f"<tf.function {self._name}>"


def _covers(traced, given):
    if traced.rank is None:
        return True
    return given.rank == traced.rank and all(a is None or a == b for a, b in zip(traced.as_list(), given.as_list()))


def _relaxed(a, b):
    if a.rank is None or a.rank != b.rank:
        return None
    return [x if x == y else None for x, y in zip(a.as_list(), b.as_list())]


_numbers = {"next": 0}


def _next_number():
    _numbers["next"] += 1
    return _numbers["next"]


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a function that is traced into a graph, as `@tf.function` or `@tf.function(...)`."""
    relax = bool(reduce_retracing or experimental_relax_shapes)
    jit = jit_compile if jit_compile is not None else experimental_compile

    def make(inner):
        if isinstance(inner, Function):
            inner = inner.python_function
        return Function(inner, input_signature, autograph, jit, relax)

    return make if func is None else make(func)
