"""Runs TensorFlow Lite models with the reference kernels, without delegates."""

import zlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

MASK = (1 << 64) - 1


def noise(seed, count):
    """`count` bytes of xorshift64*: the test draws the same."""
    state = seed
    values = np.empty(count, np.uint8)
    for index in range(count):
        state ^= state >> 12
        state = (state ^ (state << 25)) & MASK
        state ^= state >> 27
        values[index] = ((state * 0x2545F4914F6CDD1D) & MASK) >> 56
    return values


def as_int8(values):
    """Values as int8, those of uint8 less 128; None if they are of another type."""
    if values.dtype == np.int8:
        return values
    if values.dtype == np.uint8:
        return (values ^ 0x80).view(np.int8)
    return None


def crc(values):
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


def accepted(content):
    """The file, changed where the runtime refuses what older ones wrote: a dimension of scales that
    a bias does not have. Nothing reads it."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    is_changed = False
    for tensor in model.subgraphs[0].tensors:
        scales = tensor.quantization
        rank = 0 if tensor.shape is None else len(tensor.shape)
        if scales is not None and rank == 1 and scales.quantizedDimension > 0:
            scales.quantizedDimension = 0
            is_changed = True
    if not is_changed:
        return content
    builder = flatbuffers.Builder(len(content))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class Run:
    """A model that has been run once on inputs drawn from a seed."""

    def __init__(self, content, seed):
        interpreter = Interpreter(
            model_content=accepted(content),
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=True,
        )
        interpreter.allocate_tensors()
        self.inputs = interpreter.get_input_details()
        for number, detail in enumerate(self.inputs):
            count = int(np.prod(detail["shape"]))
            drawn = noise(seed + number, count)
            kind = detail["dtype"]
            if kind == np.float32:
                scale = drawn.astype(np.float32) / 255.0
                values = scale
            elif kind == np.uint8:
                values = drawn ^ 0x80
            elif kind == np.int8:
                values = drawn.view(np.int8)
            else:
                raise ValueError(f"input {detail['name']} is of {kind}")
            interpreter.set_tensor(detail["index"], values.reshape(detail["shape"]))
        interpreter.invoke()
        self.interpreter = interpreter
        self.outputs = interpreter.get_output_details()

    def results(self):
        """Name and values of every operator's results; handles of variables have none."""
        details = {d["index"]: d for d in self.interpreter.get_tensor_details()}
        for operator in self.interpreter._get_ops_details():
            for index in operator["outputs"]:
                if index in details and details[index]["dtype"] != np.object_:
                    yield details[index]["name"], self.interpreter.get_tensor(index)
