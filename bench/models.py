"""Models that run in Thalweg's Python and in TensorFlow's; bench/models.h has the same ones for C++."""

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # of ResNet-50: width, blocks, stride


def _training(tf, shapes, model):
    """A step of Adam on the loss of `model(weights, x)`."""
    return training_of(tf, [tf.Variable(tf.random.uniform(shape, -1, 1) * 0.05) for shape in shapes], model)


def training_of(tf, weights, model):
    """The same for variables that are there."""
    slots = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]

    def step(x, labels):
        with tf.GradientTape() as tape:
            logits = model(weights, x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for w, (m, v), gradient in zip(weights, slots, tape.gradient(loss, weights)):
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.999, lr=1e-3, beta1=0.9,
                                         beta2=0.999, epsilon=1e-7, grad=gradient)
        return loss

    return step


def _batch(tf, *shape):
    """32 images and their classes."""
    return tf.random.uniform((32, *shape), -1, 1), tf.range(32) % 10


def mlp_step(tf):
    """784-128-10, batches of 32, Adam: the step, and what it is called with."""

    def model(w, x):
        hidden = tf.nn.relu(tf.matmul(x, w[0]) + w[1])
        return tf.matmul(hidden, w[2]) + w[3]

    return _training(tf, ((784, 128), (128,), (128, 10), (10,)), model), _batch(tf, 784)


def cnn_step(tf):
    """The MNIST CNN with dropout, batches of 32, Adam: the step, and what it is called with."""
    shapes = ((3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (9216, 128), (128,), (128, 10), (10,))

    def model(w, x):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w[0], 1, "VALID"), w[1]))
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w[2], 1, "VALID"), w[3]))
        x = tf.nn.dropout(tf.nn.max_pool2d(x, 2, 2, "VALID"), 0.25)
        x = tf.nn.relu(tf.matmul(tf.reshape(x, [-1, 9216]), w[4]) + w[5])
        return tf.matmul(tf.nn.dropout(x, 0.5), w[6]) + w[7]

    return _training(tf, shapes, model), _batch(tf, 28, 28, 1)


def deep_mlp_step(tf, layers=50, width=512, batch=256):
    """A deep perceptron and plain gradient descent."""
    weights = [tf.Variable(tf.random.normal([width, width], stddev=0.06)) for _ in range(layers)]
    biases = [tf.Variable(tf.zeros([width])) for _ in range(layers)]
    x = tf.random.normal([batch, width])

    def step(x, y):
        with tf.GradientTape() as tape:
            hidden = x
            for w, b in zip(weights, biases):
                hidden = tf.nn.relu(tf.matmul(hidden, w) + b)
            loss = tf.reduce_mean(tf.square(hidden - y))
        for variable, gradient in zip(weights + biases, tape.gradient(loss, weights + biases)):
            variable.assign_sub(0.01 * gradient)
        return loss

    return step, (x, x)


def resnet50(tf, make=lambda tensor: tensor):
    """ResNet-50 whose batch norms are folded into the convolutions: the model, and an image. `make` makes the weights of tensors."""
    filters = []

    def add(window, channels, out):
        scale = (window * window * channels) ** -0.5
        filters.append((make(tf.random.uniform((window, window, channels, out), -1, 1) * scale), make(tf.random.uniform((out,), -1, 1))))

    add(7, 3, 64)
    channels = 64
    for width, blocks, _ in STAGES:
        for block in range(blocks):
            if block == 0:
                add(1, channels, 4 * width)
            add(1, channels, width)
            add(3, width, width)
            add(1, width, 4 * width)
            channels = 4 * width
    classes, bias = make(tf.random.uniform((2048, 1000), -1, 1) * 0.02), make(tf.random.uniform((1000,), -1, 1))

    def model(images):
        layer = iter(filters)

        def conv(x, stride):
            kernel, offset = next(layer)
            return tf.nn.bias_add(tf.nn.conv2d(x, kernel, stride, "SAME"), offset)

        x = tf.nn.max_pool2d(tf.nn.relu(conv(images, 2)), 3, 2, "SAME")
        for _, blocks, stage_stride in STAGES:
            for block in range(blocks):
                stride = stage_stride if block == 0 else 1
                shortcut = conv(x, stride) if block == 0 else x
                x = tf.nn.relu(conv(x, stride))
                x = tf.nn.relu(conv(x, 1))
                x = tf.nn.relu(conv(x, 1) + shortcut)
        return tf.nn.softmax(tf.matmul(tf.reduce_mean(x, [1, 2]), classes) + bias)

    return model, tf.random.uniform((1, 224, 224, 3), -1, 1)


def while_loop(tf):
    """A loop with a scalar body."""

    def run(n):
        return tf.while_loop(lambda i, total: i < n, lambda i, total: (i + 1, total + tf.cast(i, tf.float32)),
                             [tf.constant(0), tf.constant(0.0)])[1]

    return run


def chain(tf):
    """Element-wise ops one after the other."""
    return lambda x: tf.tanh(x * 2.0 + 1.0) * tf.exp(-x) + x
