"""Records what TensorFlow Lite's reference kernels give for single int8 operators.

Run by developers: pip install tflite==2.18 tflite-runtime==2.14 numpy<2, then
python core/model/tests/golden/record.py > core/model/tests/golden/cases.txt

A case is a line `case NAME key=value ...`, then one line for each operand and for the result:
`in|weights|const|bias|out SHAPE SCALES ZERO VALUES`, scales as bits of 32-bit floats in hex, values
in hex (int8 bytes, or 32-bit big-endian words of biases and indices).
"""

import flatbuffers
import numpy as np
import tflite
from tflite_runtime.interpreter import Interpreter, OpResolverType

RANDOM = np.random.default_rng(20)
INT8, INT32 = tflite.TensorType.INT8, tflite.TensorType.INT32


class Tensor:
    def __init__(self, shape, scale=None, zero=0, data=None, axis=None, kind=INT8):
        self.shape = list(shape)
        self.scale = scale if scale is None else np.atleast_1d(np.float32(scale))
        self.zero, self.data, self.axis, self.kind = zero, data, axis, kind


def model_of(operator, options, tensors, inputs):
    """A file with one operator; the last tensor is its result."""
    b = flatbuffers.Builder(1024)

    def vector(values, start, prepend):
        start(b, len(values))
        for value in reversed(values):
            prepend(value)
        return b.EndVector()

    buffers = []
    tflite.BufferStart(b)
    buffers.append(tflite.BufferEnd(b))
    tables = []
    for index, tensor in enumerate(tensors):
        buffer = 0
        if tensor.data is not None:
            data = b.CreateNumpyVector(np.frombuffer(tensor.data.tobytes(), np.uint8))
            tflite.BufferStart(b)
            tflite.BufferAddData(b, data)
            buffers.append(tflite.BufferEnd(b))
            buffer = len(buffers) - 1
        shape = b.CreateNumpyVector(np.array(tensor.shape, np.int32))
        quantisation = None
        if tensor.scale is not None:
            scales = b.CreateNumpyVector(tensor.scale)
            zeros = b.CreateNumpyVector(np.full(len(tensor.scale), tensor.zero, np.int64))
            tflite.QuantizationParametersStart(b)
            tflite.QuantizationParametersAddScale(b, scales)
            tflite.QuantizationParametersAddZeroPoint(b, zeros)
            tflite.QuantizationParametersAddQuantizedDimension(b, tensor.axis or 0)
            quantisation = tflite.QuantizationParametersEnd(b)
        name = b.CreateString(f"t{index}")
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, tensor.kind)
        tflite.TensorAddBuffer(b, buffer)
        tflite.TensorAddName(b, name)
        if quantisation is not None:
            tflite.TensorAddQuantization(b, quantisation)
        tables.append(tflite.TensorEnd(b))
    code = getattr(tflite.BuiltinOperator, operator)
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(code, 127))
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, 1)
    codes = vector([tflite.OperatorCodeEnd(b)], tflite.ModelStartOperatorCodesVector, b.PrependUOffsetTRelative)
    packed = None
    if options:
        kind, fields = options
        fields = {k: (b.CreateNumpyVector(np.array(v, np.int32)) if isinstance(v, list) else v) for k, v in fields.items()}
        getattr(tflite, f"{kind}Start")(b)
        for field, value in fields.items():
            getattr(tflite, f"{kind}Add{field}")(b, value)
        packed = getattr(tflite, f"{kind}End")(b)
    operands = b.CreateNumpyVector(np.arange(len(tensors) - 1, dtype=np.int32))
    results = b.CreateNumpyVector(np.array([len(tensors) - 1], np.int32))
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, 0)
    tflite.OperatorAddInputs(b, operands)
    tflite.OperatorAddOutputs(b, results)
    if packed is not None:
        tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options[0]))
        tflite.OperatorAddBuiltinOptions(b, packed)
    operators = vector([tflite.OperatorEnd(b)], tflite.SubGraphStartOperatorsVector, b.PrependUOffsetTRelative)
    tables = vector(tables, tflite.SubGraphStartTensorsVector, b.PrependUOffsetTRelative)
    inputs = b.CreateNumpyVector(np.array(inputs, np.int32))
    outputs = b.CreateNumpyVector(np.array([len(tensors) - 1], np.int32))
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tables)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, operators)
    graphs = vector([tflite.SubGraphEnd(b)], tflite.ModelStartSubgraphsVector, b.PrependUOffsetTRelative)
    buffers = vector(buffers, tflite.ModelStartBuffersVector, b.PrependUOffsetTRelative)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, graphs)
    tflite.ModelAddBuffers(b, buffers)
    b.Finish(tflite.ModelEnd(b), b"TFL3")
    return bytes(b.Output())


