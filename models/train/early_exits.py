"""What early exits save: a network with several outputs, in the order in which they are computed, the last its end."""

import math

import numpy as np
from onnx import shape_inference

THRESHOLDS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]


def macs(model, outputs):
    """Multiply-accumulates of convolutions and fully connected layers that `outputs` need, padding counted."""
    sizes = {item.name: list(item.dims) for item in model.graph.initializer}
    graph = shape_inference.infer_shapes(model, strict_mode=True).graph
    for value in [*graph.value_info, *graph.output]:
        sizes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
    needed, total = set(outputs), 0
    for node in reversed(model.graph.node):
        if needed.isdisjoint(node.output):
            continue
        needed.update(node.input)
        if node.op_type in ("Conv", "Gemm"):
            total += math.prod(sizes[node.output[0]]) * math.prod(sizes[node.input[1]][1:])
    return total


def leave(scores, threshold):
    """Index of the output that answers each input: the first whose top-1 probability is above the threshold, else the last.

    `scores` is (outputs, N, classes).
    """
    confident = scores.max(2) > threshold
    confident[-1] = True
    return confident.argmax(0)


def outcome(scores, labels, threshold):
    """(accuracy, share of the inputs that each output answers)."""
    chosen = leave(scores, threshold)
    found = scores[chosen, np.arange(len(labels))].argmax(1)
    return float((found == labels).mean()), np.bincount(chosen, minlength=len(scores)) / len(labels)


def measure(model, scores, labels):
    """Prints what each output and each threshold gives; returns (accuracy, mean MACs saved) for each threshold.

    MACs of an output are those of all that has run by then, with the heads of earlier exits. Saved is against the
    network without exits.
    """
    names = [output.name for output in model.graph.output]
    up_to = np.array([macs(model, names[: at + 1]) for at in range(len(names))])
    alone = macs(model, names[-1:])
    accuracies = (scores.argmax(2) == labels).mean(1)
    print(f"  {'output':13}  accuracy  MACs so far  of {alone} without exits")
    for name, accuracy, count in zip(names, accuracies, up_to):
        print(f"  {name:13}  {accuracy:8.2%}  {count:11}  {count / alone:8.1%}")
    print(f"  threshold  accuracy  {'  '.join(f'{name:>13}' for name in names)}  mean MACs  saved")
    found = []
    for threshold in THRESHOLDS:
        accuracy, shares = outcome(scores, labels, threshold)
        mean = shares @ up_to
        found.append((accuracy, 1 - mean / alone))
        answered = "  ".join(f"{share:13.2%}" for share in shares)
        print(f"  {threshold:9}  {accuracy:8.2%}  {answered}  {mean:9.0f}  {1 - mean / alone:5.1%}")
    return found
