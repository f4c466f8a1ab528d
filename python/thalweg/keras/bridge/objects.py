"""Objects of Keras that the engine implements, as Python classes made from its registry.

A class of the engine becomes a Python class whose constructor takes the options of the engine's struct, in order; an object
holds its counterpart in `_core`.
"""

import inspect

from thalweg import _thalweg
from thalweg.keras.bridge.settings import image_data_format

_engine = _thalweg.keras


def new_name(thing):
    """For an object that is given none: that of its class, with a number where it is taken."""
    return _engine.unique_name(_engine.to_snake_case(type(thing).__name__))


class Parameter:
    """One option of a class: its name, and a default unless it is required; some are given by name alone."""

    __slots__ = ("name", "required", "default", "by_name")

    def __init__(self, name, required, default, by_name=False):
        self.name, self.required, self.default, self.by_name = name, required, default, by_name


class Described:
    """What the classes made here have in common: constructor arguments become a configuration."""

    _kind = None
    _engine_name = None
    _parameters = ()
    _takes_others = True  # whether arguments without a parameter go on to the engine, which refuses those it cannot use

    @classmethod
    def _bind(cls, args, kwargs):
        """The configuration that arguments make; the errors are Python's."""
        names = [p.name for p in cls._parameters if not p.by_name]
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__}.__init__() takes from 1 to {len(names) + 1} positional arguments but "
                            f"{len(args) + 1} were given")
        config = dict(zip(names, args))
        for key, value in kwargs.items():
            if key in config:
                raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{key}'")
            if key not in names and not cls._takes_others:
                raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{key}'")
            config[key] = value
        if "data_format" in names and config.get("data_format") is None and image_data_format() != "channels_last":
            config["data_format"] = image_data_format()
        missing = [p.name for p in cls._parameters if p.required and p.name not in config]
        if missing:
            listed = " and ".join(f"'{name}'" for name in missing)
            raise TypeError(f"{cls.__name__}.__init__() missing {len(missing)} required positional "
                            f"argument{'s' * (len(missing) > 1)}: {listed}")
        return config

    def _become(self, core):
        """Makes this the Python object of one of the engine's, which gives it back where that object is asked for."""
        self.__dict__["_core"] = core
        _engine.remember(core, self)

    def __getattr__(self, name):
        known = getattr(type(self), name, None)
        if isinstance(known, property):  # which says why there is none
            return known.fget(self)
        core = self.__dict__.get("_inner", self.__dict__.get("_core"))
        if core is None or self._keeps_all() or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        try:
            return _engine.member(core, name)
        except AttributeError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

    def _set_option(self, name, value):
        """Sets an option of the engine's object; False where the class has none of this name."""
        core = self.__dict__.get("_inner", self.__dict__.get("_core"))
        if core is None or name == "dtype" or not any(p.name == name for p in self._parameters):
            return False
        _engine.set_option(core, self._kind, name, value)
        return True

    def _keeps_all(self):
        """Whether what is no attribute here is none of the engine's object either, which would ask back."""
        return False

    def __dir__(self):
        return sorted({*super().__dir__(), *(p.name for p in self._parameters)})

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)

    def get_config(self):
        return self._core.get_config()

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def signature_of(parameters):
    """What `inspect.signature` shows."""
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for p in parameters:
        if p.by_name:
            continue
        default = inspect.Parameter.empty if p.required else _shown(p)
        shown.append(inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    if any(p.by_name for p in parameters):
        shown.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(shown)


def _shown(parameter):
    """A default as programs would write it: objects without options by their names."""
    default = parameter.default
    if isinstance(default, dict) and "class_name" in default:
        return _engine.to_snake_case(default["class_name"])
    return None if default in ("", "linear") else default


def make_classes(kind, base, module, by_name=lambda name, parameter: False, **members):
    """The classes of a kind by name; `by_name(class, parameter)` says which arguments have no place."""
    made = {}
    for described in _engine.classes(kind):
        name = described["name"]
        if described["is_function"]:
            continue
        parameters = tuple(Parameter(*p, by_name(name, p[0])) for p in described["parameters"])
        made[name] = make_class(kind, name, parameters, base, module, **members)
    for alias, name in _engine.aliases(kind).items():
        if name in made and alias[:1].isupper():
            made.setdefault(alias, made[name])
    return made


def make_class(kind, name, parameters, base, module, **members):
    def __init__(self, *args, **kwargs):
        self._start(type(self)._bind(args, kwargs))

    __init__.__signature__ = signature_of(parameters)
    return type(name, (base,), {"__init__": __init__, "_kind": kind, "_engine_name": name, "_parameters": parameters,
                                "__module__": module, **members})


_classes = {}


def register_kind(kind, classes, default):
    """Tells which Python classes stand for the engine's classes of a kind; `default` for those it does not know."""
    _classes[kind] = (classes, default)


_KIND_MODULES = {"layer": "thalweg.keras.layers", "loss": "thalweg.keras.losses", "metric": "thalweg.keras.metrics",
                 "optimizer": "thalweg.keras.optimizers", "initializer": "thalweg.keras.initializers",
                 "regularizer": "thalweg.keras.regularizers", "constraint": "thalweg.keras.constraints",
                 "activation": "thalweg.keras.activations", "schedule": "thalweg.keras.optimizers.schedules",
                 "callback": "thalweg.keras.callbacks"}


def _wrap(kind, class_name, core):
    """A Python object for one of the engine's."""
    if kind not in _classes:
        __import__(_KIND_MODULES[kind])
    classes, default = _classes[kind]
    cls = classes.get(class_name, default)
    if not isinstance(cls, type):
        return cls(class_name, core)
    made = cls.__new__(cls)
    made.__dict__["_core"] = core
    return made


_engine.set_wrapper(_wrap)


def deserialize(kind, identifier, custom_objects=None):
    """An object from None, a name, a configuration, an object or a callable."""
    if isinstance(identifier, dict) and "class_name" in identifier:
        name = identifier["config"] if isinstance(identifier.get("config"), str) else identifier["class_name"]
        custom = find_custom(name, custom_objects)
        if custom is not None:
            return custom.from_config(identifier.get("config", {})) if isinstance(custom, type) else custom
    if isinstance(identifier, str):
        custom = find_custom(identifier, custom_objects)
        if custom is not None:
            return custom() if isinstance(custom, type) else custom
    if callable(identifier) or hasattr(identifier, "_core"):
        return identifier
    if not isinstance(identifier, (str, dict)):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return _engine.get(kind, identifier)


def serialize(kind, thing, use_legacy_format=False):
    """The configuration that makes another one like it; the older form has nothing but class and configuration."""
    whole = _engine.serialize(kind, thing)
    is_function = isinstance(whole, str)
    if use_legacy_format:
        return whole if is_function else {"class_name": whole["class_name"], "config": whole["config"]}
    if is_function and (kind != "activation" or inspect.isfunction(thing)):
        return {"module": "builtins", "class_name": "function", "config": whole, "registered_name": "function"}
    if is_function:
        return whole
    if type(thing) in registered_names:
        whole["registered_name"] = registered_names[type(thing)]
    return whole


_custom_objects = {}
registered_names = {}  # of classes and functions


def find_custom(name, custom_objects=None):
    found = (custom_objects or {}).get(name, _custom_objects.get(name))
    if found is None and "." in name:
        found = _custom_objects.get(name.rpartition(".")[2])
    return found


def _find(kind, name, config):
    """What the engine asks for when a name is not one of its own."""
    custom = find_custom(name)
    if custom is None and kind == "layer":  # the base of all, and what the package makes of the engine's
        from thalweg.keras import layers
        custom = getattr(layers, name, None)
    if isinstance(custom, type):
        return custom.from_config(config) if config is not None and hasattr(custom, "from_config") else custom()
    return custom


_engine.set_finder(_find)


class CustomObjectScope:
    """Names that configurations may use for classes and functions of the program: `with CustomObjectScope({...}):`."""

    def __init__(self, *objects):
        self._objects = {name: value for group in objects for name, value in group.items()}

    def __enter__(self):
        self._before = dict(_custom_objects)
        _custom_objects.update(self._objects)
        return self

    def __exit__(self, *error):
        _custom_objects.clear()
        _custom_objects.update(self._before)


custom_object_scope = CustomObjectScope


def get_custom_objects():
    """The names that hold everywhere; a dict to add to."""
    return _custom_objects
