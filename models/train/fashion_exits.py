"""Trains a network with three early exits on Fashion-MNIST and writes fashion-exits.onnx.

The trunk begins as fashion-mobilenet.onnx: its blocks, then two more that change nothing at first. All outputs are
trained together.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax

import catalogue
import datasets
import layers
import pruning
import training
from onnx_graph import Graph

STEM = 24
# (output channels, stride, channels of the exit behind the block or none); a block that keeps shape and channels is
# residual. Those of fashion-mobilenet come first.
BLOCKS = [
    (48, 1, None), (48, 1, None), (96, 2, 64), (96, 1, None), (96, 1, 80), (128, 1, 96),
    (128, 1, None), (128, 1, None),
]
# In order; the last is the network's end.
OUTPUTS = ["exit_1", "exit_2", "exit_3", "probabilities"]
# What each output weighs in the loss, and which part of an exit's loss compares it with the last output, the rest with
# the label.
WEIGHTS = np.array([0.4, 0.4, 0.4, 1.0], np.float32)
DISTILLATION = 0.5
SETTINGS = {
    "peak_rate": 2e-3, "weight_decay": 1e-2, "smoothing": 0.0,
    "distortion": {"shift": 1.0, "degrees": 3.0, "zoom": 0.05, "mirror": True},
}


def blocks():
    """Yields (name, input channels, output channels, stride, residual, exit): `exit` is (name, channels) or none."""
    channels, names = STEM, iter(OUTPUTS)
    for number, (out, stride, head) in enumerate(BLOCKS, 1):
        leaves = (next(names), head) if head else None
        yield f"block{number}", channels, out, stride, channels == out and stride == 1, leaves
        channels = out


def initial_parameters(seed):
    random = np.random.default_rng(seed)
    params, state = {}, {}

    def conv(name, shape):
        params[f"{name}.weight"] = training.he_normal(random, shape)
        params[f"{name}.bias"] = np.zeros(shape[0], np.float32)

    def normalised_conv(name, shape):
        params[f"{name}.weight"] = training.he_normal(random, shape)
        params[f"{name}.bn.scale"] = np.ones(shape[0], np.float32)
        params[f"{name}.bn.bias"] = np.zeros(shape[0], np.float32)
        state[f"{name}.bn.mean"] = np.zeros(shape[0], np.float32)
        state[f"{name}.bn.variance"] = np.ones(shape[0], np.float32)

    normalised_conv("stem", (STEM, 1, 3, 3))
    for name, channels, out, _, residual, leaves in blocks():
        normalised_conv(f"{name}.dw", (channels, 1, 3, 3))
        normalised_conv(f"{name}.pw", (out, channels, 1, 1))
        if leaves:
            head, width = leaves
            normalised_conv(f"{head}.conv", (width, out, 1, 1))
            conv(f"{head}.hidden", (width, width, 1, 1))
            conv(f"{head}.classifier", (10, width))
        if residual:
            # So that a new block passes on what it reads.
            params[f"{name}.pw.bn.scale"][:] = 0
    conv("classifier", (10, BLOCKS[-1][0]))
    begin = pruning.values_of(onnx.load(catalogue.FOLDER / "fashion-mobilenet.onnx"))
    return ({name: begin.get(name, value) for name, value in values.items()} for values in (params, state))


def forward(params, state, x, is_training):
    """Logits (outputs, classes, N) and the next state."""
    logits = []

    def normalised_conv(name, x, function, *rest):
        nonlocal state
        y, state = layers.batchnorm(function(x, params[f"{name}.weight"], *rest), params, state, f"{name}.bn", is_training)
        return y

    def dense(name, x):
        weight = params[f"{name}.weight"]
        return layers.dense(x, weight.reshape(weight.shape[:2]), params[f"{name}.bias"])

    x = layers.relu6(normalised_conv("stem", x, layers.conv, 2, 1))
    for name, _, _, stride, residual, leaves in blocks():
        y = layers.relu6(normalised_conv(f"{name}.dw", x, layers.depthwise, stride))
        y = normalised_conv(f"{name}.pw", y, layers.conv)
        x = x + y if residual else layers.relu6(y)
        if leaves:
            head, _ = leaves
            y = layers.relu6(normalised_conv(f"{head}.conv", x, layers.conv))
            y = layers.relu6(dense(f"{head}.hidden", y.mean((1, 2))))
            logits.append(dense(f"{head}.classifier", y))
    logits.append(dense("classifier", x.mean((1, 2))))
    return jnp.stack(logits), state


def loss(logits, wanted):
    """Weighted mean of all outputs' losses; exits learn from the last output too, which learns nothing from them."""
    logits = logits.transpose(0, 2, 1)
    by_label = optax.softmax_cross_entropy(logits, wanted).mean(1)
    by_last = optax.softmax_cross_entropy(logits, jax.nn.softmax(jax.lax.stop_gradient(logits[-1]))).mean(1)
    exits = (1 - DISTILLATION) * by_label[:-1] + DISTILLATION * by_last[:-1]
    return WEIGHTS @ jnp.append(exits, by_label[-1]) / WEIGHTS.sum()


