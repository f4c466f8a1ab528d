"""Mixed precision: what layers compute in, what their weights are kept in, and gradients that do not vanish."""

from thalweg import _thalweg
from thalweg.autodiff.tape import GradientTape
from thalweg.dtypes import as_dtype
from thalweg.keras import optimizers
from thalweg.keras.bridge.objects import _engine
from thalweg.ops.written import _on_values

_cast = _thalweg.functions()["cast"]


class Policy:
    """`mixed_float16`, `mixed_bfloat16`, or the name of the dtype for both."""

    def __init__(self, name):
        if isinstance(name, Policy) or not isinstance(name, str):
            raise TypeError(f"'name' must be a string, such as 'mixed_float16'. Received type {type(name).__name__}")
        # What old configurations have for a layer that goes by its first input.
        self._compute_dtype, self._variable_dtype = (None, None) if name == "_infer" else _engine.policy_dtypes(name)
        self._name = name

    @property
    def name(self):
        return self._name

    @property
    def compute_dtype(self):
        return self._compute_dtype

    @property
    def variable_dtype(self):
        return self._variable_dtype

    def get_config(self):
        return {"name": self._name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(config["name"])

    def __eq__(self, other):
        return isinstance(other, Policy) and other.name == self.name

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        return f'<Policy "{self._name}">'


def global_policy():
    """The policy of layers that are given none."""
    return Policy(_engine.global_policy())


def set_global_policy(policy):
    """Sets the policy of the layers that are made from now on; None sets float32 again."""
    _engine.set_global_policy("float32" if policy is None else policy_name(policy))


def policy_name(dtype):
    """The name of what may stand where a layer takes a dtype: a policy, its name or configuration, a dtype."""
    if isinstance(dtype, dict):
        return dtype["config"]["name"]
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, Policy):
        return dtype.name
    return as_dtype(dtype).name


class LossScaleOptimizer(optimizers._classes["LossScaleOptimizer"]):
    """Makes the steps of another optimizer with gradients of a scaled loss; those that are not finite are left out."""

    _engine_name = "LossScaleOptimizer"

    def __init__(self, inner_optimizer, dynamic=True, initial_scale=None, dynamic_growth_steps=None):
        if isinstance(inner_optimizer, dict):
            inner_optimizer = optimizers.deserialize(inner_optimizer)
        if not isinstance(inner_optimizer, optimizers.Optimizer):
            raise TypeError(f'"inner_optimizer" must be an instance of Optimizer, but got: {inner_optimizer}.')
        if not isinstance(dynamic, bool):
            raise TypeError(f'"dynamic" argument to LossScaleOptimizer.__init__ must be a bool, but got: {dynamic!r}')
        scale = None if initial_scale is None else float(initial_scale)
        super().__init__(inner_optimizer, dynamic, scale, dynamic_growth_steps)

    @property
    def inner_optimizer(self):
        return _engine.loss_scale_inner(self._core)

    def __getattr__(self, name):
        if not name.startswith("_") and "_core" in self.__dict__:
            inner = self.inner_optimizer
            if isinstance(inner, optimizers.legacy.Optimizer) and name in inner._hyper:
                return getattr(inner, name)
        return super().__getattr__(name)

    @property
    def variables(self):
        inner = self.inner_optimizer
        return inner.variables if isinstance(inner, optimizers.legacy.Optimizer) else super().variables

    @property
    def loss_scale(self):
        return _engine.loss_scale(self._core)

    @property
    def dynamic_counter(self):
        return _engine.loss_scale_counter(self._core)

    def get_scaled_loss(self, loss):
        """The loss, or what computes it, times the scale."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * _cast(self.loss_scale, loss.dtype)

    def get_unscaled_gradients(self, grads):
        """The gradients of a scaled loss as those of the loss."""
        factor = 1.0 / self.loss_scale
        return [None if g is None else _on_values(lambda x: x * _cast(factor, x.dtype), g) for g in grads]

    def compute_gradients(self, loss, var_list, tape=None):
        tape = tape or GradientTape()
        with tape:
            loss = self.get_scaled_loss(loss() if callable(loss) else loss)
        variables = var_list() if callable(var_list) else list(var_list)
        return list(zip(self.get_unscaled_gradients(tape.gradient(loss, variables)), variables))

    def get_config(self):
        config = self._core.get_config()
        return {**config, "inner_optimizer": optimizers.serialize(self.inner_optimizer)}


optimizers._classes["LossScaleOptimizer"] = LossScaleOptimizer
