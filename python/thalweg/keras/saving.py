"""How configurations know the classes and functions of programs."""

from thalweg.keras.bridge.objects import CustomObjectScope, custom_object_scope, get_custom_objects
from thalweg.keras.bridge.registered import (deserialize_keras_object, get_registered_name, get_registered_object,
                                             register_keras_serializable, serialize_keras_object)
