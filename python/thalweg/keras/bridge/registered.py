"""Classes and functions of programs by registered names, and objects as configurations."""

from thalweg.keras.bridge import objects as _objects
from thalweg.keras.bridge.objects import registered_names


def register_keras_serializable(package="Custom", name=None):
    """A decorator: the class or function is known to configurations by its name."""
    def register(thing):
        if isinstance(thing, type) and not hasattr(thing, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        own = name or thing.__name__
        registered_names[thing] = f"{package}>{own}"
        known = _objects.get_custom_objects()
        known.setdefault(thing.__name__, thing)  # what configurations of layers say
        known[own] = known[registered_names[thing]] = thing
        return thing

    return register


def get_registered_name(obj):
    """The name that a class or function was registered under, or its own."""
    return registered_names.get(obj, obj.__name__)


def get_registered_object(name, custom_objects=None, module_objects=None):
    """What a name stands for; None where nothing does."""
    found = _objects.find_custom(name, custom_objects)
    return (module_objects or {}).get(name) if found is None else found


def serialize_keras_object(obj):
    """What deserialize_keras_object makes an equal one of: numbers, texts and containers stay, an object is a dict."""
    if obj is None or isinstance(obj, (bool, int, float, str)):
        return obj
    if isinstance(obj, (list, tuple)):
        return [serialize_keras_object(item) for item in obj]
    if isinstance(obj, dict):
        return {key: serialize_keras_object(item) for key, item in obj.items()}
    if not hasattr(obj, "get_config"):
        return {"module": "builtins", "class_name": "function", "config": get_registered_name(obj),
                "registered_name": "function"}
    cls = type(obj)
    kind = getattr(cls, "_kind", None)
    module = _objects._KIND_MODULES.get(kind, "") if getattr(cls, "_engine_name", None) == cls.__name__ else ""
    return {"module": module.replace("thalweg.", "", 1) or None, "class_name": cls.__name__,
            "config": obj.get_config(), "registered_name": registered_names.get(cls, None if module else cls.__name__)}


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """An object from its configuration."""
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(item, custom_objects) for item in config]
    if not isinstance(config, dict) or "class_name" not in config:
        return config
    if config["class_name"] == "function":
        config = {**config, "registered_name": config["config"]}
    for name in (config.get("registered_name"), config["class_name"]):
        found = get_registered_object(name, custom_objects) if name else None
        if found is not None:
            return found.from_config(config["config"]) if isinstance(found, type) else found
    for kind, module in _objects._KIND_MODULES.items():
        if module == f"thalweg.{config.get('module')}":
            return _objects.deserialize(kind, config, custom_objects)
    raise TypeError(f"Could not locate class '{config['class_name']}'. Make sure custom classes are decorated with "
                    "`@keras.utils.register_keras_serializable()`, or pass them in `custom_objects`.")
