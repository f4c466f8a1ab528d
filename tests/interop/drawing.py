"""Draws random calls: rows of tests/op_cases with shapes, dtypes, attributes and values changed, the patterns of calls.yaml,
and indexing. A call is a row of the kind tests/op_cases has, so that what is found can be put there.

Runs beside TensorFlow, whose registry knows the dtypes an op allows.
"""

import math
import pathlib
import re
import sys

import numpy as np
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import golden_runner  # noqa: E402: its folder is on the path only now
import op_rows  # noqa: E402

SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 31, 33]
MOST_ELEMENTS = 20000
# Inputs and attributes that speak of shapes, so that they change together with the shapes of a row.
SHAPE_WORDS = re.compile(r"shape|sizes|dims$|size$")
REAL_DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
               "uint32", "uint64", "bool", "complex64", "complex128"]


def takes_handle(row):
    """Whether a variable or a list of tensors is among the inputs."""
    items = [item for value in row.values() for item in (value if isinstance(value, list) else [value])]
    return any(isinstance(item, str) and (item.startswith(op_rows.VARIABLE) or op_rows.LIST.match(item)) for item in items)


class Entry:
    """An op or function with its rows."""

    def __init__(self, family, name, rows):
        self.is_function = family.startswith("functions_")
        self.family = family
        self.name = name
        self.op_def = None if self.is_function else golden_runner.op_def_registry.get(name)
        # Variables and lists are compared row by row only: what they hold after a call is no result.
        self.rows = [row for row in rows if "_as" not in row and "_why" not in row and not takes_handle(row)]
        self.good = [row for row in self.rows if "_error" not in row]
        self.patterns = []

    def makes_handles(self):
        """Whether its results are handles, which have no values to compare."""
        return not self.is_function and any(
            result.type in (golden_runner.tf.resource.as_datatype_enum, golden_runner.tf.variant.as_datatype_enum)
            for result in self.op_def.output_arg)

    def arguments(self, values, seed):
        if self.is_function:
            return golden_runner.function_arguments(values, seed)
        return golden_runner.op_arguments(self.op_def, values, seed)


class Drawer:
    """The calls of a seed; the call of a number is always the same."""

    def __init__(self, seed, names, only=()):
        self.seed = seed
        wanted = [name for name in names if not only or any(word in name for word in only)]
        self.entries = {}
        for path in sorted((ROOT / "tests" / "op_cases").glob("*.yaml")):
            for name, rows in op_rows.load_rows(path):
                if name in wanted:
                    entry = Entry(path.stem, name, rows)
                    if entry.good and not entry.makes_handles():
                        self.entries[name] = entry
        for written, pattern in yaml.safe_load((pathlib.Path(__file__).parent / "calls.yaml").read_text()).items():
            for name in written.split():
                if name in self.entries:
                    self.entries[name].patterns.append(pattern)
        for entry in self.entries.values():
            add_element_wise_patterns(entry)
        self.entries = list(self.entries.values())
        self.draws_indexing = not only or "indexing" in only

    def draw(self, number):
        """(entry or None, row or indexing call) of a number."""
        generator = np.random.default_rng([self.seed, number])
        if self.draws_indexing and (not self.entries or generator.random() < 0.08):
            return None, draw_indexing(generator)
        entry = self.entries[generator.integers(len(self.entries))]
        if entry.patterns and generator.random() < 0.5:
            row = expand(generator, entry, pick(generator, entry.patterns))
            changes = 0.15
        else:
            row = pick(generator, entry.rows if generator.random() < 0.1 else entry.good)
            row = concrete(generator, entry, row)
            changes = 0.9
        if generator.random() < changes:
            row = vary(generator, entry, row)
        return entry, row


def pick(generator, items):
    return items[generator.integers(len(items))]


def draw_size(generator):
    return int(pick(generator, SIZES))


def draw_shape(generator, most_rank=5):
    """Ranks 0 to 5, with zeros and ones, never large."""
    rank = int(generator.integers(0, most_rank + 1))
    shape = [draw_size(generator) for _ in range(rank)]
    while math.prod(shape) > MOST_ELEMENTS // 4:
        shape[int(np.argmax(shape))] = int(generator.integers(1, 4))
    return shape


def draw_partner(generator, shape):
    """A shape that broadcasts with another one."""
    partner = [1 if generator.random() < 0.3 else dim for dim in shape]
    return partner[int(generator.integers(0, len(partner) + 1)):] if generator.random() < 0.5 else partner


