"""Runs op cases in TensorFlow: the half of make_goldens that needs it."""

import collections
import itertools
import json
import re
import resource
import sys

import numpy as np
import op_rows
import tensorflow as tf
from op_rows import Tensor
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

ALL_DTYPES = list(op_rows.DTYPES)
VARIABLE_NUMBERS = itertools.count()
MISSING_KERNEL = ("Could not find device for node", "No OpKernel was registered", "No registered '", "Could not find valid device")

Result = collections.namedtuple("Result", "cases data no_kernel failures")
Call = collections.namedtuple("Call", "name row variant inputs attrs values")
Variable = collections.namedtuple("Variable", "handle dtype")
Handle = collections.namedtuple("Handle", "dtype values")
Lists = collections.namedtuple("Lists", "dtype values lists")


def require_version(version):
    if tf.__version__ != version:
        sys.exit(f"the goldens come from TensorFlow {version}, this is {tf.__version__}")


def is_function_family(path):
    return path.stem.startswith("functions_")


def op_names(path):
    """The ops that have rows in a file."""
    return [] if is_function_family(path) else [name for name, _ in op_rows.load_rows(path)]


def run_family(path):
    """Runs every row of a file. Rows marked `_error` are recorded, not run."""
    blob = bytearray()
    cases, failures, no_kernel = [], [], {}
    for call in calls(path, failures):
        expected = call.values.get("_error")
        case = {"op": call.name, "row": call.row, "variant": call.variant,
                "kind": "function" if is_function_family(path) else "op",
                "inputs": {name: refer(value, blob) for name, value in call.inputs.items()},
                "attrs": {name: plain(value, blob) for name, value in call.attrs.items()},
                "outputs": [], "num_outputs": 0, "tolerance": tolerance(call.values), "error": expected,
                "check": call.values.get("_check", "value")}
        if expected is None:
            try:
                outputs, after = run(path, call)
            except Exception as failure:  # Any exception of TensorFlow's is a row to repair, reported with the others.
                if call.variant and (isinstance(failure, tf.errors.UnimplementedError) or
                                     any(text in str(failure) for text in MISSING_KERNEL)):
                    no_kernel.setdefault(call.name, []).append(call.variant)
                else:
                    failures.append(f"{call.name} row {call.row} {call.variant or ''}: {type(failure).__name__}: {str(failure)[:300]}")
                continue
            unset = call.values.get("_unset", [])
            case["outputs"] = [refer(output, blob, "shape" if place in unset else case["check"]) for place, output in enumerate(outputs)]
            case["num_outputs"] = len(outputs)
            if after:
                case["after"] = {name: value and refer(value, blob) for name, value in after.items()}
        cases.append(case)
    return Result(cases, bytes(blob), {name: sorted(set(dtypes)) for name, dtypes in no_kernel.items()}, failures)


def calls(path, failures):
    """Every call the rows of a file stand for."""
    functions = is_function_family(path)
    for name, rows in op_rows.load_rows(path):
        op_def = None if functions else op_def_registry.get(name)
        if op_def is None and not functions:
            failures.append(f"{name} is no op of TensorFlow's")
            continue
        for index, row in enumerate(rows):
            for variant, values in op_rows.variants(row, lambda letter: allowed(op_def, row, letter)):
                seed = f"{path.stem}/{name}/{index}"
                try:
                    if functions:
                        inputs, attrs = function_arguments(values, seed)
                    else:
                        inputs, attrs = op_arguments(op_def, values, seed)
                except (ValueError, TypeError, KeyError, OverflowError) as problem:
                    failures.append(f"{name} row {index} {variant or ''}: unreadable: {problem!r}")
                    continue
                yield Call(name, index, variant, inputs, attrs, values)


