"""Models: layers that can be trained."""

import sys
import warnings

import numpy as np

from thalweg.keras import _compiled, _data, _steps
from thalweg.keras._layer import Layer
from thalweg.keras._nodes import shapes_of
from thalweg.keras._objects import CustomObjectScope, _engine, new_name as _new_name
from thalweg.keras._overrides import of_engine as _of_engine


def _is_functional_call(args, kwargs):
    return len(args) in (2, 3) or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs)


class Model(Layer):
    """A layer that can be trained: of tensors that begin with `Input`, or a class with `call`."""

    _is_model = True
    history = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls._computes():
            cls._overrides["train_step"] = cls._overrides["test_step"] = True

    @_of_engine
    def __init__(self, *args, **kwargs):
        if _is_functional_call(args, kwargs):
            inputs = args[0] if args else kwargs.pop("inputs")
            outputs = args[1] if len(args) >= 2 else kwargs.pop("outputs")
            name = args[2] if len(args) == 3 else kwargs.pop("name", None)
            trainable = kwargs.pop("trainable", True)
            for key in kwargs:
                raise TypeError(f"('Keyword argument not understood:', '{key}')")
            self._start_functional(inputs, outputs, name, trainable)
            return
        if args and isinstance(args[0], Model):
            args = ()  # super().__init__(self), as old programs write
        name = kwargs.pop("name", args[0] if args and isinstance(args[0], str) else None)
        super().__init__(name=name, **kwargs)

    def _start_functional(self, inputs, outputs, name, trainable):
        core = _engine.functional(inputs, outputs, name or "")
        if type(self) is Model:
            self.__class__ = Functional
            self.__dict__["_core"] = core
            _engine.remember(core, self)
        else:
            self._attach(core, name, trainable, None, None)
        if not trainable:
            self.trainable = False

    def __setattr__(self, name, value):
        if name == "stop_training":
            _engine.stop_training(self._core, bool(value))
            return
        if name == "optimizer":
            self.__dict__["_own_optimizer"] = value
            return
        super().__setattr__(name, value)

    @property
    def stop_training(self):
        return _engine.is_stopping(self._core)

    @property
    def layers(self):
        return _engine.layers(self._core)

    def get_layer(self, name=None, index=None):
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers.")
            return layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    @property
    def inputs(self):
        return _as_list(self._ends()[0])

    @property
    def outputs(self):
        return _as_list(self._ends()[1])

    @property
    def input_names(self):
        return _engine.input_names(self._core)

    @property
    def output_names(self):
        return _engine.output_names(self._core)

    @property
    def input(self):
        found = self._ends()[0]
        return super().input if found is None else found

    @property
    def output(self):
        found = self._ends()[1]
        return super().output if found is None else found

    @property
    def input_shape(self):
        found = self._ends()[0]
        return super().input_shape if found is None else shapes_of(found)

    @property
    def output_shape(self):
        found = self._ends()[1]
        return super().output_shape if found is None else shapes_of(found)

    def _check_weights(self):
        if not self.built and ("build" in type(self).__dict__ or type(self) is Sequential):
            raise ValueError(f"Weights for model '{self.name}' have not yet been created. Weights are created when the "
                             "model is first called on inputs or `build()` is called with an `input_shape`.")

    @property
    def weights(self):
        self._check_weights()
        return super().weights

    @property
    def trainable_weights(self):
        self._check_weights()
        return super().trainable_weights

    @property
    def non_trainable_weights(self):
        self._check_weights()
        return super().non_trainable_weights

    def count_params(self):
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer {self.name}, but the layer isn't built. You can "
                             f"build it manually via: `{self.name}.build(batch_input_shape)`.")
        return super().count_params()

    def _copy(self):
        return clone_model(self)

    def _ends(self):
        """What its layers lie between; None and None where they are not known."""
        return _engine.model_inputs(self._core), _engine.model_outputs(self._core)

    # Training

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, weighted_metrics=None,
                run_eagerly=None, steps_per_execution=None, jit_compile=None, pss_evaluation_shards=0, **kwargs):
        """Says how to train."""
        from thalweg.keras import optimizers
        self.__dict__.pop("_own_optimizer", None)
        for old in ("cloning", "experimental_run_tf_function", "distribute", "sample_weight_mode"):
            kwargs.pop(old, None)
        if kwargs.pop("target_tensors", None) is not None:
            raise ValueError("`target_tensors` argument is not supported when executing eagerly.")
        if kwargs:
            raise TypeError(f"Invalid keyword argument(s) in `compile()`: {set(kwargs)}.")
        if steps_per_execution == "auto":
            steps_per_execution = None
        self.__dict__.update(loss=loss, _run_eagerly=run_eagerly, _jit_compile=jit_compile)
        _engine.compile(self._core, {
            "optimizer": optimizers.get(optimizer), "loss": loss, "metrics": _compiled.as_metrics(metrics),
            "loss_weights": loss_weights, "weighted_metrics": _compiled.as_metrics(weighted_metrics),
            "run_eagerly": bool(run_eagerly), "jit_compile": jit_compile,
            "steps_per_execution": None if steps_per_execution is None else int(steps_per_execution)})

    @property
    def run_eagerly(self):
        """Whether steps run op by op."""
        from thalweg import config
        own = self.__dict__.get("_run_eagerly")
        return bool(config.functions_run_eagerly() if own is None else own)

    @run_eagerly.setter
    def run_eagerly(self, value):
        self.__dict__["_run_eagerly"] = value
        _engine.set_run_eagerly(self._core, bool(value))

    @property
    def jit_compile(self):
        return self.__dict__.get("_jit_compile")

    @property
    def _is_compiled(self):
        return _engine.is_compiled(self._core)

    def add_loss(self, losses, **kwargs):
        """Adds to what is minimised: numbers made in `call`, or from the tensors of a functional model."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if _engine.history(loss) is not None:
                _engine.model_add_loss(self._core, loss)
            else:
                super().add_loss(loss, **kwargs)

    def add_metric(self, value, name=None, **kwargs):
        """Counts the mean of a value made in `call`, or from the tensors of a functional model."""
        if _engine.history(value) is not None:
            _engine.include(self._core, _AddMetric(name, name="add_metric")(value))
        else:
            super().add_metric(value, name=name, **kwargs)

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
        from thalweg.keras import callbacks as callbacks_module
        callbacks = callbacks_module.flat(callbacks)
        history = next((item for item in callbacks if isinstance(item, callbacks_module.History)), None)
        if history is None:
            history = callbacks_module.History()
            callbacks.append(history)
        _data.check(x, y, sample_weight, validation_split)
        self._show_metrics()
        if isinstance(validation_freq, int) and validation_freq < 1:
            raise ValueError(f"`validation_freq` must be a positive number or a list of epochs. Got: {validation_freq}")
        steps_per_epoch, validation_steps = _data.steps(steps_per_epoch), _data.steps(validation_steps)
        batch_size = _data.whole("batch_size", batch_size)
        validation_batch_size = _data.whole("validation_batch_size", validation_batch_size)
        options = {"epochs": _data.whole("epochs", epochs), "verbose": _verbosity(verbose), "validation_split": validation_split or None,
                   "shuffle": bool(shuffle), "class_weight": class_weight, "initial_epoch": _data.whole("initial_epoch", initial_epoch),
                   "steps_per_epoch": steps_per_epoch, "validation_steps": validation_steps,
                   "validation_freq": validation_freq, "callbacks": callbacks_module.listeners(callbacks, self)}
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
        from thalweg.keras import callbacks as callbacks_module
        if kwargs:
            raise TypeError(f"Invalid keyword arguments: {list(kwargs)}")
        _data.check(x, y, sample_weight)
        self._show_metrics()
        steps, batch_size = _data.steps(steps), _data.whole("batch_size", batch_size)
        options = {"verbose": _verbosity(verbose), "steps": steps,
                   "callbacks": callbacks_module.listeners(callbacks_module.flat(callbacks), self)}
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
        from thalweg.keras import callbacks as callbacks_module
        _data.check(x)
        steps, batch_size = _data.steps(steps), _data.whole("batch_size", batch_size)
        options = {"verbose": _verbosity(verbose), "steps": steps,
                   "callbacks": callbacks_module.listeners(callbacks_module.flat(callbacks), self)}
        if _data.is_batches(x):
            batches = _data.Batches(x, steps)
            made = _engine.predict_batches(self._core, batches.start, batches.steps, options)
            batches.finish()
        else:
            made = _engine.predict(self._core, _data.arrays(x), options | {"batch_size": batch_size})
        self.history = callbacks_module.History()
        return _to_numpy(made)

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
                      validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
                      use_multiprocessing=False, shuffle=True, initial_epoch=0):
        """What old programs call for `fit`."""
        _warn_of_old_name("fit_generator", "fit")
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, verbose=verbose, callbacks=callbacks,
                        validation_data=validation_data, validation_steps=validation_steps,
                        validation_freq=validation_freq, class_weight=class_weight, shuffle=shuffle,
                        initial_epoch=initial_epoch)

    def evaluate_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                           use_multiprocessing=False, verbose=0):
        """What old programs call for `evaluate`."""
        _warn_of_old_name("evaluate_generator", "evaluate")
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                          use_multiprocessing=False, verbose=0):
        """What old programs call for `predict`."""
        _warn_of_old_name("predict_generator", "predict")
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True, return_dict=False):
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

    @_of_engine
    def train_step(self, data):
        return _steps.train(self, data) if self._computes() else _engine.train_step(self._core, data)

    @_of_engine
    def test_step(self, data):
        return _steps.test(self, data) if self._computes() else _engine.test_step(self._core, data)

    @classmethod
    def _computes(cls):
        """Whether the class says what the loss or the metrics are."""
        return cls.compute_loss is not Model.compute_loss or cls.compute_metrics is not Model.compute_metrics

    @_of_engine
    def predict_step(self, data):
        return _engine.predict_step(self._core, data)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        return _engine.compute_loss(self._core, x, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight):
        return _engine.compute_metrics(self._core, x, y, y_pred, sample_weight)

    def get_metrics_result(self):
        """The numbers so far, by name."""
        return {metric.name: metric.result() for metric in self.metrics}

    @property
    def compiled_loss(self):
        return _compiled.CompiledLoss(self) if self._is_compiled else None

    @property
    def compiled_metrics(self):
        return _compiled.CompiledMetrics(self) if self._is_compiled else None

    def _show_metrics(self):
        """Metrics that a class names but does not hold are the model's, too: they begin anew with every epoch."""
        if type(self).metrics is not Layer.metrics:
            self.__dict__["_named_metrics"] = list(self.metrics)

    def _last_outputs(self):
        return _to_numpy(_engine.last_outputs(self._core))

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                layer_range=None):
        """Prints its layers."""
        text = _engine.summary(self._core, {"line_length": line_length, "positions": positions,
                                            "expand_nested": expand_nested, "show_trainable": show_trainable,
                                            "layer_range": layer_range})
        for line in text.splitlines():
            (print_fn or _print)(line)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if cls in (Model, Functional) or "layers" in config and "input_layers" in config:
            with CustomObjectScope(custom_objects or {}):
                return _wrap_model(_engine.from_config("Functional", config))
        return cls(**config)


