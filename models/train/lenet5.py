"""Trains LeNet-5 on MNIST and writes lenet5.onnx."""

import argparse
import pathlib

import jax
import numpy as np

import datasets
import layers
import training
from onnx_graph import Graph

MARGIN = 2  # 28x28 digits become 32x32
PARAMETERS = 61_706
SETTINGS = {
    "peak_rate": 3e-3, "weight_decay": 1e-3, "smoothing": 0.02,
    "distortion": {"shift": 2.0, "degrees": 12.0, "zoom": 0.1, "mirror": False},
}


def initial_parameters(seed):
    random = np.random.default_rng(seed)
    shapes = {
        "conv1": (6, 1, 5, 5), "conv2": (16, 6, 5, 5),
        "fc1": (120, 400), "fc2": (84, 120), "fc3": (10, 84),
    }
    params = {}
    for name, shape in shapes.items():
        params[f"{name}.weight"] = training.he_normal(random, shape)
        params[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    assert sum(p.size for p in params.values()) == PARAMETERS
    return params


def forward(params, state, x, _training):
    for name in ("conv1", "conv2"):
        bias = params[f"{name}.bias"][:, None, None, None]
        x = layers.max_pool2(jax.nn.relu(layers.conv(x, params[f"{name}.weight"]) + bias))
    x = x.reshape(-1, x.shape[-1])  # channels, rows, columns: the order of ONNX Flatten on NCHW
    for name in ("fc1", "fc2"):
        x = jax.nn.relu(layers.dense(x, params[f"{name}.weight"], params[f"{name}.bias"]))
    return layers.dense(x, params["fc3.weight"], params["fc3.bias"]), state


def export(path, params, accuracy):
    graph = Graph("lenet5", "image", [1, 1, 32, 32])
    x = "image"
    for number in ("1", "2"):
        name = f"conv{number}"
        x = graph.conv(name, x, params[f"{name}.weight"], params[f"{name}.bias"])
        x = graph.node("Relu", f"relu{number}", [x])
        x = graph.node("MaxPool", f"pool{number}", [x], kernel_shape=[2, 2], pads=[0, 0, 0, 0], strides=[2, 2])
    x = graph.node("Flatten", "flatten", [x], axis=1)
    for name, relu in (("fc1", "relu3"), ("fc2", "relu4"), ("fc3", None)):
        x = graph.gemm(name, x, params[f"{name}.weight"], params[f"{name}.bias"])
        if relu:
            x = graph.node("Relu", relu, [x])
    graph.node("Softmax", "softmax", [x], output="probabilities", axis=1)
    graph.save(path, ["probabilities"], [1, 10], {
        "labels": ",".join(datasets.MNIST_LABELS),
        "input_scale": "pixel / 255",
        "input_padding": "28x28 grey image, zero-padded by 2 pixels on every side to 32x32",
        "training_accuracy": f"{accuracy:.4f}",
        "dataset": "MNIST",
        "licence": "MIT OR Apache-2.0",
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory for the data")
    parser.add_argument("-o", "--output", default=pathlib.Path(__file__).parent.parent / "lenet5.onnx")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    images, labels = datasets.mnist(arguments.cache, "train")
    params, state = training.train(
        forward, initial_parameters(arguments.seed), {}, datasets.pad_images(images, MARGIN), labels,
        epochs=arguments.epochs, seed=arguments.seed, **SETTINGS,
    )
    images, labels = datasets.mnist(arguments.cache, "t10k")
    correct = int((training.predict(forward, params, state, datasets.pad_images(images, MARGIN)) == labels).sum())
    print(f"test: {correct} of {len(labels)} right")
    export(arguments.output, params, correct / len(labels))


if __name__ == "__main__":
    main()
