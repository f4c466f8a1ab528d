"""Builds a drawn model with the public API of Keras, in either engine, and answers what can be compared.

A model is `{"kind": "functional", "inputs": [...], "steps": [...], "outputs": [numbers of values], ...}`. The results of the steps are
numbered from 0, the inputs -1, -2, and so on. A step has `from`, the values it takes, and either `class` and `config` of a layer, `again`, the number of the
step whose layer is called once more, or `model`, a model inside. `call` holds other arguments; `{"value": n}` among them is a value.
"""

import contextlib
import io
import json

import numpy as np


class Building:
    """A functional model as far as it has been put together."""

    def __init__(self, tf):
        self.tf = tf
        self.inputs, self.values = [], []
        self.made = []  # the layer of each step

    def add_input(self, entry):
        self.inputs.append(self.tf.keras.Input(**{name: tuple(entry[name]) if name == "shape" else entry[name]
                                                  for name in ("shape", "batch_size", "dtype", "name") if name in entry}))

    def value(self, number):
        return self.inputs[-number - 1] if number < 0 else self.values[number]

    def add_step(self, step):
        """The numbers of the values that the step makes."""
        if "again" in step:
            made = self.made[step["again"]]
        elif "model" in step:
            made = make_model(self.tf, step["model"])
        else:
            made = make_layer(self.tf, step["class"], step["config"])
        inputs = [self.value(k) for k in step["from"]]
        result = made(inputs[0] if len(inputs) == 1 else inputs, **{name: self.argument(value) for name, value in step.get("call", {}).items()})
        self.made.append(made)
        first = len(self.values)
        self.values.extend(self.tf.nest.flatten(result))
        return list(range(first, len(self.values)))

    def argument(self, value):
        if isinstance(value, list):
            return [self.argument(item) for item in value]
        return self.value(value["value"]) if isinstance(value, dict) else value

    def model(self, spec):
        outputs = [self.value(k) for k in spec["outputs"]]
        inputs = self.inputs
        names = {"name": spec["name"]} if "name" in spec else {}
        return self.tf.keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs if len(outputs) > 1 else outputs[0], **names)


def make_layer(tf, name, config):
    return getattr(tf.keras.layers, name)(**{key: live(tf, value) for key, value in config.items()})


def live(tf, value):
    """The argument of a constructor: layers in it are made, lists are tuples where they hold numbers."""
    if isinstance(value, dict):
        return make_layer(tf, value["layer"], value["config"]) if "layer" in value else value
    if isinstance(value, list):
        items = [live(tf, item) for item in value]
        return items if any(isinstance(item, dict) for item in value) else tuple(items)
    return value


def make_model(tf, spec):
    if spec["kind"] == "sequential":
        model = tf.keras.Sequential(**({"name": spec["name"]} if "name" in spec else {}))
        entry = spec["inputs"][0]
        if spec["start"] == "input":
            model.add(tf.keras.Input(**{name: entry[name] for name in ("shape", "batch_size", "dtype", "name") if name in entry}))
        for k, step in enumerate(spec["steps"]):
            shape = {}
            if k == 0 and spec["start"] == "shape":
                shape = {"input_shape": tuple(entry["shape"])}
            model.add(make_model(tf, step["model"]) if "model" in step else make_layer(tf, step["class"], step["config"] | shape))
        return model
    building = Building(tf)
    for entry in spec["inputs"]:
        building.add_input(entry)
    for step in spec["steps"]:
        building.add_step(step)
    return building.model(spec)


def draw_array(random, shape, dtype, masked):
    if dtype == "int32":
        return random.randint(0, 7, size=shape).astype(np.int32)
    if dtype == "bool":
        return random.uniform(size=shape) < 0.7
    array = random.normal(size=shape).astype(dtype)
    if masked is not None and len(shape) > 1:
        array[random.uniform(size=shape[:2]) < 0.4] = masked
    return array


def draw_weight(random, name, value):
    """A value for a weight: positive where it is a variance, moderate elsewhere, and left alone where it is no number."""
    if value.dtype.kind != "f":
        return value
    drawn = random.normal(size=value.shape)
    if "variance" in name:
        return (0.5 + np.abs(drawn)).astype(value.dtype)
    fan = max(1, int(np.prod(value.shape[:-1], dtype=np.int64)))
    return (drawn / np.sqrt(fan)).astype(value.dtype)


def to_arrays(tf, structure):
    """The tensors of a structure as arrays, None where there is none."""
    return [None if item is None else np.asarray(tf.convert_to_tensor(item)) for item in as_list(structure)]


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def plain(value):
    """A configuration as JSON."""
    def other(item):
        if isinstance(item, np.ndarray):
            return item.tolist()
        if isinstance(item, np.generic):
            return item.item()
        return repr(item)
    return json.loads(json.dumps(value, default=other))