def export(path, params, state, accuracies):
    graph = Graph("fashion-exits", "image", [1, 1, 28, 28])

    def normalised_conv(name, x, relu6, **attributes):
        x = graph.conv(name, x, params[f"{name}.weight"], **attributes)
        x = graph.batchnorm(
            f"{name}.bn", x, params[f"{name}.bn.scale"], params[f"{name}.bn.bias"],
            state[f"{name}.bn.mean"], state[f"{name}.bn.variance"], layers.BATCHNORM_EPSILON,
        )
        return graph.relu6(f"{name}.relu6", x) if relu6 else x

    def classify(prefix, x, output):
        x = graph.node("Flatten", f"{prefix}flatten", [x], axis=1)
        name = f"{prefix}classifier"
        x = graph.gemm(name, x, params[f"{name}.weight"], params[f"{name}.bias"])
        graph.node("Softmax", f"{prefix}softmax", [x], output=output, axis=1)

    x = normalised_conv("stem", "image", True, stride=2, pad=1)
    for name, channels, _, stride, residual, leaves in blocks():
        y = normalised_conv(f"{name}.dw", x, True, stride=stride, pad=1, group=channels)
        y = normalised_conv(f"{name}.pw", y, not residual)
        x = graph.node("Add", f"{name}.add", [x, y]) if residual else y
        if leaves:
            head, _ = leaves
            y = normalised_conv(f"{head}.conv", x, True)
            y = graph.node("GlobalAveragePool", f"{head}.pool", [y])
            y = graph.conv(f"{head}.hidden", y, params[f"{head}.hidden.weight"], params[f"{head}.hidden.bias"])
            classify(f"{head}.", graph.relu6(f"{head}.hidden.relu6", y), head)
    classify("", graph.node("GlobalAveragePool", "pool", [x]), OUTPUTS[-1])
    graph.save(path, OUTPUTS, [1, 10], {
        "labels": ",".join(datasets.FASHION_LABELS),
        "input_scale": "pixel / 255",
        "input_padding": "none: 28x28 grey image",
        "training_accuracy": f"{accuracies[-1]:.4f}",
        "exit_accuracies": ",".join(f"{accuracy:.4f}" for accuracy in accuracies[:-1]),
        "dataset": "Fashion-MNIST",
        "licence": "MIT OR Apache-2.0",
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory for the data")
    parser.add_argument("-o", "--output", default=pathlib.Path(__file__).parent.parent / "fashion-exits.onnx")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    images, labels = datasets.fashion(arguments.cache, "train")
    params, state = initial_parameters(arguments.seed)
    print(f"{sum(p.size for p in params.values())} trained parameters")
    params, state = training.train(
        forward, params, state, images, labels,
        epochs=arguments.epochs, seed=arguments.seed, loss=loss, **SETTINGS,
    )
    images, labels = datasets.fashion(arguments.cache, "t10k")
    correct = (training.predict(forward, params, state, images) == labels).sum(1)
    for name, count in zip(OUTPUTS, correct):
        print(f"test: {name} has {count} of {len(labels)} right")
    export(arguments.output, params, state, correct / len(labels))


if __name__ == "__main__":
    main()