def add_element_wise_patterns(entry):
    """Ops of one or two like inputs take any shape: the distributions of their rows with shapes of all ranks."""
    if entry.family not in ("math_unary", "math_binary", "activation"):
        return
    for row in entry.good[:6]:
        keys = [key for key, value in row.items() if op_rows.is_spec(re.sub(r"^T\b", "float32", str(value)))]
        inputs = [argument.name for argument in entry.op_def.input_arg]
        if keys != inputs or any("=" in row[key] or "special" in row[key] for key in keys) or len(keys) > 2:
            continue
        pattern = {key: value for key, value in row.items() if key != "_each"}
        for key, shape in zip(keys, ("[*s]", "[~s]" if entry.family == "math_binary" else "[*s]")):
            has_choice = next(argument for argument in entry.op_def.input_arg if argument.name == key).type_attr
            pattern[key] = re.sub(r"^(\w+)\[[^\]]*\]", ("T" if has_choice else r"\1") + shape, row[key])
        entry.patterns.append(pattern)


def expand(generator, entry, pattern):
    """A row from a pattern: `T[m,*s]` has a drawn size m and a drawn shape s, `~s` broadcasts with s, `axis(s)` and the like are drawn."""
    sizes, shapes, dtypes = {}, {}, {}

    def shape_of(letter):
        return shapes.setdefault(letter, draw_shape(generator, 4))

    def size_of(text):
        if text.lstrip("-").isdigit():
            return [int(text)]
        if text[0] == "*":
            return shape_of(text[1:])
        if text[0] == "~":
            return draw_partner(generator, shape_of(text[1:]))
        return [sizes.setdefault(text, max(1, draw_size(generator)) if text.isupper() else draw_size(generator))]

    def dtype_of(letter):
        if letter == "I":
            return dtypes.setdefault(letter, pick(generator, ["int32", "int64"]))
        choices = REAL_DTYPES if entry.is_function else golden_runner.allowed(entry.op_def, pattern, letter)
        return dtypes.setdefault(letter, pick(generator, choices))

    def value_of(value):
        if isinstance(value, list):
            return [value_of(item) for item in value]
        if not isinstance(value, str):
            return value
        if match := re.fullmatch(r"(\w+)\[([^\]]*)\](.*)", value):
            letter, dims, rest = match.groups()
            dtype = letter if letter in op_rows.DTYPES else dtype_of(letter)
            shape = [dim for text in dims.split(",") if text.strip() for dim in size_of(text.strip())]
            rest = re.sub(r"below\((\w+)\)", lambda m: f"integers(0, {max(0, size_of(m[1])[0] - 1)})", rest)
            return f"{dtype}[{','.join(map(str, shape))}]{rest}"
        if match := re.fullmatch(r"(axis|axes|permutation|choice|integers|like)\(([^)]*)\)", value):
            separator = "|" if match[1] == "choice" else ","
            return GENERATORS[match[1]](generator, shape_of, [text.strip() for text in match[2].split(separator)])
        return value

    known = pattern if entry.is_function else {part.name for part in [*entry.op_def.input_arg, *entry.op_def.attr]} | op_rows.ROW_KEYS
    return {key: value_of(value) for key, value in pattern.items() if key in known}


def draw_axis(generator, shape_of, arguments):
    rank = len(shape_of(arguments[0])) + (int(arguments[1]) if len(arguments) > 1 else 0)
    return int(generator.integers(-rank, rank)) if rank else 0


def draw_axes(generator, shape_of, arguments):
    rank = len(shape_of(arguments[0]))
    chosen = [int(axis) for axis in generator.permutation(rank)[: generator.integers(0, rank + 1)]]
    chosen = [axis - rank if generator.random() < 0.3 else axis for axis in chosen]
    return chosen if chosen else "int32[0] = []"


def draw_permutation(generator, shape_of, arguments):
    order = [int(axis) for axis in generator.permutation(len(shape_of(arguments[0])))]
    return order if order else "int32[0] = []"


def draw_choice(generator, _, arguments):
    return yaml.safe_load(pick(generator, arguments))


def draw_integer(generator, _, arguments):
    return int(generator.integers(int(arguments[0]), int(arguments[1]), endpoint=True))


def draw_like(generator, shape_of, arguments):
    """One small integer for each dimension."""
    low, high = int(arguments[1]), int(arguments[2])
    values = [int(generator.integers(low, high, endpoint=True)) for _ in shape_of(arguments[0])]
    return values if values else "int32[0] = []"


GENERATORS = {"axis": draw_axis, "axes": draw_axes, "permutation": draw_permutation, "choice": draw_choice,
              "integers": draw_integer, "like": draw_like}


