"""What all callbacks come from, and those that fit makes by itself."""


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

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self


class BaseLogger(Callback):
    """The means over an epoch of what batches say, for loops that count batches by `size` in their logs."""

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])

    def on_epoch_begin(self, epoch, logs=None):
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            self.totals[name] = value if name in self.stateful_metrics else self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch, logs=None):
        for name in self.params.get("metrics", ()):
            if logs is not None and name in self.totals:
                logs[name] = self.totals[name] / (1 if name in self.stateful_metrics else self.seen)


class ProgbarLogger(Callback):
    """The progress bar. Given to fit it stands for the one that fit shows by itself; other loops call its hooks."""

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}. Expected values are ['samples', 'steps']")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self.seen, self.progbar, self.target, self.verbose, self.epochs = 0, None, None, 1, 1

    def set_params(self, params):
        super().set_params(params)
        self.verbose, self.epochs = params["verbose"], params["epochs"]
        self.target = params["steps"] if self.use_steps else None

    def on_epoch_begin(self, epoch, logs=None):
        self._begin()
        if self.verbose and self.epochs > 1:
            from thalweg.core import logging as _logging
            _logging.write(f"Epoch {epoch + 1}/{self.epochs}\n")

    def on_epoch_end(self, epoch, logs=None):
        self._finish(logs)

    def on_train_batch_end(self, batch, logs=None):
        self._step(batch, logs)

    def on_test_begin(self, logs=None):
        self._begin()

    def on_test_batch_end(self, batch, logs=None):
        self._step(batch, logs)

    def on_test_end(self, logs=None):
        self._finish(logs)

    def on_predict_begin(self, logs=None):
        self._begin()

    def on_predict_batch_end(self, batch, logs=None):
        self._step(batch, None)

    def on_predict_end(self, logs=None):
        self._finish(None)

    def _begin(self):
        self.seen, self.progbar = 0, None

    def _bar(self):
        from thalweg.keras import utils
        if self.progbar is None:
            names = self.model.metrics_names if self.model else []
            self.progbar = utils.Progbar(self.target, verbose=self.verbose,
                                         stateful_metrics=self.stateful_metrics | set(names),
                                         unit_name="step" if self.use_steps else "sample")
        return self.progbar

    def _step(self, batch, logs):
        if self.use_steps:
            self.seen = batch + 1
        else:
            logs = dict(logs or {})
            self.seen += logs.pop("size", 0) * logs.pop("num_steps", 1)
        if self.verbose == 1:
            self._bar().update(self.seen, list((logs or {}).items()), finalize=False)

    def _finish(self, logs):
        if self.verbose == 0:
            return
        bar = self._bar()
        if self.target is None:
            self.target = bar.target = self.seen
        bar.update(self.target, list((logs or {}).items()), finalize=True)


class CallbackList:
    """Several callbacks as one, for loops of one's own."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = flat(callbacks)
        self._history = next((callback for callback in self.callbacks if isinstance(callback, History)), None)
        if self._history is None and add_history:
            self._history = History()
            self.callbacks.append(self._history)
        if add_progbar and not any(isinstance(callback, ProgbarLogger) for callback in self.callbacks):
            self.callbacks.append(ProgbarLogger(count_mode="steps"))
        self.params, self.model = params, model
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def append(self, callback):
        self.callbacks.append(callback)

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        self.model = model
        if self._history is not None:
            model.history = self._history
        for callback in self.callbacks:
            callback.set_model(model)

    def __iter__(self):
        return iter(self.callbacks)


def _tell_with_number(hook):
    def tell(self, number, logs=None):
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            getattr(callback, hook)(number, logs)
    return tell


def _tell(hook):
    def tell(self, logs=None):
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            getattr(callback, hook)(logs)
    return tell


for _part in ("epoch", "train_batch", "test_batch", "predict_batch"):
    for _when in ("begin", "end"):
        setattr(CallbackList, f"on_{_part}_{_when}", _tell_with_number(f"on_{_part}_{_when}"))
for _part in ("train", "test", "predict"):
    for _when in ("begin", "end"):
        setattr(CallbackList, f"on_{_part}_{_when}", _tell(f"on_{_part}_{_when}"))
CallbackList.on_batch_begin = CallbackList.on_train_batch_begin
CallbackList.on_batch_end = CallbackList.on_train_batch_end


def flat(callbacks):
    """Callbacks in one list, however they are given."""
    if callbacks is None:
        return []
    if isinstance(callbacks, (list, tuple, CallbackList)):
        return [callback for item in callbacks for callback in flat(item)]
    return [callbacks]
