"""Callbacks: what is told how training goes."""

from thalweg.keras._objects import Described, _engine, make_classes, register_kind


class Callback:
    """The base of callbacks that programs write."""

    def __init__(self):
        self.validation_data = None
        self.model = None
        self.params = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        """Before each batch of training."""

    def on_batch_end(self, batch, logs=None):
        """After each batch of training."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before each epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After each epoch, with its numbers."""

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before each batch of evaluation."""

    def on_test_batch_end(self, batch, logs=None):
        """After each batch of evaluation."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before each batch of prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After each batch of prediction, with its outputs."""

    def on_train_begin(self, logs=None):
        """Before training."""

    def on_train_end(self, logs=None):
        """After training."""

    def on_test_begin(self, logs=None):
        """Before evaluation."""

    def on_test_end(self, logs=None):
        """After evaluation."""

    def on_predict_begin(self, logs=None):
        """Before prediction."""

    def on_predict_end(self, logs=None):
        """After prediction."""


class History(Callback):
    """The numbers of each epoch: what fit gives."""

    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, []

    def finish(self, model, history, epoch):
        self.model, self.history, self.epoch = model, history, epoch


class CallbackList:
    """Several callbacks as one."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = list(callbacks or [])
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def append(self, callback):
        self.callbacks.append(callback)

    def __iter__(self):
        return iter(self.callbacks)

    def __getattr__(self, name):
        if not name.startswith("on_"):
            raise AttributeError(name)

        def tell(*args, **kwargs):
            for callback in self.callbacks:
                getattr(callback, name)(*args, **kwargs)

        return tell


class EngineCallback(Described, Callback):
    """A callback that the engine implements."""

    def _start(self, config):
        self.__dict__["_core"] = _engine.make("callback", self._engine_name, config)
        _engine.remember(self._core, self)

    def set_model(self, model):
        self.__dict__["model"] = model


_classes = make_classes("callback", EngineCallback, __name__)
globals().update(_classes)
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
            raise ValueError(f"The output of the `schedule` function should be float. Got: {rate}")
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


class _Listener:
    def __init__(self, callback):
        self.callback = callback
        self.core = callback._core if "_core" in vars(callback) else _engine.callback(callback)

    def begin(self, model):
        if "_core" in vars(self.callback):
            self.callback.set_model(model)


def listeners(callbacks, history):
    """The callbacks of a run as the engine takes them."""
    if callbacks is None:
        callbacks = []
    if not isinstance(callbacks, (list, tuple, CallbackList)):
        callbacks = [callbacks]
    made = [_Listener(callback) for callback in callbacks if not isinstance(callback, History)]
    return made