def allowed(op_def, row, letter):
    """The dtypes the registry allows for the letter of a row's `_each`."""
    attrs = {attr.name: attr for attr in op_def.attr}
    name = letter if letter in attrs and attrs[letter].type in ("type", "list(type)") else None
    for argument in op_def.input_arg:
        value = row.get(argument.name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and value.startswith((letter + "[", letter + " ")):
            name = argument.type_attr or argument.type_list_attr
            break
    else:
        name = next((key for key, value in row.items() if value == letter and key in attrs), name)
    types = attrs[name].allowed_values.list.type
    names = [tf.as_dtype(number).name for number in types] or ALL_DTYPES
    return [dtype for dtype in dict.fromkeys(names) if dtype in op_rows.DTYPES]


def op_arguments(op_def, values, seed):
    """Splits a row of an op into tensors and attributes, as the registry names them."""
    known = {argument.name for argument in op_def.input_arg} | {attr.name for attr in op_def.attr} | op_rows.ROW_KEYS
    if unknown := set(values) - known:
        raise ValueError(f"unknown names {sorted(unknown)}")
    inputs = {}
    dtypes = {}
    for with_spec in (True, False):
        for argument in op_def.input_arg:
            if argument.name not in values and argument.number_attr in op_def_defaults(op_def):
                continue  # a list that may be left out
            if argument.name not in values:
                raise ValueError(f"input {argument.name} is missing")
            value = values[argument.name]
            several = bool(argument.number_attr or argument.type_list_attr)
            if several and with_spec:
                inputs[argument.name] = [op_rows.parse(item, f"{seed}/{argument.name}/{place}") if op_rows.is_spec(item)
                                         else bare(op_def, argument, item, dtypes) for place, item in enumerate(value)]
                if argument.type_attr and value:
                    dtypes.setdefault(argument.type_attr, inputs[argument.name][0].dtype)
            elif not several and op_rows.is_spec(value) == with_spec:
                if with_spec:
                    tensor = op_rows.parse(value, f"{seed}/{argument.name}")
                else:
                    tensor = derived(value, inputs, values) or bare(op_def, argument, value, dtypes)
                inputs[argument.name] = tensor
                if argument.type_attr:
                    dtypes.setdefault(argument.type_attr, tensor.dtype)
    inputs = {argument.name: inputs[argument.name] for argument in op_def.input_arg if argument.name in inputs}
    attrs = {}
    for attr in op_def.attr:
        if attr.name in values:
            value = values[attr.name]
            attrs[attr.name] = op_rows.parse(value, f"{seed}/{attr.name}") if attr.type == "tensor" else value
    return inputs, attrs


def derived(value, inputs, values):
    """What the op of a value such as `MaxPool(orig_input)` answers for another input of the row, given its attributes."""
    match = re.fullmatch(r"([A-Z]\w*)\((\w+)\)", value) if isinstance(value, str) else None
    if match is None:
        return None
    op_def = op_def_registry.get(match[1])
    attrs = {attr.name: values[attr.name] for attr in op_def.attr if attr.name in values}
    call = Call(match[1], 0, None, {op_def.input_arg[0].name: inputs[match[2]]}, attrs, {})
    return from_tensorflow(run_op(call)[0])


def bare(op_def, argument, value, dtypes):
    """An input written as a plain number, text or list: its dtype is the only one it can be."""
    if argument.type:
        dtype = tf.as_dtype(argument.type).name
    elif argument.type_attr in dtypes:
        dtype = dtypes[argument.type_attr]
    else:
        attr = next((attr for attr in op_def.attr if attr.name == argument.type_attr), None)
        if attr is not None and attr.HasField("default_value"):
            dtype = tf.as_dtype(attr.default_value.type).name
        elif isinstance(value, str):
            dtype = "string"
        else:
            leaf = value
            while isinstance(leaf, list) and leaf:
                leaf = leaf[0]
            dtype = "bool" if isinstance(leaf, bool) else "float32" if isinstance(leaf, float) else "int32"
    return op_rows.from_literal(dtype, value)


def function_arguments(values, seed):
    """Splits a row of a public function into tensors and plain values."""
    inputs, attrs = {}, {}
    for name, value in values.items():
        if name in op_rows.ROW_KEYS:
            continue
        if op_rows.is_spec(value):
            inputs[name] = op_rows.parse(value, f"{seed}/{name}")
        elif isinstance(value, list) and value and all(op_rows.is_spec(item) for item in value):
            inputs[name] = [op_rows.parse(item, f"{seed}/{name}/{place}") for place, item in enumerate(value)]
        else:
            attrs[name] = value
    return inputs, attrs


def run(path, call):
    """The flat list of tensors TensorFlow answers with, and what the variables of the call hold then."""
    tf.random.set_seed(0)
    if not is_function_family(path):
        variables = {name: make_variable(value) for name, value in call.inputs.items() if is_variable(value)}
        outputs = [from_tensorflow(tensor) for tensor in run_op(call, variables)]
        return outputs, {name: read_variable(variable) for name, variable in variables.items()}
    arguments = {name: [to_tensorflow(item) for item in value] if isinstance(value, list) else to_tensorflow(value)
                 for name, value in call.inputs.items()}
    arguments |= {name: as_dtype(value) for name, value in call.attrs.items()}
    positional = [arguments.pop(name) for name in ("equation",) if name in arguments] + arguments.pop("args", [])
    answer = public_function(call.name)(*positional, **arguments)
    return [from_tensorflow(tf.convert_to_tensor(tensor))
            for tensor in tf.nest.flatten(answer, expand_composites=True) if tensor is not None], {}


def is_variable(value):
    return isinstance(value, Tensor) and value.is_variable


def make_variable(value):
    """A fresh variable. It goes by a name of its own: TensorFlow never destroys those without one."""
    dtype = tf.as_dtype(value.dtype)
    handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=value.values.shape, shared_name=f"variable_{next(VARIABLE_NUMBERS)}")
    if value.is_initialized:
        tf.raw_ops.AssignVariableOp(resource=handle, value=to_tensorflow(value))
    return Variable(handle, dtype)


