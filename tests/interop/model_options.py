"""What the layers of model_layers.py draw from: the generator, and the values of options that many layers have."""

import random

LAYERS = {}
ACTIVATIONS = ["relu", "tanh", "sigmoid", "softmax", "elu", "selu", "softplus", "softsign", "swish", "gelu", "exponential", "hard_sigmoid", "linear",
               "mish", None]
INITIALIZERS = ["zeros", "ones", "glorot_uniform", "he_normal", "lecun_normal", "random_normal", "random_uniform", "truncated_normal",
                {"class_name": "Constant", "config": {"value": 0.3}}, {"class_name": "VarianceScaling", "config": {"scale": 0.5, "mode": "fan_avg"}},
                {"class_name": "RandomUniform", "config": {"minval": -0.2, "maxval": 0.2, "seed": 3}}]
REGULARIZERS = ["l1", "l2", "l1_l2", {"class_name": "L1", "config": {"l1": 0.02}}, {"class_name": "L2", "config": {"l2": 0.03}},
                {"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.02}}]
CONSTRAINTS = ["non_neg", "unit_norm", "max_norm", {"class_name": "MaxNorm", "config": {"max_value": 0.5, "axis": 0}},
               {"class_name": "MinMaxNorm", "config": {"min_value": 0.2, "max_value": 0.8, "rate": 0.7, "axis": 0}}]
RANDOM = {"Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"}
RECURRENT = ["SimpleRNN", "GRU", "LSTM", "RNN"]


class Draw(random.Random):
    """Python's generator, whose numbers are the same everywhere, with a few words more."""

    def one(self, *values):
        return self.choice(values)

    def maybe(self, chance=0.3):
        return self.random() < chance

    def options(self, chance=0.3, **values):
        """Some of these options, each with a value from its list."""
        return {name: self.choice(list(choices)) for name, choices in values.items() if self.maybe(chance)}

    def weights(self, *names):
        """Some initializers, regularizers and constraints of weights."""
        config = {}
        for name in names:
            config |= self.options(0.15, **{f"{name}_initializer": INITIALIZERS, f"{name}_regularizer": REGULARIZERS, f"{name}_constraint": CONSTRAINTS})
        return config

    def flag(self, name, chance=0.3, value=True):
        return {name: value} if self.maybe(chance) else {}

    def sizes(self, count, high):
        """One number, or one for each dimension."""
        return self.randint(1, high) if self.maybe(0.5) else [self.randint(1, high) for _ in range(count)]


def layer(*ranks, dtype="float32", merges=False):
    def register(function):
        LAYERS[function.__name__] = (ranks, dtype, merges, function)
        return function
    return register
