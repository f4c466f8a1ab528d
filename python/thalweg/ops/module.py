"""tf.Module: a named container of variables, other modules and the functions that use them."""

import functools
import re
from collections.abc import Mapping, Sequence

from thalweg._thalweg import VariableBase
from thalweg.core.name_scope import name_scope
from thalweg.ops.indexed_slices import IndexedSlices

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Before a capital that follows a small letter or a digit, and before the last capital of several: HTTPServer.
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")


def camel_to_snake(name):
    """The name of a class as that of a variable: HTTPServer becomes http_server."""
    return _WORD_BEGINS.sub("_", name).lower()


class Module:
    """Base class of what holds variables; they are found through the attributes of its instances.

    Attributes may be variables, modules, and lists, tuples and dictionaries of them, of any depth:

        class Dense(tf.Module):
            def __init__(self, inputs, units, name=None):
                super().__init__(name=name)
                with self.name_scope:
                    self.w = tf.Variable(tf.random.normal([inputs, units]), name="w")
                    self.b = tf.Variable(tf.zeros([units]), name="b")

            def __call__(self, x):
                return tf.nn.relu(x @ self.w + self.b)

    `Dense(3, 2).variables` are then `dense/b:0` and `dense/w:0`.
    """

    # Attributes that are not looked into.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_unconditional_checkpoint_dependencies",
                                               "_self_unconditional_dependency_names"))

    _is_thalweg_module = True  # layers look into it

    def _parts(self):
        """What is looked into, by name."""
        return vars(self)

    def __init__(self, name=None):
        """The name is a Python identifier; without one it is that of the class, my_module for MyModule."""
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not _IDENTIFIER.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. "
                             "a valid class name).")
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self):
        """The name it was given or has from its class; name_scope.name has those of the scopes around it too."""
        return self._name

    @property
    def name_scope(self):
        """The tf.name_scope of this module: `with self.name_scope:`."""
        return self._name_scope

    @property
    def variables(self):
        """The variables of this module by the names of its attributes, then those of its submodules; each once."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self):
        """Those of variables that tapes watch and optimizers change."""
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self):
        """Those of variables that are state: counts, averages."""
        return tuple(self._flatten(predicate=_is_not_trainable, expand_composites=True))

    @property
    def submodules(self):
        """The modules among the attributes of this module, and those inside them; each once."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False,
                 expand_composites=False):
        """The values of the attributes, by name, with lists, tuples and dictionaries taken apart; then those of modules
        among them. With paths, ("layers", 0, "w"), a value is given for each path that leads to it, else once."""
        walk = _Walk(recursive, predicate, attribute_traversal_key, expand_composites, with_path)
        return walk.values(self, (), [])

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method so that it runs in the name scope of its module; not for __init__, before which there is
        none."""

        @functools.wraps(method)
        def method_with_name_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return method_with_name_scope


def _is_module(value):
    return isinstance(value, Module)


def _is_variable(value):
    return isinstance(value, VariableBase)


def _is_trainable(value):
    return _is_variable(value) and value.trainable


def _is_not_trainable(value):
    return _is_variable(value) and not value.trainable


class _Walk:
    """One look through a module and what is inside it."""

    def __init__(self, recursive, predicate, attribute_traversal_key, expand_composites, with_path):
        self._recursive = recursive
        self._predicate = predicate or (lambda value: True)
        self._key = attribute_traversal_key
        self._expand_composites = expand_composites
        self._with_path = with_path
        self._seen = {}  # by id; it keeps what it has seen alive, so that no id is given twice

    def values(self, module, path, around):
        """Those of the module itself, then those of its submodules; `around` are the modules on the way to it."""
        self._seen.setdefault(id(module), module)
        submodules = []
        ignored = module._TF_MODULE_IGNORED_PROPERTIES
        attributes = module._parts()
        for name in sorted(attributes, key=self._key):
            if name in ignored:
                continue
            for leaf_path, leaf in self._leaves_of(name, attributes[name]):
                if not self._with_path:
                    if id(leaf) in self._seen:
                        continue
                    self._seen[id(leaf)] = leaf
                if self._predicate(leaf):
                    yield (path + leaf_path, leaf) if self._with_path else leaf
                if self._recursive and _is_module(leaf):
                    submodules.append((path + leaf_path, leaf))
        if any(module is other for other in around):
            return  # a circle: once is enough
        for submodule_path, submodule in submodules:
            yield from self.values(submodule, submodule_path, [*around, module])

    def _leaves_of(self, name, value):
        try:
            return list(self._leaves((name,), value))
        except Exception as error:
            raise ValueError(f"Error processing property {name!r} of {value!r}") from error

    def _leaves(self, path, value):
        if isinstance(value, Mapping):
            children = [(key, value[key]) for key in sorted(value)]
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            children = zip(value._fields, value)
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
            children = enumerate(value)
        elif self._expand_composites and isinstance(value, IndexedSlices):
            parts = (value.values, value.indices, value.dense_shape)
            children = enumerate(part for part in parts if part is not None)
        else:
            yield path, value
            return
        for key, child in children:
            yield from self._leaves((*path, key), child)
