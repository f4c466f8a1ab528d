"""tf.cond, tf.case, tf.switch_case and tf.while_loop; traced as functions inside of a traced function."""

from thalweg import _thalweg, nest
from thalweg._thalweg import Tensor, convert_to_tensor
from thalweg.core.shapes import TensorShape
from thalweg.graph.function import _result_leaf
from thalweg.ops.tensor_array import TensorArray


def _component(leaf, dtype=None):
    """The tensor that stands for a leaf while it goes through an op."""
    if isinstance(leaf, TensorArray):
        return leaf.flow
    leaf = _result_leaf(leaf)
    return convert_to_tensor(leaf, dtype) if dtype is not None and leaf.dtype != dtype else leaf


def _like(leaf, tensor):
    """A leaf of the same kind with another tensor behind it."""
    return leaf._changed(tensor) if isinstance(leaf, TensorArray) else tensor


class _Branches:
    """Python functions as branches: their results flat for the engine, and the structure they all must have."""

    def __init__(self):
        self.structure = None
        self.known = False

    def wrap(self, function):
        def branch(*arguments):
            results = function(*arguments)
            leaves = nest.flatten(results)
            if not self.known:
                self.structure, self.known = results, True
            else:
                nest.assert_same_structure(self.structure, results)
            return [_component(leaf) for leaf in leaves if leaf is not None]

        return branch

    def pack(self, tensors):
        remaining = iter(tensors)
        leaves = [None if leaf is None else _like(leaf, next(remaining)) for leaf in nest.flatten(self.structure)]
        return nest.pack_sequence_as(self.structure, leaves) if nest.is_nested(self.structure) else leaves[0]


def cond(pred, true_fn=None, false_fn=None, name=None):
    """The result of true_fn() if pred holds, else that of false_fn()."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    pred = convert_to_tensor(pred)
    if not _thalweg.is_tracing() or not isinstance(pred, _thalweg.SymbolicTensor):
        return true_fn() if pred else false_fn()
    branches = _Branches()
    return branches.pack(_thalweg.cond(pred, branches.wrap(true_fn), branches.wrap(false_fn)))


def switch_case(branch_index, branch_fns, default=None, name=None):
    """The result of the function with this number; of the default (or the last) where there is none."""
    functions = dict(branch_fns) if not isinstance(branch_fns, (list, tuple)) or (
        branch_fns and isinstance(branch_fns[0], tuple)) else dict(enumerate(branch_fns))
    if sorted(functions) != list(range(len(functions))):
        raise ValueError(f"branch indices must form contiguous range of [0, {len(functions)}). Found: {sorted(functions)}")
    ordered = [functions[i] for i in range(len(functions))]
    if not all(callable(function) for function in ordered):
        raise TypeError("branch_fns must be callables")
    if default is not None:
        ordered.append(default)
    if isinstance(branch_index, int):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    index = convert_to_tensor(branch_index, "int32")
    if not isinstance(index, _thalweg.SymbolicTensor):
        number = int(index)
        return (ordered[number] if 0 <= number < len(ordered) else ordered[-1])()
    branches = _Branches()
    return branches.pack(_thalweg.switch_case(index, [branches.wrap(function) for function in ordered]))


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose predicate holds, else of the default; an error where there is none."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if not pairs:
        raise ValueError("case needs at least one pair of a predicate and a function")
    if default is None:
        default = _refuse_case([predicate for predicate, _ in pairs], pairs[-1][1])
    result = default
    for predicate, function in reversed(pairs):
        result = _step(predicate, function, result)
    return result()


def _refuse_case(predicates, function):
    """What stands where no predicate holds: an assertion, which traced functions make when they run."""

    def refuse():
        from thalweg import debugging, reduce_any, stack

        holds = reduce_any(stack([convert_to_tensor(predicate) for predicate in predicates]))
        debugging.Assert(holds, ["None of the conditions of tf.case evaluated as True, and there is no default.", *predicates])
        return function()

    return refuse


def _step(predicate, function, otherwise):
    return lambda: cond(predicate, function, otherwise)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """Replaces loop_vars by body(*loop_vars) as long as cond(*loop_vars) holds."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if not loop_vars and loop_vars != 0:
        raise ValueError("'loop_vars' must be provided.")
    limit = -1 if maximum_iterations is None else int(maximum_iterations)
    single = not isinstance(loop_vars, (list, tuple))
    values = [loop_vars] if single else loop_vars
    if not _thalweg.is_tracing():
        iteration = 0
        while (limit < 0 or iteration < limit) and cond(*values):
            result = body(*values)
            values = result if isinstance(result, (list, tuple)) else [result]
            iteration += 1
        made = nest.map_structure(lambda leaf: leaf if isinstance(leaf, TensorArray) else convert_to_tensor(leaf), values)
        return made[0] if single else made  # in the structure that the body gives
    structure = list(values)
    leaves = nest.flatten(structure)
    flat = [_component(leaf) for leaf in leaves]

    def pack(tensors):
        return nest.pack_sequence_as(structure, [_like(leaf, tensor) for leaf, tensor in zip(leaves, tensors)])

    shapes = []
    if shape_invariants is not None:
        given = [shape_invariants] if single else list(shape_invariants)
        shapes = [TensorShape(getattr(s, "shape", s)) for s in _flat_shapes(given)]

    def run_cond(*tensors):
        return [convert_to_tensor(cond(*pack(tensors)))]

    def run_body(*tensors):
        result = body(*pack(tensors))
        result = [result] if single or not isinstance(result, (list, tuple)) else list(result)
        nest.assert_same_structure(structure, result)
        return [convert_to_tensor(leaf, tensor.dtype) if not isinstance(leaf, (Tensor, TensorArray)) else _component(leaf)
                for leaf, tensor in zip(nest.flatten(result), tensors)]

    results = _thalweg.while_loop(run_cond, run_body, flat, shapes, limit, int(parallel_iterations))
    packed = pack(results)
    if single:
        return packed[0]
    return type(loop_vars)(packed) if not hasattr(loop_vars, "_fields") else type(loop_vars)(*packed)


def _flat_shapes(shapes):
    flat = []
    for shape in shapes:
        if isinstance(shape, (list, tuple)) and shape and not all(d is None or isinstance(d, int) for d in shape):
            flat += _flat_shapes(shape)
        else:
            flat.append(shape)
    return flat
