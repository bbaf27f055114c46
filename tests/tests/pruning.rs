//! Pruned models: which weights are zero, and that they run as any other.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::num::NonZeroUsize;

use tilewright_formats::Limits;
use tilewright_model::prune::{PruneError, PrunedLayer, Pruning, prunable_weights, prune};
use tilewright_model::{Data, Model, Op, Source, float};

fn bundled(name: &str) -> Model {
    let path = format!("{}/../models/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
    opened(&std::fs::read(path).unwrap())
}

fn opened(bytes: &[u8]) -> Model {
    tilewright_formats::open("m.onnx", bytes, &Limits::default(), &[]).unwrap()
}

fn pruning(sparsity: u16, group: usize, is_global: bool) -> Pruning {
    Pruning { sparsity, group: NonZeroUsize::new(group).unwrap(), is_global }
}

fn weights(model: &Model, name: &str) -> Vec<f32> {
    let node = model.nodes.iter().find(|node| node.name == name).unwrap();
    let source = model.tensor(node.inputs[1]).source.as_ref().unwrap();
    source.values().as_f32().unwrap().to_vec()
}

#[test]
fn the_smallest_groups_of_each_layer_are_zero() {
    let model = bundled("lenet5");
    for (sparsity, group) in [(500, 2), (800, 2), (900, 2), (800, 4), (333, 1)] {
        let (pruned, layers) = prune(&model, &pruning(sparsity, group, false)).unwrap();
        pruned.verify().unwrap();
        assert_eq!(layers.len(), 5);
        for PrunedLayer { name, weights: count, zeros, .. } in &layers {
            let (before, after) = (weights(&model, name), weights(&pruned, name));
            assert_eq!((before.len(), after.len()), (*count, *count));
            let rows =
                model.tensor(model.nodes.iter().find(|node| node.name == *name).unwrap().inputs[1]);
            let row = count / rows.shape.dims()[0];
            let (mut gone, mut kept, mut groups, mut zero) = (0f32, f32::MAX, 0, 0);
            for (before, after) in before.chunks(row).zip(after.chunks(row)) {
                for (before, after) in before.chunks(group).zip(after.chunks(group)) {
                    let mean = before.iter().map(|v| v.abs()).sum::<f32>() / before.len() as f32;
                    groups += 1;
                    if after.iter().all(|value| *value == 0.0) {
                        (gone, zero) = (gone.max(mean), zero + 1);
                    } else {
                        assert_eq!(before, after, "{name}: a group is zero or as it was");
                        kept = kept.min(mean);
                    }
                }
            }
            assert!(gone <= kept, "{name}: {gone} is gone, {kept} is kept");
            assert_eq!(zero, (groups * usize::from(sparsity) + 500) / 1000, "{name}");
            assert_eq!(after.iter().filter(|value| **value == 0.0).count(), *zeros);
        }
        assert_eq!(prune(&model, &pruning(sparsity, group, false)).unwrap().0, pruned);
    }
}

#[test]
fn groups_of_all_layers_are_ranked_together_if_asked() {
    let model = bundled("fashion-mobilenet");
    let (pruned, layers) = prune(&model, &pruning(800, 2, true)).unwrap();
    let share = |layer: &PrunedLayer| layer.zeros as f64 / layer.weights as f64;
    let all: usize = layers.iter().map(|layer| layer.weights).sum();
    let zeros: usize = layers.iter().map(|layer| layer.zeros).sum();
    assert!((zeros as f64 / all as f64 - 0.8).abs() < 0.01, "{zeros} of {all}");
    let shares: Vec<f64> = layers.iter().map(share).collect();
    let least = shares.iter().copied().fold(1.0, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    assert!(least < 0.6 && most > 0.8, "{shares:?}");
    // Depthwise layers stay dense.
    let depthwise = |node: &&tilewright_model::Node| matches!(node.op, Op::DepthwiseConv { .. });
    let mut found = 0;
    for node in model.nodes.iter().filter(depthwise) {
        assert!(layers.iter().all(|layer| layer.name != node.name));
        assert_eq!(weights(&model, &node.name), weights(&pruned, &node.name));
        found += 1;
    }
    assert!(found > 3);
}

#[test]
fn of_equal_groups_the_first_are_zero() {
    let mut model = bundled("lenet5");
    let equal = model.nodes.iter().filter(|node| node.op.is_weighted()).map(|node| node.inputs[1]);
    for id in equal.collect::<Vec<_>>() {
        let count = model.tensor(id).shape.elements().unwrap();
        model.tensors[id.0].source = Some(Source::inline(Data::F32(vec![0.5; count])));
    }
    for is_global in [false, true] {
        let (pruned, layers) = prune(&model, &pruning(500, 1, is_global)).unwrap();
        let all: usize = layers.iter().map(|layer| layer.weights).sum();
        let zeros: usize = layers.iter().map(|layer| layer.zeros).sum();
        assert_eq!(zeros, all / 2);
        let first = &layers[0];
        let share = if is_global { first.weights } else { first.weights / 2 };
        assert_eq!(first.zeros, share, "the first layer goes first where all are ranked together");
        assert!(weights(&pruned, &first.name)[..share].iter().all(|value| *value == 0.0));
    }
}

#[test]
fn nothing_all_and_what_cannot_be_pruned() {
    let model = bundled("lenet5");
    assert_eq!(prune(&model, &pruning(0, 2, false)).unwrap().0, model);
    for is_global in [false, true] {
        let (_, layers) = prune(&model, &pruning(1000, 2, is_global)).unwrap();
        assert!(layers.iter().all(|layer| layer.zeros == layer.weights));
    }
    // A group longer than a row is the row.
    let (_, layers) = prune(&model, &pruning(500, 1 << 40, false)).unwrap();
    assert!(layers.iter().all(|layer| layer.zeros > 0 && layer.zeros < layer.weights));
    assert_eq!(prune(&model, &pruning(1001, 2, false)), Err(PruneError::Sparsity));
    assert_eq!(prune(&Model::default(), &pruning(1, 2, false)), Err(PruneError::NothingToPrune));
    let mut other = model;
    let node = other.nodes.iter().find(|node| matches!(node.op, Op::Conv { .. })).unwrap();
    let weights = node.inputs[1].0;
    let elements = other.tensors[weights].shape.elements().unwrap();
    other.tensors[weights].source = Some(Source::inline(Data::I32(vec![1; elements])));
    let error = prune(&other, &pruning(1, 2, false)).unwrap_err();
    assert!(matches!(&error, PruneError::OtherWeights { dtype: "int32", .. }), "{error}");
}

#[test]
fn int8_weights_go_by_what_they_stand_for() {
    let model = tilewright_zoo::network("resnet8").unwrap().int8().unwrap();
    let (pruned, layers) = prune(&model, &pruning(500, 2, false)).unwrap();
    pruned.verify().unwrap();
    let weights: usize = layers.iter().map(|layer| layer.weights).sum();
    assert_eq!(weights as u64, prunable_weights(&model));
    for PrunedLayer { name, zeros_before, zeros, .. } in &layers {
        let node = model.nodes.iter().find(|node| node.name == *name).unwrap();
        let [before, after] = [&model, &pruned].map(|model| {
            let tensor = model.tensor(node.inputs[1]);
            tensor.source.as_ref().unwrap().values().as_i8().unwrap().to_vec()
        });
        let tensor = model.tensor(node.inputs[1]);
        let scales = &tensor.quantisation.as_ref().unwrap().scales;
        let row = before.len() / tensor.shape.dims()[0];
        let (mut gone, mut kept) = (0f32, f32::MAX);
        for (index, (before, after)) in before.chunks(row).zip(after.chunks(row)).enumerate() {
            let scale = scales[if scales.len() > 1 { index } else { 0 }];
            for (before, after) in before.chunks(2).zip(after.chunks(2)) {
                let real = before.iter().map(|v| (f32::from(*v) * scale).abs()).sum::<f32>();
                let mean = real / before.len() as f32;
                if before == after {
                    kept = kept.min(mean);
                } else {
                    assert!(after.iter().all(|value| *value == 0), "{name}");
                    gone = gone.max(mean);
                }
            }
        }
        // A group of zeros is as it was, whichever it belongs to.
        assert!(gone <= kept || kept == 0.0, "{name}: {gone} is gone, {kept} is kept");
        let count = |weights: &[i8]| weights.iter().filter(|weight| **weight == 0).count();
        assert_eq!((count(&before), count(&after)), (*zeros_before, *zeros), "{name}");
        assert!(zeros * 2 >= before.len() - 2, "{name}: {zeros}");
    }
}

#[test]
fn what_is_written_computes_the_same() {
    let model = bundled("fashion-mobilenet");
    let (pruned, layers) = prune(&model, &pruning(800, 2, false)).unwrap();
    let mut bytes = Vec::new();
    let mut write = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), std::io::Error>(())
    };
    tilewright_formats::export(&pruned, &mut write).unwrap();
    let again = opened(&bytes);
    // Pruning nothing counts what is zero; channels that nothing is left of are gone.
    let (_, counted) = prune(&again, &pruning(0, 2, false)).unwrap();
    let left = |layers: &[PrunedLayer]| -> Vec<usize> {
        layers.iter().map(|layer| layer.weights - layer.zeros).collect()
    };
    assert!(left(&counted).iter().zip(left(&layers)).all(|(found, written)| *found <= written));
    let input = vec![Data::F32((0..28 * 28).map(|pixel| (pixel % 17) as f32 / 17.0).collect())];
    let [before, after] = [&pruned, &again].map(|model| {
        let outputs = float::run(model, &input, &mut |_, _| {}).unwrap();
        outputs[0].as_f32().unwrap().to_vec()
    });
    let same = before.iter().zip(&after).all(|(before, after)| (before - after).abs() < 1e-5);
    assert!(same && before.len() == 10, "{before:?} {after:?}");
}
