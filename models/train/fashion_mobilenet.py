"""Trains a small MobileNet-style network on Fashion-MNIST and writes fashion-mobilenet.onnx."""

import argparse
import pathlib

import numpy as np

import datasets
import layers
import training
from onnx_graph import Graph

STEM = 24
# (output channels, stride); a block that keeps shape and channels is residual.
BLOCKS = [(48, 1), (48, 1), (96, 2), (96, 1), (96, 1), (128, 1)]
SETTINGS = {
    "peak_rate": 4e-3, "weight_decay": 1e-2, "smoothing": 0.05,
    "distortion": {"shift": 1.5, "degrees": 4.0, "zoom": 0.06, "mirror": True},
}


def blocks():
    """Yields (name, input channels, output channels, stride, residual)."""
    channels = STEM
    for number, (out, stride) in enumerate(BLOCKS, 1):
        yield f"block{number}", channels, out, stride, channels == out and stride == 1
        channels = out


def initial_parameters(seed):
    random = np.random.default_rng(seed)
    params, state = {}, {}

    def normalised_conv(name, shape):
        params[f"{name}.weight"] = training.he_normal(random, shape)
        params[f"{name}.bn.scale"] = np.ones(shape[0], np.float32)
        params[f"{name}.bn.bias"] = np.zeros(shape[0], np.float32)
        state[f"{name}.bn.mean"] = np.zeros(shape[0], np.float32)
        state[f"{name}.bn.variance"] = np.ones(shape[0], np.float32)

    normalised_conv("stem", (STEM, 1, 3, 3))
    for name, channels, out, _, _ in blocks():
        normalised_conv(f"{name}.dw", (channels, 1, 3, 3))
        normalised_conv(f"{name}.pw", (out, channels, 1, 1))
    params["classifier.weight"] = training.he_normal(random, (10, BLOCKS[-1][0]))
    params["classifier.bias"] = np.zeros(10, np.float32)
    return params, state


def forward(params, state, x, is_training):
    def normalise(name, x):
        nonlocal state
        x, state = layers.batchnorm(x, params, state, f"{name}.bn", is_training)
        return x

    x = layers.relu6(normalise("stem", layers.conv(x, params["stem.weight"], stride=2, pad=1)))
    for name, _, _, stride, residual in blocks():
        y = layers.depthwise(x, params[f"{name}.dw.weight"], stride)
        y = layers.relu6(normalise(f"{name}.dw", y))
        y = normalise(f"{name}.pw", layers.conv(y, params[f"{name}.pw.weight"]))
        x = x + y if residual else layers.relu6(y)
    return layers.dense(x.mean((1, 2)), params["classifier.weight"], params["classifier.bias"]), state


def export(path, params, state, accuracy):
    graph = Graph("fashion-mobilenet", "image", [1, 1, 28, 28])

    def normalised_conv(name, x, relu6, **attributes):
        x = graph.conv(name, x, params[f"{name}.weight"], **attributes)
        x = graph.batchnorm(
            f"{name}.bn", x, params[f"{name}.bn.scale"], params[f"{name}.bn.bias"],
            state[f"{name}.bn.mean"], state[f"{name}.bn.variance"], layers.BATCHNORM_EPSILON,
        )
        return graph.relu6(f"{name}.relu6", x) if relu6 else x

    x = normalised_conv("stem", "image", True, stride=2, pad=1)
    for name, channels, _, stride, residual in blocks():
        y = normalised_conv(f"{name}.dw", x, True, stride=stride, pad=1, group=channels)
        y = normalised_conv(f"{name}.pw", y, not residual)
        x = graph.node("Add", f"{name}.add", [x, y]) if residual else y
    x = graph.node("GlobalAveragePool", "pool", [x])
    x = graph.node("Flatten", "flatten", [x], axis=1)
    x = graph.gemm("classifier", x, params["classifier.weight"], params["classifier.bias"])
    graph.node("Softmax", "softmax", [x], output="probabilities", axis=1)
    graph.save(path, ["probabilities"], [1, 10], {
        "labels": ",".join(datasets.FASHION_LABELS),
        "input_scale": "pixel / 255",
        "input_padding": "none: 28x28 grey image",
        "training_accuracy": f"{accuracy:.4f}",
        "dataset": "Fashion-MNIST",
        "licence": "MIT OR Apache-2.0",
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory for the data")
    parser.add_argument("-o", "--output", default=pathlib.Path(__file__).parent.parent / "fashion-mobilenet.onnx")
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    images, labels = datasets.fashion(arguments.cache, "train")
    params, state = initial_parameters(arguments.seed)
    print(f"{sum(p.size for p in params.values())} trained parameters")
    params, state = training.train(
        forward, params, state, images, labels,
        epochs=arguments.epochs, seed=arguments.seed, **SETTINGS,
    )
    images, labels = datasets.fashion(arguments.cache, "t10k")
    correct = int((training.predict(forward, params, state, images) == labels).sum())
    print(f"test: {correct} of {len(labels)} right")
    export(arguments.output, params, state, correct / len(labels))


if __name__ == "__main__":
    main()