def concrete(generator, entry, row):
    """A row with `_each` becomes one of the rows it stands for."""
    found = op_rows.variants(row, lambda letter: REAL_DTYPES if entry.is_function else golden_runner.allowed(entry.op_def, row, letter))
    return dict(pick(generator, found)[1])


def specs(row):
    """The places of tensors with drawn values: (key, index in a list or None, match of the spec)."""
    for key, value in row.items():
        if key.startswith("_"):
            continue
        for place, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if op_rows.is_spec(item):
                yield key, place, op_rows.SPEC.fullmatch(item)


def put(row, key, place, value):
    if place is None:
        row[key] = value
    else:
        row[key] = [value if index == place else item for index, item in enumerate(row[key])]


def write_spec(match, dtype=None, dims=None, distribution=None):
    """A spec with parts replaced."""
    old_dtype, old_dims, old_distribution, arguments, literal = match.groups()
    text = dtype or old_dtype
    if old_dims is not None or dims is not None:
        text += f"[{old_dims if dims is None else ','.join(map(str, dims))}]"
    if distribution or old_distribution:
        text += f" {distribution or old_distribution}" + (f"({arguments})" if arguments is not None and not distribution else "")
    return text if literal is None else f"{text} = {literal}"


def dims_of(match):
    return [int(dim) for dim in (match[2] or "").split(",") if dim.strip()]


def vary(generator, entry, row):
    """A row with some of its parts changed. What no longer fits together must be refused by both sides."""
    row = dict(row)
    row.pop("_error", None)
    for change, chance in ((change_sizes, 0.6), (change_rank, 0.12), (change_dtype, 0.35), (change_attribute, 0.3),
                           (change_literal, 0.25), (change_to_special, 0.05), (change_one_size, 0.06)):
        if generator.random() < chance:
            change(generator, entry, row)
    return row


def is_large(dims):
    return math.prod(dims) > MOST_ELEMENTS


def change_sizes(generator, entry, row):
    """Equal sizes stay equal."""
    found = [(key, place, match) for key, place, match in specs(row) if match[5] is None]
    sizes = {}
    for _, _, match in found:
        for dim in dims_of(match):
            keep = generator.random() < (0.7 if dim == 1 else 0.3)
            sizes.setdefault(dim, dim if keep else draw_size(generator))
    changed = [(key, place, match, [sizes[dim] for dim in dims_of(match)]) for key, place, match in found]
    if any(is_large(dims) for _, _, _, dims in changed):
        return
    for key, place, match, dims in changed:
        put(row, key, place, write_spec(match, dims=dims))
    for key, value in row.items():
        if SHAPE_WORDS.search(key) and isinstance(value, list) and all(type(item) is int for item in value):
            row[key] = [sizes.get(item, item) for item in value]


def change_one_size(generator, entry, row):
    found = [(key, place, match) for key, place, match in specs(row) if match[5] is None and match[2]]
    if found:
        key, place, match = pick(generator, found)
        dims = dims_of(match)
        dims[generator.integers(len(dims))] = draw_size(generator)
        if not is_large(dims):
            put(row, key, place, write_spec(match, dims=dims))


def change_rank(generator, entry, row):
    """A dimension more or less at the front, of all tensors or of one."""
    found = [(key, place, match) for key, place, match in specs(row) if match[5] is None]
    if not found:
        return
    if generator.random() < 0.3:
        found = [pick(generator, found)]
    adds, size = generator.random() < 0.6, draw_size(generator)
    for key, place, match in found:
        dims = [size] + dims_of(match) if adds else dims_of(match)[1:]
        if not is_large(dims):
            put(row, key, place, write_spec(match, dims=dims))


def change_dtype(generator, entry, row):
    """Another dtype for all tensors of one type attribute."""
    found = list(specs(row))
    if not found:
        return
    key, _, chosen = pick(generator, found)
    if entry.is_function:
        same, choices = {other for other, _, match in found if match[1] == chosen[1]}, REAL_DTYPES
    else:
        arguments = {argument.name: argument.type_attr or argument.type_list_attr for argument in entry.op_def.input_arg}
        attr = next((attr for attr in entry.op_def.attr if attr.name == arguments.get(key)), None)
        if attr is None:
            return
        same = {name for name, type_attr in arguments.items() if type_attr == attr.name}
        numbers = [number for number in attr.allowed_values.list.type if number in op_def_dtypes()]
        choices = [op_def_dtypes()[number] for number in numbers] or REAL_DTYPES
    dtype = pick(generator, choices)
    for other, place, match in found:
        fits = match[5] is None and match[3] not in ("hex", "full") and (dtype != "string" or match[3] is None)
        if other in same and match[1] == chosen[1] and fits:
            put(row, other, place, write_spec(match, dtype=dtype))


