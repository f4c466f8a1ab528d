"""Training steps that run in Thalweg's Python and in TensorFlow's."""


def mlp_step(tf):
    """784-128-10, batches of 32, Adam, eager: the step of bench/autodiff_bench.cc as a function."""
    weights = [tf.Variable(tf.random.uniform(shape, -1, 1) * 0.05) for shape in ((784, 128), (128,), (128, 10), (10,))]
    slots = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]
    x, labels = tf.random.uniform((32, 784), -1, 1), tf.range(32) % 10

    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
            logits = tf.matmul(hidden, weights[2]) + weights[3]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for w, (m, v), gradient in zip(weights, slots, tape.gradient(loss, weights)):
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.999, lr=1e-3, beta1=0.9,
                                         beta2=0.999, epsilon=1e-7, grad=gradient)
        return loss

    return step
