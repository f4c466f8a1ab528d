"""How models are trained: compile, fit, evaluate, predict, and their steps."""

import numpy as np

from thalweg.core import logging as _logging
from thalweg.keras import callbacks as callbacks_module, optimizers
from thalweg.keras._part import part_of
from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.overrides import of_engine
from thalweg.keras.layer.holder import Holder
from thalweg.keras.model import compiled as _compiled, data as _data, steps as _steps


@part_of("thalweg.keras.models", "Model")
class Training:
    """The part of a model about its training."""

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, weighted_metrics=None,
                run_eagerly=None, steps_per_execution=None, jit_compile=None, pss_evaluation_shards=0, **kwargs):
        """Says how to train."""
        self.__dict__.pop("_own_optimizer", None)
        for old in ("cloning", "experimental_run_tf_function", "distribute", "sample_weight_mode"):
            kwargs.pop(old, None)
        if kwargs.pop("target_tensors", None) is not None:
            raise ValueError("`target_tensors` argument is not supported when executing eagerly.")
        if kwargs:
            raise TypeError(f"Invalid keyword argument(s) in `compile()`: {set(kwargs)}.")
        if steps_per_execution == "auto":
            steps_per_execution = None
        self.__dict__.update(loss={} if loss is None else loss, _run_eagerly=run_eagerly, _jit_compile=jit_compile,
                             steps_per_execution=1 if steps_per_execution is None else int(steps_per_execution))
        self.__dict__["_core_compiled_with"] = {  # under a name that is not searched for metrics
            "optimizer": optimizer, "loss": loss, "metrics": metrics, "loss_weights": loss_weights,
            "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile}
        _compiled.check_metrics(metrics, weighted_metrics)
        _steps.forget_functions(self)
        _engine.compile(self._core, {
            "optimizer": optimizers.get(optimizer), "loss": loss, "metrics": _compiled.as_metrics(metrics),
            "loss_weights": loss_weights, "weighted_metrics": _compiled.as_metrics(weighted_metrics),
            "run_eagerly": bool(run_eagerly) or _steps.makes_functions(type(self)), "jit_compile": jit_compile,
            "steps_per_execution": self.steps_per_execution})

    @property
    def run_eagerly(self):
        """Whether steps run op by op."""
        from thalweg import config
        own = self.__dict__.get("_run_eagerly")
        return bool(config.functions_run_eagerly() if own is None else own)

    @run_eagerly.setter
    def run_eagerly(self, value):
        self.__dict__["_run_eagerly"] = value
        _engine.set_run_eagerly(self._core, bool(value) or _steps.makes_functions(type(self)))

    @property
    def jit_compile(self):
        return self.__dict__.get("_jit_compile")

    @property
    def _is_compiled(self):
        return _engine.is_compiled(self._core)

    @property
    def optimizer(self):
        own = self.__dict__.get("_own_optimizer")
        if own is not None:
            return own
        return _engine.optimizer(self._core) if _engine.is_compiled(self._core) else None

    @property
    def metrics_names(self):
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        _engine.reset_metrics(self._core)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
            steps_per_epoch=None, validation_steps=None, validation_batch_size=None, validation_freq=1,
            max_queue_size=10, workers=1, use_multiprocessing=False):
        """Trains for a number of epochs; gives the History."""
        callbacks = callbacks_module.flat(callbacks)
        history = next((item for item in callbacks if isinstance(item, callbacks_module.History)), None)
        if history is None:
            history = callbacks_module.History()
            callbacks.append(history)
        _data.check(x, y, sample_weight, validation_split)
        _data.check_class_weight(class_weight)
        self._show_metrics()
        if isinstance(validation_freq, int) and validation_freq < 1:
            raise ValueError(f"`validation_freq` must be a positive number or a list of epochs. Got: {validation_freq}")
        steps_per_epoch, validation_steps = _data.steps(steps_per_epoch), _data.steps(validation_steps)
        batch_size = _data.whole("batch_size", batch_size)
        validation_batch_size = _data.whole("validation_batch_size", validation_batch_size)
        options = {"epochs": _data.whole("epochs", epochs), "verbose": _verbosity(verbose),
                   "validation_split": validation_split or None, "shuffle": bool(shuffle), "class_weight": class_weight,
                   "initial_epoch": _data.whole("initial_epoch", initial_epoch), "steps_per_epoch": steps_per_epoch,
                   "validation_steps": validation_steps, "validation_freq": validation_freq,
                   "callbacks": callbacks_module.listeners(callbacks, self)}
        sources = []
        if validation_data is not None:
            options |= _data.validation(validation_data, validation_batch_size or batch_size, validation_steps, sources)
        self.history = history
        try:
            if _data.is_batches(x):
                batches = _data.Batches(x, steps_per_epoch, shuffle)
                sources.append(batches)
                _engine.fit_batches(self._core, batches.start, batches.steps, options)
            else:
                options |= {"batch_size": batch_size, "sample_weight": _data.arrays(sample_weight),
                            "validation_batch_size": validation_batch_size}
                _engine.fit(self._core, _data.arrays(x), _data.arrays(y), options)
        finally:
            for source in sources:
                source.finish()
        return history

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 max_queue_size=10, workers=1, use_multiprocessing=False, return_dict=False, **kwargs):
        """The loss, or a list of loss and metrics, or a dict of them."""
        if kwargs:
            raise TypeError(f"Invalid keyword arguments: {list(kwargs)}")
        _data.check(x, y, sample_weight)
        if sample_weight is not None and self.__dict__.get("_core_compiled_with", {}).get("weighted_metrics") is None:
            _logging.warn("`evaluate()` received a value for `sample_weight`, but `weighted_metrics` were not provided.  Did "
                          "you mean to pass metrics to `weighted_metrics` in `compile()`?  If this is intentional you can "
                          "pass `weighted_metrics=[]` to `compile()` in order to silence this warning.")
        self._show_metrics()
        steps, batch_size = _data.steps(steps), _data.whole("batch_size", batch_size)
        options = _run_options(self, verbose, steps, callbacks)
        if _data.is_batches(x):
            batches = _data.Batches(x, steps)
            logs = _engine.evaluate_batches(self._core, batches.start, batches.steps, options)
            batches.finish()
        else:
            options |= {"batch_size": batch_size, "sample_weight": _data.arrays(sample_weight)}
            logs = _engine.evaluate(self._core, _data.arrays(x), _data.arrays(y), options)
        self.history = callbacks_module.History()  # Keras begins a new one, too
        return _results(logs, return_dict)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None, max_queue_size=10, workers=1,
                use_multiprocessing=False):
        """The outputs for all examples, as NumPy's arrays."""
        _data.check(x)
        steps, batch_size = _data.steps(steps), _data.whole("batch_size", batch_size)
        options = _run_options(self, verbose, steps, callbacks)
        if _data.is_batches(x):
            batches = _data.Batches(x, steps)
            made = _engine.predict_batches(self._core, batches.start, batches.steps, options)
            batches.finish()
        else:
            made = _engine.predict(self._core, _data.arrays(x), options | {"batch_size": batch_size})
        self.history = callbacks_module.History()
        return _to_numpy(made)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True, return_dict=False):
        _data.check_class_weight(class_weight)
        self._show_metrics()
        logs = _engine.train_on_batch(self._core, _data.arrays(x), _data.arrays(y), {
            "sample_weight": _data.arrays(sample_weight), "class_weight": class_weight, "reset_metrics": reset_metrics})
        return _results(logs, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        self._show_metrics()
        logs = _engine.test_on_batch(self._core, _data.arrays(x), _data.arrays(y), {
            "sample_weight": _data.arrays(sample_weight), "reset_metrics": reset_metrics})
        return _results(logs, return_dict)

    def predict_on_batch(self, x):
        return _to_numpy(_engine.predict_on_batch(self._core, _data.arrays(x)))

    @of_engine
    def train_step(self, data):
        return _steps.train(self, data) if self._computes() else _engine.train_step(self._core, data)

    @of_engine
    def test_step(self, data):
        return _steps.test(self, data) if self._computes() else _engine.test_step(self._core, data)

    @classmethod
    def _computes(cls):
        """Whether the class says what the loss or the metrics are."""
        return cls.compute_loss is not Training.compute_loss or cls.compute_metrics is not Training.compute_metrics

    @of_engine
    def predict_step(self, data):
        return _engine.predict_step(self._core, data)

    steps_per_execution = 1  # batches between two hooks of callbacks: what compile says
    autotune_steps_per_execution = False

    # What the functions below gave last.
    train_function = test_function = predict_function = train_tf_function = None

    @of_engine
    def make_train_function(self, force=False):
        """A function of an iterator: it trains on the next batch and gives the numbers by name. fit calls it where a
        class writes its own."""
        return _steps.make_function(self, "train", force)

    @of_engine
    def make_test_function(self, force=False):
        return _steps.make_function(self, "test", force)

    @of_engine
    def make_predict_function(self, force=False):
        return _steps.make_function(self, "predict", force)

    def _step(self, kind, data):
        """A step as the engine asks for it."""
        return _steps.run(self, kind, data)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        return _engine.compute_loss(self._core, x, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight):
        return _engine.compute_metrics(self._core, x, y, y_pred, sample_weight)

    def get_metrics_result(self):
        """The numbers so far, by name."""
        results = {}
        for metric in self.metrics:
            result = metric.result()
            results |= result if isinstance(result, dict) else {metric.name: result}
        return results

    @property
    def compiled_loss(self):
        return _compiled.CompiledLoss(self) if self._is_compiled else None

    @property
    def compiled_metrics(self):
        return _compiled.CompiledMetrics(self) if self._is_compiled else None

    def _show_metrics(self):
        """Metrics that a class names but does not hold are the model's, too: they begin anew with every epoch."""
        if type(self).metrics is not Holder.metrics:
            self.__dict__["_named_metrics"] = list(self.metrics)

    def _last_outputs(self):
        return _to_numpy(_engine.last_outputs(self._core))


def _run_options(model, verbose, steps, callbacks):
    """What evaluate and predict tell the engine alike."""
    return {"verbose": _verbosity(verbose), "steps": steps,
            "callbacks": callbacks_module.listeners(callbacks_module.flat(callbacks), model)}


def _verbosity(verbose):
    return (1 if _logging.is_interactive() else 2) if verbose == "auto" else int(verbose)


def _results(logs, return_dict):
    if return_dict:
        return logs
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def _to_numpy(structure):
    if isinstance(structure, dict):
        return {key: _to_numpy(item) for key, item in structure.items()}
    if isinstance(structure, (list, tuple)):
        return type(structure)(_to_numpy(item) for item in structure)
    return structure if structure is None else np.array(structure)  # one's own, to write to
