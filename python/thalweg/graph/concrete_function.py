"""One trace of a function: what it takes, what it gives, and how it is called."""

import itertools

from thalweg import _thalweg, errors, nest
from thalweg._thalweg import Tensor, VariableBase, convert_to_tensor
from thalweg.core.specs import TensorSpec
from thalweg.ops.indexed_slices import IndexedSlices


def packed(structure, results):
    """The structure with results in its places; None stays None, and a number is that of the parts of IndexedSlices."""
    remaining = iter(results)

    def fill(leaf):
        if leaf is None:
            return None
        return IndexedSlices(*itertools.islice(remaining, leaf)) if leaf else next(remaining)

    return nest.pack_sequence_as(structure, [fill(leaf) for leaf in nest.flatten(structure)])


def parameters_of(signature, args, kwargs):
    """(name, kind) of every argument of a call, positional ones first, keywords in the order of their leaves."""
    positional, rest = [], None
    for parameter in signature.parameters.values() if signature is not None else ():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append((parameter.name, parameter.kind.name))
    if signature is None:
        positional = [(f"arg{i}", "POSITIONAL_ONLY") for i in range(len(args))]
    if rest is not None:  # what comes before it can be given by position alone
        positional = [(name, "POSITIONAL_ONLY") for name, _ in positional]
    more = [(f"{rest}_{i}", "POSITIONAL_ONLY") for i in range(len(args) - len(positional))]
    return (positional + more)[:len(args)] + [(name, "KEYWORD_ONLY") for name in sorted(kwargs)]


def leaf_paths(name, value):
    """A name for every leaf of an argument: its own, and the way to the leaf."""
    if not nest.is_nested(value):
        return [name]
    return [path for key, child in nest._named_children(value) for path in leaf_paths(f"{name}_{key}", child)]


def type_text(value):
    """The type of an argument or a result as signatures show it."""
    if isinstance(value, TensorSpec):
        return repr(value)
    if isinstance(value, VariableBase):
        return f"VariableSpec(shape={tuple(value.shape)}, dtype={value.dtype!r}, trainable={value.trainable}, alias_id=0)"
    if isinstance(value, dict):
        return "Dict[" + ", ".join(f"[{key!r}, {type_text(item)}]" for key, item in value.items()) + "]"
    if nest._is_namedtuple(value):
        items = ", ".join(f"[{key!r}, {type_text(item)}]" for key, item in nest._named_children(value))
        return f"{type(value).__name__}[{items}]"
    if nest.is_nested(value):
        return f"{'List' if isinstance(value, list) else 'Tuple'}[{', '.join(map(type_text, value))}]"
    return f"Literal[{value!r}]"


def _fitted(wanted, value, tensors):
    """Puts the tensors of an argument where the trace takes tensors; TypeError where it does not fit."""
    if isinstance(wanted, TensorSpec):
        if isinstance(value, Tensor) and value.dtype != wanted.dtype:
            raise errors.InvalidArgumentError(None, None, f"input #{len(tensors)}(zero-based) was expected to be a "
                                              f"{wanted.dtype.name} tensor but is a {value.dtype.name} tensor")
        tensor = convert_to_tensor(value, wanted.dtype)
        if not wanted.shape.is_compatible_with(tensor.shape):
            raise TypeError(f"Can not cast {TensorSpec.from_tensor(tensor)!r} to {wanted!r}")
        tensors.append(tensor)
    elif nest.is_nested(wanted):
        same = nest.is_nested(value) and isinstance(wanted, dict) == isinstance(value, dict) and len(value) == len(wanted)
        if not same or (isinstance(wanted, dict) and value.keys() != wanted.keys()):
            raise TypeError(f"Can not cast {value!r} to {type_text(wanted)}")
        for wanted_child, child in zip(nest._children(wanted), nest._children(value)):
            _fitted(wanted_child, child, tensors)
    elif isinstance(wanted, VariableBase):
        if value is not wanted:
            raise TypeError(f"Can not cast {value!r} to the variable that was traced, {wanted!r}")
    elif value is not wanted and (type(value) is not type(wanted) or value != wanted):
        raise TypeError(f"Can not cast {value!r} to {type_text(wanted)}")


class GraphOperation:
    """An op of a traced function, as its message describes it."""

    def __init__(self, node):
        self.node_def = node
        self.name, self.type = node.name, node.op

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"


class FuncGraph:
    """The graph of a traced function."""

    def __init__(self, body):
        self._body = body
        self.name = body.name

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        """TensorFlow's message of the graph and the functions inside; variables are placeholders in it."""
        return _thalweg.graph_def_of(self._body)[0]

    @property
    def inputs(self):
        """Its tensors that stand for the arguments."""
        return self._body.inputs

    @property
    def outputs(self):
        """Its tensors that are the results."""
        return self._body.outputs

    def get_operations(self):
        """The ops, in the order of the graph; variables are placeholders."""
        return [GraphOperation(node) for node in self.as_graph_def().node]

    def get_operation_by_name(self, name):
        """The op of this name; KeyError where there is none."""
        for operation in self.get_operations():
            if operation.name == name:
                return operation
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def __str__(self):
        return self._body.text


