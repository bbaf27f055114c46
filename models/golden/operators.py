"""Writes operators/*.tflite, files of one operator, and operators/records.txt: checksums of what
the reference computes of them on inputs drawn from a seed.

    python operators.py
"""

import hashlib
import pathlib

import numpy as np
from reference import Run, as_int8, crc
from single import FLOAT, INT8, INT32, INT64, UINT8, File, Tensor, file_of, ints

SEED = 11
RANDOM = np.random.default_rng(5)
NAMES = {INT8: "int8", UINT8: "uint8"}
NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)
SAME, VALID = range(2)
CASES = []


def case(name, operator, options, operands, results):
    CASES.append((name, file_of(operator, options, operands, results)))


def quantised(kind, shape, scale, zero):
    """An activation; `zero` is that of int8."""
    return Tensor(shape, kind, scale, zero + 128 if kind == UINT8 else zero)


def weights(kind, shape, axis, spread):
    """Weights: int8 with a scale for each slice of `axis`, or, where that is None or the type
    uint8, with one; uint8 with the zero point `spread`."""
    count = int(np.prod(shape))
    if kind == UINT8:
        data = RANDOM.integers(0, 256, count).astype(np.uint8)
        if spread == 128:
            data = np.maximum(data, 1)
        return Tensor(shape, UINT8, 0.01, spread, data)
    data = RANDOM.integers(-127, 128, count).astype(np.int8)
    if axis is None:
        return Tensor(shape, INT8, 0.01, 0, data)
    return Tensor(shape, INT8, RANDOM.uniform(0.002, 0.02, shape[axis]), 0, data, axis)


def bias(weights, outputs, scale):
    values = RANDOM.integers(-900, 900, outputs).astype(np.int32)
    return Tensor([outputs], INT32, weights.scale * np.float32(scale), 0, values)


