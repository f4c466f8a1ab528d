"""Thalweg: TensorFlow 2 over a native engine. `import thalweg as tf` and write TensorFlow.

Functions, modules such as `tf.nn` and `tf.raw_ops` are made from the engine's registries when the package is imported;
the files here hold what Python itself must say: classes, configuration, context managers, old names.
"""

from thalweg import _thalweg
from thalweg import _hooks  # gives the engine the classes it needs; before anything makes a tensor
from thalweg import _tree
from thalweg._hooks import register_tensor_conversion_function
from thalweg import config, dtypes, errors, nest
from thalweg._custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from thalweg._devices import device
from thalweg._control_dependencies import Operation, control_dependencies, group, no_op, tuple
from thalweg._control_flow import case, cond, switch_case, while_loop
from thalweg._functional import foldl, foldr, map_fn, scan, vectorized_map
from thalweg._function import enable_eager_execution, executing_eagerly, function, init_scope, inside_function
from thalweg._indexed_slices import IndexedSlices, IndexedSlicesSpec
from thalweg._logging import get_logger
from thalweg._module import Module
from thalweg._name_scope import name_scope
from thalweg._profile import profile
from thalweg._tape import GradientTape, UnconnectedGradients
from thalweg._tensor_array import TensorArray, TensorArraySpec
from thalweg._thalweg import Tensor, constant, convert_to_tensor, is_tensor
from thalweg._variable import (Variable, VariableAggregation, VariableSynchronization, variable_creator_scope)
from thalweg.dtypes import (DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64,
                            half, int8, int16, int32, int64, resource, string, uint8, uint16, uint32, uint64, variant)
from thalweg.shapes import TensorShape
from thalweg.specs import TensorSpec, TypeSpec, type_spec_from_value
from thalweg.version import VERSION as __version__

newaxis = None

_tree.plant(globals())


def __getattr__(name):
    return _tree.find_old(name)


def __dir__():
    written = _tree.written_in("") | set(_tree.FILES) | set(_tree.OF_KERAS)
    return sorted({name for name in globals() if not name.startswith("_")} | written)
