"""Dtype policies: what layers compute in, and what their weights are kept in."""

from thalweg.dtypes import as_dtype
from thalweg.keras._objects import _engine


class Policy:
    """`mixed_float16`, `mixed_bfloat16`, or the name of the dtype for both."""

    def __init__(self, name):
        if isinstance(name, Policy) or not isinstance(name, str):
            raise TypeError(f"'name' must be a string, such as 'mixed_float16'. Received type {type(name).__name__}")
        self._compute_dtype, self._variable_dtype = _engine.policy_dtypes(name)
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
