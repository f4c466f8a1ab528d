"""Lambda: a function as a layer."""

import base64
import inspect
import marshal
import sys
import types

from thalweg import _thalweg
from thalweg.autodiff.tape import GradientTape
from thalweg.core.logging import get_logger
from thalweg.core.shapes import TensorShape
from thalweg.keras.bridge.objects import find_custom
from thalweg.keras.layer.base import Layer
from thalweg.ops.variable import variable_creator_scope


class Lambda(Layer):
    """Calls a function of the inputs, which may also take `mask` and `training`; `arguments` are its other arguments."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function, self.mask, self.arguments = function, mask, dict(arguments or {})
        self._output_shape = output_shape
        self.supports_masking = mask is not None
        try:
            taken = inspect.signature(function).parameters
        except (TypeError, ValueError):
            taken = ()
        self._takes_mask, self._takes_training = "mask" in taken, "training" in taken

    def call(self, inputs, mask=None, training=None):
        arguments = dict(self.arguments)
        if self._takes_mask:
            arguments["mask"] = mask
        if self._takes_training:
            arguments["training"] = training
        made, tape = [], GradientTape(watch_accessed_variables=True)
        with tape, variable_creator_scope(lambda create, **options: _noted(create(**options), made)):
            result = self.function(inputs, **arguments)
        self._check_variables(made, tape.watched_variables())
        return result

    def _check_variables(self, made, read):
        """Refuses variables that each call would make anew, and warns once of those that training would not find."""
        own = {id(weight) for weight in self.weights}
        listed = "\n".join(f"  {variable}" for variable in made if id(variable) not in own)
        if listed:
            raise ValueError(f"The following Variables were created within a Lambda layer ({self.name}) but are not tracked "
                             f"by said layer:\n{listed}\nThe layer cannot safely ensure proper Variable reuse across "
                             "multiple calls, and consequently this behavior is disallowed for safety. Write a class that "
                             "derives from Layer instead, and make its variables in `build`.")
        listed = "\n".join(f"  {variable}" for variable in read if id(variable) not in own)
        if listed and not self.__dict__.get("_has_warned"):
            self.__dict__["_has_warned"] = True
            get_logger().warning(
                f"The following Variables were used in a Lambda layer's call ({self.name}), but are not present in its "
                f"tracked objects:\n{listed}\nThis is a strong indication that the Lambda layer should be rewritten as a "
                "subclassed Layer.")

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape):
        stated = self._output_shape
        if stated is None:
            return super().compute_output_shape(input_shape)
        if callable(stated):
            shapes = stated(input_shape)
            return [TensorShape(shape) for shape in shapes] if isinstance(shapes, list) else TensorShape(shapes)
        batch = input_shape[0][0] if isinstance(input_shape, list) else input_shape[0]
        return _with_batch(batch, stated)

    def get_config(self):
        function, kind, module = _write(self.function)
        config = {"function": function, "function_type": kind, "module": module}
        stated = self._output_shape
        shape, kind, module = _write(stated) if callable(stated) else (stated, "raw", None)
        config |= {"output_shape": shape, "output_shape_type": kind, "output_shape_module": module}
        if self.mask is not None:
            config["mask"], config["mask_type"], config["mask_module"] = _write(self.mask)
        return {**super().get_config(), **config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        config["function"] = _read(config["function"], config.pop("function_type", "raw"), config.pop("module", None),
                                   custom_objects)
        for name in ("output_shape", "mask"):
            config[name] = _read(config.get(name), config.pop(f"{name}_type", "raw"), config.pop(f"{name}_module", None),
                                 custom_objects)
        return cls(**config)


def _with_batch(batch, stated):
    """The TensorShape of a shape without its batch, or those of a structure of shapes."""
    if isinstance(stated, dict):
        return {key: _with_batch(batch, shape) for key, shape in stated.items()}
    if any(isinstance(item, (list, tuple, dict, TensorShape)) for item in stated):
        return type(stated)(_with_batch(batch, shape) for shape in stated)
    return TensorShape([batch, *stated])


def _noted(variable, made):
    made.append(variable)
    return variable


def _write(function):
    """(what a configuration holds, how, the module): the code of functions of Python, the name of others."""
    module = getattr(function, "__module__", None)
    if not isinstance(function, types.FunctionType):
        names = [name for name, known in _thalweg.functions().items() if known is function]
        return names[0] if names else getattr(function, "__name__", str(function)), "function", module
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode()
    cells = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
    return (code, function.__defaults__, cells), "lambda", module


def _read(written, kind, module, custom_objects):
    if kind == "lambda":
        code, defaults, cells = written
        names = vars(sys.modules[module]) if module in sys.modules else {}
        cells = None if cells is None else tuple(types.CellType(value) for value in cells)
        return types.FunctionType(marshal.loads(base64.decodebytes(code.encode())), names, None,
                                  None if defaults is None else tuple(defaults), cells)
    if kind == "function" and isinstance(written, str):
        found = find_custom(written, custom_objects) or _thalweg.functions().get(written)
        if found is None:
            raise ValueError(f"Unknown function: '{written}'. Please ensure you are using a "
                             "`keras.utils.custom_object_scope` and that this object is included in the scope.")
        return found
    return written
