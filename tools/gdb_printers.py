"""Shows Thalweg's values in gdb: shapes, tensors with their first elements, variables with their names.

Installed where gdb finds it by itself when a program loads the shared library; with the static library, or from a build tree:
    (gdb) source share/thalweg/gdb_printers.py
    (gdb) print x
    $1 = Tensor(shape=(2, 2), dtype=float32, [2, 3, 4, 5])
"""

import gdb
import gdb.printing

SHOWN = 8  # elements of a tensor
# By the numbers of thalweg::DType: the name, and the C++ type that gdb reads; none where elements are not plain numbers.
DTYPES = {
    1: ("float32", "float"), 2: ("float64", "double"), 3: ("int32", "int"), 4: ("uint8", "unsigned char"),
    5: ("int16", "short"), 6: ("int8", "signed char"), 7: ("string", None), 8: ("complex64", None),
    9: ("int64", "long"), 10: ("bool", "bool"), 14: ("bfloat16", None), 17: ("uint16", "unsigned short"),
    18: ("complex128", None), 19: ("float16", None), 20: ("resource", None), 21: ("variant", None),
    22: ("uint32", "unsigned int"), 23: ("uint64", "unsigned long"),
}
FORMS = ("array", "symbolic", "slices", "outline")


def dims(shape):
    """The dimensions of a Shape, or None where not even the rank is known."""
    rank = int(shape["rank_"])
    return None if rank < 0 else [int(shape["dim_"][i]) for i in range(rank)]


def shape_text(shape):
    sizes = dims(shape)
    if sizes is None:
        return "<unknown>"
    return "(" + ", ".join("None" if size < 0 else str(size) for size in sizes) + ("," if len(sizes) == 1 else "") + ")"


def element_text(value, type_name):
    if type_name in ("float", "double"):
        return format(float(value), ".7g")
    return ("true" if int(value) else "false") if type_name == "bool" else str(int(value))


def elements_text(impl, type_name):
    count = 1
    for size in dims(impl["shape"]):
        count *= size
    data = impl["data"].cast(gdb.lookup_type(type_name).pointer())
    shown = ", ".join(element_text(data[i], type_name) for i in range(min(count, SHOWN)))
    if not dims(impl["shape"]):
        return shown
    return "[" + shown + (", ..." if count > SHOWN else "") + "]"


def tensor_text(tensor):
    if int(tensor["p_"]) == 0:
        return "Tensor(None)"
    impl = tensor["p_"].dereference()
    name, type_name = DTYPES.get(int(impl["dtype"]), ("invalid", None))
    form = FORMS[int(impl["form"])]
    text = f"Tensor(shape={shape_text(impl['shape'])}, dtype={name}"
    if form != "array":
        return f"{text}, {form})"
    return text + (", " + elements_text(impl, type_name) if type_name else "") + ")"


def variable_text(variable):
    handle = variable["handle_"]
    if int(handle["p_"]) == 0:
        return "Variable(None)"
    held = handle["p_"]["data"].cast(gdb.lookup_type("void").pointer().pointer()).dereference()
    try:
        gdb.lookup_type("thalweg::VariableResource")
    except gdb.error:  # known to the library alone, which was built without debug information
        return f"Variable(at {held})"
    resource = held.cast(gdb.lookup_type("thalweg::VariableResource").pointer()).dereference()
    name = resource["name_"]["_M_dataplus"]["_M_p"].string()
    return f"Variable('{name}:0', {tensor_text(resource['value_'])})"


class Printer:
    def __init__(self, value, text):
        self.value, self.text = value, text

    def to_string(self):
        try:
            return self.text(self.value)
        except gdb.error as error:  # memory that cannot be read, a type that was optimised away
            return f"<{error}>"


TEXTS = {"thalweg::Shape": shape_text, "thalweg::Tensor": tensor_text, "thalweg::Variable": variable_text}


def find_printer(value):
    text = TEXTS.get(str(value.type.strip_typedefs().unqualified()))
    return Printer(value, text) if text else None


find_printer.name, find_printer.enabled = "thalweg", True
gdb.printing.register_pretty_printer(gdb.current_objfile(), find_printer, replace=True)
