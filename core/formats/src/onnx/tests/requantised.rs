//! Networks of integers as their exporters write them.

use super::build::Attribute::{Float, Int};
use super::build::File;
use super::noise;
use crate::onnx::messages::tensor_proto::DataType;
use crate::onnx::messages::{AttributeProto, TensorProto};
use crate::{Limits, open};
use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Model, float, int8};

fn opened(file: &File) -> Model {
    open("x.onnx", &file.bytes(), &Limits::default(), &[]).unwrap()
}

/// Steps that weights which are rounded anew may take a result from the exporter's.
const MOST: f64 = 5.0;

/// Pixels of 0 to 255, both of which are there.
fn pixels() -> Vec<f32> {
    let mut pixels = whole(PIXELS * 3, 9, 0.0, 256.0);
    pixels[0] = 255.0;
    pixels
}

/// Whole numbers from `low` on, as floats.
fn whole(count: usize, seed: u32, low: f32, steps: f32) -> Vec<f32> {
    let place = |value: f32| low + ((value + 1.0) / 2.0 * steps).floor();
    noise(count, seed).into_iter().map(place).collect()
}

fn results(model: &Model, sample: &[f32]) -> [Vec<f32>; 2] {
    let sample = vec![Data::F32(sample.to_vec())];
    let real = float::run(model, &sample, &mut |_, _| {}).unwrap().remove(0);
    let options = QuantiseOptions::default();
    let (quantised, _) = quantise(model, std::slice::from_ref(&sample), &options).unwrap();
    let stated = |id| quantised.tensor(id).quantisation.clone().unwrap();
    let input = stated(quantised.inputs[0]).quantise(sample[0].as_f32().unwrap());
    let found = int8::run(&quantised, &[Data::I8(input)], &mut |_, _| {}).unwrap().remove(0);
    let found = stated(quantised.outputs[0]).dequantise(found.as_i8().unwrap());
    [real.as_f32().unwrap().to_vec(), found]
}

const CHANNELS: usize = 4;
const PIXELS: usize = 36;

/// Three channels in, four out, by weights of one tap; nearly all of 0 to 255 and beyond on both sides.
fn convolved() -> File {
    File::new()
        .input("x", &["1", "3", "6", "6"])
        .floats("w", &[CHANNELS as i64, 3, 1, 1], whole(12, 1, -60.0, 121.0))
        .floats("k", &[1, CHANNELS as i64, 1, 1], vec![700.0, 2047.0, -1500.0, 1024.0])
        .floats("l", &[1, CHANNELS as i64, 1, 1], vec![3e6, -2e6, 4e6, 1e6])
        .node("Conv", &["x", "w"], "sum", &[])
}

fn exact(
    sample: &[f32],
    factor: f64,
    divisor: f64,
    rounds: fn(f64) -> f64,
    ends: [f64; 2],
) -> Vec<f64> {
    let weights = whole(12, 1, -60.0, 121.0);
    let (k, l) = ([700.0, 2047.0, -1500.0, 1024.0], [3e6, -2e6, 4e6, 1e6]);
    let mut results = Vec::new();
    for pixel in sample.chunks_exact(3) {
        for channel in 0..CHANNELS {
            let sum: f32 = pixel.iter().zip(&weights[channel * 3..]).map(|(x, w)| x * w).sum();
            let real = (f64::from(sum) * k[channel] + l[channel]) * factor / divisor;
            results.push(rounds(real).clamp(ends[0], ends[1]));
        }
    }
    results
}

fn is_near(found: &[f32], exact: &[f64], most: f64) {
    assert_eq!(found.len(), exact.len());
    for (index, (found, exact)) in found.iter().zip(exact).enumerate() {
        assert!((f64::from(*found) - exact).abs() <= most, "{index}: {found} for {exact}");
    }
}

/// NEMO and DORY: kappa and lambda as floats, then integers of 64 bits that are multiplied and divided.
#[test]
fn integers_of_64_bits_are_the_numbers_that_they_are() {
    let file = convolved()
        .ints("m", &[5])
        .ints("d", &[1 << 16])
        .node("Mul", &["k", "sum"], "scaled", &[])
        .node("Add", &["scaled", "l"], "moved", &[])
        .node("Cast", &["moved"], "whole", &[("to", Int(7))])
        .node("Mul", &["whole", "m"], "product", &[])
        .node("Div", &["product", "d"], "quotient", &[])
        .node("Cast", &["quotient"], "again", &[("to", Int(7))])
        .node("Cast", &["again"], "real", &[("to", Int(1))])
        .node("Clip", &["real"], "y", &[("min", Float(0.0)), ("max", Float(255.0))])
        .opset(9)
        .output("y");
    let model = opened(&file);
    assert!(model.opaque_operators().is_empty());
    assert!(model.notes.iter().any(|note| note.contains("integers")), "{:?}", model.notes);
    let sample = pixels();
    let exact = exact(&sample, 5.0, 65536.0, f64::floor, [0.0, 255.0]);
    let [real, found] = results(&model, &sample);
    // Half a step on average for what is rounded down.
    is_near(&real, &exact, 0.51);
    is_near(&found, &exact, MOST);
}

fn tensor(name: &str, value: f32) -> AttributeProto {
    let tensor = TensorProto {
        data_type: DataType::Float as i32,
        dims: vec![1],
        float_data: vec![value],
        ..Default::default()
    };
    AttributeProto { name: name.to_owned(), t: Some(tensor), ..Default::default() }
}

/// Deeploy and QuantLab: one operator for factor, summand, divisor and ends.
#[test]
fn requantising_shifts_are_factors_and_summands() {
    for (signed, ends) in [(0.0, [0.0, 255.0]), (1.0, [-128.0, 127.0])] {
        let mut file = convolved().node("RequantShift", &["sum", "k", "l"], "y", &[]).output("y");
        let node = file.graph().node.last_mut().unwrap();
        node.domain = "PACTOps".to_owned();
        node.attribute =
            vec![tensor("div", 16384.0), tensor("n_levels_out", 256.0), tensor("signed", signed)];
        let model = opened(&file);
        assert!(model.opaque_operators().is_empty());
        let sample = pixels();
        let exact = exact(&sample, 1.0, 16384.0, f64::round, ends);
        let [real, found] = results(&model, &sample);
        is_near(&real, &exact, 0.51);
        is_near(&found, &exact, MOST);
    }
}

/// What other nodes than arithmetic read stays what it was: integers that nothing here computes with.
#[test]
fn integers_that_are_picked_by_stay_integers() {
    let file = File::new()
        .input("x", &["1", "4"])
        .weights("table", &[8, 3])
        .node("Cast", &["x"], "picks", &[("to", Int(7))])
        .node("Gather", &["table", "picks"], "y", &[("axis", Int(0))])
        .output("y");
    assert_eq!(opened(&file).opaque_operators(), ["Cast", "Gather"]);
}

/// Weights that are all zero, before a softmax: its operand gets a scale that it takes.
#[test]
fn a_softmax_of_zeros_is_quantised() {
    for bias in [0.0, 1e-9] {
        let file = File::new()
            .input("x", &["1", "4"])
            .floats("w", &[5, 4], vec![0.0; 20])
            .floats("b", &[5], vec![bias; 5])
            .node("Gemm", &["x", "w", "b"], "z", &[("transB", Int(1))])
            .node("Softmax", &["z"], "y", &[])
            .output("y");
        let [real, found] = results(&opened(&file), &[0.1, 0.5, 0.9, 1.0]);
        assert!(real.iter().chain(&found).all(|share| (share - 0.2).abs() < 0.01), "{found:?}");
    }
}
