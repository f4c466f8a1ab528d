"""The optimizers of older programs: their own formulas, a rate that may decay by itself, `lr` for `learning_rate`.

Steps are TensorFlow's training ops, which differ from those of the optimizers of today where epsilon stands and in what
they do with gradients of a few rows.
"""

import thalweg as tf
from thalweg.keras import optimizers as _current
from thalweg.keras.optimizers import schedules as _schedules


class Optimizer(_current.Optimizer):
    """The base. A class has its arguments with their defaults, and steps for gradients of tensors and of some rows."""

    _defaults = {}  # what get_config says after learning_rate and decay
    _positional = ("learning_rate",)  # the order of the constructor
    _rounded = ()  # arguments that are variables of float32 in Keras, and read so
    _default_rate = 0.001

    def __init__(self, *args, **kwargs):
        given = self._arguments(args, kwargs)
        clips = {key: given.pop(key, None) for key in ("clipnorm", "clipvalue", "global_clipnorm")}
        if clips["clipnorm"] is not None and clips["global_clipnorm"] is not None:
            raise ValueError(f"Cannot accept both `clipnorm` and `global_clipnorm`. Received: `clipnorm`="
                             f"{clips['clipnorm']}, `global_clipnorm`={clips['global_clipnorm']}.")
        super().__init__(name=given.pop("name", None), **clips)
        self._clips = {key: value for key, value in clips.items() if value is not None}
        rate = given.pop("learning_rate", self._default_rate)
        rate = given.pop("lr", rate)
        self._build_learning_rate(rate if callable(rate) else float(rate))
        self._decay = float(given.pop("decay", 0.0))
        if self._decay < 0.0:
            raise ValueError(f"decay cannot be less than 0. Received: decay={self._decay}.")
        self._hyper = self._defaults | given
        self._made, self._by_name = [], {}
        self._check()

    def _arguments(self, args, kwargs):
        if len(args) > len(self._positional):
            raise TypeError(f"{type(self).__name__} takes {len(self._positional)} arguments without names at most, got "
                            f"{len(args)}")
        given = dict(zip(self._positional, args)) | kwargs
        given.pop("is_legacy_optimizer", None)
        known = {"learning_rate", "lr", "decay", "name", "clipnorm", "clipvalue", "global_clipnorm", *self._defaults}
        for key in given:
            if key not in known:
                raise TypeError(f"{key} is not a valid argument of {type(self).__name__}; these are: "
                                f"{', '.join(sorted(known))}")
        return given

    def _check(self):
        momentum = self._hyper.get("momentum", 0.0)
        if not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type "
                             f"{type(momentum)}).")

    def __getattr__(self, name):
        hyper = self.__dict__.get("_hyper", {})
        if name in hyper:
            return hyper[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def build(self, var_list):
        for slot, initial in self._slots().items():
            for variable in var_list:
                value = tf.fill(variable.shape, tf.cast(initial, variable.dtype))
                made = tf.Variable(value, trainable=False, name=f"{self.name}/{variable.name[:-2]}/{slot}")
                self._made.append(made)
                self._by_name[variable.ref(), slot] = made

    def _slots(self):
        """What each variable has, and its first value."""
        return {}

    def get_slot(self, var, slot_name):
        """The variable that goes with another one."""
        return self._by_name[var.ref(), slot_name]

    def get_slot_names(self):
        return list(self._slots())

    @property
    def decay(self):
        return self._decay

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
            self._sparse(gradient.values, gradient.indices, variable)
        else:
            self._dense(gradient, variable)

    def _rate(self, dtype):
        rate = _current._engine.optimizer_rate(self._core)
        rate = tf.cast(rate, dtype)
        if self._decay:
            rate = rate / (1 + tf.cast(self._decay, dtype) * tf.cast(self.iterations, dtype))
        return rate

    def _number(self, name, dtype):
        """An argument as the ops take it."""
        return tf.cast(tf.constant(self._hyper[name], "float32") if name in self._rounded else self._hyper[name], dtype)

    def _numbers(self, dtype, *names):
        return [self._number(name, dtype) for name in names]

    def _power(self, name, dtype):
        return tf.pow(self._number(name, dtype), tf.cast(self.iterations + 1, dtype))

    def _handles(self, variable, *slots):
        return [variable.handle, *(self.get_slot(variable, slot).handle for slot in slots)]

    def get_config(self):
        rate = self.learning_rate
        if isinstance(rate, _schedules.LearningRateSchedule):
            rate = _schedules.serialize(rate)
        else:
            rate = float(rate)
        return {"name": self.name, **self._clips, "learning_rate": rate, "decay": self._decay, **self._hyper}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = _schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    _default_rate = 0.01
    _defaults = {"momentum": 0.0, "nesterov": False}
    _positional = ("learning_rate", "momentum", "nesterov", "name")
    _rounded = ("momentum",)

    def _slots(self):
        return {"momentum": 0} if self.momentum else {}

    def _dense(self, gradient, variable):
        rate = self._rate(variable.dtype)
        if not self.momentum:
            tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)
            return
        var, accum = self._handles(variable, "momentum")
        tf.raw_ops.ResourceApplyKerasMomentum(var=var, accum=accum, lr=rate, grad=gradient,
                                              momentum=self._number("momentum", variable.dtype),
                                              use_nesterov=self.nesterov)

    def _sparse(self, gradient, indices, variable):
        rate = self._rate(variable.dtype)
        if not self.momentum:
            tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=indices, updates=-gradient * rate)
            return
        var, accum = self._handles(variable, "momentum")
        tf.raw_ops.ResourceSparseApplyKerasMomentum(var=var, accum=accum, lr=rate, grad=gradient, indices=indices,
                                                    momentum=self._number("momentum", variable.dtype),
                                                    use_nesterov=self.nesterov)


