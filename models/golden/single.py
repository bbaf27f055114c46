"""Small files of one operator or a few, described by tensors and options."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

FLOAT, INT32, UINT8, INT64, INT8 = 0, 2, 3, 4, 9


class Tensor:
    """An activation, or with `data` a constant; `scale` one number or one for each slice of `axis`."""

    def __init__(self, shape, kind, scale=None, zero=0, data=None, axis=0):
        self.shape, self.kind, self.data, self.axis = list(shape), kind, data, axis
        self.scale = None if scale is None else np.atleast_1d(np.float32(scale))
        self.zero = zero


def ints(values):
    """A constant of 32-bit integers: a list, or one number without dimensions."""
    values = np.array(values, np.int32)
    return Tensor(values.shape, INT32, data=values)


def options_of(kind, fields):
    table = getattr(schema, f"{kind}T")()
    for name, value in fields.items():
        if not hasattr(table, name):
            raise AttributeError(f"{kind} has no {name}")
        setattr(table, name, value)
    return table


class File:
    """A file under construction. Tensors without data that no operator makes are its inputs."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.without_data, self.made = [], []

    def tensor(self, tensor, name):
        table = schema.TensorT()
        table.name, table.type, table.buffer, table.shape = name, tensor.kind, 0, tensor.shape
        if tensor.data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            table.buffer = len(self.model.buffers) - 1
        if tensor.scale is not None:
            table.quantization = schema.QuantizationParametersT()
            table.quantization.scale = tensor.scale
            table.quantization.zeroPoint = np.full(len(tensor.scale), tensor.zero, np.int64)
            table.quantization.quantizedDimension = tensor.axis
        self.graph.tensors.append(table)
        index = len(self.graph.tensors) - 1
        if tensor.data is None:
            self.without_data.append(index)
        return index

    def operator(self, operator, options, inputs, outputs):
        """`options` is the name of their table and its fields."""
        node = schema.OperatorT()
        node.opcodeIndex, node.inputs, node.outputs = len(self.graph.operators), inputs, outputs
        if options is not None:
            kind, fields = options
            node.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
            node.builtinOptions = options_of(kind, fields)
        self.graph.operators.append(node)
        self.made.extend(outputs)
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, operator)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = 1
        self.model.operatorCodes.append(code)

    def content(self, outputs):
        self.graph.inputs = [index for index in self.without_data if index not in self.made]
        self.graph.outputs = outputs
        self.model.subgraphs = [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def file_of(operator, options, operands, results):
    """The bytes of a file with one operator."""
    file = File()
    inputs = [file.tensor(tensor, f"x{number}") for number, tensor in enumerate(operands)]
    outputs = [file.tensor(tensor, f"y{number}") for number, tensor in enumerate(results)]
    file.operator(operator, options, inputs, outputs)
    return file.content(outputs)
