"""Writes the calibration sets (*.calibration.npy) and the sample images (samples/*.png)."""

import argparse

import numpy as np
import onnxruntime
from PIL import Image

import catalogue
import datasets

CALIBRATION = 128
SEED = 1
CONFIDENT = 0.9


def balanced(labels, count):
    """`count` indices in which the classes take turns, random within a class."""
    random = np.random.default_rng(SEED)
    classes = [random.permutation(np.flatnonzero(labels == label)) for label in range(10)]
    return [classes[i % 10][i // 10] for i in range(count)]


def write_calibration(entry, cache):
    images, labels = entry.load(cache, "train")
    chosen = datasets.pad_images(images[balanced(labels, CALIBRATION)], entry.margin)[..., None]
    with open(entry.path.with_suffix(".calibration.npy"), "wb") as file:
        np.lib.format.write_array(file, np.ascontiguousarray(chosen), version=(1, 0))


def write_samples(entry, cache):
    """The first test image of each class that the model names with confidence."""
    images, labels = entry.load(cache, "t10k")
    session = onnxruntime.InferenceSession(entry.path, providers=["CPUExecutionProvider"])
    folder = catalogue.FOLDER / "samples"
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{entry.sample_prefix}-*.png"):
        old.unlink()
    head = slice(0, 500)
    [scores] = catalogue.probabilities(session, images[head], entry.margin)
    for label in range(10):
        index = int(np.flatnonzero((labels[head] == label) & (scores[:, label] >= CONFIDENT))[0])
        Image.fromarray(images[index]).save(folder / entry.sample_name(index, label), optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory of the data")
    cache = parser.parse_args().cache
    for entry in catalogue.MODELS:
        write_calibration(entry, cache)
        if entry.sample_prefix:
            write_samples(entry, cache)


if __name__ == "__main__":
    main()
