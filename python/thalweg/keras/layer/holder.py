"""What a layer holds: weights, losses, metrics and other layers."""

from thalweg.core.shapes import TensorShape
from thalweg.dtypes import as_dtype
from thalweg.keras._part import part_of
from thalweg.keras.bridge.objects import _engine


@part_of("thalweg.keras.layer.base", "Layer")
class Holder:
    """The part of a layer about what it holds."""

    def add_weight(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                   constraint=None, use_resource=None, synchronization=None, aggregation=None, **kwargs):
        """A variable that belongs to this layer."""
        from thalweg.keras import constraints, initializers, regularizers
        for key in kwargs:
            if key not in ("collections", "experimental_autocast", "caching_device", "getter", "layout",
                           "experimental_enable_variable_lifting"):
                raise TypeError(f"('Unknown keyword argument:', '{key}')")
        if isinstance(name, (tuple, list, TensorShape)):  # add_weight(shape, ...)
            name, shape = (shape if isinstance(shape, str) else None), name
        if trainable is None:
            trainable = getattr(synchronization, "name", None) != "ON_READ"
        return _engine.add_weight(self._core, () if shape is None else shape, {
            "name": name, "dtype": None if dtype is None else as_dtype(dtype),
            "initializer": initializers.get(initializer), "regularizer": regularizers.get(regularizer),
            "trainable": trainable, "constraint": constraints.get(constraint),
            "autocast": bool(kwargs.get("experimental_autocast", True))})

    add_variable = add_weight

    def add_loss(self, losses, **kwargs):
        """Adds tensors, or functions without arguments, to the losses: in `call` those of this call."""
        kwargs.pop("inputs", None)
        if kwargs:
            raise TypeError(f"Unknown keyword arguments: {kwargs.keys()}")
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if not callable(loss):
                _engine.add_loss(self._core, loss)
            elif _engine.is_being_called(self._core):
                _engine.add_loss(self._core, loss())
            else:
                _engine.add_loss_function(self._core, lambda _, loss=loss: loss())

    def add_update(self, updates):
        """Makes updates that are functions without arguments, unless the layer, or one around it, is frozen; others were
        made where `call` assigned variables."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            if callable(update) and _engine.may_update(self._core):
                update()

    @property
    def updates(self):
        """Nothing: variables are assigned where `call` does so."""
        return []

    def add_metric(self, value, name=None, **kwargs):
        """Shows a value, its mean over the batches; a metric among the attributes is shown anyway."""
        from thalweg.keras import metrics
        known = self.__dict__.setdefault("_added_metrics", {})
        of_metric = value if isinstance(value, metrics.Metric) else getattr(value, "_metric_obj", None)
        if of_metric is not None:  # it has counted already
            if all(metric.name != of_metric.name for metric in self.metrics):
                known[of_metric.name] = of_metric
                _engine.add_metric(self._core, of_metric)
            return
        if name is None:
            raise ValueError("Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                             "name='mean_activation')`")
        metric = known.get(name)
        if metric is None:
            metric = known[name] = metrics.Mean(name=name)
            _engine.add_metric(self._core, metric)
        metric.update_state(value)

    @property
    def weights(self):
        return _engine.weights(self._core)

    @property
    def trainable_weights(self):
        return _engine.trainable_weights(self._core)

    @property
    def non_trainable_weights(self):
        return _engine.non_trainable_weights(self._core)

    @property
    def variables(self):
        return self.weights

    @property
    def trainable_variables(self):
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        return self.non_trainable_weights

    def get_weights(self):
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights):
        _engine.set_weights(self._core, list(weights))

    @property
    def losses(self):
        return _engine.losses(self._core)

    @property
    def metrics(self):
        return _engine.model_metrics(self._core)

    def count_params(self):
        return _engine.count_params(self._core)

    def _parts(self):
        return {"_layers": _engine.layers(self._core), "_weights": self.weights}

    @property
    def submodules(self):
        """The layers in it, those directly in it first, then those in them."""
        inside = _engine.layers(self._core)
        found = {id(layer): layer for layer in inside}
        for layer in inside:
            for deeper in layer.submodules:
                found.setdefault(id(deeper), deeper)
        return tuple(found.values())

    def _flatten_layers(self, recursive=True, include_self=True):
        if include_self:
            yield self
        yield from self.submodules if recursive else _engine.layers(self._core)
