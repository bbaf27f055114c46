"""Runs ONNX's own tests of operators through our importer and float interpreter.

    python models/train/onnx_node_tests.py DIR [WORD ...]

Needs the Python packages `onnx` and `numpy`. Writes each test of an operator that a convolutional network uses into
DIR: as one file in which the first operand is given and all others are constant, and, where an operator has several
float operands, as one in which all floats are given. With words: only tests whose names hold one. Prints how many
give the recorded results (to 1e-5 of the largest value, integers of 8 bits to one), and what is said of the others.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from outcomes import in_words, outcomes

OPERATORS = set(
    """Abs Add ArgMax AveragePool BatchNormalization Cast Ceil Clip Concat Constant ConstantOfShape Conv ConvTranspose Cos
    DepthToSpace DequantizeLinear Div Dropout Elu Erf Exp Expand Flatten Floor Gather Gelu Gemm GlobalAveragePool
    GlobalMaxPool HardSigmoid HardSwish Identity LRN LeakyRelu Log LogSoftmax MatMul Max MaxPool Mean Min Mish Mul Neg
    PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear Reciprocal ReduceMax ReduceMean ReduceSum Relu Reshape Resize
    Round Selu Shape Sigmoid Sign Sin Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tanh
    Tile Transpose Unsqueeze Upsample""".split()
)
# Operators whose operands may all be activations.
JOINING = {"Add", "Concat", "Div", "MatMul", "Max", "Mean", "Min", "Mul", "PRelu", "Sub", "Sum"}


def variants(case):
    """Name, model and the names of the graph's inputs that stay inputs."""
    graph = case.model.graph
    names = [value.name for value in graph.input]
    values = dict(zip(names, (np.asarray(array) for array in case.data_sets[0][0])))
    # Types that NumPy does not have, sequences, optional values.
    everything = [*values.values(), *(np.asarray(array) for array in case.data_sets[0][1])]
    if any(array.dtype.kind not in "fiub" for array in everything):
        return
    kinds = (np.float32, np.uint8, np.int8)
    given = [name for name in names if values[name].dtype in kinds and values[name].size > 0]
    if not given:
        return
    yield case.name, given[:1], values
    floats = [name for name in given if values[name].dtype == np.float32]
    if graph.node[0].op_type in JOINING and len(floats) > 1:
        yield f"{case.name}.given", floats, values


def write(folder, name, case, given, values):
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    del model.graph.input[:]
    for value in case.model.graph.input:
        if value.name in given:
            model.graph.input.append(value)
        else:
            model.graph.initializer.append(numpy_helper.from_array(values[value.name], value.name))
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    lines = []
    arrays = [("input", values[name]) for name in given]
    arrays += [("output", np.asarray(array)) for array in case.data_sets[0][1]]
    for index, (role, array) in enumerate(arrays):
        kind = {"float32": "float", "uint8": "uint8", "int8": "int8"}.get(array.dtype.name, "other")
        np.ascontiguousarray(array).astype(np.float32).tofile(folder / f"{name}.{index}")
        lines.append(" ".join([role, kind, *map(str, array.shape)]))
    (folder / f"{name}.ports").write_text("\n".join(lines) + "\n")


def main():
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    cases = collect_testcases(None)
    chosen = [
        case
        for case in cases
        if {node.op_type for node in case.model.graph.node} <= OPERATORS
        and all(node.domain in ("", "ai.onnx") for node in case.model.graph.node)
        and (not words or any(word in case.name for word in words))
    ]
    written = set()
    for case in chosen:
        for name, given, values in variants(case):
            write(folder, name, case, given, values)
            written.add(case.name)
    found = outcomes(folder)
    print(f"{len(cases)} tests in all, {len(chosen)} of these operators, {len(written)} with an operand of floats or bytes")
    print(in_words(found))


main()
