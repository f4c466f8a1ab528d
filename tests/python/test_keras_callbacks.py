"""Callbacks: the order of their hooks, those that Keras has, and those that come from them."""

import contextlib
import io

import pytest
from keras_samples import X, Y, linear

from thalweg import keras
from thalweg.keras import callbacks


def fit(model, epochs=1, **options):
    return model.fit(X, Y, epochs=epochs, **{"verbose": 0, "shuffle": False, **options})


def test_the_history_is_a_callback():
    model, history = linear(), callbacks.History()
    assert fit(model, 2, callbacks=[history]) is history is model.history
    assert history.epoch == [0, 1] and len(history.history["loss"]) == 2
    assert history.params == {"verbose": 0, "epochs": 2, "steps": 1} and history.model is model
    assert fit(model).params["epochs"] == 1

    class Noted(callbacks.History):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            self.last = epoch

    assert fit(model, 3, callbacks=[Noted()]).last == 2


def test_a_list_of_callbacks():
    seen = []

    class Noting(callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(("begin", logs))

        def on_train_batch_end(self, batch, logs=None):
            seen.append((batch, logs))

    model = linear()
    several = callbacks.CallbackList([Noting()], add_history=True, model=model, epochs=2, steps=3, verbose=0)
    assert [type(one).__name__ for one in several.callbacks] == ["Noting", "History"]
    assert several.callbacks[0].params == several.params == {"epochs": 2, "steps": 3, "verbose": 0}
    several.on_train_begin()
    several.on_epoch_begin(0)
    several.on_batch_begin(0)
    several.on_batch_end(0, {"loss": 1.0})
    several.on_epoch_end(0, {"loss": 3.0})
    several.on_train_end()
    assert seen == [("begin", {}), (0, {"loss": 1.0})]
    assert model.history.history == {"loss": [3.0]}
    assert len(fit(model, 2, callbacks=several).epoch) == 2


def shown(run):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        run()
    return text.getvalue()


def test_progress_goes_where_python_prints():
    model = linear()
    assert "1/1 - 0s - loss: 1.98" in shown(lambda: fit(model, verbose=2))
    bar = callbacks.ProgbarLogger("steps")
    assert shown(lambda: fit(linear(), verbose=1, callbacks=[bar])).count("\n") == 1
    steps = callbacks.CallbackList([bar], model=model, epochs=1, steps=2, verbose=1)

    def loop():
        steps.on_epoch_begin(0)
        for batch in range(2):
            steps.on_train_batch_end(batch, {"loss": 2.0})
        steps.on_epoch_end(0, {"loss": 1.5})

    text = shown(loop)
    assert "1/2 [" in text and text.endswith("loss: 1.5000\n")
    keras.utils.disable_interactive_logging()
    try:
        assert shown(lambda: fit(model, verbose="auto")) == "" and not keras.utils.is_interactive_logging_enabled()
    finally:
        keras.utils.enable_interactive_logging()


def test_what_callbacks_found_out():
    stopping = callbacks.EarlyStopping("loss", min_delta=10, patience=1)
    assert fit(linear(), 9, callbacks=[stopping]).epoch == [0, 1]
    assert (stopping.stopped_epoch, stopping.wait, stopping.best_epoch, stopping.patience) == (1, 1, 0, 1)
    assert stopping.best == pytest.approx(1.984214)
    plateau = callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=10, cooldown=2)
    fit(linear(), 2, callbacks=[plateau])
    assert (plateau.cooldown_counter, plateau.in_cooldown(), plateau.wait) == (2, True, 0)
    with pytest.raises(ValueError, match="does not support a factor >= 1.0. Got 1.5"):
        callbacks.ReduceLROnPlateau(factor=1.5)


def test_classes_that_come_from_callbacks_of_the_engine():
    seen = []

    class Told(callbacks.EarlyStopping):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            seen.append((epoch, self.wait))

    assert fit(linear(), 9, callbacks=[Told(monitor="loss", min_delta=1, patience=1)]).epoch == [0, 1]
    assert seen == [(0, 0), (1, 1)]


def test_a_base_logger_takes_means_by_size():
    logger = callbacks.BaseLogger(stateful_metrics=["last"])
    logger.set_params({"metrics": ["loss", "last"]})
    logger.on_epoch_begin(0)
    logger.on_batch_end(0, {"size": 3, "loss": 1.0, "last": 5.0})
    logger.on_batch_end(1, {"size": 1, "loss": 3.0, "last": 7.0})
    logs = {}
    logger.on_epoch_end(0, logs)
    assert logs == {"loss": 1.5, "last": 7.0}


def test_hooks_that_nobody_writes_cost_nothing(monkeypatch):
    called = []
    monkeypatch.setattr(callbacks.Callback, "on_batch_begin", lambda *_: called.append("begin"))

    class Ends(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            called.append(epoch)

    fit(linear(), 2, callbacks=[Ends()])
    assert called == [0, 1]


def test_an_epoch_that_is_stopped_has_one_batch():
    class Stopping(callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    model = linear()
    assert fit(model, 3, batch_size=5, callbacks=[Stopping()]).epoch == [0, 1]
    assert model.optimizer.iterations.numpy() == 5


def test_hooks_on_models_that_are_not_compiled_and_on_other_objects():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])

    class Other:
        stop_training, weights = False, [1, 2]

        def get_weights(self):
            return self.weights

        def set_weights(self, weights):
            self.weights = weights

    for seen in (model, Other()):
        stopping = callbacks.EarlyStopping(monitor="val_loss", patience=1, restore_best_weights=True)
        stopping.set_model(seen)
        stopping.on_train_begin()
        for epoch, loss in enumerate((1.0, 2.0, 3.0)):
            seen.set_weights([value + 1 for value in seen.get_weights()])
            stopping.on_epoch_end(epoch, {"val_loss": loss})
            if seen.stop_training:
                break
        assert seen.stop_training and epoch == 1
    assert [int(value) for value in seen.weights] == [2, 3]  # those of the best epoch


def test_callbacks_of_the_engine_have_no_model_before_a_run():
    for callback in (callbacks.EarlyStopping(), callbacks.ReduceLROnPlateau(), callbacks.TerminateOnNaN()):
        assert callback.model is None and callback.validation_data is None