class RMSprop(Optimizer):
    """Gradients over the root of their mean square."""

    _defaults = {"rho": 0.9, "momentum": 0.0, "epsilon": 1e-7, "centered": False}
    _positional = ("learning_rate", "rho", "momentum", "epsilon", "centered", "name")
    _rounded = ("rho", "momentum")

    def _slots(self):
        return {"rms": 0} | ({"momentum": 0} if self.momentum else {}) | ({"mg": 0} if self.centered else {})

    def _with_momentum(self, variable, gradient, **rows):
        rho, momentum, epsilon = self._numbers(variable.dtype, "rho", "momentum", "epsilon")
        var, ms, mom = self._handles(variable, "rms", "momentum")
        mean = {"mg": self.get_slot(variable, "mg").handle} if self.centered else {}
        step = getattr(tf.raw_ops, f"Resource{'Sparse' if rows else ''}Apply{'Centered' if self.centered else ''}RMSProp")
        step(var=var, ms=ms, mom=mom, lr=self._rate(variable.dtype), rho=rho, momentum=momentum, epsilon=epsilon,
             grad=gradient, **mean, **rows)

    def _dense(self, gradient, variable):
        if self.momentum:
            self._with_momentum(variable, gradient)
            return
        rho, epsilon = self._numbers(variable.dtype, "rho", "epsilon")
        rms = self.get_slot(variable, "rms")
        square = rms.assign(rho * rms + (1.0 - rho) * tf.square(gradient))
        if self.centered:
            mean = self.get_slot(variable, "mg")
            square = square - tf.square(mean.assign(rho * mean + (1.0 - rho) * gradient))
        variable.assign_sub(self._rate(variable.dtype) * gradient / (tf.sqrt(square) + epsilon))

    def _sparse(self, gradient, indices, variable):
        if self.momentum:
            self._with_momentum(variable, gradient, indices=indices)
            return
        rho, epsilon = self._numbers(variable.dtype, "rho", "epsilon")
        square = _moved_rows(self.get_slot(variable, "rms"), rho, gradient * gradient * (1.0 - rho), indices)
        if self.centered:
            mean = _moved_rows(self.get_slot(variable, "mg"), rho, gradient * (1.0 - rho), indices)
            square = square - tf.square(mean)
        _add_rows(variable, indices, -self._rate(variable.dtype) * gradient / (tf.sqrt(square) + epsilon))


class Adam(Optimizer):
    """Means of gradients over the root of means of their squares."""

    _defaults = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7, "amsgrad": False}
    _positional = ("learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", "name")
    _rounded = ("beta_1", "beta_2")

    def _slots(self):
        return {"m": 0, "v": 0} | ({"vhat": 0} if self.amsgrad else {})

    def _dense(self, gradient, variable):
        dtype = variable.dtype
        beta1, beta2, epsilon = self._numbers(dtype, "beta_1", "beta_2", "epsilon")
        var, m, v = self._handles(variable, "m", "v")
        largest = {"vhat": self.get_slot(variable, "vhat").handle} if self.amsgrad else {}
        step = tf.raw_ops.ResourceApplyAdamWithAmsgrad if self.amsgrad else tf.raw_ops.ResourceApplyAdam
        step(var=var, m=m, v=v, beta1_power=self._power("beta_1", dtype), beta2_power=self._power("beta_2", dtype),
             lr=self._rate(dtype), beta1=beta1, beta2=beta2, epsilon=epsilon, grad=gradient, **largest)

    def _sparse(self, gradient, indices, variable):
        dtype = variable.dtype
        beta1, beta2, epsilon = self._numbers(dtype, "beta_1", "beta_2", "epsilon")
        mean, square = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        _moved_rows(mean, beta1, gradient * (1 - beta1), indices)
        _moved_rows(square, beta2, gradient * gradient * (1 - beta2), indices)
        if self.amsgrad:
            largest = self.get_slot(variable, "vhat")
            square = largest.assign(tf.maximum(largest, square))
        rate = self._rate(dtype) * (tf.sqrt(1 - self._power("beta_2", dtype)) / (1 - self._power("beta_1", dtype)))
        variable.assign_sub(rate * mean / (tf.sqrt(square) + epsilon))


