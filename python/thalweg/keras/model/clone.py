"""clone_model: the layers of a model once more, with new weights."""

from thalweg.keras.bridge.objects import _engine
from thalweg.keras.model.input import Input
from thalweg.keras.models import Model, Functional, Sequential, _as_list
from thalweg.nest import pack_sequence_as


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of new layers like those of another, with new weights; `clone_function` may give other layers."""
    if not isinstance(model, Model):
        raise ValueError(f"Expected `model` argument to be a `Model` instance. Received: model={model}")
    if clone_function is not None and not callable(clone_function):
        raise ValueError(f"Expected `layer_fn` argument to be a callable. Received: layer_fn={clone_function}")
    if not isinstance(model, Sequential) and model._ends()[0] is None:
        if clone_function is not None or input_tensors is not None:
            raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclassed model "
                             "instead.")
        return type(model).from_config(model.get_config())
    copy = clone_function or (lambda layer: layer._copy())
    given = None if input_tensors is None else _as_list(input_tensors)
    if isinstance(model, Sequential):
        start = given or ([] if model._ends()[0] is None else _new_inputs(model))
        return Sequential([*start, *(copy(layer) for layer in model.layers)], name=model.name)
    inputs = _engine.model_inputs(model._core)
    inputs = pack_sequence_as(inputs, given or _new_inputs(model))
    made = Model(inputs, _engine.replay(model._core, inputs, copy), name=model.name)
    if type(model) not in (Model, Functional) and "_core_arguments" not in model.__dict__:
        made = type(model)(inputs, made.output, name=model.name)
    return made


def _new_inputs(model):
    layers = [_engine.history(tensor)[0] for tensor in model.inputs]
    return [Input(batch_shape=tensor.shape, dtype=tensor.dtype, name=layer.name)
            for tensor, layer in zip(model.inputs, layers)]
