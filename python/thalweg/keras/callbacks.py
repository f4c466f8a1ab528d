"""Callbacks: what is told how training goes."""

from thalweg.keras.bridge.objects import Described, _engine, make_classes, register_kind
from thalweg.keras.model.callback_base import BaseLogger, Callback, CallbackList, History, ProgbarLogger, flat


for _made in (BaseLogger, Callback, CallbackList, History, ProgbarLogger):
    _made.__module__ = __name__


class EngineCallback(Described, Callback):
    """A callback that the engine implements."""

    validation_data = model = params = None  # until a run sets them

    def _start(self, config):
        self._become(_engine.make("callback", self._engine_name, config))

    def set_model(self, model):
        self.__dict__["model"] = model

    def __getattr__(self, name):
        if not name.startswith("_") and "_core" in self.__dict__:
            state = _engine.callback_state(self._core) or {}
            if name in state:
                return state[name]
        return super().__getattr__(name)

    # fit calls the engine's hooks by itself; these are for classes that come from it, and for loops of one's own.

    def on_train_begin(self, logs=None):
        self._call("on_train_begin", 0, logs)

    def on_train_end(self, logs=None):
        self._call("on_train_end", 0, logs)

    def on_epoch_begin(self, epoch, logs=None):
        self._call("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._call("on_epoch_end", epoch, logs)

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)
        self._call("on_train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)
        self._call("on_train_batch_end", batch, logs)

    def _call(self, hook, number, logs):
        if hasattr(self.model, "_core"):
            _engine.callback_hook(self._core, hook, self.model._core, number, logs)
            return
        # Another object with the methods of a model: the engine sees a model with its weights.
        from thalweg.keras.bridge.stand_in import StandIn
        with self.__dict__.setdefault("_stand_in", StandIn()).seen_as(self.model) as core:
            _engine.callback_hook(self._core, hook, core, number, logs)


_classes = make_classes("callback", EngineCallback, __name__)
globals().update(_classes)


class ReduceLROnPlateau(_classes["ReduceLROnPlateau"]):
    """Makes the learning rate smaller when a number has stopped improving."""

    _engine_name = "ReduceLROnPlateau"

    def _start(self, config):
        if config.get("factor", 0.1) >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Got {config['factor']}")
        super()._start(config)

    def in_cooldown(self):
        return self.cooldown_counter > 0


class EarlyStopping(_classes["EarlyStopping"]):
    """Ends training when a number has stopped improving."""

    _engine_name = "EarlyStopping"

    @property
    def monitor_op(self):
        """What makes one number better than another."""
        import numpy as np
        if self.mode in ("min", "max"):
            return np.greater if self.mode == "max" else np.less
        return np.greater if self.monitor.endswith(("acc", "accuracy", "auc")) else np.less

    @property
    def min_delta(self):
        """What is added to the best number before another is compared with it."""
        import numpy as np
        delta = abs(self._core.get_config()["min_delta"])
        return delta if self.monitor_op is np.greater else -delta

    @property
    def best_weights(self):
        """The weights of the best epoch, where they are to be restored; None before there are any."""
        import numpy as np
        return [np.array(weight) for weight in _engine.callback_weights(self._core)] or None

    def get_monitor_value(self, logs):
        return (logs or {}).get(self.monitor)


class CSVLogger(_classes["CSVLogger"]):
    """Writes the numbers of each epoch into a file, a line for each."""

    _engine_name = "CSVLogger"

    @property
    def sep(self):
        return self.separator


_classes.update(ReduceLROnPlateau=ReduceLROnPlateau, EarlyStopping=EarlyStopping, CSVLogger=CSVLogger)
register_kind("callback", _classes, EngineCallback)


class LearningRateScheduler(Callback):
    """Sets the learning rate at the beginning of every epoch: schedule(epoch, rate), or schedule(epoch)."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        import numpy as np
        rate = float(np.asarray(self.model.optimizer.learning_rate))
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:  # the form without the rate
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)) and not hasattr(rate, "dtype"):
            raise ValueError(f"The output of the \"schedule\" function should be float. Got: {rate}")
        self.model.optimizer.learning_rate = rate
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        import numpy as np
        logs["lr"] = float(np.asarray(self.model.optimizer.learning_rate))


class LambdaCallback(Callback):
    """A callback of functions, given by the names of hooks."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_batch_begin=None, on_batch_end=None,
                 on_train_begin=None, on_train_end=None, **kwargs):
        super().__init__()
        given = {"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end, "on_batch_begin": on_batch_begin,
                 "on_batch_end": on_batch_end, "on_train_begin": on_train_begin, "on_train_end": on_train_end, **kwargs}
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)


def listeners(callbacks, model):
    """The callbacks of a run as the engine takes them. The bar is the engine's own."""
    made = []
    for callback in callbacks:
        if type(callback) is ProgbarLogger:
            continue
        if "_engine_name" in vars(type(callback)):
            callback.set_model(model)
            made.append(callback._core)
        else:
            made.append(_engine.callback(callback))
    return made
