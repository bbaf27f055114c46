"""Prunes a trained sample network as `tilewright prune` does, trains it further with the zeros held, and writes it.

Sparsity grows in rounds, fast at first. Each round prunes what the round before has trained, and trains with its masks
held, so zeros stay zeros. Rounds before the last train one epoch; the last has the wanted sparsity. One round prunes
just what the product would.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

import catalogue
import datasets
import fashion_mobilenet
import lenet5
import pruning
import training

NETWORKS = {"lenet5": lenet5, "fashion-mobilenet": fashion_mobilenet}


def masked(params, masks):
    # The sum makes zeros of negative weights positive.
    return {**params, **{name: params[name] * mask + 0.0 for name, mask in masks.items()}}


def fine_tune(network, values, pruned, images, labels, *, sparsity, group, is_global, rounds, epochs, seed):
    """Returns values and masks; `values` holds all weights by name, `sparsity` is in thousandths."""
    for number in range(1, rounds + 1):
        grown = round(sparsity * (1 - (1 - number / rounds) ** 3))
        masks = pruning.masks(values, pruned, grown, group, is_global)
        print(f"round {number}/{rounds}  sparsity {grown / 1000:.1%}", flush=True)

        def forward(params, *rest, masks=masks):
            # No gradient reaches a weight behind its mask.
            return network.forward(masked(params, masks), *rest)

        state = {name: value for name, value in values.items() if name.endswith((".mean", ".variance"))}
        params = {name: value for name, value in values.items() if name.endswith((".weight", ".bias", ".scale"))}
        params, state = training.train(
            forward, masked(params, masks), state, images, labels,
            epochs=epochs if number == rounds else 1, seed=seed + number, **network.SETTINGS,
        )
        values = {**values, **masked(params, masks), **state}
    return values, masks


def accuracy(network, values, images, labels):
    return float((training.predict(network.forward, values, values, images) == labels).mean())


def write(path, model, values, masks, metadata):
    """Writes the network with new values. Fails unless exactly the masked weights are zero in the file."""
    for item in model.graph.initializer:
        item.CopyFrom(numpy_helper.from_array(np.asarray(values[item.name], np.float32, order="C"), item.name))
    helper.set_model_props(model, {**{item.key: item.value for item in model.metadata_props}, **metadata})
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))
    written = pruning.values_of(onnx.load(path))
    for name, mask in masks.items():
        zeros = written[name] == 0
        print(f"{name:18} {zeros.sum():6} of {zeros.size:6} zero: {zeros.mean():.1%}")
        assert np.array_equal(zeros, mask == 0), f"{name}: the zeros are not those of the mask"


def part(text):
    """A part from 0 to 1, in thousandths."""
    if not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError("give a part from 0 to 1, such as 0.8")
    return round(float(text) * 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("cache", nargs="?", default=datasets.default_cache(), help="directory for the data")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--sparsity", type=part, required=True, help="part of the groups that becomes zero")
    parser.add_argument("--group", type=int, default=2, help="weights of a group")
    parser.add_argument("--global", dest="is_global", action="store_true", help="rank groups of all layers together")
    parser.add_argument("--rounds", type=int, default=3, help="in which sparsity grows")
    parser.add_argument("--epochs", type=int, default=6, help="of the last round")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    network = NETWORKS[arguments.network]
    [entry] = [entry for entry in catalogue.MODELS if entry.name == arguments.network]
    model = onnx.load(entry.path)

    def images(part):
        images, labels = entry.load(arguments.cache, part)
        return datasets.pad_images(images, entry.margin), labels

    values, masks = fine_tune(
        network, pruning.values_of(model), pruning.prunable(model), *images("train"),
        sparsity=arguments.sparsity, group=arguments.group, is_global=arguments.is_global,
        rounds=arguments.rounds, epochs=arguments.epochs, seed=arguments.seed,
    )
    found = accuracy(network, values, *images("t10k"))
    print(f"test: {found:.2%} right")
    ranking = "all layers together" if arguments.is_global else "each layer alike"
    write(arguments.output, model, values, masks, {
        "training_accuracy": f"{found:.4f}",
        "pruning": f"{arguments.sparsity / 1000:.1%} of groups of {arguments.group}, {ranking}",
    })


if __name__ == "__main__":
    main()
