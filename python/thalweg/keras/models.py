"""Models: layers that can be trained."""

import sys

import numpy as np

from thalweg.keras import _data
from thalweg.keras._input import Input
from thalweg.keras._layer import Layer, _of_engine
from thalweg.keras._nodes import shapes_of
from thalweg.keras._objects import CustomObjectScope, _engine
from thalweg.nest import pack_sequence_as


def _is_functional_call(args, kwargs):
    return len(args) in (2, 3) or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs)


class Model(Layer):
    """A layer that can be trained: of tensors that begin with `Input`, or a class with `call`."""

    _is_model = True

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
            if name is None:
                name = _engine.unique_name(_engine.to_snake_case(type(self).__name__))
            self._attach(core, name, trainable, None, None)
            self.__dict__["_graph"] = core
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

    @property
    def input_names(self):
        names = _engine.end_names(self._core)
        return None if names is None else names[0]

    @property
    def output_names(self):
        names = _engine.end_names(self._core)
        return None if names is None else names[1]

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
        core = self.__dict__.get("_graph", self._core)
        return _engine.model_inputs(core), _engine.model_outputs(core)

    # Training

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, weighted_metrics=None,
                run_eagerly=None, steps_per_execution=None, jit_compile=None, **kwargs):
        """Says how to train."""
        from thalweg.keras import optimizers
        self.__dict__.pop("_own_optimizer", None)
        kwargs.pop("pss_evaluation_shards", None)
        if kwargs:
            raise TypeError(f"Invalid keyword argument(s) in `compile()`: {set(kwargs)}.")
        self.__dict__["loss"] = loss
        _engine.compile(self._core, {
            "optimizer": optimizers.get(optimizer), "loss": loss, "metrics": metrics, "loss_weights": loss_weights,
            "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile})

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
        verbose = 1 if verbose == "auto" else int(verbose)
        history = callbacks_module.History()
        listeners = callbacks_module.listeners(callbacks, history)
        options = {"epochs": epochs, "verbose": verbose, "validation_split": validation_split or None,
                   "shuffle": bool(shuffle), "class_weight": class_weight, "initial_epoch": initial_epoch,
                   "steps_per_epoch": steps_per_epoch, "validation_steps": validation_steps,
                   "validation_freq": validation_freq, "callbacks": [listener.core for listener in listeners]}
        if validation_data is not None:
            options |= _data.validation(validation_data, validation_batch_size or batch_size)
        for listener in listeners:
            listener.begin(self)
        try:
            if _data.is_batches(x):
                if y is not None:
                    raise ValueError(f"`y` argument is not supported when using {_data.describe(x)} as input.")
                batches = _data.Batches(x)
                made = _engine.fit_batches(self._core, batches.start, batches.steps, options)
            else:
                options |= {"batch_size": batch_size, "sample_weight": _data.arrays(sample_weight),
                            "validation_batch_size": validation_batch_size}
                made = _engine.fit(self._core, _data.arrays(x), _data.arrays(y), options)
        except BaseException:  # the epochs until then
            self._keep(history, _engine.fit_history(self._core))
            raise
        return self._keep(history, made)

    def _keep(self, history, made):
        history.finish(self, *made)
        self.__dict__["history"] = history
        return history

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 max_queue_size=10, workers=1, use_multiprocessing=False, return_dict=False, **kwargs):
        """The loss, or a list of loss and metrics, or a dict of them."""
        from thalweg.keras import callbacks as callbacks_module
        verbose = 1 if verbose == "auto" else int(verbose)
        listeners = callbacks_module.listeners(callbacks, None)
        options = {"verbose": verbose, "steps": steps, "callbacks": [listener.core for listener in listeners]}
        if _data.is_batches(x):
            batches = _data.Batches(x)
            logs = _engine.evaluate_batches(self._core, batches.start, batches.steps, options)
        else:
            options |= {"batch_size": batch_size, "sample_weight": _data.arrays(sample_weight)}
            logs = _engine.evaluate(self._core, _data.arrays(x), _data.arrays(y), options)
        self.__dict__["history"] = callbacks_module.History()  # Keras begins a new one, too
        return _results(logs, return_dict)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None, max_queue_size=10, workers=1,
                use_multiprocessing=False):
        """The outputs for all examples, as NumPy's arrays."""
        from thalweg.keras import callbacks as callbacks_module
        verbose = 1 if verbose == "auto" else int(verbose)
        listeners = callbacks_module.listeners(callbacks, None)
        options = {"verbose": verbose, "steps": steps, "callbacks": [listener.core for listener in listeners]}
        if _data.is_batches(x):
            batches = _data.Batches(x)
            made = _engine.predict_batches(self._core, batches.start, batches.steps, options)
        else:
            made = _engine.predict(self._core, _data.arrays(x), options | {"batch_size": batch_size})
        self.__dict__["history"] = callbacks_module.History()
        return _to_numpy(made)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True, return_dict=False):
        logs = _engine.train_on_batch(self._core, _data.arrays(x), _data.arrays(y), {
            "sample_weight": _data.arrays(sample_weight), "class_weight": class_weight, "reset_metrics": reset_metrics})
        return _results(logs, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        logs = _engine.test_on_batch(self._core, _data.arrays(x), _data.arrays(y), {
            "sample_weight": _data.arrays(sample_weight), "reset_metrics": reset_metrics})
        return _results(logs, return_dict)

    def predict_on_batch(self, x):
        return _to_numpy(_engine.predict_on_batch(self._core, _data.arrays(x)))

    @_of_engine
    def train_step(self, data):
        return _engine.train_step(self._core, data)

    @_of_engine
    def test_step(self, data):
        return _engine.test_step(self._core, data)

    @_of_engine
    def predict_step(self, data):
        return _engine.predict_step(self._core, data)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        return _engine.compute_loss(self._core, x, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight):
        return _engine.compute_metrics(self._core, x, y, y_pred, sample_weight)

    @property
    def compiled_loss(self):
        def compute(y_true, y_pred, sample_weight=None, regularization_losses=None):
            return _engine.compute_loss(self._core, None, y_true, y_pred, sample_weight)

        return compute

    @property
    def compiled_metrics(self):
        return _CompiledMetrics(self)

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


class _CompiledMetrics:
    def __init__(self, model):
        self._model = model

    def update_state(self, y_true, y_pred, sample_weight=None):
        _engine.update_compiled_metrics(self._model._core, y_true, y_pred, sample_weight)

    @property
    def metrics(self):
        return self._model.metrics


class Functional(Model):
    """A model of tensors that begin with `Input`."""

    _engine_name = "Functional"

    def __init__(self, inputs, outputs, name=None, trainable=True):
        self._start_functional(inputs, outputs, name, trainable)


class Sequential(Model):
    """Layers one after the other."""

    _engine_name = "Sequential"

    def __init__(self, layers=None, name=None):
        core = _engine.sequential(name or ("" if type(self) is Sequential else
                                           _engine.unique_name(_engine.to_snake_case(type(self).__name__))))
        self.__dict__["_sequence"] = core
        if type(self) is Sequential:
            self.__dict__["_core"] = core
            _engine.remember(core, self)
        else:
            self._attach(core, core.name, True, None, None)
            self.__dict__["_graph"] = core
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


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of new layers like those of another, with new weights; `clone_function` may give other layers."""
    if not isinstance(model, Model):
        raise ValueError(f"Expected `model` argument to be a `Model` instance. Received: model={model}")
    if clone_function is not None and not callable(clone_function):
        raise ValueError(f"Expected `layer_fn` argument to be a callable. Received: layer_fn={clone_function}")
    if not isinstance(model, Sequential) and model._ends()[0] is None:
        if clone_function is not None or input_tensors is not None:
            raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclassed model "
                             "instead.")
        return type(model).from_config(model.get_config())
    copy = clone_function or (lambda layer: layer._copy())
    given = None if input_tensors is None else _as_list(input_tensors)
    if isinstance(model, Sequential):
        start = given or ([] if model._ends()[0] is None else _new_inputs(model))
        return Sequential([*start, *(copy(layer) for layer in model.layers)], name=model.name)
    inputs = _engine.model_inputs(model.__dict__.get("_graph", model._core))
    inputs = pack_sequence_as(inputs, given or _new_inputs(model))
    made = Model(inputs, _engine.replay(model.__dict__.get("_graph", model._core), inputs, copy), name=model.name)
    if type(model) not in (Model, Functional) and "_core_arguments" not in model.__dict__:
        made = type(model)(inputs, made.output, name=model.name)
    return made


def _new_inputs(model):
    layers = [_engine.history(tensor)[0] for tensor in model.inputs]
    return [Input(batch_shape=tensor.shape, dtype=tensor.dtype, name=layer.name)
            for tensor, layer in zip(model.inputs, layers)]
