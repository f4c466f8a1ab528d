"""Wrapper: the base of layers around another layer."""

from thalweg.keras.layer.base import Layer


class Wrapper(Layer):
    """Holds `layer`; a class of a program writes `call`."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to wrapper is not a supported layer type. Please ensure wrapped layer "
                             "is a valid Keras layer.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.built = True

    def get_config(self):
        from thalweg.keras import layers
        return {**super().get_config(), "layer": layers.serialize(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from thalweg.keras import layers
        config = dict(config)
        return cls(layers.deserialize(config.pop("layer"), custom_objects), **config)
