"""Float models in ONNX Runtime or TensorFlow Lite and here, side by side.

    python floats.py FOLDER

Runs every float .onnx and .tflite file of a folder on drawn inputs in ONNX Runtime or TensorFlow Lite and in the float
interpreter, and prints how far the outputs are apart, as a share of the largest. Sums are made in another order there, so
that equal bits are not to be expected; a share above one in a thousand counts as wrong.
"""

import pathlib
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from onnx_runtime import as_ours, channels_last, draw, is_quantised, open_session, ours

ROUNDS = 4
FAR = 1e-3


class Onnx:
    """A model in ONNX Runtime."""

    def __init__(self, path):
        if is_quantised(path):
            raise ValueError("it is quantised")
        self.session = open_session(path)

    def run(self, round):
        values = draw(self.session, round)
        inputs = [values[port.name] for port in self.session.get_inputs()]
        return inputs, self.session.run(None, values)


class TfLite:
    """A model in TensorFlow Lite, with its reference kernels."""

    def __init__(self, path):
        self.model = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        self.model.allocate_tensors()
        if any(detail["dtype"] in (np.int8, np.uint8) for detail in self.model.get_tensor_details()):
            raise ValueError("it is quantised")

    def run(self, round):
        rng = np.random.default_rng(round)
        inputs = []
        for detail in self.model.get_input_details():
            inputs.append(rng.uniform(-1, 1, detail["shape"]).astype(detail["dtype"]))
            self.model.set_tensor(detail["index"], inputs[-1])
        self.model.invoke()
        return inputs, [self.model.get_tensor(detail["index"]) for detail in self.model.get_output_details()]


def compare(path):
    """How far outputs are apart at most; an error says why they are not compared."""
    theirs = (Onnx if path.suffix == ".onnx" else TfLite)(path)
    furthest, agree = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shapes, sizes = ours(path, folder)
        wanted = []
        for round in range(ROUNDS):
            inputs, outputs = theirs.run(round)
            if any(array.dtype != np.float32 for array in inputs + outputs):
                raise ValueError("it takes or gives other than floats")
            flat = [as_ours(array, dims).ravel() for array, dims in zip(inputs, shapes, strict=True)]
            np.concatenate(flat).astype("<f4").tofile(folder / f"{round}.input")
            wanted.append(outputs)
        ours(path, folder)
        for round, outputs in enumerate(wanted):
            rest = np.fromfile(folder / f"{round}.output", "<f4")
            for output, (count, _) in zip(outputs, sizes, strict=True):
                mine, rest = rest[:count], rest[count:]
                # Outputs have channels last, unless the file has them so or they are no pictures.
                layouts = [output.ravel(), channels_last(output).ravel()]
                output = min(layouts, key=lambda output: np.abs(mine - output).max(initial=0))
                largest = np.abs(output).max(initial=1e-6)
                furthest = max(furthest, float(np.abs(mine - output).max(initial=0) / largest))
                agree += bool(output[mine.argmax()] >= output.max() - FAR * largest)
    return furthest, agree == ROUNDS * len(sizes)


def main():
    compared = wrong = 0
    print("| model | furthest, of the largest | same largest |\n|---|---|---|")
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        if path.suffix not in (".onnx", ".tflite"):
            continue
        try:
            furthest, agrees = compare(path)
        except Exception as error:  # Each library has its own, and another file may do.
            print(f"not compared: {path.name}: {str(error).strip().splitlines()[-1][:120]}", file=sys.stderr)
            continue
        compared += 1
        is_wrong = furthest > FAR or not agrees
        wrong += is_wrong
        print(f"| {path.name} | {furthest:.1e} | {'yes' if agrees else 'no'} |{' WRONG' if is_wrong else ''}", flush=True)
    print(f"{compared} compared, {wrong} further apart than {FAR}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
