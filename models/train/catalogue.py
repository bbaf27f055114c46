"""What evaluate.py and samples.py must know of each model."""

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np

import datasets

FOLDER = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    load: Callable  # (cache, "train" or "t10k") -> images, labels
    labels: list
    margin: int  # zero padding on every side, in pixels
    sample_prefix: str | None  # none: no samples of its own
    minimum_accuracy: float  # of the last output
    maximum_parameters: int

    @property
    def path(self):
        return FOLDER / f"{self.name}.onnx"

    def sample_name(self, index, label):
        """File name of the test image `index`."""
        if self.sample_prefix == "mnist":
            return f"mnist-{index}-label{label}.png"
        slug = self.labels[label].lower().replace("/", "-").replace(" ", "-")
        return f"{self.sample_prefix}-{index}-{slug}.png"


MODELS = [
    Entry("lenet5", datasets.mnist, datasets.MNIST_LABELS, 2, "mnist", 0.988, 61_706),
    Entry("fashion-mobilenet", datasets.fashion, datasets.FASHION_LABELS, 0, "fashion", 0.91, 60_000),
    Entry("fashion-exits", datasets.fashion, datasets.FASHION_LABELS, 0, None, 0.925, 200_000),
]


def probabilities(session, images, margin):
    """Runs (N, 28, 28) uint8 images one by one; returns (outputs, N, 10)."""
    feed = session.get_inputs()[0].name
    x = datasets.pad_images(images, margin)[:, None, None].astype(np.float32) / 255
    return np.concatenate([session.run(None, {feed: image}) for image in x], 1)
