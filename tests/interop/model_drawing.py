"""Draws the models of random_models.py as data. TensorFlow tells the shapes on the way, so that most layers fit what they follow."""

import model_layers
from model_options import LAYERS, RANDOM, Draw
from model_runs import Building

PRESERVING = ["Activation", "LeakyReLU", "ELU", "Identity", "Rescaling", "LayerNormalization"]
SEQUENCES = {"SimpleRNN", "GRU", "LSTM", "RNN", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "TimeDistributed", "Attention", "AdditiveAttention",
             "MultiHeadAttention", "GlobalAveragePooling1D"}
REFUSED_KEPT = 0.4  # of the steps that TensorFlow refuses, the rest is drawn anew
SGD = [{"class_name": "SGD", "config": {"learning_rate": 0.05}}, {"class_name": "SGD", "config": {"learning_rate": 0.02, "momentum": 0.9}},
       {"class_name": "SGD", "config": {"learning_rate": 0.02, "momentum": 0.8, "nesterov": True}},
       {"class_name": "SGD", "config": {"learning_rate": 0.02, "clipnorm": 0.5}}]
# With so large an epsilon a step does not hang on the last digits of gradients that are almost 0.
ADAPTIVE = [{"class_name": name, "config": {"learning_rate": 0.01, "epsilon": 0.1}} for name in ("Adam", "RMSprop", "Adagrad", "Nadam", "Adamax", "Adadelta")]
LOSSES = ["mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "mean_squared_logarithmic_error", "cosine_similarity",
          "hinge", "mse"]
METRICS = ["mae", "mean_squared_error", "cosine_similarity", "RootMeanSquaredError", "log_cosh"]