def same_or_valid(length, size, stride, dilation, padding):
    reach = (size - 1) * dilation + 1
    return -(-length // stride) if padding == SAME else -(-(length - reach + 1) // stride)


def window(length, size, stride, dilation, padding):
    return [same_or_valid(*axis, padding) for axis in zip(length, size, stride, dilation)]


def convolutions():
    shapes = [
        ("plain", (3, 3), (1, 1), (1, 1), SAME, NONE, 0),
        ("stride2x1", (3, 2), (2, 1), (1, 1), SAME, RELU, 0),
        ("stride2-valid", (2, 3), (2, 2), (1, 1), VALID, RELU6, 0),
        ("dilation2x3", (3, 2), (1, 1), (2, 3), SAME, RELU_N1_TO_1, 0),
        ("dilation2-valid", (2, 2), (1, 1), (2, 2), VALID, NONE, 0),
        ("per-tensor", (1, 1), (1, 1), (1, 1), VALID, NONE, None),
        ("no-bias", (3, 3), (3, 2), (1, 1), SAME, RELU, 0),
    ]
    for kind in (INT8, UINT8):
        for spread in (0,) if kind == INT8 else (128, 73):
            for name, size, stride, dilation, padding, act, axis in shapes:
                title = f"{name}-{NAMES[kind]}" + (f"-zero{spread}" if spread else "")
                out = window((9, 8), size, stride, dilation, padding)
                common = dict(padding=padding, strideH=stride[0], strideW=stride[1],
                              dilationHFactor=dilation[0], dilationWFactor=dilation[1], fusedActivationFunction=act)
                x = quantised(kind, [1, 9, 8, 5], 0.03, 7)
                w = weights(kind, [6, *size, 5], axis, spread)
                b = [bias(w, 6, 0.03)]
                case(f"conv-{title}", "CONV_2D", ("Conv2DOptions", common), [x, w, *b],
                     [quantised(kind, [1, *out, 6], 0.06, -9)])
                for multiplier in (1, 2):
                    outputs = 5 * multiplier
                    x = quantised(kind, [1, 9, 8, 5], 0.03, 7)
                    w = weights(kind, [1, *size, outputs], None if axis is None else 3, spread)
                    b = [] if name == "no-bias" else [bias(w, outputs, 0.03)]
                    case(f"depthwise{multiplier}-{title}", "DEPTHWISE_CONV_2D",
                         ("DepthwiseConv2DOptions", common | {"depthMultiplier": multiplier}), [x, w, *b],
                         [quantised(kind, [1, *out, outputs], 0.03, -9)])
    for kind in (INT8, UINT8):
        for spread in (0,) if kind == INT8 else (128, 73):
            title = NAMES[kind] + (f"-zero{spread}" if spread else "")
            for name, shape, result, fields in [
                ("rows", [3, 20], [3, 7], {}),
                ("image", [2, 2, 5, 1], [1, 7], {"fusedActivationFunction": RELU}),
                ("keep-dims", [1, 3, 20], [1, 3, 7], {"keepNumDims": True, "fusedActivationFunction": RELU6}),
            ]:
                w = weights(kind, [7, 20], None, spread)
                case(f"fully-connected-{name}-{title}", "FULLY_CONNECTED", ("FullyConnectedOptions", fields),
                     [quantised(kind, shape, 0.03, 7), w, bias(w, 7, 0.03)], [quantised(kind, result, 0.1, -9)])
            for name, size, stride, padding, out in [
                ("same", 3, 2, SAME, [10, 14]), ("valid", 3, 2, VALID, [11, 15]), ("apart", 2, 3, VALID, [14, 20])]:
                w = weights(kind, [4, size, size, 5], 0, spread)
                case(f"transpose-conv-{name}-{title}", "TRANSPOSE_CONV",
                     ("TransposeConvOptions", {"padding": padding, "strideH": stride, "strideW": stride}),
                     [ints([1, *out, 4]), w, quantised(kind, [1, 5, 7, 5], 0.03, 7), bias(w, 4, 0.03)],
                     [quantised(kind, [1, *out, 4], 0.06, -9)])


def spread_over_batches():
    """A dilated convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND."""
    for kind in (INT8, UINT8):
        for name, operator, options, outputs in [
            ("conv", "CONV_2D", "Conv2DOptions", 6), ("depthwise", "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", 5)]:
            file = File()
            x = file.tensor(quantised(kind, [1, 9, 8, 5], 0.03, 7), "x")
            block = file.tensor(ints([2, 3]), "block")
            pads = file.tensor(ints([[2, 3], [3, 4]]), "pads")
            spread = file.tensor(quantised(kind, [6, 7, 5, 5], 0.03, 7), "spread")
            w = weights(kind, [6, 3, 3, 5] if name == "conv" else [1, 3, 3, 5], 0 if name == "conv" else 3, 100)
            operands = [spread, file.tensor(w, "w"), file.tensor(bias(w, outputs, 0.03), "b")]
            middle = file.tensor(quantised(kind, [6, 5, 3, outputs], 0.06, -9), "middle")
            crops = file.tensor(ints([[0, 1], [0, 1]]), "crops")
            y = file.tensor(quantised(kind, [1, 9, 8, outputs], 0.06, -9), "y")
            file.operator("SPACE_TO_BATCH_ND", None, [x, block, pads], [spread])
            fields = dict(padding=VALID, strideH=1, strideW=1, fusedActivationFunction=RELU6)
            if name == "depthwise":
                fields["depthMultiplier"] = 1
            file.operator(operator, (options, fields), operands, [middle])
            file.operator("BATCH_TO_SPACE_ND", None, [middle, block, crops], [y])
            CASES.append((f"{name}-spread-over-batches-{NAMES[kind]}", file.content([y])))


def pools():
    for kind in (INT8, UINT8):
        for size, stride, padding, act in [
            ((2, 2), (2, 2), VALID, NONE), ((3, 2), (2, 1), SAME, RELU), ((4, 4), (1, 3), SAME, RELU6), ((9, 8), (1, 1), VALID, NONE)]:
            out = window((9, 8), size, stride, (1, 1), padding)
            fields = dict(padding=padding, strideH=stride[0], strideW=stride[1],
                          filterHeight=size[0], filterWidth=size[1], fusedActivationFunction=act)
            for name, operator in [("average-pool", "AVERAGE_POOL_2D"), ("max-pool", "MAX_POOL_2D")]:
                case(f"{name}-{size[0]}x{size[1]}-{NAMES[kind]}", operator, ("Pool2DOptions", fields),
                     [quantised(kind, [1, 9, 8, 6], 0.05, 7)], [quantised(kind, [1, *out, 6], 0.05, 7)])


def pairs():
    shapes = [("same", [1, 5, 4, 6], NONE), ("channels", [6], RELU), ("cross", [1, 1, 4, 1], RELU6), ("number", [1], RELU_N1_TO_1)]
    for kind in (INT8, UINT8):
        for operator in ("ADD", "SUB", "MUL"):
            for name, second, act in shapes:
                options = f"{operator.capitalize()}Options"
                case(f"{operator.lower()}-{name}-{NAMES[kind]}", operator, (options, {"fusedActivationFunction": act}),
                     [quantised(kind, [1, 5, 4, 6], 0.03, 7), quantised(kind, second, 0.05, -20)],
                     [quantised(kind, [1, 5, 4, 6], 0.04, -9)])
        for operator in ("MAXIMUM", "MINIMUM"):
            case(f"{operator.lower()}-{NAMES[kind]}", operator, ("MaximumMinimumOptions", {}),
                 [quantised(kind, [1, 5, 4, 6], 0.03, 7), quantised(kind, [1, 1, 4, 1], 0.03, 7)],
                 [quantised(kind, [1, 5, 4, 6], 0.03, 7)])
        slopes = Tensor([1, 1, 6], kind, 0.01, 3 + 128 * (kind == UINT8), RANDOM.integers(0, 127, 6).astype(np.int8))
        case(f"prelu-{NAMES[kind]}", "PRELU", None, [quantised(kind, [1, 5, 4, 6], 0.03, 7), slopes],
             [quantised(kind, [1, 5, 4, 6], 0.04, -9)])


def functions():
    for kind in (INT8, UINT8):
        for name, operator, options, result in [
            ("logistic", "LOGISTIC", None, (1 / 256, -128)), ("tanh", "TANH", None, (1 / 128, 0)),
            ("hard-swish", "HARD_SWISH", None, (0.04, -20)), ("relu", "RELU", None, (0.02, -128)),
            ("relu6", "RELU6", None, (6 / 255, -128)), ("relu-n1-to-1", "RELU_N1_TO_1", None, (0.03, -5)),
            ("relu-0-to-1", "RELU_0_TO_1", None, (0.01, -5)),
            ("leaky-relu", "LEAKY_RELU", ("LeakyReluOptions", {"alpha": 0.2}), (0.02, -50)),
            ("gelu", "GELU", ("GeluOptions", {"approximate": False}), (0.03, -120)),
            ("softmax", "SOFTMAX", ("SoftmaxOptions", {"beta": 1.0}), (1 / 256, -128)),
            ("softmax-beta-half", "SOFTMAX", ("SoftmaxOptions", {"beta": 0.5}), (1 / 256, -128)),
            ("softmax-beta3", "SOFTMAX", ("SoftmaxOptions", {"beta": 3.0}), (1 / 256, -128)),
            ("log-softmax", "LOG_SOFTMAX", None, (1 / 16, 127)),
            ("requantise", "QUANTIZE", None, (0.05, -3)),
        ] + [("abs", "ABS", None, (0.03, -128)), ("exp", "EXP", None, (0.3, -128))] * (kind == INT8):
            case(f"{name}-{NAMES[kind]}", operator, options, [quantised(kind, [1, 4, 64], 0.04, 7)],
                 [quantised(kind, [1, 4, 64], *result)])
    case("quantise-float-int8", "QUANTIZE", None, [Tensor([1, 4, 64], FLOAT)], [quantised(INT8, [1, 4, 64], 0.004, -128)])
    case("quantise-uint8-int8", "QUANTIZE", None, [quantised(UINT8, [1, 4, 64], 0.04, 0)], [quantised(INT8, [1, 4, 64], 0.04, 0)])
    case("quantise-int8-uint8", "QUANTIZE", None, [quantised(INT8, [1, 4, 64], 0.04, 2)], [quantised(UINT8, [1, 4, 64], 0.03, 0)])


def reductions():
    for kind in (INT8, UINT8):
        for name, axes, keep, result in [
            ("hw", [1, 2], True, [1, 1, 1, 9]), ("hw-squeezed", [1, 2], False, [1, 9]), ("rows", [1], False, [1, 6, 9]),
            ("channels", [-1], True, [1, 8, 6, 1]), ("all", [1, 2, 3], False, [1])]:
            for moved in ("same", "rescaled"):
                out = (0.05, 7) if moved == "same" else (0.02, -9)
                case(f"mean-{name}-{moved}-{NAMES[kind]}", "MEAN", ("ReducerOptions", {"keepDims": keep}),
                     [quantised(kind, [1, 8, 6, 9], 0.05, 7), ints(axes)], [quantised(kind, result, *out)])
        for name, axis, result, output in [("channels", -1, [1, 8, 6], INT32), ("rows", 1, [1, 6, 9], INT64)]:
            case(f"arg-max-{name}-{NAMES[kind]}", "ARG_MAX", ("ArgMaxOptions", {"outputType": output}),
                 [quantised(kind, [1, 8, 6, 9], 0.05, 7), ints(axis)], [Tensor(result, output)])


def moves():
    for kind in (INT8, UINT8):
        x = lambda *shape: quantised(kind, shape, 0.05, 7)
        word = NAMES[kind]
        case(f"pad-{word}", "PAD", None, [x(1, 3, 4, 5), ints([[0, 0], [1, 2], [0, 3], [0, 0]])], [x(1, 6, 7, 5)])
        case(f"pad-channels-{word}", "PAD", None, [x(1, 3, 4, 5), ints([[0, 0], [0, 0], [1, 0], [0, 3]])], [x(1, 3, 5, 8)])
        filler = Tensor([1], kind, 0.05, 7 + 128 * (kind == UINT8), np.array([90], np.int8))
        case(f"pad-filler-{word}", "PADV2", None, [x(1, 3, 4, 5), ints([[0, 0], [1, 2], [0, 3], [0, 0]]), filler], [x(1, 6, 7, 5)])
        case(f"mirror-pad-{word}", "MIRROR_PAD", ("MirrorPadOptions", {"mode": 0}), [x(1, 4, 5, 3), ints([[0, 0], [2, 1], [1, 3], [0, 0]])], [x(1, 7, 9, 3)])
        case(f"concat-{word}", "CONCATENATION", ("ConcatenationOptions", {"axis": -1}), [x(1, 3, 4, 5), x(1, 3, 4, 2)], [x(1, 3, 4, 7)])
        if kind == UINT8:
            case("concat-rescaled-uint8", "CONCATENATION", ("ConcatenationOptions", {"axis": 1}),
                 [quantised(kind, [1, 3, 4, 5], 0.02, 9), quantised(kind, [1, 2, 4, 5], 0.07, -5)], [x(1, 5, 4, 5)])
        case(f"reshape-{word}", "RESHAPE", ("ReshapeOptions", {"newShape": [4, -1]}), [x(1, 3, 4, 5), ints([4, -1])], [x(4, 15)])
        case(f"squeeze-{word}", "SQUEEZE", ("SqueezeOptions", {"squeezeDims": [0, -2]}), [x(1, 3, 1, 5)], [x(3, 5)])
        case(f"expand-dims-{word}", "EXPAND_DIMS", None, [x(3, 5), ints([-2])], [x(3, 1, 5)])
        case(f"transpose-{word}", "TRANSPOSE", None, [x(1, 3, 4, 5), ints([0, 3, 1, 2])], [x(1, 5, 3, 4)])
        case(f"slice-{word}", "SLICE", None, [x(1, 6, 5, 4), ints([0, 2, 0, 1]), ints([1, 3, -1, 2])], [x(1, 3, 5, 2)])
        case(f"strided-slice-{word}", "STRIDED_SLICE", ("StridedSliceOptions", {"beginMask": 4, "endMask": 2}),
             [x(1, 6, 5, 4), ints([0, 1, 9, -1]), ints([1, 2, -1, 0]), ints([1, 2, 1, -1])], [x(1, 3, 4, 3)])
        case(f"strided-slice-shrinking-{word}", "STRIDED_SLICE", ("StridedSliceOptions", {"shrinkAxisMask": 6, "endMask": 8}),
             [x(1, 6, 5, 4), ints([0, -2, 1, 1]), ints([1, -1, 2, 0]), ints([1, 1, 1, 2])], [x(1, 2)])
        case(f"strided-slice-new-axis-{word}", "STRIDED_SLICE", ("StridedSliceOptions", {"newAxisMask": 2, "ellipsisMask": 4, "shrinkAxisMask": 8}),
             [x(1, 6, 5, 4), ints([0, 0, 0, 2]), ints([1, 0, 0, 3]), ints([1, 1, 1, 1])], [x(1, 1, 6, 5)])
        case(f"split-{word}", "SPLIT", ("SplitOptions", {"numSplits": 2}), [ints(3), x(1, 3, 4, 6)], [x(1, 3, 4, 3), x(1, 3, 4, 3)])
        case(f"split-v-{word}", "SPLIT_V", ("SplitVOptions", {"numSplits": 3}), [x(1, 3, 4, 6), ints([1, -1, 2]), ints(-1)],
             [x(1, 3, 4, 1), x(1, 3, 4, 3), x(1, 3, 4, 2)])
        case(f"unpack-{word}", "UNPACK", ("UnpackOptions", {"axis": 1, "num": 3}), [x(1, 3, 5)], [x(1, 5), x(1, 5), x(1, 5)])
        case(f"pack-{word}", "PACK", ("PackOptions", {"axis": 1, "valuesCount": 2}), [x(1, 5), x(1, 5)], [x(1, 2, 5)])
        case(f"gather-{word}", "GATHER", ("GatherOptions", {"axis": 3}), [x(1, 3, 4, 6), ints([5, 0, 2])], [x(1, 3, 4, 3)])
        case(f"reverse-{word}", "REVERSE_V2", None, [x(1, 3, 4, 6), ints([3])], [x(1, 3, 4, 6)])
        case(f"tile-{word}", "TILE", None, [x(1, 3, 2, 4), ints([1, 1, 3, 2])], [x(1, 3, 6, 8)])
        case(f"space-to-depth-{word}", "SPACE_TO_DEPTH", ("SpaceToDepthOptions", {"blockSize": 2}), [x(1, 4, 6, 3)], [x(1, 2, 3, 12)])
        case(f"depth-to-space-{word}", "DEPTH_TO_SPACE", ("DepthToSpaceOptions", {"blockSize": 2}), [x(1, 4, 6, 8)], [x(1, 8, 12, 2)])
        case(f"space-to-batch-{word}", "SPACE_TO_BATCH_ND", None, [x(1, 5, 6, 3), ints([2, 2]), ints([[0, 1], [1, 1]])], [x(4, 3, 4, 3)])
        case(f"batch-to-space-{word}", "BATCH_TO_SPACE_ND", None, [x(4, 3, 4, 3), ints([2, 2]), ints([[0, 1], [1, 1]])], [x(1, 5, 6, 3)])


def resizes():
    for kind in (INT8, UINT8):
        for name, operator, options in [
            ("bilinear", "RESIZE_BILINEAR", "ResizeBilinearOptions"),
            ("nearest", "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")]:
            for align, half in [(False, False), (True, False), (False, True)]:
                for size in ([9, 11], [3, 2], [5, 2304]):
                    if size[1] > 99 and align:
                        continue
                    title = "-align" * align + "-half" * half
                    case(f"resize-{name}{title}-{size[0]}x{size[1]}-{NAMES[kind]}", operator,
                         (options, {"alignCorners": align, "halfPixelCenters": half}),
                         [quantised(kind, [1, 5, 7, 3], 0.05, 7), ints(size)], [quantised(kind, [1, *size, 3], 0.05, 7)])


def record(name, content):
    """The record of a file, or nothing where the runtime does not take it."""
    try:
        run = Run(content, SEED)
    except (RuntimeError, ValueError) as error:
        print(f"{name}: {str(error).splitlines()[0]}")
        return None
    lines = [f"file {name}", f"sha256 {hashlib.sha256(content).hexdigest()}", f"seed {SEED}"]
    if any(as_int8(np.empty(0, detail["dtype"])) is None for detail in run.inputs):
        lines.append("float-input of bytes / 255")
    for detail in run.outputs:
        values = run.interpreter.get_tensor(detail["index"])
        integers = as_int8(values)
        if integers is None:
            integers = values.astype("<i4")
        lines.append(f"output {crc(integers):08x} {values.size} {detail['name']}")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(__file__).parent / "operators"
    folder.mkdir(exist_ok=True)
    for group in (convolutions, spread_over_batches, pools, pairs, functions, reductions, moves, resizes):
        group()
    for old in folder.glob("*.tflite"):
        old.unlink()
    records = []
    for name, content in CASES:
        text = record(name, content)
        if text is not None:
            (folder / f"{name}.tflite").write_bytes(content)
            records.append(text)
    (folder / "records.txt").write_text("".join(records))
    print(f"{len(records)} of {len(CASES)} recorded")


if __name__ == "__main__":
    main()
