"""tf.compat.v1: the package's names, old spellings included, and what only TensorFlow 1 had."""

import thalweg
from thalweg import _thalweg
from thalweg.core.name_scope import name_scope_v1 as name_scope
from thalweg.core.shapes import Dimension
from thalweg.graph.host_functions import py_func

_only_here = {name.rpartition(".")[2]: function for name, function in _thalweg.functions().items()
              if name.startswith("compat.v1.")}
_only_here |= {"TensorProto": _thalweg.TensorProto, "TensorShapeProto": _thalweg.TensorShapeProto,
               "GraphDef": _thalweg.GraphDef, "NodeDef": _thalweg.NodeDef, "AttrValue": _thalweg.AttrValue,
               "Dimension": Dimension}


def where(condition, x=None, y=None, name=None):
    """tf.where as TensorFlow 1 had it: a vector of conditions chooses whole rows of x and y, which have one shape."""
    if x is None or y is None:
        return thalweg.where(condition, x, y)
    condition, x = thalweg.convert_to_tensor(condition), thalweg.convert_to_tensor(x)
    if condition.shape.rank == 1 and (x.shape.rank or 0) > 1:
        condition = thalweg.reshape(condition, [-1] + [1] * (x.shape.rank - 1))
    return thalweg.where(condition, x, y)


def __getattr__(name):
    return _only_here[name] if name in _only_here else getattr(thalweg, name)
