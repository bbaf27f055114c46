use tilewright_model::{Data, float, int8};

use super::*;

#[test]
fn figures_are_those_of_the_publications() {
    let mut wrong = Vec::new();
    for publication in entries().iter().flat_map(|entry| entry.publications) {
        let network = network(publication.name).unwrap();
        let pairs = [
            ("parameters", publication.parameters, network.parameters_as(publication)),
            ("MACs", publication.macs, network.macs()),
        ];
        let mut differs = false;
        for (what, theirs, ours) in pairs {
            let Some(theirs) = theirs else { continue };
            if ours.abs_diff(theirs) * 200 > theirs {
                differs = true;
                if publication.difference.is_none() {
                    let name = publication.name;
                    wrong.push(format!("{name}: {ours} {what} where {theirs} are published"));
                }
            }
        }
        if !differs && publication.difference.is_some() {
            wrong.push(format!("{}: explains a difference that is none", publication.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_network_has_an_int8_form_without_its_weights() {
    for entry in entries() {
        let network = network(entry.name).unwrap();
        assert_eq!(network.name, entry.name);
        let int8 = network.int8().unwrap();
        let inline = |model: &Model| -> usize {
            let sources = model.tensors.iter().filter_map(|tensor| tensor.source.as_ref());
            sources.filter(|source| source.data().is_some()).map(|source| source.len()).sum()
        };
        assert!(inline(&int8) < 100_000, "{}: {} inline", entry.name, inline(&int8));
        assert!(inline(network.float()) < 100_000, "{}", entry.name);
    }
}

/// Values that look random but are the same everywhere, as pictures have them.
fn picture(elements: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    (0..elements).map(|_| next()).collect()
}

/// Runs a network as float and as int8 and says what is wrong with its scales.
fn faults_of_scales(name: &str) -> Vec<String> {
    let network = network(name).unwrap();
    let (float, int8) = (network.float(), network.int8().unwrap());
    let input = float.tensor(float.inputs[0]);
    let mut values = picture(input.shape.elements().unwrap());
    let quantisation = |id: tilewright_model::TensorId| {
        int8.tensors.iter().find(|t| t.name == float.tensor(id).name).unwrap().quantisation.clone()
    };
    let of_input = quantisation(float.inputs[0]).unwrap();
    if of_input.zero() > -100 {
        values.iter_mut().for_each(|value| *value = (*value - 0.5) * 3.4);
    }
    let mut faults = Vec::new();
    let mut observe = |node: tilewright_model::NodeId, results: &[Data]| {
        let node = &float.nodes[node.0];
        let values = results[0].as_f32().unwrap();
        let q = quantisation(node.outputs[0]).unwrap();
        let (low, high) =
            ((-128 - q.zero()) as f32 * q.scale(0), (127 - q.zero()) as f32 * q.scale(0));
        let beyond =
            values.iter().filter(|v| **v < low - q.scale(0) || **v > high + q.scale(0)).count();
        let largest = values.iter().fold(0f32, |a, v| a.max(v.abs()));
        let reach = largest / high.max(-low);
        if beyond * 100 > values.len() && beyond > 2 {
            faults.push(format!("{name} '{}': {beyond} of {} saturate", node.name, values.len()));
        }
        if reach < 0.05 && !matches!(node.op, tilewright_model::Op::Softmax) {
            faults.push(format!("{name} '{}': uses {reach} of its range", node.name));
        }
    };
    let exact = float::run(float, &[Data::F32(values.clone())], &mut observe).unwrap();
    let results =
        int8::run(&int8, &[Data::I8(of_input.quantise(&values))], &mut |_, _| {}).unwrap();
    for ((id, exact), result) in float.outputs.iter().zip(&exact).zip(&results) {
        // Probabilities of a thousand classes that seeded weights hardly tell apart are a step or two of int8.
        let maker = float.producers()[id.0].map(|node| &float.nodes[node.0].op);
        if maker == Some(&tilewright_model::Op::Softmax) && result.as_i8().unwrap().len() > 100 {
            continue;
        }
        let q = quantisation(*id).unwrap();
        let (exact, result) = (exact.as_f32().unwrap(), q.dequantise(result.as_i8().unwrap()));
        let noise: f64 = exact.iter().zip(&result).map(|(a, b)| f64::from(a - b).powi(2)).sum();
        let mean = exact.iter().map(|v| f64::from(*v)).sum::<f64>() / exact.len() as f64;
        let signal: f64 = exact.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum();
        let ratio = 10.0 * (signal / noise.max(1e-12)).log10();
        if ratio < 10.0 {
            faults.push(format!("{name}: signal to noise {ratio:.1} dB"));
        }
        let distinct: std::collections::BTreeSet<_> = result.iter().map(|v| v.to_bits()).collect();
        if distinct.len() * 2 < result.len().min(16) {
            faults.push(format!("{name}: only {} different outputs", distinct.len()));
        }
    }
    faults
}

#[test]
fn int8_values_neither_saturate_nor_vanish() {
    let names = entries().iter().map(|entry| entry.name);
    let small = names.filter(|name| network(name).unwrap().macs() < 400_000_000);
    let faults: Vec<String> = small.flat_map(faults_of_scales).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
