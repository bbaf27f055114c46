"""Quantised ONNX models in ONNX Runtime and here, side by side.

    python onnx_runtime.py FOLDER [--quantise]

Runs every quantised .onnx file of a folder on drawn inputs in ONNX Runtime and in the int8 reference interpreter, and
prints how far the outputs are apart in steps of the output. With --quantise, float files are quantised by ONNX Runtime
first, as QDQ and as QOperator, channel by channel. Equal bits are not to be expected: ONNX Runtime multiplies by floats and
rounds halves to even, where TensorFlow Lite's integers are followed here. It runs without optimisations, so that each
operator computes what the standard says: optimised for x86-64 without VNNI, it adds products in 16 bits that saturate.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

ROUNDS = 16
KINDS = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8}


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options)


def draw(session, round):
    """Inputs of a round: floats between -1 and 1, any bytes."""
    rng = np.random.default_rng(round)
    values = {}
    for port in session.get_inputs():
        kind = KINDS[port.type]
        shape = [dim if isinstance(dim, int) and dim > 0 else 1 for dim in port.shape]
        if kind == np.float32:
            values[port.name] = rng.uniform(-1, 1, shape).astype(kind)
        else:
            limits = np.iinfo(kind)
            values[port.name] = rng.integers(limits.min, limits.max + 1, shape).astype(kind)
    return values


def channels_last(array):
    return np.moveaxis(array, 1, -1) if array.ndim > 2 else array


def as_ours(array, dims):
    """An input with channels last, unless the file has it so."""
    return array if list(array.shape) == dims else channels_last(array)


def ours(path, folder):
    """Runs the reference interpreter on the folder's inputs: what it prints, by the first word."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "tilewright-formats", "--example", "outputs", "--"]
    ran = subprocess.run([*command, str(path), str(folder)], capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip().splitlines()[-1])
    lines = [line.split() for line in ran.stdout.splitlines()]
    inputs = [[int(dim) for dim in words] for kind, *words in lines if kind == "input"]
    return inputs, [(int(words[0]), float(words[1])) for kind, *words in lines if kind == "output"]


def is_quantised(path):
    nodes = onnx.load(path, load_external_data=False).graph.node
    return any("Linear" in node.op_type for node in nodes)


class Inputs(quantization.CalibrationDataReader):
    """What ONNX Runtime calibrates on."""

    def __init__(self, path):
        session = open_session(path)
        self.rounds = iter([draw(session, 1000 + round) for round in range(4)])

    def get_next(self):
        return next(self.rounds, None)


def quantised(path, into):
    """The file as ONNX Runtime quantises it, in both forms."""
    made = {}
    plain = into / "plain.onnx"
    quant_pre_process(str(path), str(plain), skip_symbolic_shape=True)
    for form in (quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator):
        target = into / f"{form.name}.onnx"
        quantization.quantize_static(
            str(plain),
            str(target),
            Inputs(plain),
            quant_format=form,
            per_channel=True,
            activation_type=quantization.QuantType.QInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        made[f"{path.name}, {form.name}"] = target
    return made


def compare(path):
    """A row of the table."""
    session = open_session(path)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try:
            shapes, sizes = ours(path, folder)
        except RuntimeError as error:
            return str(error), True
        theirs = []
        for round in range(ROUNDS):
            values = draw(session, round)
            arrays = zip((values[port.name] for port in session.get_inputs()), shapes, strict=True)
            flat = [as_ours(array, dims).ravel().astype("<f4") for array, dims in arrays]
            np.concatenate(flat).tofile(folder / f"{round}.input")
            theirs.append(session.run(None, values))
        ours(path, folder)
        apart, agree = [], 0
        for round, outputs in enumerate(theirs):
            rest = np.fromfile(folder / f"{round}.output", "<f4")
            first = None
            for output, (count, step) in zip(outputs, sizes, strict=True):
                mine, rest = rest[:count], rest[count:]
                wanted = channels_last(output).ravel().astype(np.float32)
                if output.dtype != np.float32:
                    return "integer outputs are not compared", False
                apart.append(np.abs(mine - wanted) / (step or np.abs(wanted).max()))
                first = (mine, wanted) if first is None else first
            mine, wanted = first
            agree += bool(wanted[mine.argmax()] == wanted.max())
        apart = np.round(np.concatenate(apart))
    share = [100 * float((apart <= steps).mean()) for steps in (0, 1, 2)]
    unit = f"{share[0]:.1f} | {share[1]:.1f} | {share[2]:.1f} | {int(apart.max())} | {agree} of {ROUNDS}"
    return unit, False


def main():
    arguments = [word for word in sys.argv[1:] if word != "--quantise"]
    failed = False
    print("| model | equal, % | at most 1 step, % | at most 2 steps, % | furthest, steps | same largest |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as into:
        for path in sorted(pathlib.Path(arguments[0]).glob("*.onnx")):
            if is_quantised(path):
                made = {path.name: path}
            elif "--quantise" in sys.argv:
                made = quantised(path, pathlib.Path(into))
            else:
                continue
            for name, file in made.items():
                row, wrong = compare(file)
                failed |= wrong
                print(f"| {name} | {row} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
