"""What older programs call fit, evaluate and predict."""

import warnings

from thalweg.keras._part import part_of


def _warn_of_old_name(old, new):
    warnings.warn(f"`Model.{old}` is deprecated and will be removed in a future version. Please use `Model.{new}`, "
                  "which supports generators.", stacklevel=3)


@part_of("thalweg.keras.models", "Model")
class OldNames:
    """The part of a model about names that it once had."""

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
                      validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
                      use_multiprocessing=False, shuffle=True, initial_epoch=0):
        """What old programs call for `fit`."""
        _warn_of_old_name("fit_generator", "fit")
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, verbose=verbose, callbacks=callbacks,
                        validation_data=validation_data, validation_steps=validation_steps,
                        validation_freq=validation_freq, class_weight=class_weight, shuffle=shuffle,
                        initial_epoch=initial_epoch)

    def evaluate_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                           use_multiprocessing=False, verbose=0):
        """What old programs call for `evaluate`."""
        _warn_of_old_name("evaluate_generator", "evaluate")
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                          use_multiprocessing=False, verbose=0):
        """What old programs call for `predict`."""
        _warn_of_old_name("predict_generator", "predict")
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)
