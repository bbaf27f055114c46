"""Exports networks of the zoo, runs them in ONNX Runtime, and compares with our float interpreter.

    python models/train/zoo_exports.py DIR [NAME ...]

Writes the files into DIR. Without names: the networks below a thousand million MACs. Fails if a
file does not load, an output has another shape, or a value is further from ours than a thousandth
of the output's largest value.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime

MOST_MACS = 1_000_000_000
TOLERANCE = 1e-3


def cargo(package, *words):
    command = ["cargo", "run", "--release", "--quiet", "--package", package, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def images_last(array):
    """NCHW as NHWC; other ranks as they are."""
    return array.transpose(0, 2, 3, 1) if array.ndim == 4 else array


def compare(name, folder):
    cargo("tilewright-zoo", "--example", "exported", "--", name, str(folder))
    session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"))
    [port] = session.get_inputs()
    shape = port.shape
    values = np.fromfile(folder / f"{name}.input", np.float32)
    if len(shape) == 4:
        batch, channels, height, width = shape
        values = values.reshape(batch, height, width, channels).transpose(0, 3, 1, 2)
    outputs = session.run(None, {port.name: np.ascontiguousarray(values.reshape(shape))})
    worst = 0.0
    for index, output in enumerate(outputs):
        ours = np.fromfile(folder / f"{name}.output{index}", np.float32)
        theirs = images_last(output).ravel()
        if ours.shape != theirs.shape:
            return f"output {index} has {theirs.size} values, ours {ours.size}", worst
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return (f"differs by {worst:.1e}" if worst > TOLERANCE else None), worst


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    if not names:
        zoo = json.loads(cargo("tilewright-cli", "--", "zoo", "--json"))
        names = [network["name"] for network in zoo if network["macs"] < MOST_MACS]
    wrong = 0
    for name in names:
        fault, worst = compare(name, folder)
        wrong += fault is not None
        print(f"{name:24} {fault or 'equal'}, largest difference {worst:.1e} of the largest value")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
