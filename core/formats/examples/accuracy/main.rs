//! What int8 costs: outputs and accuracy of a float model and of its int8 forms, one for each way
//! to calibrate. `cargo run --release -p tilewright-formats --example accuracy -- MODEL [INPUTS]
//! [--like INT8]`.
//!
//! INPUTS is a directory with `t10k-images-idx3-ubyte.gz` and `t10k-labels-idx1-ubyte.gz`,
//! possibly with a prefix; or INPUTS.bin LABELS.csv, raw int8 with the input quantisation of the
//! model INT8 and one class number a line; or nothing: seeded noise over what the input of INT8
//! represents, else 0..1, which tells nothing about accuracy.
//!
//! Calibrates on `MODEL.calibration.npy` beside the model, else on every tenth input without its
//! label, which is not tested then. INT8 itself is measured too, on the same inputs. An int8 MODEL
//! is taken as INT8, and its real values as the float model.
//!
//! Each output of several is measured, then what they give as exits, from the first to the last.

#![expect(clippy::disallowed_types, reason = "a program reads files and the clock; core does not")]

mod exits;
mod inputs;
mod real;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tilewright_formats::{Limits, input, open};
use tilewright_model::quantise::{QuantiseOptions, RangeRule, quantise};
use tilewright_model::{Data, Model, RunError, float, int8};

use inputs::Inputs;

const RULES: [&str; 4] = ["minmax", "percentile=99.99", "percentile=99.9", "mse"];

/// Inputs without a calibration file of which one calibrates.
const CALIBRATION_SHARE: usize = 10;

/// All values of an output, for each input.
type Values = Vec<Vec<f32>>;
/// The same for each output of a model.
type Outputs = Vec<Values>;

/// Samples as the quantiser takes them.
type Samples = Vec<Vec<Data>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut like = None;
    if let Some(place) = arguments.iter().position(|word| word == "--like") {
        arguments.remove(place);
        like = (place < arguments.len()).then(|| arguments.remove(place));
    }
    let [path, data @ ..] = arguments.as_slice() else {
        return Err(
            "usage: accuracy MODEL [DIRECTORY | INPUTS.bin LABELS.csv] [--like INT8]".into()
        );
    };
    let mut model = read(path)?;
    let mut reference = like.as_deref().map(read).transpose()?;
    if model.is_int8() {
        let real = real::of(&model).ok_or("the model's values are not at hand")?;
        reference = Some(std::mem::replace(&mut model, real));
    }
    let inputs = match data {
        [] => Inputs::noise(&model, reference.as_ref()),
        [directory] => Inputs::images(&model, directory),
        [values, labels] => Inputs::quantised(&model, reference.as_ref(), values, labels),
        _ => Err("too many files".into()),
    }?;
    let (samples, tested) = calibration(path, &model, inputs)?;
    println!("{}: calibrated on {}, tested on {}", model.name, samples.len(), tested.values.len());

    let started = Instant::now();
    let interpreter = float::Interpreter::new(&model)?;
    let real = tested.each(&|values| interpreter.run(&[Data::F32(values)], &mut |_, _| {}))?;
    print("float", &model, &tested, &real, &real, started);
    for rule in RULES {
        let rule: RangeRule = rule.parse()?;
        let options = QuantiseOptions { rule, report_samples: 0 };
        let (quantised, _) = quantise(&model, &samples, &options)?;
        measure(&rule.to_string(), &quantised, &tested, &real)?;
    }
    if let Some(reference) = reference {
        measure("INT8", &reference, &tested, &real)?;
    }
    Ok(())
}

fn read(path: impl AsRef<str>) -> Result<Model, Box<dyn Error>> {
    let path = path.as_ref();
    Ok(open(path, &std::fs::read(path)?, &Limits::default(), &[])?)
}

/// Samples to calibrate on, and the inputs that are left to test on.
fn calibration(
    path: &str,
    model: &Model,
    inputs: Inputs,
) -> Result<(Samples, Inputs), Box<dyn Error>> {
    let file = Path::new(path).with_extension("calibration.npy");
    if file.is_file() {
        let tensor = model.tensor(*model.inputs.first().ok_or("the model has no input")?);
        let samples = input::samples(tensor, None, &std::fs::read(file)?)?;
        return Ok((samples.into_iter().map(|sample| vec![sample]).collect(), inputs));
    }
    let (samples, tested) = inputs.split(CALIBRATION_SHARE);
    Ok((samples.values.into_iter().map(|values| vec![Data::F32(values)]).collect(), tested))
}

fn measure(
    name: &str,
    model: &Model,
    tested: &Inputs,
    real: &Outputs,
) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let interpreter = int8::Interpreter::new(model)?;
    let quantisation =
        |id: Option<&tilewright_model::TensorId>| model.tensor(*id?).quantisation.clone();
    let input = quantisation(model.inputs.first()).ok_or("the int8 input has no scale")?;
    let scales: Option<Vec<_>> = model.outputs.iter().map(|id| quantisation(Some(id))).collect();
    let scales = scales.ok_or("an int8 output has no scale")?;
    let outputs = tested.each(&|values| {
        let results = interpreter.run(&[Data::I8(input.quantise(&values))], &mut |_, _| {})?;
        let results = results.iter().zip(&scales);
        let real = results.map(|(data, scale)| scale.dequantise(data.as_i8().unwrap_or(&[])));
        Ok::<_, RunError>(real.map(Data::F32).collect())
    })?;
    print(name, model, tested, &outputs, real, started);
    Ok(())
}

fn print(
    name: &str,
    model: &Model,
    tested: &Inputs,
    outputs: &Outputs,
    real: &Outputs,
    started: Instant,
) {
    let seconds = started.elapsed().as_secs_f64();
    let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
    let speed = macs as f64 * tested.values.len() as f64 / seconds / 1e6;
    for ((outputs, real), id) in outputs.iter().zip(real).zip(&model.outputs) {
        let accuracy = tested.labels.as_ref().map_or("no labels".to_owned(), |labels| {
            let right = |(output, label): &(&Vec<f32>, &usize)| largest(output) == Some(**label);
            let right = outputs.iter().zip(labels).filter(right).count();
            let share = 100.0 * right as f64 / labels.len() as f64;
            format!("accuracy {share:.2} % ({right} of {})", labels.len())
        });
        let same = outputs.iter().zip(real).filter(|(a, b)| largest(a) == largest(b)).count();
        let same = 100.0 * same as f64 / outputs.len() as f64;
        let sqnr = decibels(outputs, real);
        let output = &model.tensor(*id).name;
        println!(
            "{name:<17} {output}: SQNR {sqnr:>5.1} dB, same class {same:>6.2} %, {accuracy}, \
             {seconds:.1} s, {speed:.0} million MACs a second"
        );
    }
    if let Some(labels) = tested.labels.as_ref().filter(|_| outputs.len() > 1) {
        exits::print(outputs, labels);
    }
}

/// Power of the float outputs over the power of the deviation.
fn decibels(outputs: &Values, real: &Values) -> f64 {
    let (mut signal, mut noise) = (0.0, 0.0);
    for (output, real) in outputs.iter().flatten().zip(real.iter().flatten()) {
        let (output, real) = (f64::from(*output), f64::from(*real));
        signal += real * real;
        noise += (output - real) * (output - real);
    }
    10.0 * (signal / noise).log10()
}

/// Index of the largest value, the first of equals.
fn largest(values: &[f32]) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (index, value) in values.iter().enumerate() {
        if best.is_none_or(|(_, most)| *value > most) {
            best = Some((index, *value));
        }
    }
    best.map(|(index, _)| index)
}
