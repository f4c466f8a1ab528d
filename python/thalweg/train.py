"""tf.train: the optimizers of TensorFlow 1, which programs still name."""

from thalweg import _thalweg
from thalweg.keras.optimizers import Optimizer as _KerasOptimizer

_raw = _thalweg.raw_ops()


class Optimizer(_KerasOptimizer):
    """What they have in common: a learning rate, slots for each variable, and a step made by one op of the engine."""

    _slots = ()  # (name, initial value)

    def __init__(self, learning_rate, use_locking=False, name=None):
        super().__init__(name=name or type(self).__name__)
        self._build_learning_rate(learning_rate() if callable(learning_rate) and not hasattr(learning_rate, "_core")
                                  else learning_rate)
        self._slots_of = {}

    def build(self, var_list):
        for variable in var_list:
            made = [self.add_variable_from_reference(variable, name, initial_value=_filled(variable, value))
                    for name, value in self._slots]
            self._slots_of[variable.ref()] = made

    def update_step(self, gradient, variable):
        slots = self._slots_of.get(variable.ref())
        if slots is None:
            self.build([variable])
            slots = self._slots_of[variable.ref()]
        self._step(variable, [slot.handle for slot in slots], self._rate(variable), gradient)

    def _rate(self, variable):
        from thalweg import cast
        rate = self.learning_rate
        return cast(rate(self.iterations) if callable(rate) else rate, variable.dtype)

    def _number(self, value, variable):
        from thalweg import cast
        return cast(value, variable.dtype)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        done = super().apply_gradients(grads_and_vars)
        if global_step is not None:
            global_step.assign_add(1)
        return done

    def minimize(self, loss, global_step=None, var_list=None, **kwargs):
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step=global_step)

    def get_name(self):
        return self.name


def _filled(variable, value):
    import numpy as np
    return np.full(variable.shape.as_list(), value, variable.dtype.as_numpy_dtype)


class GradientDescentOptimizer(Optimizer):
    """var -= rate * gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(learning_rate, use_locking, name)

    def _step(self, variable, slots, rate, gradient):
        _raw["ResourceApplyGradientDescent"](var=variable.handle, alpha=rate, delta=gradient)


class MomentumOptimizer(Optimizer):
    """accum = momentum * accum + gradient, var -= rate * accum."""

    _slots = (("Momentum", 0.0),)

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(learning_rate, use_locking, name)
        self._momentum, self._use_nesterov = momentum, use_nesterov

    def _step(self, variable, slots, rate, gradient):
        _raw["ResourceApplyMomentum"](var=variable.handle, accum=slots[0], lr=rate, grad=gradient,
                                      momentum=self._number(self._momentum, variable),
                                      use_nesterov=self._use_nesterov)


class AdagradOptimizer(Optimizer):
    """accum += gradient^2, var -= rate * gradient / sqrt(accum)."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        self._slots = (("Adagrad", initial_accumulator_value),)
        super().__init__(learning_rate, use_locking, name)

    def _step(self, variable, slots, rate, gradient):
        _raw["ResourceApplyAdagrad"](var=variable.handle, accum=slots[0], lr=rate, grad=gradient)


class AdadeltaOptimizer(Optimizer):
    """Adagrad over a window that moves."""

    _slots = (("accum", 0.0), ("accum_update", 0.0))

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(learning_rate, use_locking, name)
        self._rho, self._epsilon = rho, epsilon

    def _step(self, variable, slots, rate, gradient):
        _raw["ResourceApplyAdadelta"](var=variable.handle, accum=slots[0], accum_update=slots[1], lr=rate,
                                      rho=self._number(self._rho, variable),
                                      epsilon=self._number(self._epsilon, variable), grad=gradient)


class RMSPropOptimizer(Optimizer):
    """Gradients divided by the root of the running mean of their squares."""

    _slots = (("rms", 1.0), ("momentum", 0.0))

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(learning_rate, use_locking, name)
        self._decay, self._momentum, self._epsilon, self._centered = decay, momentum, epsilon, centered
        if centered:
            self._slots = (("rms", 1.0), ("momentum", 0.0), ("mg", 0.0))

    def _step(self, variable, slots, rate, gradient):
        numbers = dict(lr=rate, rho=self._number(self._decay, variable),
                       momentum=self._number(self._momentum, variable),
                       epsilon=self._number(self._epsilon, variable), grad=gradient)
        if self._centered:
            _raw["ResourceApplyCenteredRMSProp"](var=variable.handle, mg=slots[2], ms=slots[0], mom=slots[1], **numbers)
        else:
            _raw["ResourceApplyRMSProp"](var=variable.handle, ms=slots[0], mom=slots[1], **numbers)


class AdamOptimizer(Optimizer):
    """Adam."""

    _slots = (("m", 0.0), ("v", 0.0))

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(learning_rate, use_locking, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon

    def _step(self, variable, slots, rate, gradient):
        from thalweg import cast, pow
        step = cast(self.iterations + 1, variable.dtype)
        beta1, beta2 = self._number(self._beta1, variable), self._number(self._beta2, variable)
        _raw["ResourceApplyAdam"](var=variable.handle, m=slots[0], v=slots[1], beta1_power=pow(beta1, step),
                                  beta2_power=pow(beta2, step), lr=rate, beta1=beta1, beta2=beta2,
                                  epsilon=self._number(self._epsilon, variable), grad=gradient)


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 **kwargs):
        self._slots = (("accum", initial_accumulator_value), ("linear", 0.0))
        super().__init__(learning_rate, use_locking, name)
        self._power = learning_rate_power
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, variable, slots, rate, gradient):
        _raw["ResourceApplyFtrl"](var=variable.handle, accum=slots[0], linear=slots[1], grad=gradient, lr=rate,
                                  l1=self._number(self._l1, variable), l2=self._number(self._l2, variable),
                                  lr_power=self._number(self._power, variable))


def get_or_create_global_step(graph=None):
    """A counter of steps: an int64 variable, the same at every call."""
    global _global_step
    if _global_step is None:
        from thalweg import Variable, constant, int64
        _global_step = Variable(constant(0, int64), trainable=False, name="global_step")
    return _global_step


_global_step = None


def get_global_step(graph=None):
    return _global_step


def create_global_step(graph=None):
    return get_or_create_global_step()