def read_variable(variable):
    """What a variable holds now, or None."""
    if not tf.raw_ops.VarIsInitializedOp(resource=variable.handle):
        return None
    return from_tensorflow(tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype))


def is_list(value):
    return isinstance(value, Tensor) and value.is_list


def make_list(value):
    """The list of a tensor's rows, or of as many elements that are not set; a batch has it several times."""
    shape = tf.constant(value.values.shape[1:], tf.int32)
    if value.is_initialized:
        handle = tf.raw_ops.TensorListFromTensor(tensor=tf.constant(value.values, tf.as_dtype(value.dtype)), element_shape=shape)
    else:
        handle = tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=len(value.values), element_dtype=tf.as_dtype(value.dtype))
    return handle if value.batch is None else tf.stack([handle] * value.batch)


def read_list(handle):
    """The elements of a list; None where one is not set and has no shape."""
    elements = []
    dtype = tf.float32
    for index in range(tf.raw_ops.TensorListLength(input_handle=handle).numpy()):
        for _ in range(2):
            try:
                elements.append(from_tensorflow(tf.raw_ops.TensorListGetItem(input_handle=handle, index=index, element_shape=-1, element_dtype=dtype)))
                break
            except tf.errors.InvalidArgumentError as error:
                found = re.search(r"but list elements (\w+)", str(error))
                if found is None:
                    elements.append(None)
                    break
                dtype = tf.as_dtype(found[1])
    return elements


