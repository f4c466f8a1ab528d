"""tf.nest: structures of lists, tuples, named tuples, dictionaries and dataclass-like attrs, and their leaves in order."""

from collections.abc import Mapping


def is_nested(structure):
    """Whether this is a structure rather than a leaf: a list, tuple or dictionary."""
    return isinstance(structure, (list, tuple, Mapping))


def _is_namedtuple(structure):
    return isinstance(structure, tuple) and hasattr(structure, "_fields")


def _keys(mapping):
    """The keys in the order of their leaves: sorted, so that equal dictionaries agree."""
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, got {list(mapping)}.") from None


def _named_children(structure):
    """(key, child) in the order of the leaves: keys of dictionaries, fields of named tuples, else positions."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in _keys(structure)]
    return list(zip(structure._fields, structure)) if _is_namedtuple(structure) else list(enumerate(structure))


def _children(structure):
    return [structure[key] for key in _keys(structure)] if isinstance(structure, Mapping) else list(structure)


def flatten(structure, expand_composites=False):
    """The leaves in order; dictionaries by their sorted keys. A leaf is a list of one."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def _rebuild(structure, children):
    """A structure of the same type with these children, in the order of _children."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), children))
        made = {key: by_key[key] for key in structure}
        if type(structure) is dict:
            return made
        if hasattr(structure, "default_factory"):
            return type(structure)(structure.default_factory, made)
        return type(structure)(made)
    if _is_namedtuple(structure):
        return type(structure)(*children)
    return type(structure)(children)


def _pack(structure, leaves):
    if not is_nested(structure):
        return next(leaves)
    return _rebuild(structure, [_pack(child, leaves) for child in _children(structure)])


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The leaves in the shape of a structure; the other way of flatten."""
    if not is_nested(flat_sequence):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
                        f"`{type(flat_sequence)}` instead.")
    leaves = list(flat_sequence)
    wanted = len(flatten(structure))
    if len(leaves) != wanted:
        if not is_nested(structure):
            raise ValueError(f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is "
                             f"a sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  {flat_sequence}\nnest "
                             "cannot guarantee that it is safe to map one to the other.")
        raise ValueError(f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(leaves)} "
                         f"items.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return _pack(structure, iter(leaves))


def _check_same(first, second, check_types):
    if is_nested(first) != is_nested(second):
        nested, leaf = (first, second) if is_nested(first) else (second, first)
        raise ValueError("The two structures don't have the same nested structure.\n\nMore specifically: Substructure "
                         f'"type={type(nested).__name__} str={nested}" is a sequence, while substructure '
                         f'"type={type(leaf).__name__} str={leaf}" is not')
    if not is_nested(first):
        return
    if check_types and type(first) is not type(second) and not (
            isinstance(first, Mapping) and isinstance(second, Mapping)):
        raise TypeError("The two structures don't have the same sequence type. First structure has type "
                        f"{type(first)}, while second structure has type {type(second)}.")
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{list(first)}, while second structure has keys {list(second)}.")
    if len(first) != len(second):
        raise ValueError("The two structures don't have the same number of elements.\n\n"
                         f"First structure: {first}\n\nSecond structure: {second}")
    for a, b in zip(_children(first), _children(second)):
        _check_same(a, b, check_types)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """ValueError where two structures differ in shape, TypeError where their types do."""
    _check_same(nest1, nest2, check_types)


def map_structure(func, *structure, **kwargs):
    """The structure with func of each leaf; several structures give func several arguments."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, not: "
                         f"`{'`, `'.join(kwargs)}`")
    for other in structure[1:]:
        _check_same(structure[0], other, check_types)
    return _pack(structure[0], iter([func(*leaves) for leaves in zip(*map(flatten, structure))]))