class Adamax(Optimizer):
    """Means of gradients over the largest of them."""

    _defaults = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}
    _positional = ("learning_rate", "beta_1", "beta_2", "epsilon", "name")
    _rounded = ("beta_1", "beta_2")

    def _slots(self):
        return {"m": 0, "v": 0}

    def _dense(self, gradient, variable):
        beta1, beta2, epsilon = self._numbers(variable.dtype, "beta_1", "beta_2", "epsilon")
        var, m, v = self._handles(variable, "m", "v")
        tf.raw_ops.ResourceApplyAdaMax(var=var, m=m, v=v, beta1_power=self._power("beta_1", variable.dtype),
                                       lr=self._rate(variable.dtype), beta1=beta1, beta2=beta2, epsilon=epsilon,
                                       grad=gradient)

    def _sparse(self, gradient, indices, variable):
        beta1, beta2, epsilon = self._numbers(variable.dtype, "beta_1", "beta_2", "epsilon")
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        mean = tf.gather(m, indices) * beta1 + gradient * (1 - beta1)
        largest = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(gradient))
        for slot, rows in ((m, mean), (v, largest)):
            tf.raw_ops.ResourceScatterUpdate(resource=slot.handle, indices=indices, updates=rows)
        rate = -self._rate(variable.dtype) / (1 - self._power("beta_1", variable.dtype))
        _add_rows(variable, indices, rate * (mean / (largest + epsilon)))


class Nadam(Optimizer):
    """Adam with Nesterov's momentum, which grows from step to step."""

    _defaults = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}
    _positional = ("learning_rate", "beta_1", "beta_2", "epsilon", "name")
    _rounded = ("beta_1", "beta_2")

    def __init__(self, *args, **kwargs):
        # What decays is the growth of the momentum, not the rate.
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        super().__init__(*args, **kwargs)
        if isinstance(self.learning_rate, _schedules.LearningRateSchedule):
            raise ValueError("The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the "
                             "learning rate.")
        self._cache, self._last = None, None

    def _slots(self):
        return {"m": 0, "v": 0}

    def build(self, var_list):
        if self._cache is None:
            self._cache = tf.Variable(tf.ones([], var_list[0].dtype), trainable=False, name=f"{self.name}/momentum_cache")
            self._made.append(self._cache)
        super().build(var_list)
        self._last = var_list[-1].ref()

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        pairs = list(grads_and_vars)
        present = [variable for gradient, variable in pairs if gradient is not None]
        self._last = present[-1].ref() if present else None
        return super().apply_gradients(pairs, name, **kwargs)

    def _momentums(self, dtype):
        beta = self._number("beta_1", dtype)
        step = tf.cast(self.iterations + 1, dtype)
        return [beta * (1.0 - 0.5 * tf.pow(tf.cast(0.96, dtype), self._decay * at)) for at in (step, step + 1)]

    def update_step(self, gradient, variable):
        super().update_step(gradient, variable)
        if variable.ref() == self._last:
            self._cache.assign(self._cache * self._momentums(self._cache.dtype)[0])

    def _step(self, gradient, mean, square, dtype):
        """What is taken off, by the new mean and mean square."""
        now, after = self._momentums(dtype)
        product = tf.cast(self._cache, dtype) * now
        bar = (1.0 - now) * (gradient / (1.0 - product)) + after * (mean / (1.0 - product * after))
        root = tf.sqrt(square / (1.0 - self._power("beta_2", dtype)))
        return tf.cast(_current._engine.optimizer_rate(self._core), dtype) * bar / (root + self._number("epsilon", dtype))

    def _dense(self, gradient, variable):
        beta1, beta2 = self._numbers(variable.dtype, "beta_1", "beta_2")
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        mean = m.assign(beta1 * m + (1 - beta1) * gradient)
        square = v.assign(beta2 * v + (1 - beta2) * tf.square(gradient))
        variable.assign_sub(self._step(gradient, mean, square, variable.dtype))

    def _sparse(self, gradient, indices, variable):
        beta1, beta2 = self._numbers(variable.dtype, "beta_1", "beta_2")
        mean = _moved_rows(self.get_slot(variable, "m"), beta1, gradient * (1 - beta1), indices)
        square = _moved_rows(self.get_slot(variable, "v"), beta2, gradient * gradient * (1 - beta2), indices)
        _add_rows(variable, indices, -self._step(gradient, mean, square, variable.dtype))


