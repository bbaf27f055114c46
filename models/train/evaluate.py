"""Checks all ONNX files and measures them with ONNX Runtime on all 10,000 test images.

Exits with 1 if a file is invalid, misses its goal, or differs from the accuracies that training recorded.
"""

import argparse
import math
import sys

import onnx
import onnxruntime
from onnx import helper, numpy_helper

import catalogue
import datasets
import early_exits
from onnx_graph import IR_VERSION, OPSET

# What some threshold of early exits must save of the MACs, for what accuracy at most.
SAVED = 0.3
LOST = 0.005


def parameters(model):
    """(trained, stored): stored adds the running statistics of batch normalisation and the clip bounds."""
    sizes = {item.name: math.prod(item.dims) for item in model.graph.initializer}
    fixed = set()
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            fixed.update(node.input[3:5])
        elif node.op_type == "Clip":
            fixed.update(node.input[1:])
    return sum(size for name, size in sizes.items() if name not in fixed), sum(sizes.values())


def print_nodes(model):
    for item in model.graph.initializer:
        print(f"  initializer {item.name} {list(item.dims)}")
    for node in model.graph.node:
        attributes = " ".join(f"{a.name}={helper.get_attribute_value(a)}" for a in node.attribute)
        print(f"  {node.op_type} {node.name}: {', '.join(node.input)} -> {', '.join(node.output)}  {attributes}")


def problems(entry, model, accuracies, trained):
    *exits, found = accuracies
    recorded = {item.key: item.value for item in model.metadata_props}
    if (model.ir_version, [(o.domain, o.version) for o in model.opset_import]) != (IR_VERSION, [("", OPSET)]):
        yield f"expected IR version {IR_VERSION} and opset {OPSET}"
    if any(numpy_helper.to_array(item).dtype.name != "float32" for item in model.graph.initializer):
        yield "an initializer is not float32"
    shapes = {item.name: list(item.dims) for item in model.graph.initializer}
    if any(shapes[bound] for node in model.graph.node if node.op_type == "Clip" for bound in node.input[1:]):
        yield "a Clip bound is not a scalar"
    if trained > entry.maximum_parameters:
        yield f"{trained} parameters, at most {entry.maximum_parameters} wanted"
    if recorded["labels"].split(",") != entry.labels:
        yield f"labels are {recorded['labels']}"
    if found < entry.minimum_accuracy:
        yield f"accuracy {found:.4f} misses the goal of {entry.minimum_accuracy}"
    if f"{found:.4f}" != recorded["training_accuracy"]:
        yield f"training recorded an accuracy of {recorded['training_accuracy']}"
    if ",".join(f"{accuracy:.4f}" for accuracy in exits) != recorded.get("exit_accuracies", ""):
        yield f"training recorded accuracies of the exits of {recorded.get('exit_accuracies')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory of the data")
    parser.add_argument("--nodes", action="store_true", help="also list every node")
    arguments = parser.parse_args()
    failed = False
    for entry in catalogue.MODELS:
        model = onnx.load(entry.path)
        onnx.checker.check_model(model, full_check=True)
        session = onnxruntime.InferenceSession(entry.path, providers=["CPUExecutionProvider"])
        images, labels = entry.load(arguments.cache, "t10k")
        scores = catalogue.probabilities(session, images, entry.margin)
        correct = (scores.argmax(2) == labels).sum(1)
        trained, stored = parameters(model)
        all_macs = early_exits.macs(model, [output.name for output in model.graph.output])
        print(
            f"{entry.name}: {correct[-1]} of {len(labels)} right = {correct[-1] / len(labels):.2%}, "
            f"{trained} parameters ({stored} values stored), {all_macs} MACs, {entry.path.stat().st_size} bytes"
        )
        if arguments.nodes:
            print_nodes(model)
        wrong = list(problems(entry, model, correct / len(labels), trained))
        if len(scores) > 1:
            saved = early_exits.measure(model, scores, labels)
            if not any(part >= SAVED and accuracy >= correct[-1] / len(labels) - LOST for accuracy, part in saved):
                wrong.append(f"no threshold saves {SAVED:.0%} of the MACs for {LOST * 100} points of accuracy")
        for problem in wrong:
            failed = True
            print(f"{entry.name}: {problem}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