def _print(line):
    sys.stdout.write(line + "\n")


def _warn_of_old_name(old, new):
    warnings.warn(f"`Model.{old}` is deprecated and will be removed in a future version. Please use `Model.{new}`, "
                  "which supports generators.", stacklevel=3)


def _verbosity(verbose):
    from thalweg import _logging
    return (1 if _logging.is_interactive() else 2) if verbose == "auto" else int(verbose)


class _AddMetric(Layer):
    def __init__(self, metric_name, name):
        super().__init__(name=_engine.unique_name(name))
        self._metric_name = metric_name

    def call(self, value):
        self.add_metric(value, name=self._metric_name)
        return value


class Functional(Model):
    """A model of tensors that begin with `Input`."""

    _engine_name = "Functional"

    def __init__(self, inputs, outputs, name=None, trainable=True):
        self._start_functional(inputs, outputs, name, trainable)


class Sequential(Model):
    """Layers one after the other."""

    _engine_name = "Sequential"

    def __init__(self, layers=None, name=None):
        core = _engine.sequential(name or ("" if type(self) is Sequential else _new_name(self)))
        self.__dict__["_sequence"] = core
        if type(self) is Sequential:
            self.__dict__["_core"] = core
            _engine.remember(core, self)
        else:
            self._attach(core, core.name, True, None, None)
        for layer in layers if isinstance(layers, (list, tuple)) else [] if layers is None else [layers]:
            self.add(layer)

    def add(self, layer):
        if not isinstance(layer, Layer):
            history = _engine.history(layer)
            if history is None:
                raise TypeError(f"The added layer must be an instance of class Layer. Received: layer={layer} of type "
                                f"{type(layer)}.")
            layer = history[0]
        _engine.sequential_add(self.__dict__.get("_sequence", self._core), layer)

    def pop(self):
        _engine.sequential_pop(self.__dict__.get("_sequence", self._core))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from thalweg.keras import layers as layers_module
        if "layers" not in config:
            return cls(**config)
        model = cls(name=config.get("name"))
        with CustomObjectScope(custom_objects or {}):
            for layer in config["layers"]:
                model.add(layers_module.deserialize(layer))
        return model


def _wrap_model(core):
    made = Functional.__new__(Functional)
    made.__dict__["_core"] = core
    _engine.remember(core, made)
    return made


def _as_list(tensors):
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


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
    return structure if structure is None else np.asarray(structure)


from thalweg.keras._clone import clone_model  # noqa: E402 (it needs the classes above)