class Run:
    """What a model answers, stage by stage. A stage that raises answers the class of the exception."""

    def __init__(self, tf, spec):
        self.tf, self.spec = tf, spec
        self.answers, self.messages = {}, {}
        self.random = np.random.RandomState(spec["data"])
        self.is_tensorflow = tf.__name__ == "tensorflow"

    def stage(self, name, work):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self.answers[name] = work()
        except Exception as error:  # its class is the answer
            self.answers[name] = {"raises": type(error).__name__}
            self.messages[name] = str(error)[:600]
            return False
        return True

    def run(self):
        spec = self.spec
        self.tf.keras.backend.clear_session()
        if not self.stage("build", self.build):
            return
        self.inputs = [draw_array(self.random, [spec["batch"], *entry["sizes"]], entry.get("dtype", "float32"), entry.get("masked"))
                       for entry in spec["inputs"]]
        self.x = self.inputs if len(self.inputs) > 1 else self.inputs[0]
        if spec["kind"] == "sequential" and spec["start"] == "none" and not self.stage("first call", self.first_call):
            return
        if not self.stage("names", self.names):
            return
        if not self.stage("weights", self.set_weights) or not self.stage("call", self.call):
            return
        self.stage("mask", self.mask)
        self.stage("gradients", self.gradients)
        if spec["predict"]:
            self.stage("predict", self.predict)
        self.stage("summary", self.summary)
        self.stage("config", lambda: plain(self.model.get_config()))
        if spec["from_config"]:
            self.stage("from_config", self.again)
        if all(shape[:1] == (spec["batch"],) for shape in self.shapes):
            self.stage("training", self.train)

    def build(self):
        self.model = make_model(self.tf, self.spec)
        return [[layer.name, type(layer).__name__] for layer in self.model.layers]

    def first_call(self):
        return [array.shape for array in to_arrays(self.tf, self.model(self.x, training=False))]

    def names(self):
        model = self.model
        trainable = {id(weight) for weight in model.trainable_weights}
        return {"weights": [[weight.name, list(weight.shape), weight.dtype.name if hasattr(weight.dtype, "name") else str(weight.dtype)]
                            for weight in model.weights],
                "trainable": [weight.name for weight in model.trainable_weights], "count": len(trainable), "parameters": model.count_params(),
                "input": plain(model.input_shape), "output": plain(model.output_shape)}

    def set_weights(self):
        values = self.model.get_weights()
        self.start = [draw_weight(self.random, weight.name, value) for weight, value in zip(self.model.weights, values, strict=True)]
        self.restore()
        return self.model.get_weights()

    def restore(self):
        self.model.set_weights(self.start)
        self.model.reset_states()

    def call(self):
        outputs = to_arrays(self.tf, self.model(self.x, training=False))
        self.shapes = [array.shape for array in outputs]
        return {"outputs": outputs, "losses": to_arrays(self.tf, list(self.model.losses))}

    def mask(self):
        self.restore()
        tensors = [self.tf.constant(array) for array in self.inputs]
        masks = self.model.compute_mask(tensors if len(tensors) > 1 else tensors[0], [None] * len(tensors) if len(tensors) > 1 else None)
        return to_arrays(self.tf, masks)

    def gradients(self):
        tf = self.tf
        self.restore()
        tensors = [tf.constant(array) for array in self.inputs]
        watched = [tensor for tensor in tensors if tensor.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            outputs = as_list(self.model(tensors if len(tensors) > 1 else tensors[0], training=not self.spec["random"]))
            loss = tf.add_n([tf.reduce_sum(tf.cast(output, tf.float32) * tf.constant(np.cos(np.arange(np.prod(output.shape), dtype=np.float32) + 1.0).reshape(
                output.shape))) for output in outputs] + [tf.cast(item, tf.float32) for item in self.model.losses])
        by_inputs, by_weights = tape.gradient(loss, [watched, self.model.trainable_weights])
        return {"outputs": to_arrays(tf, outputs), "losses": to_arrays(tf, list(self.model.losses)), "inputs": to_arrays(tf, by_inputs),
                "weights": to_arrays(tf, by_weights), "weights after": self.model.get_weights()}

    def predict(self):
        self.restore()
        if self.is_tensorflow:
            self.model.run_eagerly = not self.spec["compile"]["traced"]
        return [np.asarray(array) for array in as_list(self.model.predict(self.x, batch_size=self.spec["batch"], verbose=0))]

    def summary(self):
        lines = []
        self.model.summary(print_fn=lambda line, *rest, **options: lines.append(line), **self.spec["summary"])
        return lines

    def again(self):
        model = type(self.model).from_config(self.model.get_config())
        outputs = to_arrays(self.tf, model(self.x, training=False))  # builds a model without an input shape
        model.set_weights(self.start)
        model.reset_states()
        return {"shapes": [list(array.shape) for array in outputs], "names": [weight.name for weight in model.weights],
                "outputs": to_arrays(self.tf, model(self.x, training=False)), "config": plain(model.get_config())}

    def train(self):
        tf, spec = self.tf, self.spec
        self.restore()
        random = np.random.RandomState(spec["data"] + 1)
        targets = [random.uniform(size=shape).astype(np.float32) for shape in self.shapes]
        y = targets if len(targets) > 1 else targets[0]
        optimizer = getattr(tf.keras.optimizers, spec["compile"]["optimizer"]["class_name"])(**spec["compile"]["optimizer"]["config"])
        # TensorFlow's tracing takes longer than all the rest; Thalweg's steps are traced, as they are by default.
        eager = {"run_eagerly": True} if self.is_tensorflow and not spec["compile"]["traced"] else {}
        self.model.compile(optimizer=optimizer, loss=spec["compile"]["loss"], metrics=spec["compile"]["metrics"], **eager)
        logs = []
        for _ in range(1 if spec["random"] else 2):
            logs.append([float(value) for value in as_list(self.model.train_on_batch(self.x, y))])
        if spec["random"]:
            return {"names": self.model.metrics_names, "logs": len(logs[0])}
        return {"names": self.model.metrics_names, "logs": np.array(logs, np.float32), "weights": self.model.get_weights()}