def text(role, tensor, values):
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    scales = ",".join(f"{bits:08x}" for bits in tensor.scale.view(np.uint32)) if tensor.scale is not None else "-"
    big = values.astype(">i4") if tensor.kind == INT32 else values.astype(np.int8)
    return f"{role} {shape} {scales} {tensor.zero} {big.tobytes().hex()}"


def record(name, operator, options, tensors, hidden=(), given=None):
    """Runs the case and prints it; `hidden` operands are attributes for us, `given` values of the input."""
    inputs = [i for i, tensor in enumerate(tensors[:-1]) if tensor.data is None]
    file = model_of(operator, options, tensors, inputs)
    runner = Interpreter(model_content=file, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    runner.allocate_tensors()
    lines = [f"case {name}"]
    for i, tensor in enumerate(tensors[:-1]):
        if i in hidden:
            continue
        values = tensor.data
        role = "bias" if tensor.kind == INT32 else "const"
        if values is None:
            role, count = "in", int(np.prod(tensor.shape))
            values = np.arange(-128, 128) if count == 256 else RANDOM.integers(-128, 128, count)
            values = values if given is None else given
            values = values.astype(np.int8)
            runner.set_tensor(runner.get_input_details()[inputs.index(i)]["index"], values.reshape(tensor.shape))
        elif tensor.axis is not None:
            role = f"axis{tensor.axis}"
        lines.append(text(role, tensor, values))
    runner.invoke()
    result = runner.get_tensor(runner.get_output_details()[0]["index"])
    tensors[-1].shape = list(result.shape)
    lines.append(text("out", tensors[-1], result))
    print("\n".join(lines))


def scale(low=0.004, high=0.2):
    return np.float32(np.exp(RANDOM.uniform(np.log(low), np.log(high))))


def zero():
    return int(RANDOM.integers(-128, 128))


def ints(count, low=-128, high=128):
    return RANDOM.integers(low, high, count).astype(np.int8)


def unary():
    for name, operator, options in [
        ("sigmoid", "LOGISTIC", None), ("tanh", "TANH", None), ("hard_swish", "HARD_SWISH", None),
        ("abs", "ABS", None), ("exp", "EXP", None),
        ("relu", "RELU", None), ("relu6", "RELU6", None), ("relu_n1_to_1", "RELU_N1_TO_1", None),
        ("requantise", "QUANTIZE", None),
        ("leaky_relu alpha=0.1", "LEAKY_RELU", ("LeakyReluOptions", {"Alpha": 0.1})),
        ("leaky_relu alpha=0.3", "LEAKY_RELU", ("LeakyReluOptions", {"Alpha": 0.3})),
        ("gelu approximate=0", "GELU", ("GeluOptions", {"Approximate": False})),
        ("gelu approximate=1", "GELU", ("GeluOptions", {"Approximate": True})),
    ]:
        for _ in range(4):
            result = (np.float32(1 / 256), -128) if name == "sigmoid" else (scale(), zero())
            record(name, operator, options, [Tensor([1, 256], scale(), zero()), Tensor([1, 256], *result)])


def pairs():
    activations = {"none": 0, "relu": 1, "relu_n1_to_1": 2, "relu6": 3}
    shapes = [([1, 5, 4, 6], [1, 5, 4, 6]), ([1, 5, 4, 6], [6]), ([1, 5, 1, 6], [1, 1, 4, 6]), ([1, 5, 4, 6], [1, 1, 1, 1])]
    for name, operator, options in [("add", "ADD", "AddOptions"), ("sub", "SUB", "SubOptions"), ("mul", "MUL", "MulOptions")]:
        for (first, second), activation in zip(shapes, activations):
            fields = (options, {"FusedActivationFunction": activations[activation]})
            record(f"{name} activation={activation}", operator, fields, [
                Tensor(first, scale(), zero()), Tensor(second, scale(), zero()), Tensor([1, 5, 4, 6], scale(0.02), zero())])
    for name, operator in [("maximum", "MAXIMUM"), ("minimum", "MINIMUM")]:
        for first, second in shapes:
            record(name, operator, ("MaximumMinimumOptions", {}), [
                Tensor(first, 0.1, 3), Tensor(second, 0.1, 3), Tensor([1, 5, 4, 6], 0.1, 3)])
    for slopes in [[1, 1, 6], [5, 4, 6]]:
        record("prelu", "PRELU", None, [Tensor([1, 5, 4, 6], scale(), zero()),
            Tensor(slopes, scale(), zero(), ints(np.prod(slopes))), Tensor([1, 5, 4, 6], scale(), zero())])


def reductions():
    for axes, keep in [([1, 2], 1), ([1, 2], 0), ([1], 0), ([3], 1), ([1, 2, 3], 1), ([2], 1)]:
        for same in (0, 1):
            first = (scale(), zero())
            second = first if same else (scale(0.02), zero())
            record(f"mean axes={','.join(map(str, axes))} keep={keep}", "MEAN", ("ReducerOptions", {"KeepDims": bool(keep)}), [
                Tensor([1, 7, 5, 9], *first), Tensor([len(axes)], data=np.array(axes, np.int32), kind=INT32), Tensor([1], *second)], hidden=(1,))
    for axis in (1, 3):
        record(f"arg_max axis={axis}", "ARG_MAX", ("ArgMaxOptions", {"OutputType": INT32}), [
            Tensor([1, 7, 5, 9], 0.1, 3), Tensor([], data=np.array(axis, np.int32), kind=INT32), Tensor([1], kind=INT32)], hidden=(1,))
    for input_scale in (0.005, 0.04, 0.1, 0.3, 1.1):
        for row in (10, 64):
            record("softmax", "SOFTMAX", ("SoftmaxOptions", {"Beta": 1.0}), [
                Tensor([4, row], input_scale, 3), Tensor([4, row], 1 / 256, -128)])
            record("log_softmax", "LOG_SOFTMAX", None, [Tensor([4, row], input_scale, 3), Tensor([4, row], 1 / 16, 127)])


def resizes():
    for name, operator, kind in [("resize_bilinear", "RESIZE_BILINEAR", "ResizeBilinearOptions"), ("resize_nearest", "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")]:
        for align, half in [(0, 0), (1, 0), (0, 1)]:
            for size in ([9, 11], [3, 2], [10, 7], [1, 1]):
                record(f"{name} align={align} half={half}", operator, (kind, {"AlignCorners": bool(align), "HalfPixelCenters": bool(half)}), [
                    Tensor([1, 5, 7, 3], 0.1, 3), Tensor([2], data=np.array(size, np.int32), kind=INT32), Tensor([1, 1, 1, 1], 0.1, 3)], hidden=(1,))


def layers():
    for kernel, stride, same, size in [(3, 2, 1, [10, 14]), (2, 2, 1, [10, 14]), (3, 1, 0, [7, 9]), (1, 2, 1, [10, 14]), (4, 3, 0, [16, 22])]:
        channels, outputs = 5, 4
        scales = [scale() for _ in range(outputs)]
        record(f"transpose_conv kernel={kernel} stride={stride} same={same}", "TRANSPOSE_CONV",
            ("TransposeConvOptions", {"Padding": 0 if same else 1, "StrideH": stride, "StrideW": stride}), [
            Tensor([4], data=np.array([1, *size, outputs], np.int32), kind=INT32),
            Tensor([outputs, kernel, kernel, channels], scales, 0, ints(outputs * kernel * kernel * channels, -127), axis=0),
            Tensor([1, 5, 7, channels], 0.03, 7),
            Tensor([outputs], [0.03 * s for s in scales], 0, RANDOM.integers(-900, 900, outputs).astype(np.int32), axis=0, kind=INT32),
            Tensor([1], 0.3, -9)], hidden=(0,))
    for dilation, stride in [(1, 2), (2, 1)]:
        scales = [scale() for _ in range(6)]
        record(f"conv stride={stride} dilation={dilation}", "CONV_2D", ("Conv2DOptions", {"Padding": 0, "StrideH": stride, "StrideW": stride, "DilationHFactor": dilation, "DilationWFactor": dilation}), [
            Tensor([1, 9, 7, 4], 0.03, 7), Tensor([6, 3, 3, 4], scales, 0, ints(216, -127), axis=0),
            Tensor([6], [0.03 * s for s in scales], 0, RANDOM.integers(-900, 900, 6).astype(np.int32), axis=0, kind=INT32), Tensor([1], 0.2, -9)])
        record(f"depthwise stride={stride} dilation={dilation} multiplier=2", "DEPTHWISE_CONV_2D", ("DepthwiseConv2DOptions", {"Padding": 0, "StrideH": stride, "StrideW": stride, "DepthMultiplier": 2, "DilationHFactor": dilation, "DilationWFactor": dilation}), [
            Tensor([1, 9, 7, 3], 0.03, 7), Tensor([1, 3, 3, 6], scales, 0, ints(54, -127), axis=3),
            Tensor([6], [0.03 * s for s in scales], 0, RANDOM.integers(-900, 900, 6).astype(np.int32), axis=0, kind=INT32), Tensor([1], 0.1, -9)])
    record("conv stride=1 dilation=1 groups=2", "CONV_2D", ("Conv2DOptions", {"Padding": 0, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}), [
        Tensor([1, 9, 7, 8], 0.03, 7), Tensor([6, 3, 3, 4], scales, 0, ints(216, -127), axis=0),
        Tensor([6], [0.03 * s for s in scales], 0, RANDOM.integers(-900, 900, 6).astype(np.int32), axis=0, kind=INT32), Tensor([1], 0.2, -9)])
    for _ in range(4):
        first, weight = scale(0.01, 0.1), scale(0.001, 0.01)
        record("fully_connected", "FULLY_CONNECTED", ("FullyConnectedOptions", {}), [
            Tensor([3, 200], first, zero()), Tensor([16, 200], weight, 0, ints(3200, -127)),
            Tensor([16], first * weight, 0, RANDOM.integers(-9000, 9000, 16).astype(np.int32), kind=INT32), Tensor([3, 16], scale(0.002, 0.01), zero())])
    for name, operator in [("average_pool", "AVERAGE_POOL_2D"), ("max_pool", "MAX_POOL_2D")]:
        record(name, operator, ("Pool2DOptions", {"Padding": 0, "StrideH": 2, "StrideW": 2, "FilterHeight": 3, "FilterWidth": 3, "FusedActivationFunction": 3}), [
            Tensor([1, 9, 7, 6], 0.05, 7), Tensor([1], 0.05, 7)])
    record("space_to_depth block=2", "SPACE_TO_DEPTH", ("SpaceToDepthOptions", {"BlockSize": 2}), [Tensor([1, 4, 6, 3], 0.1, 3), Tensor([1], 0.1, 3)])
    record("depth_to_space block=2", "DEPTH_TO_SPACE", ("DepthToSpaceOptions", {"BlockSize": 2}), [Tensor([1, 4, 6, 8], 0.1, 3), Tensor([1], 0.1, 3)])


def wide():
    """Sums of many values. Where exponentials sum to 512 and more, what the reference softmax gives is
    undefined: it shifts 32 bits by 32; and a log-softmax's sum from 4096 on overflows."""
    equal = lambda width: np.full(width, 5)
    near = lambda width: RANDOM.integers(-3, 4, width)
    one = lambda width: np.where(np.arange(width) == width // 2, 127, -128)
    for width, input_scale, values in [(511, 0.01, equal), (500, 0.1, near), (1000, 0.5, near), (1001, 0.05, one), (1500, 0.1, ints), (4096, 1.0, one)]:
        record("softmax", "SOFTMAX", ("SoftmaxOptions", {"Beta": 1.0}), [
            Tensor([1, width], input_scale, 3), Tensor([1, width], 1 / 256, -128)], given=values(width))
    for width, input_scale, values in [(512, 0.01, equal), (1000, 0.01, near), (2000, 0.1, ints), (4095, 0.002, near), (4096, 1.0, one)]:
        record("log_softmax", "LOG_SOFTMAX", None, [
            Tensor([1, width], input_scale, 3), Tensor([1, width], 1 / 16, 127)], given=values(width))
    for width in (1000, 2049, 4096):
        for values in (near, ints, one):
            record("mean axes=2 keep=1", "MEAN", ("ReducerOptions", {"KeepDims": True}), [
                Tensor([1, 1, width, 1], scale(), zero()), Tensor([1], data=np.array([2], np.int32), kind=INT32), Tensor([1], scale(0.02), zero())], hidden=(1,), given=values(width))
            record(f"average_pool columns={width}", "AVERAGE_POOL_2D", ("Pool2DOptions", {"Padding": 1, "StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": width}), [
                Tensor([1, 1, width, 1], 0.05, 7), Tensor([1], 0.05, 7)], given=values(width))
    for values in (equal, ints, one):
        first, weight = scale(0.01, 0.1), scale(0.001, 0.01)
        record("fully_connected", "FULLY_CONNECTED", ("FullyConnectedOptions", {}), [
            Tensor([1, 4096], first, zero()), Tensor([2, 4096], weight, 0, ints(8192, -127)),
            Tensor([2], first * weight, 0, RANDOM.integers(-9000, 9000, 2).astype(np.int32), kind=INT32), Tensor([1, 2], scale(0.5, 2), zero())], given=values(4096))


for group in (unary, pairs, reductions, resizes, layers, wide):
    group()
