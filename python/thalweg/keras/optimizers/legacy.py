"""The optimizers of older programs: their own formulas, a rate that may decay by itself, `lr` for `learning_rate`.

Steps are TensorFlow's training ops, which differ from those of the optimizers of today where epsilon stands and in what
they do with gradients of a few rows.
"""

import thalweg as tf
from thalweg.keras.optimizers import schedules as _schedules
from thalweg.keras.optimizers._legacy_base import Optimizer, Standard as _Standard


class SGD(_Standard):
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


class RMSprop(_Standard):
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


class Adam(_Standard):
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


class Adamax(_Standard):
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


class Nadam(_Standard):
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
            self._cache = self._keep(tf.ones([], var_list[0].dtype), "momentum_cache")
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
        return [beta * (1.0 - 0.5 * tf.pow(tf.cast(0.96, dtype), self._initial_decay * at)) for at in (step, step + 1)]

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
        return self._get_hyper("learning_rate", dtype) * bar / (root + self._number("epsilon", dtype))

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


class Adagrad(_Standard):
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


class Adadelta(_Standard):
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


class Ftrl(_Standard):
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