class ConcreteFunction:
    """One trace of a function: for tensors of certain dtypes and shapes."""

    def __init__(self, body, structure, parameters, arguments, named_arguments, title):
        self._body = body
        self._structure = structure  # of the results; None where there is no tensor
        self._parameters = parameters  # (name, kind)
        self._arguments = arguments  # (args, kwargs) with TensorSpecs for tensors
        self._named_arguments = named_arguments  # the same, each TensorSpec named by the way to it
        self._specs = [leaf for leaf in nest.flatten(arguments) if isinstance(leaf, TensorSpec)]
        self._title = title
        self._signature = None
        self.name = body.name

    def _run(self, tensors):
        return packed(self._structure, self._body.call(tensors))

    def __call__(self, *args, **kwargs):
        if not kwargs and self._takes_as_they_are(args):
            return self._run(args)
        try:
            tensors = self._bound(args, kwargs)
        except (TypeError, ValueError) as error:
            try:
                tensors = self._flat(args, kwargs)
            except (TypeError, ValueError) as flat_error:
                raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: "
                                f"{kwargs} for signature: {self.pretty_printed_signature(verbose=False)}.\nFallback to flat "
                                f"signature also failed due to: {flat_error}.") from None
        return self._run(tensors)

    def _takes_as_they_are(self, args):
        """Whether these are the tensors that the trace was made for, in order."""
        return len(args) == len(self._specs) and all(
            isinstance(tensor, Tensor) and spec.is_compatible_with(tensor) for tensor, spec in zip(args, self._specs))

    def _bound(self, args, kwargs):
        """The tensors of a call that looks like one of the Python function."""
        import inspect  # heavy, and few calls need it
        if self._signature is None:
            kinds = inspect.Parameter
            self._signature = inspect.Signature([kinds(name, getattr(kinds, kind)) for name, kind in self._parameters])
        bound = self._signature.bind(*args, **kwargs)
        tensors = []
        given, keywords = bound.args, bound.kwargs
        by_keyword = [name for name, kind in self._parameters if kind == "KEYWORD_ONLY"]
        for wanted, value in zip(self._arguments[0], given):
            _fitted(wanted, value, tensors)
        for name in by_keyword:
            _fitted(self._arguments[1][name], keywords[name], tensors)
        return tensors

    def _flat(self, args, kwargs):
        """The tensors of a call that gives tensors alone, in order or by the names of the graph's inputs."""
        names = [tensor.name.rsplit(":", 1)[0] for tensor in self.inputs]
        summary = f"{self._title}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{summary} takes {len(names)} positional arguments, got {len(args)}")
        left = dict(kwargs)
        missing = [name for name in names[len(args):] if name not in left]
        if missing:
            raise TypeError(f"{summary} missing required arguments: {', '.join(missing)}")
        values = [*args, *(left.pop(name) for name in names[len(args):])]
        if left:
            raise TypeError(f"{summary} got unexpected keyword arguments: {', '.join(left)}")
        tensors = []
        for spec, value in zip(self._specs, values):
            _fitted(spec, value, tensors)
        return tensors

    @property
    def graph(self):
        """What was traced."""
        return FuncGraph(self._body)

    @property
    def inputs(self):
        """The tensors of the graph that stand for the arguments."""
        return self._body.inputs

    @property
    def outputs(self):
        """The tensors of the graph that are the results."""
        return self._body.outputs

    def summary(self):
        """What it consists of: arguments, results and parameters, ops by count, fused clusters, memory of a run."""
        return _thalweg.summary(self._body)

    def to_dot(self, optimized=False):
        """The graph in Graphviz's language; `optimized`: as it runs, after the passes."""
        return _thalweg.to_dot(self._body, optimized)

    def write_dot(self, path, optimized=False):
        """Writes the graph for `dot -Tsvg`."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_dot(optimized))

    @property
    def variables(self):
        """The variables it uses."""
        return tuple(self._body.variables)

    @property
    def trainable_variables(self):
        """The variables it uses that tapes watch."""
        return tuple(variable for variable in self._body.variables if variable.trainable)

    @property
    def captured_inputs(self):
        """The handles of the variables it uses; other tensors from outside are constants of its graph."""
        return [variable.handle for variable in self._body.variables]

    @property
    def output_shapes(self):
        """The shapes of the results, in their structure."""
        return self._result_specs(lambda dtype, shape: shape)

    @property
    def output_dtypes(self):
        """The dtypes of the results, in their structure."""
        return self._result_specs(lambda dtype, shape: dtype)

    def _result_specs(self, take):
        return packed(self._structure, [take(dtype, shape) for dtype, shape in self._body.results])

    @property
    def structured_outputs(self):
        """The results, tensors of the graph, in their structure."""
        return packed(self._structure, self.outputs)

    @property
    def structured_input_signature(self):
        """(args, kwargs): a TensorSpec for every tensor, and the values of everything else."""
        return self._named_arguments

    def pretty_printed_signature(self, verbose=True):
        """What it takes and gives: a paragraph, or one line."""
        args, kwargs = self._arguments
        values = [*args, *(kwargs[name] for name in sorted(kwargs))]
        results = type_text(self._result_specs(lambda dtype, shape: TensorSpec(shape, dtype)))
        if verbose:
            lines = [f"  {name} ({kind}): {type_text(value)}" for (name, kind), value in zip(self._parameters, values)]
            handles = [f"  {id(variable)}: TensorSpec(shape=(), dtype=tf.resource, name=None)" for variable in self.variables]
            return "\n".join(["Input Parameters:", *lines, "Output Type:", f"  {results}", "Captures:", *(handles or ["  None"])])
        texts, before = [], None
        for (name, kind), value in zip(self._parameters, values):
            if before == "POSITIONAL_ONLY" and kind != before:
                texts.append("/")
            if kind == "KEYWORD_ONLY" and before != kind:
                texts.append("*")
            texts.append(f"{name}: {type_text(value)}")
            before = kind
        if before == "POSITIONAL_ONLY":
            texts.append("/")
        return f"({', '.join(texts)}) -> {results}"

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"
