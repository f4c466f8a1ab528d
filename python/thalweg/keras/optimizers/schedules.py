"""Schedules: learning rates that change from step to step."""

from thalweg.keras.bridge.objects import (Described, _engine, deserialize as _deserialize, make_classes, register_kind,
                                          serialize as _serialize)


class LearningRateSchedule(Described):
    """The base of schedules. A class of a program writes `__call__(step)`."""

    _kind = "schedule"
    _takes_others = False

    def _start(self, config):
        config = {key: value for key, value in config.items() if not (key == "name" and value is None)}
        self._become(_engine.make("schedule", self._engine_name, config))

    def __setattr__(self, name, value):
        if not self._set_option(name, value):
            object.__setattr__(self, name, value)

    def __call__(self, step):
        if self._engine_name is None:
            raise NotImplementedError("Learning rate schedule must override __call__")
        return _engine.call_of_tensor(self._core, step)

    def get_config(self):
        return self._core.get_config() if self._engine_name is not None else {}


_classes = make_classes("schedule", LearningRateSchedule, __name__)
globals().update(_classes)
register_kind("schedule", _classes, LearningRateSchedule)


def serialize(learning_rate_schedule, use_legacy_format=False):
    """The configuration that makes another one like it."""
    return _serialize("schedule", learning_rate_schedule, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """The way back from a configuration."""
    return _deserialize("schedule", config, custom_objects)
