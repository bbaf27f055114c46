"""Records what ONNX Runtime makes of single operators on integers: onnx/<case>.onnx and onnx/records.txt.

    python onnx_operators.py

A record is a line: the case, then in hexadecimal the bytes of all inputs and those of the output, in the file's order
of elements. ONNX Runtime runs without optimisations; weights have seven bits, since for x86-64 without VNNI it adds two
products of uint8 and int8 in 16 bits that saturate.
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

INTO = pathlib.Path(__file__).parent / "onnx"
KINDS = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8}
MICROSOFT = "com.microsoft"


class Case:
    """One operator with its quantised operands and result."""

    def __init__(self, op, kind, result, domain="", **attributes):
        self.op, self.kind, self.result, self.domain, self.attributes = op, kind, result, domain, attributes
        self.names, self.inputs, self.constants = [], [], []
        self.rng = np.random.default_rng(len(op))

    def constant(self, values):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        self.names.append(name)
        return self

    def scale(self, scale, zero, kind=None):
        self.constant(np.float32(scale))
        return self.constant(np.asarray(zero, kind or self.kind))

    def input(self, shape, scale, zero):
        name = f"input{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[self.kind], shape))
        self.names.append(name)
        return self.scale(scale, zero)

    def weights(self, shape, scales):
        self.constant(self.rng.integers(-63, 64, shape).astype(np.int8))
        return self.scale(scales, np.zeros(np.shape(scales), np.int8), np.int8)

    def bytes(self, shape, scale, zero):
        """Weights of any byte: their differences from the zero point do not fit eight bits."""
        self.constant(self.rng.integers(0, 256, shape).astype(np.uint8))
        return self.scale(scale, zero, np.uint8)

    def bias(self, count):
        return self.constant(self.rng.integers(-2000, 2000, count).astype(np.int32))

    def model(self):
        node = helper.make_node(self.op, self.names, ["result"], "node", domain=self.domain, **self.attributes)
        output = helper.make_tensor_value_info("result", KINDS[self.kind], self.result)
        graph = helper.make_graph([node], "case", self.inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def cases():
    per_channel = np.linspace(0.002, 0.006, 5).astype(np.float32)
    for kind, zero in ((np.int8, -3), (np.uint8, 125)):
        tag = np.dtype(kind).name
        conv = Case("QLinearConv", kind, [1, 5, 4, 4], pads=[1, 1, 1, 1], strides=[2, 2])
        yield f"conv-{tag}", conv.input([1, 3, 7, 8], 0.05, zero).weights([5, 3, 3, 3], per_channel).scale(0.1, zero).bias(5)
        deep = Case("QLinearConv", kind, [1, 6, 5, 5], group=6, pads=[1, 1, 1, 1])
        yield f"depthwise-{tag}", deep.input([1, 6, 5, 5], 0.04, zero).weights([6, 1, 3, 3], 0.01).scale(0.06, zero).bias(6)
        gemm = Case("QGemm", kind, [1, 5], MICROSOFT, transB=1)
        gemm = gemm.input([1, 32], 0.03, zero).weights([5, 32], per_channel).bias(5)
        yield f"gemm-{tag}", gemm.scale(0.02, zero)
        dense = Case("QLinearMatMul", kind, [1, 7])
        yield f"matmul-{tag}", dense.input([1, 24], 0.03, zero).weights([24, 7], 0.01).scale(0.05, zero)
        for op in ("Add", "Mul"):
            pair = Case(f"QLinear{op}", kind, [1, 4, 5, 5], MICROSOFT)
            pair = pair.input([1, 4, 5, 5], 0.03, zero).input([1, 4, 5, 5], 0.05, zero + 7)
            yield f"{op.lower()}-{tag}", pair.scale(0.09, zero - 5)
        concat = Case("QLinearConcat", kind, [1, 7, 3, 4], MICROSOFT, axis=1).scale(0.06, zero)
        concat = concat.input([1, 2, 3, 4], 0.03, zero + 9).input([1, 4, 3, 4], 0.06, zero)
        yield f"concat-{tag}", concat.input([1, 1, 3, 4], 0.07, zero - 20)
        pool = Case("QLinearGlobalAveragePool", kind, [1, 6, 1, 1], MICROSOFT)
        yield f"global-average-{tag}", pool.input([1, 6, 4, 5], 0.04, zero).scale(0.02, zero + 4)
        leaky = Case("QLinearLeakyRelu", kind, [1, 2, 8, 8], MICROSOFT, alpha=0.1)
        yield f"leaky-{tag}", leaky.input([1, 2, 8, 8], 0.05, zero).scale(0.04, zero - 30)
        sigmoid = Case("QLinearSigmoid", kind, [1, 2, 8, 8], MICROSOFT)
        yield f"sigmoid-{tag}", sigmoid.input([1, 2, 8, 8], 0.05, zero).scale(1 / 256, -128 if kind == np.int8 else 0)

    conv = Case("QLinearConv", np.uint8, [1, 5, 4, 4], pads=[1, 1, 1, 1], strides=[2, 2])
    conv = conv.input([1, 3, 7, 8], 0.05, 125).bytes([5, 3, 3, 3], 0.004, 133)
    yield "conv-of-bytes-uint8", conv.scale(0.2, 125).bias(5)
    deep = Case("QLinearConv", np.uint8, [1, 6, 5, 5], group=6, pads=[1, 1, 1, 1])
    deep = deep.input([1, 6, 5, 5], 0.04, 125).bytes([6, 1, 3, 3], 0.01, 90)
    yield "depthwise-of-bytes-uint8", deep.scale(0.1, 125).bias(6)
    dense = Case("QLinearMatMul", np.uint8, [1, 7]).input([1, 24], 0.03, 125).bytes([24, 7], 0.01, 200)
    yield "matmul-of-bytes-uint8", dense.scale(0.1, 125)


def main():
    INTO.mkdir(exist_ok=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    records = []
    for name, case in cases():
        file = case.model().SerializeToString()
        (INTO / f"{name}.onnx").write_bytes(file)
        session = onnxruntime.InferenceSession(file, options)
        limits = np.iinfo(case.kind)
        given = {}
        for port in case.inputs:
            shape = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
            given[port.name] = case.rng.integers(limits.min, limits.max + 1, shape).astype(case.kind)
        [result] = session.run(None, given)
        assert list(result.shape) == case.result, (name, result.shape)
        words = b"".join(values.tobytes() for values in given.values())
        records.append(f"{name} {words.hex()} {result.tobytes().hex()}\n")
    (INTO / "records.txt").write_text("".join(records))


if __name__ == "__main__":
    main()
