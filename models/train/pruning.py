"""Which weights `tilewright prune` makes zero: the same groups, ranking, rounding and ties as the product's.

A row is one output channel, flattened with the channels of each pixel together. Depthwise layers stay dense.
"""

import numpy as np
from onnx import numpy_helper

import layers


def values_of(model):
    return {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}


def prunable(model):
    """Weights that are pruned, in the graph's order, with the channels of a pixel of what each layer reads."""
    values, found, channels = values_of(model), {}, 1
    for node in model.graph.node:
        if node.op_type not in ("Conv", "Gemm"):
            continue
        name = node.input[1]
        if all(item.name != "group" or item.i == 1 for item in node.attribute):
            found[name] = channels
        channels = len(values[name])
    return found


def rows(weight, channels):
    """(out, in, ...) as one row for each output channel: pixels one after the other, the channels of each together."""
    return weight.reshape(len(weight), channels, -1).transpose(0, 2, 1).reshape(len(weight), -1)


def from_rows(matrix, channels, shape):
    """The reverse of `rows`."""
    return matrix.reshape(shape[0], -1, channels).transpose(0, 2, 1).reshape(shape)


def folded(values, name):
    """Weights with the batch normalisation behind them folded in, since the product ranks these."""
    weight, norm = values[name], name.removesuffix("weight") + "bn"
    if f"{norm}.scale" not in values:
        return weight
    scale, variance = (np.float64(values[f"{norm}.{key}"]) for key in ("scale", "variance"))
    factor = scale / np.sqrt(variance + np.float64(np.float32(layers.BATCHNORM_EPSILON)))
    return (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.float32)


def magnitudes(matrix, group):
    """Mean magnitude of each group of neighbours in a row: (rows, groups). The last group of a row may be smaller."""
    width = matrix.shape[1]
    padded = np.pad(np.abs(matrix), ((0, 0), (0, -width % group)))
    # Added in order and in float32, so that equal magnitudes are the product's.
    total = sum(padded[:, at::group] for at in range(group))
    return total / np.minimum(group, width - np.arange(0, width, group)).astype(np.float32)


def smallest(ranked, sparsity):
    """Marks the wanted part, in thousandths, of all magnitudes; the first of equal ones."""
    count = (len(ranked) * sparsity + 500) // 1000
    marked = np.zeros(len(ranked), bool)
    marked[np.argsort(ranked, kind="stable")[:count]] = True
    return marked


def masks(values, pruned, sparsity, group, is_global):
    """For each pruned weight 1 where it stays and 0 where it goes."""
    ranked = [magnitudes(rows(folded(values, name), channels), group) for name, channels in pruned.items()]
    if is_global:
        ends = np.cumsum([grid.size for grid in ranked])[:-1]
        marked = np.split(smallest(np.concatenate(ranked, None), sparsity), ends)
    else:
        marked = [smallest(grid.ravel(), sparsity) for grid in ranked]
    found = {}
    for (name, channels), grid, zero in zip(pruned.items(), ranked, marked):
        shape = values[name].shape
        wide = np.repeat(zero.reshape(grid.shape), group, 1)[:, : values[name][0].size]
        found[name] = from_rows(~wide, channels, shape).astype(np.float32)
    return found
