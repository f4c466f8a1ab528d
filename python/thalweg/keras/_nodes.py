"""The calls of a layer on the tensors of models."""

from thalweg.keras._objects import _engine
from thalweg.nest import flatten, map_structure


class Node:
    """One call: the layer, and the tensors it took and gave."""

    def __init__(self, layer, inputs, outputs):
        self.layer, self.input_tensors, self.output_tensors = layer, inputs, outputs

    @property
    def input_shapes(self):
        return shapes_of(self.input_tensors)

    @property
    def output_shapes(self):
        return shapes_of(self.output_tensors)

    @property
    def inbound_layers(self):
        """The layers that gave the inputs; none for an input of a model."""
        origins = {_engine.history(tensor)[0] for tensor in flatten(self.input_tensors)}
        if self.layer in origins:
            return []
        return map_structure(lambda tensor: _engine.history(tensor)[0], self.input_tensors)


def mask_of(tensor):
    """The mask that a tensor of a model carries, such a tensor too; None where it has none."""
    layer, call, index = _engine.history(tensor)
    node = nodes_of(layer)[call]
    if not node.inbound_layers:
        return None
    masks = layer.compute_mask(node.input_tensors, masks_of(node.input_tensors))
    return masks[index] if isinstance(masks, (list, tuple)) else masks


def masks_of(tensors):
    return map_structure(mask_of, tensors)


def nodes_of(layer):
    return [Node(layer, inputs, outputs) for inputs, outputs in _engine.calls(layer._core)]


def node_at(layer, index, what):
    """The call of this number; errors are Keras's."""
    nodes = nodes_of(layer)
    if not nodes:
        raise RuntimeError(f"The layer {layer.name} has never been called and thus has no defined {what}.")
    if not 0 <= index < len(nodes):
        raise ValueError(f"Asked to get {what} at node {index}, but the layer has only {len(nodes)} inbound nodes.")
    return nodes[index]


def common_shapes(layer, what, shapes):
    """The shapes that all calls have in common, or that there are none."""
    found = [shapes(node) for node in nodes_of(layer)]
    if not found:
        more = "" if what == "output" else (" Note that the `input_shape` property is only available for Functional and "
                                            "Sequential models.")
        raise AttributeError(f'The layer "{layer.name}" has never been called and thus has no defined {what} shape.{more}')
    if any(other != found[0] for other in found):
        raise AttributeError(f'The layer "{layer.name}" has multiple inbound nodes, with different {what} shapes. Hence '
                             f'the notion of "{what} shape" is ill-defined for the layer. Use '
                             f"`get_{what}_shape_at(node_index)` instead.")
    return found[0]


def shapes_of(tensors):
    return map_structure(lambda tensor: tuple(tensor.shape), tensors)