def public_function(name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    return function


def run_op(call, variables=None):
    name = call.values.get("_as", call.name)
    if name.startswith("tf."):
        return [public_function(name[3:])(*(to_tensorflow(value) for value in call.inputs.values()))]
    op_def = op_def_registry.get(name)
    if name == "Const":  # Eager execution has no Const: constants are made outside of it.
        return [to_tensorflow(call.attrs["value"])]
    attrs = {attr.name: default_value(attr) for attr in op_def.attr if attr.HasField("default_value")}
    attrs |= {attr.name: attr_value(attr.type, call.attrs[attr.name]) for attr in op_def.attr if attr.name in call.attrs}
    inputs = []
    for argument in op_def.input_arg:
        value = call.inputs.get(argument.name, []) if argument.number_attr else call.inputs[argument.name]
        if is_variable(value):
            tensors = [variables[argument.name].handle]
        elif is_list(value):
            tensors = [make_list(value)]
        else:
            tensors = [to_tensorflow(item) for item in (value if isinstance(value, list) else [value])]
        if argument.number_attr:
            attrs[argument.number_attr] = len(tensors)
        if argument.type_list_attr:
            attrs[argument.type_list_attr] = [tensor.dtype.as_datatype_enum for tensor in tensors]
        elif argument.type_attr and tensors and argument.type_attr not in fixed_types(op_def, call, argument):
            attrs[argument.type_attr] = tensors[0].dtype.as_datatype_enum
        inputs += tensors
    count = 0
    for argument in op_def.output_arg:
        count += attrs[argument.number_attr] if argument.number_attr else \
            len(attrs[argument.type_list_attr]) if argument.type_list_attr else 1
    flat = [item for pair in attrs.items() for item in pair]
    result = execute.execute(name.encode(), count, inputs, tuple(flat), context.context())
    return result if isinstance(result, (list, tuple)) else [result]


def op_def_defaults(op_def):
    """The attributes that need not be given."""
    return {attr.name for attr in op_def.attr if attr.HasField("default_value")}


def fixed_types(op_def, call, argument):
    """Type attributes an earlier input has already decided."""
    earlier = set()
    for other in op_def.input_arg:
        if other.name == argument.name:
            return earlier
        if other.type_attr and call.inputs[other.name]:
            earlier.add(other.type_attr)
    return earlier


def default_value(attr):
    value = attr.default_value
    kind = attr.type
    if kind.startswith("list("):
        items = {"int": value.list.i, "float": value.list.f, "bool": value.list.b, "string": value.list.s,
                 "type": value.list.type, "shape": value.list.shape}[kind[5:-1]]
        return list(items)
    if kind == "shape":
        return execute.make_shape(tf.TensorShape(value.shape), attr.name)
    return {"int": value.i, "float": value.f, "bool": value.b, "string": value.s, "type": value.type}[kind]


def attr_value(kind, value):
    if kind.startswith("list("):
        return [attr_value(kind[5:-1], item) for item in value]
    if kind == "type":
        return tf.as_dtype(value).as_datatype_enum
    if kind == "shape":
        return execute.make_shape(None if value is None else tf.TensorShape(value), "shape")
    if kind == "float":
        return float(value)
    if kind == "string":
        return value.encode()
    return value


def as_dtype(value):
    return tf.as_dtype(value) if isinstance(value, str) and value in op_rows.DTYPES else value


def to_tensorflow(tensor):
    return tf.constant(tensor.values, tf.as_dtype(tensor.dtype), shape=tensor.values.shape)


def from_tensorflow(tensor):
    if tensor.dtype == tf.resource:
        return Handle("resource", np.empty(tensor.shape))
    if tensor.dtype == tf.variant:
        handles = [tensor] if tensor.shape.rank == 0 else tf.unstack(tensor)
        return Lists("variant", np.empty(tensor.shape), [read_list(handle) for handle in handles])
    values = tensor.numpy()
    return Tensor(tensor.dtype.name, np.array(values, op_rows.DTYPES[tensor.dtype.name]))


def refer(value, blob, check="value"):
    """Appends a tensor's bytes and says where they are; with check "shape" only dtype and shape are kept."""
    if isinstance(value, list):
        return [refer(item, blob) for item in value]
    reference = {"dtype": value.dtype, "shape": list(value.values.shape), "offset": len(blob), "bytes": 0}
    if isinstance(value, Tensor) and value.is_variable:
        reference |= {"variable": "initialized" if value.is_initialized else "uninitialized"}
    if isinstance(value, Tensor) and value.is_list:
        reference |= {"list": "initialized" if value.is_initialized else "uninitialized", "batch": value.batch}
    if isinstance(value, Lists) and check != "shape":
        reference["lists"] = [[element and refer(element, blob) for element in elements] for elements in value.lists]
    if check == "shape" or isinstance(value, (Handle, Lists)):
        return reference | {"check": "shape"}
    if value.dtype == "string":
        elements = list(value.values.reshape(-1))
        reference["lengths"] = [len(element) for element in elements]
        content = b"".join(elements)
    else:
        content = value.values.tobytes()
    reference["bytes"] = len(content)
    blob += content
    return reference


def plain(value, blob):
    """An attribute as JSON."""
    if isinstance(value, Tensor):
        return {"tensor": refer(value, blob)}
    if isinstance(value, list):
        return [plain(item, blob) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def tolerance(values):
    return None if values.get("_tolerance") is None else float(values["_tolerance"])


def try_errors(path, start):
    """Runs the `_error` rows from an index on, telling before each what it tries: the process may not survive."""
    bad = [call for call in calls(path, []) if "_error" in call.values]
    tell({"total": len(bad)})
    # Under this many bytes of address space a request for terabytes fails instead of taking the machine along.
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    for index, call in enumerate(bad[start:], start):
        tell({"trying": {"index": index, "name": call.name, "row": call.row, "expected": call.values["_error"],
                         "why": call.values.get("_why")}})
        try:
            run(path, call)
            tell({"outcome": "accepted", "message": ""})
        except Exception as failure:  # The class of whatever TensorFlow raises is the answer.
            tell({"outcome": type(failure).__name__, "message": str(failure)[:200]})


def tell(event):
    print(json.dumps(event), flush=True)


def report(path):
    """Prints the ops of a file that have few rows or leave a dtype of their signature untouched."""
    result = run_family(path)
    for name, _ in op_rows.load_rows(path):
        cases = [case for case in result.cases if case["op"] == name]
        good = [case for case in cases if not case["error"]]
        print(f"{path.stem} {name}: {len(good)} cases, {len(cases) - len(good)} bad calls{untouched(name, good, result)}")


def untouched(name, cases, result):
    op_def = op_def_registry.get(name)
    if op_def is None:
        return ""
    missing = []
    for attr in op_def.attr:
        if attr.type != "type":
            continue
        wanted = [tf.as_dtype(number).name for number in attr.allowed_values.list.type] or ALL_DTYPES
        touched = set(result.no_kernel.get(name, []))
        for case in cases:
            touched.add(case["attrs"].get(attr.name))
            for argument in op_def.input_arg:
                if argument.type_attr == attr.name and (value := case["inputs"][argument.name]):
                    touched.add((value[0] if isinstance(value, list) else value)["dtype"])
            for argument, output in zip(op_def.output_arg, case["outputs"]):
                if argument.type_attr == attr.name:
                    touched.add(output["dtype"])
        left = [dtype for dtype in wanted if dtype in op_rows.DTYPES and dtype not in touched]
        if left:
            missing.append(f"; {attr.name} untouched: {' '.join(left)}")
    return "".join(missing)
