"""Writes ONNX nodes in execution order, opset 17, float32, batch size 1."""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
PRODUCER = "tilewright-models"


class Graph:
    """Nodes are appended in execution order; each method returns the name of its output tensor."""

    def __init__(self, name, input_name, input_shape):
        self.name = name
        self.nodes, self.initializers = [], []
        self.inputs = [helper.make_tensor_value_info(input_name, TensorProto.FLOAT, input_shape)]

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array, np.float32, order="C"), name))
        return name

    def node(self, operator, name, inputs, output=None, **attributes):
        output = output or f"{name}.out"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=name, **attributes))
        return output

    def conv(self, name, x, weight, bias=None, stride=1, pad=0, group=1):
        """`weight` is (out, in / group, k, k)."""
        inputs = [x, self.constant(f"{name}.weight", weight)]
        if bias is not None:
            inputs.append(self.constant(f"{name}.bias", bias))
        return self.node(
            "Conv", name, inputs,
            dilations=[1, 1], group=group, kernel_shape=list(weight.shape[2:]),
            pads=[pad] * 4, strides=[stride] * 2,
        )

    def batchnorm(self, name, x, scale, bias, mean, variance, epsilon):
        values = {"scale": scale, "bias": bias, "mean": mean, "variance": variance}
        inputs = [x] + [self.constant(f"{name}.{key}", value) for key, value in values.items()]
        return self.node("BatchNormalization", name, inputs, epsilon=epsilon)

    def relu6(self, name, x):
        """Clip between the scalars 0 and 6, which all such nodes share."""
        if not any(item.name == "relu6.min" for item in self.initializers):
            self.constant("relu6.min", np.array(0.0))
            self.constant("relu6.max", np.array(6.0))
        return self.node("Clip", name, [x, "relu6.min", "relu6.max"])

    def gemm(self, name, x, weight, bias):
        """`weight` is (out, in)."""
        inputs = [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.node("Gemm", name, inputs, alpha=1.0, beta=1.0, transB=1)

    def save(self, path, outputs, output_shape, metadata):
        """`outputs` are names of tensors, all of one shape."""
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, output_shape) for name in outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name=PRODUCER
        )
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model, full_check=True)
        pathlib.Path(path).write_bytes(model.SerializeToString(deterministic=True))
