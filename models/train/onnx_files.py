"""Runs ONNX files of floats in ONNX Runtime and in our float interpreter, and compares.

    python models/train/onnx_files.py FOLDER DIR [WORD ...]

FOLDER is searched for `.onnx` files, with words only for those whose paths hold one. Each whose inputs and outputs are
all floats runs on inputs drawn from -1 to 1, open dimensions being 64 but the first, and is written into DIR with them and ONNX
Runtime's results. Prints how many give these to 1e-5 of the largest value, and what is said of the others.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from outcomes import in_words, outcomes


def arrays(session, random):
    """Inputs by name, and outputs; nothing unless all are floats."""
    ports = session.get_inputs()
    if not ports or any(port.type != "tensor(float)" for port in ports):
        return None
    given = [(random.random(port.shape, np.float32) * 2 - 1).astype(np.float32) for port in ports]
    results = session.run(None, dict(zip([port.name for port in ports], given)))
    if any(result.dtype != np.float32 for result in results):
        return None
    return [("input", array) for array in given] + [("output", array) for array in results]


def write(path, stem, folder, random):
    """Whether the file can be compared."""
    model = onnx.load(path)
    weights = {weight.name for weight in model.graph.initializer}
    for value in model.graph.input:
        for place, size in enumerate(value.type.tensor_type.shape.dim if value.name not in weights else ()):
            if size.dim_value <= 0:
                size.dim_value = 64 if place else 1
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    ports = arrays(session, random)
    if ports is None:
        return False
    (folder / f"{stem}.onnx").write_bytes(model.SerializeToString())
    for index, (_, array) in enumerate(ports):
        np.ascontiguousarray(array).tofile(folder / f"{stem}.{index}")
    lines = [" ".join([role, "float", *map(str, array.shape)]) for role, array in ports]
    (folder / f"{stem}.ports").write_text("\n".join(lines) + "\n")
    return True


def main():
    source, folder, words = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    random = np.random.default_rng(5)
    paths = sorted(path for path in source.rglob("*.onnx") if not words or any(word in str(path) for word in words))
    compared = 0
    for path in paths:
        # Folders are part of the name, since many files are called `model`.
        stem = "__".join(path.relative_to(source).with_suffix("").parts)[-150:]
        try:
            compared += write(path, stem, folder, random)
        except Exception as error:  # ONNX Runtime raises whatever it likes.
            print(f"skipped  {stem}: {str(error)[:100]}")
    found = outcomes(folder)
    print(f"{len(paths)} files, {compared} of floats alone that ONNX Runtime runs")
    print(in_words(found))


main()