class Adagrad(Optimizer):
    """Gradients over the root of the sum of their squares."""

    _defaults = {"initial_accumulator_value": 0.1, "epsilon": 1e-7}
    _positional = ("learning_rate", "initial_accumulator_value", "epsilon", "name")

    def _slots(self):
        return {"accumulator": self.initial_accumulator_value}

    def _check(self):
        if self.initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value must be non-negative: %s" % self.initial_accumulator_value)

    def _dense(self, gradient, variable, **rows):
        var, accum = self._handles(variable, "accumulator")
        step = tf.raw_ops.ResourceSparseApplyAdagradV2 if rows else tf.raw_ops.ResourceApplyAdagradV2
        step(var=var, accum=accum, lr=self._rate(variable.dtype), epsilon=self._number("epsilon", variable.dtype),
             grad=gradient, **rows)

    def _sparse(self, gradient, indices, variable):
        self._dense(gradient, variable, indices=indices)


class Adadelta(Optimizer):
    """Gradients over the root of their mean square, times that of the steps."""

    _defaults = {"rho": 0.95, "epsilon": 1e-7}
    _positional = ("learning_rate", "rho", "epsilon", "name")
    _rounded = ("rho",)

    def _slots(self):
        return {"accum_grad": 0, "accum_var": 0}

    def _dense(self, gradient, variable, **rows):
        rho, epsilon = self._numbers(variable.dtype, "rho", "epsilon")
        var, accum, update = self._handles(variable, "accum_grad", "accum_var")
        step = tf.raw_ops.ResourceSparseApplyAdadelta if rows else tf.raw_ops.ResourceApplyAdadelta
        step(var=var, accum=accum, accum_update=update, lr=self._rate(variable.dtype), rho=rho, epsilon=epsilon,
             grad=gradient, **rows)

    def _sparse(self, gradient, indices, variable):
        self._dense(gradient, variable, indices=indices)


class Ftrl(Optimizer):
    """Follows the regularized leader."""

    _defaults = {"initial_accumulator_value": 0.1, "learning_rate_power": -0.5, "l1_regularization_strength": 0.0,
                 "l2_regularization_strength": 0.0, "beta": 0.0, "l2_shrinkage_regularization_strength": 0.0}
    _positional = ("learning_rate", "learning_rate_power", "initial_accumulator_value", "l1_regularization_strength",
                   "l2_regularization_strength", "name", "l2_shrinkage_regularization_strength", "beta")
    _rounded = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta")

    def _check(self):
        for name in ("initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength",
                     "l2_shrinkage_regularization_strength"):
            if self._hyper[name] < 0.0:
                raise ValueError(f"`{name}` needs to be positive or zero. Received: {name}={self._hyper[name]}.")
        if self.learning_rate_power > 0.0:
            raise ValueError("`learning_rate_power` needs to be negative or zero. Received: learning_rate_power="
                             f"{self.learning_rate_power}.")

    def build(self, var_list):
        for variable in var_list:  # both slots of one, then those of the next
            super().build([variable])

    def _slots(self):
        return {"accumulator": self.initial_accumulator_value, "linear": 0}

    def _dense(self, gradient, variable, **rows):
        dtype = variable.dtype
        power, l1, l2, beta, shrinkage = self._numbers(
            dtype, "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta",
            "l2_shrinkage_regularization_strength")
        rate = self._rate(dtype)
        var, accum, linear = self._handles(variable, "accumulator", "linear")
        shrinks = {"l2_shrinkage": shrinkage} if self.l2_shrinkage_regularization_strength > 0.0 else {}
        step = getattr(tf.raw_ops, f"Resource{'Sparse' if rows else ''}ApplyFtrl{'V2' if shrinks else ''}")
        step(var=var, accum=accum, linear=linear, grad=gradient, lr=rate, l1=l1, l2=l2 + beta / (2.0 * rate),
             lr_power=power, **shrinks, **rows)

    def _sparse(self, gradient, indices, variable):
        self._dense(gradient, variable, indices=indices)


def _add_rows(variable, indices, rows):
    tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=indices, updates=rows)


def _moved_rows(slot, share, rows, indices):
    """Adds rows to a slot of which a share is left; gives these rows."""
    slot.assign(slot * share)
    _add_rows(slot, indices, rows)
    return tf.gather(slot, indices)
