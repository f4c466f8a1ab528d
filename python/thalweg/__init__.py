"""Thalweg: TensorFlow 2 over a native engine. `import thalweg as tf` and write TensorFlow.

Functions, modules such as `tf.nn` and `tf.raw_ops` are made from the engine's registries when the package is imported;
the files here hold what Python itself must say: classes, configuration, context managers, old names.
"""

from thalweg import _thalweg
from thalweg.core import hooks as _hooks  # gives the engine the classes it needs; before anything makes a tensor
from thalweg.names import tree as _tree
from thalweg.core.hooks import register_tensor_conversion_function
from thalweg import config, dtypes, errors, nest
from thalweg.autodiff.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from thalweg.core.devices import device
from thalweg.graph.control_dependencies import Operation, control_dependencies, group, no_op, tuple
from thalweg.graph.control_flow import case, cond, switch_case, while_loop
from thalweg.graph.map_rows import foldl, foldr, map_fn, scan, vectorized_map
from thalweg.graph.function import enable_eager_execution, executing_eagerly, function, init_scope, inside_function
from thalweg.ops.indexed_slices import IndexedSlices, IndexedSlicesSpec
from thalweg.core.logging import get_logger
from thalweg.ops.module import Module
from thalweg.core.name_scope import name_scope
from thalweg.graph.profile import profile
from thalweg.autodiff.tape import GradientTape, UnconnectedGradients
from thalweg.ops.tensor_array import TensorArray, TensorArraySpec
from thalweg._thalweg import Tensor, constant, convert_to_tensor, is_tensor
from thalweg.ops.variable import (Variable, VariableAggregation, VariableSynchronization, variable_creator_scope)
from thalweg.dtypes import (DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64,
                            half, int8, int16, int32, int64, resource, string, uint8, uint16, uint32, uint64, variant)
from thalweg.core.shapes import TensorShape
from thalweg.core.specs import TensorSpec, TypeSpec, type_spec_from_value
from thalweg.version import VERSION as __version__

newaxis = None

_tree.plant(globals())


def __getattr__(name):
    return _tree.find_old(name)


def __dir__():
    written = _tree.written_in("") | set(_tree.FILES) | set(_tree.OF_KERAS)
    return sorted({name for name in globals() if not name.startswith("_")} - _tree.ROOMS | written)
