"""The calls of a layer on the tensors of models."""

from thalweg.keras._part import part_of
from thalweg.keras.bridge.objects import _engine
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
    node = node_of(tensor)
    if not node.inbound_layers:
        return None
    _, _, index = _engine.history(tensor)
    masks = node.layer.compute_mask(node.input_tensors, masks_of(node.input_tensors))
    return masks[index] if isinstance(masks, (list, tuple)) else masks


def masks_of(tensors):
    return map_structure(mask_of, tensors)


def node_of(tensor):
    """The call that gave a tensor. Its number does not find it among the layer's: calls that nobody can use are not kept."""
    return Node(_engine.history(tensor)[0], *_engine.call_of(tensor))


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


@part_of("thalweg.keras.layer.base", "Layer")
class Connected:
    """The part of a layer about its calls on the tensors of models: what they took and gave."""

    @property
    def inbound_nodes(self):
        """Its calls on the tensors of models."""
        return nodes_of(self)

    _inbound_nodes = inbound_nodes

    def get_input_at(self, node_index):
        return node_at(self, node_index, "input").input_tensors

    def get_output_at(self, node_index):
        return node_at(self, node_index, "output").output_tensors

    def get_input_shape_at(self, node_index):
        return node_at(self, node_index, "input shape").input_shapes

    def get_output_shape_at(self, node_index):
        return node_at(self, node_index, "output shape").output_shapes

    @property
    def input(self):
        nodes = self.inbound_nodes
        if not nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return nodes[0].input_tensors

    @property
    def output(self):
        nodes = self.inbound_nodes
        if not nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return nodes[0].output_tensors

    def get_input_mask_at(self, node_index):
        return masks_of(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index):
        return masks_of(self.get_output_at(node_index))

    @property
    def input_mask(self):
        return masks_of(self.input)

    @property
    def output_mask(self):
        return masks_of(self.output)

    @property
    def input_shape(self):
        return common_shapes(self, "input", lambda node: node.input_shapes)

    @property
    def output_shape(self):
        return common_shapes(self, "output", lambda node: node.output_shapes)
