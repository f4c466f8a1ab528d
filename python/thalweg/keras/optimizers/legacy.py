"""The optimizers as they were called before: the same steps, and a rate that may decay by itself."""

from thalweg.keras import optimizers as _current
from thalweg.keras.optimizers import schedules as _schedules

Optimizer = _current.Optimizer


def _make(name):
    base = _current._classes[name]

    def __init__(self, *args, **kwargs):
        config = type(self)._bind(args, kwargs)
        decay = config.pop("decay", 0.0)
        rate = config.pop("lr", config.get("learning_rate"))
        if rate is not None:
            config["learning_rate"] = rate
        if decay:
            rate = 0.001 if rate is None else rate
            config["learning_rate"] = _schedules.InverseTimeDecay(rate, decay_steps=1, decay_rate=decay)
        self._start(config)

    return type(name, (base,), {"__init__": __init__, "__module__": __name__, "__doc__": base.__doc__})


for _name in ("SGD", "RMSprop", "Adam", "Adadelta", "Adagrad", "Adamax", "Nadam", "Ftrl"):
    if _name in _current._classes:
        globals()[_name] = _make(_name)
