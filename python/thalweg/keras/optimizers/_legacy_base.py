"""What the optimizers of older programs have in common."""

import inspect
import warnings

import thalweg as tf
from thalweg.keras import optimizers as _current
from thalweg.keras.optimizers import schedules as _schedules

_CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")
_TRANSFORMS = ("gradient_aggregator", "gradient_transformers")


class Optimizer(_current.Optimizer):
    """The base. A class of a program writes `_create_slots(var_list)` and `_resource_apply_dense(grad, var)`."""

    def __init__(self, name, gradient_aggregator=None, gradient_transformers=None, **kwargs):
        known = {"clipnorm", "clipvalue", "lr", "decay", "global_clipnorm"}
        for key, value in kwargs.items():
            if key not in known:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}. Allowed kwargs are {known}.")
            if value is not None and key != "lr" and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {key}={value}")
            if key == "lr":
                warnings.warn("The `lr` argument is deprecated, use `learning_rate` instead.", stacklevel=4)
        self._clips = {key: kwargs[key] for key in ("clipnorm", "clipvalue", "global_clipnorm")
                       if kwargs.get(key) is not None}
        if "clipnorm" in self._clips and "global_clipnorm" in self._clips:
            raise ValueError(f"Cannot accept both `clipnorm` and `global_clipnorm`. Received: `clipnorm`="
                             f"{self._clips['clipnorm']}, `global_clipnorm`={self._clips['global_clipnorm']}.")
        super().__init__(name=name)
        _current._engine.set_option(self._core, "optimizer", "takes_new_variables", True)
        self.__dict__.update({key: self._clips.get(key) for key in _CLIPS})
        self.iterations = tf.Variable(tf.constant(0, "int64"), trainable=False, name=f"{self.name}/iter")
        self.gradient_aggregator, self.gradient_transformers = gradient_aggregator, gradient_transformers or []
        self._changes = [*([gradient_aggregator] if gradient_aggregator else []), *self.gradient_transformers]
        self._hyper, self._made, self._by_name, self._rate_function = {}, [], {}, None
        self._initial_decay = float(kwargs.get("decay", 0.0))

    def _set_hyper(self, name, value):
        """Sets an argument; the rate may be a schedule."""
        if name != "learning_rate":
            self._hyper[name] = value
            return
        is_function = callable(value) and not isinstance(value, _schedules.LearningRateSchedule)
        self._rate_function = value if is_function else None  # asked in every step
        value = value() if is_function else value
        if isinstance(value, tf.Variable):  # followed, whoever changes it
            _current._engine.optimizer_set_rate(self._core, value)
        else:
            self._build_learning_rate(value)

    def _get_hyper(self, name, dtype=None):
        """An argument, as a tensor where a dtype is given."""
        value = self._rate_now() if name == "learning_rate" else self._hyper[name]
        value = value() if callable(value) else value
        return value if dtype is None else tf.cast(value, dtype)

    def _rate_now(self):
        return self._rate_function or _current._engine.optimizer_rate(self._core)

    def _serialize_hyperparameter(self, name):
        value = self._learning_rate if name == "learning_rate" else self._hyper[name]
        return super()._serialize_hyperparameter(value)

    def __getattr__(self, name):
        hyper = self.__dict__.get("_hyper", {})
        if name in hyper:
            return self._get_hyper(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if name in self.__dict__.get("_hyper", {}):
            self._hyper[name] = value
        elif name in _CLIPS:
            self.__dict__[name] = self._clips[name] = value
        else:
            super().__setattr__(name, value)

    @property
    def learning_rate(self):
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._set_hyper("learning_rate", value)

    @property
    def _learning_rate(self):
        schedule = _current._engine.optimizer_schedule(self._core)
        return self._get_hyper("learning_rate") if schedule is None else schedule

    lr = learning_rate

    def _decayed_lr(self, var_dtype):
        """The rate of this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if self._initial_decay:
            rate = rate / (1 + tf.cast(self._initial_decay, var_dtype) * tf.cast(self.iterations, var_dtype))
        return rate

    def apply_gradients(self, grads_and_vars, name=None, experimental_aggregate_gradients=True):
        """One step: each variable follows its gradient."""
        pairs = list(grads_and_vars)
        for change in self._changes:
            pairs = list(change(pairs))
        present = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if self._clips and present:
            clipped = self._clip([gradient for gradient, _ in present])
            missing = [pair for pair in pairs if pair[0] is None]
            pairs = [*zip(clipped, (variable for _, variable in present)), *missing]
        return super().apply_gradients(pairs, name)

    def _clip(self, gradients):
        """By value, by norm, then by the norm of all: even to zero."""
        if self.clipvalue is not None:
            gradients = [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
        if self.clipnorm is not None:
            gradients = [tf.clip_by_norm(g, self.clipnorm) for g in gradients]
        if self.global_clipnorm is not None:
            gradients = tf.clip_by_global_norm(gradients, self.global_clipnorm)[0]
        return gradients

    def minimize(self, loss, var_list, tape=None):
        """Computes the loss, then makes a step."""
        return self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def get_gradients(self, loss, params):
        """The gradients of a loss inside of a function."""
        gradients = tf.gradients(loss, params)
        if any(gradient is None for gradient in gradients):
            raise ValueError(f"Variable {params[gradients.index(None)]} has `None` for gradient. Please make sure that all of "
                             "your ops have a gradient defined (i.e. are differentiable).")
        return gradients

    def get_updates(self, loss, params):
        """A step by the gradients of a loss inside of a function."""
        return [self.apply_gradients(zip(self.get_gradients(loss, params), params))]

    def build(self, var_list):
        self._create_slots(list(var_list))

    def _create_slots(self, var_list):
        """Makes what goes with variables, with add_slot."""

    def add_slot(self, var, slot_name, initializer="zeros", shape=None):
        """A variable that goes with another one."""
        if (var.ref(), slot_name) not in self._by_name:
            value = initializer
            if not tf.is_tensor(initializer):
                make = tf.keras.initializers.get(initializer)
                value = make(var.shape if shape is None else shape, dtype=var.dtype)
            self._by_name[var.ref(), slot_name] = self._keep(value, f"{var.name[:-2]}/{slot_name}")
        return self._by_name[var.ref(), slot_name]

    def add_weight(self, name, shape=(), dtype=None, initializer="zeros", trainable=None):
        """A variable of the optimizer itself."""
        return self._keep(tf.keras.initializers.get(initializer)(shape, dtype=dtype), name)

    def _keep(self, value, name):
        made = tf.Variable(value, trainable=False, name=f"{self.name}/{name}")
        self._made.append(made)
        return made

    def get_slot(self, var, slot_name):
        """The variable that goes with another one."""
        return self._by_name[var.ref(), slot_name]

    def get_slot_names(self):
        return list(dict.fromkeys(slot for _, slot in self._by_name))

    @property
    def weights(self):
        return [self.iterations, *self._made]

    @property
    def variables(self):
        return _current.CallableList(self.weights)

    def get_weights(self):
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights):
        if len(weights) != len(self.weights):
            raise ValueError(f"You called `set_weights(weights)` on optimizer {self.name} with a weight list of length "
                             f"{len(weights)}, but the optimizer was expecting {len(self.weights)} weights.")
        for weight, value in zip(self.weights, weights):
            weight.assign(value)

    def update_step(self, gradient, variable):
        if isinstance(gradient, tf.IndexedSlices):
            self._resource_apply_sparse(gradient.values, variable, gradient.indices)
        else:
            self._resource_apply_dense(gradient, variable)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        raise NotImplementedError("Must be implemented in subclasses.")

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self):
        return {"name": self.name, **{key: value for key, value in self._clips.items() if value is not None}}

    def __deepcopy__(self, memo):
        copy = memo[id(self)] = type(self).from_config(self.get_config())
        copy.iterations.assign(self.iterations)
        for (variable, slot), value in self._by_name.items():
            copy.add_slot(variable.deref(), slot, value.value())
        return copy

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = _schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


class Standard(Optimizer):
    """A class has its arguments with their defaults, and steps for gradients of tensors and of some rows."""

    _defaults = {}  # what get_config says after learning_rate and decay
    _positional = ("learning_rate",)  # the order of the constructor
    _rounded = ()  # arguments that are variables of float32 in Keras, and read so
    _default_rate = 0.001

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls) or "_positional" not in vars(cls):
            return
        defaults = {"learning_rate": cls._default_rate, "name": cls.__name__, **cls._defaults}

        def __init__(self, *args, **kwargs):
            super(cls, self).__init__(*args, **kwargs)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        shown = [inspect.Parameter(key, kind, default=defaults[key]) for key in cls._positional]
        __init__.__signature__ = inspect.Signature([inspect.Parameter("self", kind), *shown,
                                                    inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])
        cls.__init__ = __init__

    def __init__(self, *args, **kwargs):
        given = self._arguments(args, kwargs)
        rate = given.pop("learning_rate", self._default_rate)
        rate = given.get("lr", rate)
        base = {key: given.pop(key) for key in (*_CLIPS, "decay", "lr", *_TRANSFORMS) if key in given}
        super().__init__(given.pop("name", None), **base)
        self._set_hyper("learning_rate", rate)
        self._hyper = self._defaults | given
        if "epsilon" in self._hyper:
            self._hyper["epsilon"] = self._hyper["epsilon"] or tf.keras.backend.epsilon()
        self._check()

    def _arguments(self, args, kwargs):
        if len(args) > len(self._positional):
            raise TypeError(f"{type(self).__name__} takes {len(self._positional)} arguments without names at most, got "
                            f"{len(args)}")
        given = dict(zip(self._positional, args)) | kwargs
        given.pop("is_legacy_optimizer", None)
        known = {"learning_rate", "lr", "decay", "name", *_CLIPS, *_TRANSFORMS, *self._defaults}
        for key in given:
            if key not in known:
                raise TypeError(f"{key} is not a valid argument of {type(self).__name__}; these are: "
                                f"{', '.join(sorted(known))}")
        return given

    def _check(self):
        momentum = self._hyper.get("momentum", 0.0)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type "
                             f"{type(momentum)}).")

    def _create_slots(self, var_list):
        for slot, initial in self._slots().items():
            for variable in var_list:
                self.add_slot(variable, slot, tf.fill(variable.shape, tf.cast(initial, variable.dtype)))

    def _slots(self):
        """What each variable has, and its first value."""
        return {}

    def get_slot_names(self):
        return list(self._slots())

    @property
    def decay(self):
        return self._initial_decay

    def _resource_apply_dense(self, grad, var, apply_state=None):
        self._dense(grad, var)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        self._sparse(grad, indices, var)

    def _rate(self, dtype):
        return self._decayed_lr(dtype)

    def _number(self, name, dtype):
        """An argument as the ops take it."""
        value = self._get_hyper(name)
        is_rounded = name in self._rounded and not isinstance(value, (tf.Tensor, tf.Variable))
        return tf.cast(tf.constant(value, "float32") if is_rounded else value, dtype)

    def _numbers(self, dtype, *names):
        return [self._number(name, dtype) for name in names]

    def _power(self, name, dtype):
        return tf.pow(self._number(name, dtype), tf.cast(self.iterations + 1, dtype))

    def _handles(self, variable, *slots):
        return [variable.handle, *(self.get_slot(variable, slot).handle for slot in slots)]

    def get_config(self):
        rate = self._serialize_hyperparameter("learning_rate")
        rate = rate if isinstance(rate, dict) else float(rate)
        return {**super().get_config(), "learning_rate": rate, "decay": self._initial_decay,
                **{name: self._serialize_hyperparameter(name) for name in self._hyper}}
