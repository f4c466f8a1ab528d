"""What compile makes of losses and metrics, as steps of one's own use it."""

from thalweg.keras.bridge.objects import _engine
from thalweg.nest import flatten


def as_metrics(given):
    """Metrics as the engine takes them: of a loss, the mean is one."""
    from thalweg.keras.losses import Loss
    if isinstance(given, dict):
        return {name: as_metrics(item) for name, item in given.items()}
    if isinstance(given, (list, tuple)):
        return [as_metrics(item) for item in given]
    if not isinstance(given, Loss):
        return given

    def measured(y_true, y_pred):
        return given(y_true, y_pred)

    measured.__name__ = given.name or _engine.to_snake_case(type(given).__name__)
    return measured


def check_metrics(metrics, weighted_metrics):
    """Refuses one metric in two places, where it would count twice."""
    from thalweg.keras.metrics import Metric
    given = [item for item in flatten([metrics, weighted_metrics]) if isinstance(item, Metric)]
    twice = [item for i, item in enumerate(given) if any(item is other for other in given[:i])]
    if twice:
        raise ValueError("Found duplicated metrics object in the user provided metrics and weighted metrics. This will cause "
                         f"the same metric object to be updated multiple times, and report wrong results. \nDuplicated items: "
                         f"{twice}")


def _is_loss(metric):
    return metric.name == "loss" or metric.name.endswith("_loss")


class CompiledLoss:
    """The losses of the outputs: called with labels and predictions, it gives their weighted sum."""

    def __init__(self, model):
        self._model = model

    def __call__(self, y_true, y_pred, sample_weight=None, regularization_losses=None):
        return _engine.compute_loss(self._model._core, None, y_true, y_pred, sample_weight)

    @property
    def metrics(self):
        return [metric for metric in self._model.metrics if _is_loss(metric)]

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()


class CompiledMetrics:
    """The metrics of the outputs."""

    def __init__(self, model):
        self._model = model

    def update_state(self, y_true, y_pred, sample_weight=None):
        _engine.update_compiled_metrics(self._model._core, y_true, y_pred, sample_weight)

    @property
    def metrics(self):
        return [metric for metric in self._model.metrics if not _is_loss(metric)]

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()