class Drawer:
    def __init__(self, tf, seed, names):
        self.tf = tf
        self.seed = seed
        self.themes = [name for name in LAYERS if name in names]
        self.rows = {name: LAYERS[name] for name in self.themes}

    def draw(self, number):
        """The model of a number: the layer whose turn it is, among others."""
        self.d = d = Draw(f"{self.seed}/{number}")
        theme = self.themes[number % len(self.themes)]
        ranks, dtype, merges, _ = self.rows[theme]
        entry = self.draw_input(d.choice(ranks), dtype)
        self.tf.keras.backend.clear_session()
        spec = self.network(entry, theme, d.randint(0, 4), 0)
        sequential = d.maybe(0.4) and len(spec["inputs"]) == 1 and all(
            "again" not in step and "call" not in step and len(step["from"]) == 1 for step in spec["steps"])
        if sequential:
            self.make_sequential(spec)
        spec |= {"batch": entry.get("batch_size", d.one(1, 2, 3)), "data": d.randint(0, 1 << 30), "random": is_random(spec),
                 "predict": d.maybe(0.3), "from_config": d.maybe(0.4),
                 "summary": d.options(expand_nested=[True], show_trainable=[True]), "compile": self.draw_compile(len(spec["outputs"]))}
        for value in spec["inputs"]:
            value["sizes"] = [d.randint(1, 5) if dim is None else dim for dim in value["shape"]]
        return spec

    def draw_input(self, rank, dtype):
        d = self.d
        low = 1 if d.maybe(0.2) else 3
        shape = [d.randint(low, 6) for _ in range(rank)]
        if rank > 1:
            shape[-1] = d.randint(1, 4)
            if rank == 4:
                shape = [min(dim, 4) for dim in shape]
            if d.maybe(0.2):
                shape[0] = None
        entry = {"shape": shape} | ({"dtype": dtype} if dtype != "float32" else {})
        if d.maybe(0.08):
            entry["batch_size"] = d.randint(1, 3)
        if d.maybe(0.1):
            entry["name"] = d.one("x", "features", "in_1")
        return entry

    def draw_compile(self, outputs):
        d = self.d
        loss = d.choice(LOSSES) if outputs == 1 or d.maybe(0.4) else [d.choice(LOSSES) for _ in range(outputs)]
        metrics = d.sample(METRICS, d.randint(0, 2)) if outputs == 1 else None
        optimizer, traced = d.choice(SGD + ADAPTIVE), d.maybe(0.02)
        # Keras's Nadam counts in Python, so steps that are traced give other numbers; ours are.
        return {"optimizer": optimizer, "loss": loss, "metrics": metrics, "traced": traced or optimizer["class_name"] == "Nadam"}

    def network(self, entry, theme, length, depth):
        """A functional model that begins with an input and has the theme among its layers."""
        d = self.d
        spec = {"kind": "functional", "inputs": [entry], "steps": [], "outputs": []}
        building = Building(self.tf)
        building.add_input(entry)
        work = Work(spec, building)
        current = -1
        rank = len(entry["shape"])
        if depth == 0 and entry.get("dtype") is None and rank > 1 and d.maybe(0.4 if theme in SEQUENCES else 0.05):
            current = self.extend(work, "Masking", current)
        place = 0 if entry.get("dtype") or d.maybe(0.6) else d.randint(0, length)
        for k in range(length + 1):
            if work.is_refused:
                break
            shape = work.shape(current)
            name = theme if k == place and theme else self.pick(work, current)
            if k == length and depth == 0 and d.maybe(0.06):
                current = self.wild(work, current)
            elif depth == 0 and k != place and d.maybe(0.08) and shape is not None and len(shape) in (1, 2, 3):
                current = self.nested(work, current)
            elif k != place and d.maybe(0.12):
                current = self.share(work, current)
            else:
                current = self.extend(work, name, current)
        others = [value for value in range(work.num_values) if value != current and depth == 0 and d.maybe(0.12)]
        spec["outputs"] = [current, *others[:2]]
        if d.maybe(0.1):
            spec["name"] = d.one("net", "inner_model", "m")
        return spec

    def pick(self, work, current):
        """A layer that fits the rank and the type of a value."""
        shape, dtype = work.shape(current), work.dtype(current)
        fitting = [name for name, (ranks, wanted, _, _) in self.rows.items() if shape is not None and len(shape) in ranks and wanted == dtype]
        return self.d.choice(fitting) if fitting else "Flatten"

    def extend(self, work, name, current):
        """Adds a layer on top of a value; the value that goes on."""
        d = self.d
        ranks, dtype, merges, config = self.rows[name]
        shape = work.shape(current)
        if shape is None or len(shape) not in ranks:
            shape = [3] * ranks[0]
        config = config(d, shape)
        step = {"class": name, "config": config, "from": [current]}
        if d.maybe(0.05):
            config["name"] = f"{name.lower()}_{d.one('a', 'b')}{len(work.spec['steps'])}"
        if d.maybe(0.05):
            config["trainable"] = False
        if merges:
            for _ in range(1 if name in ("Subtract", "Dot") or d.maybe(0.6) else 2):
                step["from"].append(self.partner(work, current))
        elif name == "MultiHeadAttention":
            step["call"] = {"value": {"value": self.partner(work, current)}}
            if d.maybe(0.3):
                step["call"]["key"] = {"value": self.partner(work, current)}
            if d.maybe(0.2):
                step["call"]["use_causal_mask"] = True
        elif name in ("SimpleRNN", "GRU", "LSTM") and d.maybe(0.12):
            states = [self.new_input(work, [config["units"]]) for _ in range(2 if name == "LSTM" else 1)]
            step["call"] = {"initial_state": [{"value": state} for state in states]}
        elif name == "BatchNormalization" and d.maybe(0.1):
            step["call"] = {"training": d.one(True, False)}
        if name == "Masking" and current < 0:
            work.spec["inputs"][-current - 1]["masked"] = config.get("mask_value", 0.0)
        return self.add(work, step, current)

    def add(self, work, step, current):
        d = self.d
        before = work.num_values
        try:
            made = work.building.add_step(step)
        except Exception:
            if d.maybe(REFUSED_KEPT):
                work.is_refused = True
                work.spec["steps"].append(step)
                return before
            return current
        work.spec["steps"].append(step)
        if any(work.shape(value) is not None and (work.size(value) > 5000 or 0 in work.shape(value)) for value in made) and d.maybe(0.95):
            work.spec["steps"].pop()
            work.building.made.pop()
            del work.building.values[before:]
            return current
        return made[0]

    def new_input(self, work, shape):
        entry = {"shape": shape}
        work.spec["inputs"].append(entry)
        work.building.add_input(entry)
        return -len(work.spec["inputs"])

    def partner(self, work, current):
        """Another value of the same shape: one that is there, a new one made of it, or an input."""
        d = self.d
        shape = work.shape(current)
        same = [value for value in range(-len(work.spec["inputs"]), work.num_values)
                if work.shape(value) == shape and work.dtype(value) == work.dtype(current)]
        if d.maybe(0.5):
            return d.choice(same)
        if d.maybe(0.2) and shape is not None:
            return self.new_input(work, shape)
        if d.maybe(0.2) and shape and shape[-1]:
            return self.extend_dense(work, current, shape[-1])
        return self.extend(work, d.choice(PRESERVING), current)

    def extend_dense(self, work, current, units):
        return self.add(work, {"class": "Dense", "config": {"units": units} | model_layers.dense_options(self.d), "from": [current]}, current)

    def share(self, work, current):
        """Calls a layer of an earlier step again, where one fits the value; its own input serves too."""
        d = self.d
        steps = [k for k, step in enumerate(work.spec["steps"]) if "call" not in step and len(step["from"]) == 1
                 and work.shape(step["from"][0]) == work.shape(current)]
        if not steps:
            return self.extend(work, self.pick(work, current), current)
        return self.add(work, {"again": d.choice(steps), "from": [current]}, current)

    def nested(self, work, current):
        """A model inside the model."""
        d = self.d
        shape = work.shape(current)
        entry = {"shape": shape} | ({"dtype": work.dtype(current)} if work.dtype(current) != "float32" else {})
        inner = self.network(entry, None, d.randint(0, 2), 1)
        if not inner["steps"]:
            return current
        if d.maybe(0.5) and all("call" not in step and "again" not in step and len(step["from"]) == 1 for step in inner["steps"]) \
                and len(inner["inputs"]) == 1:
            self.make_sequential(inner)
        if len(inner["inputs"]) > 1:
            return current
        return self.add(work, {"model": inner, "from": [current]}, current)

    def wild(self, work, current):
        """A layer that need not fit."""
        d = self.d
        name = d.choice(self.themes)
        ranks, _, _, config = self.rows[name]
        return self.add(work, {"class": name, "config": config(d, [d.randint(1, 4) for _ in range(d.choice(ranks))]), "from": [current]}, current)

    def make_sequential(self, spec):
        """The chain of the steps, whatever each followed."""
        d = self.d
        spec["kind"] = "sequential"
        spec["start"] = d.one("input", "input", "shape", "none")
        if spec["start"] == "shape" and ("dtype" in spec["inputs"][0] or "batch_size" in spec["inputs"][0] or "model" in spec["steps"][0]
                                         if spec["steps"] else True):
            spec["start"] = "input"
        spec["outputs"] = [0]


class Work:
    """A model while it is drawn."""

    def __init__(self, spec, building):
        self.spec, self.building = spec, building
        self.is_refused = False

    @property
    def num_values(self):
        return len(self.building.values)

    def shape(self, value):
        shape = self.building.value(value).shape
        return None if shape.rank is None else shape.as_list()[1:]

    def dtype(self, value):
        return self.building.value(value).dtype.name

    def size(self, value):
        size = 1
        for dim in self.shape(value):
            size *= 3 if dim is None else dim
        return size


def is_random(value):
    """Whether a layer of the model draws random numbers in training."""
    if isinstance(value, list):
        return any(map(is_random, value))
    if not isinstance(value, dict):
        return False
    name = value.get("class") or value.get("layer")
    if isinstance(name, str) and name in RANDOM and (name == "GaussianNoise" or value["config"].get("rate", 0) > 0):
        return True
    return any(map(is_random, value.values()))