def op_def_dtypes():
    if not op_def_dtypes.names:
        op_def_dtypes.names = {golden_runner.tf.as_dtype(name).as_datatype_enum: name for name in op_rows.DTYPES}
    return op_def_dtypes.names


op_def_dtypes.names = {}


def change_attribute(generator, entry, row):
    """Another value for one attribute, of those the registry allows where it lists them."""
    if entry.is_function:
        keys = [key for key, value in row.items() if isinstance(value, (bool, int, float)) and not key.startswith("_")]
        if keys:
            key = pick(generator, keys)
            row[key] = change_number(generator, row[key])
        return
    attrs = [attr for attr in entry.op_def.attr if attr.type in ("bool", "int", "float", "string", "list(int)", "type")
             and not attr.name.startswith(("seed", "T", "N"))]
    if not attrs:
        return
    attr = pick(generator, attrs)
    choices = attr.allowed_values.list
    value = row.get(attr.name, golden_runner.default_value(attr) if attr.HasField("default_value") else None)
    if attr.type == "type":
        names = [op_def_dtypes()[number] for number in choices.type if number in op_def_dtypes()] or REAL_DTYPES
        if attr.name in row:
            row[attr.name] = pick(generator, names)
    elif choices.s:
        row[attr.name] = pick(generator, [choice.decode() for choice in choices.s])
    elif attr.type == "bool":
        row[attr.name] = not value
    elif attr.type in ("int", "float") and isinstance(value, (int, float)):
        row[attr.name] = change_number(generator, value)
    elif attr.type == "list(int)" and attr.name in row and value:
        row[attr.name] = change_element(generator, value)


def change_number(generator, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return float(pick(generator, [0.0, 1.0, -value, value * 2, value / 2, value + 0.25]))
    if abs(value) > 1000:
        return value
    return int(pick(generator, [value + 1, value - 1, -value, 0, 1, 2, 3, -1]))


def change_element(generator, value):
    """A nested list of numbers with one of them changed."""
    if not isinstance(value, list):
        return change_number(generator, value) if isinstance(value, (bool, int, float)) else value
    if not value:
        return value
    place = generator.integers(len(value))
    return [change_element(generator, item) if index == place else item for index, item in enumerate(value)]


def change_literal(generator, entry, row):
    """Another number in an input that is written out, such as axes and indices."""
    keys = [key for key, value in row.items() if not key.startswith("_") and type(value) in (int, list)]
    if keys:
        key = pick(generator, keys)
        row[key] = change_element(generator, row[key])


def change_to_special(generator, entry, row):
    found = [(key, place, match) for key, place, match in specs(row)
             if match[5] is None and match[3] is None and match[1] in op_rows.FLOATS]
    if found:
        key, place, match = pick(generator, found)
        put(row, key, place, write_spec(match, distribution="special"))


def draw_indexing(generator):
    """x[...] with integers, slices, new axes, an ellipsis, or a boolean mask."""
    shape = draw_shape(generator)
    dtype = pick(generator, ["float32", "int32", "int64", "float64", "bool", "uint8", "complex64", "float16"])
    if shape and generator.random() < 0.15:
        rank = int(generator.integers(1, len(shape) + 1))
        mask = shape[:rank]
        if generator.random() < 0.1:
            mask[-1] += 1
        return {"x": f"{dtype}[{','.join(map(str, shape))}]", "mask": f"bool[{','.join(map(str, mask))}]"}
    items = []
    for dim in shape[: generator.integers(0, len(shape) + 1)]:
        items.append(draw_item(generator, dim))
        if generator.random() < 0.15:
            items.append(None)
    if generator.random() < 0.4:
        items.insert(int(generator.integers(0, len(items) + 1)), Ellipsis)
    if generator.random() < 0.05:
        items.append(int(generator.integers(-3, 3)))
    return {"x": f"{dtype}[{','.join(map(str, shape))}]", "items": items}


def draw_item(generator, dim):
    if generator.random() < 0.35:
        return int(generator.integers(-dim - (generator.random() < 0.1), dim + (generator.random() < 0.1) + (dim == 0)))

    def bound():
        return None if generator.random() < 0.4 else int(generator.integers(-dim - 2, dim + 3))

    step = pick(generator, [None, None, None, 1, 2, 3, -1, -2, -3, 0 if generator.random() < 0.1 else 5])
    return slice(bound(), bound(), step)
