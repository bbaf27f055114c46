//! Float and int8 accuracy of an image classifier on a test set in gzipped idx files:
//! `cargo run --release -p tilewright-formats --example accuracy -- MODEL.onnx DIRECTORY`.
//!
//! The directory holds `t10k-images-idx3-ubyte.gz` and `t10k-labels-idx1-ubyte.gz`, possibly with
//! a prefix. Calibrates on `MODEL.calibration.npy` beside the model.

#![expect(clippy::disallowed_types, reason = "a program reads files and the clock; core does not")]

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use tilewright_formats::{Limits, input, open};
use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Model, float, int8};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model_path, directory] = arguments.as_slice() else {
        return Err("usage: accuracy MODEL.onnx DIRECTORY".into());
    };
    let started = Instant::now();
    let model = open(model_path, &std::fs::read(model_path)?, &Limits::default(), &[])?;
    let opened = started.elapsed();
    let tensor = model.tensor(*model.inputs.first().ok_or("the model has no input")?);
    let calibration = Path::new(model_path).with_extension("calibration.npy");
    let samples: Vec<Vec<Data>> = input::samples(tensor, &std::fs::read(&calibration)?)?
        .into_iter()
        .map(|sample| vec![sample])
        .collect();
    let started = Instant::now();
    let (quantised, report) = quantise(&model, &samples, &QuantiseOptions::default())?;
    println!(
        "opened in {opened:?}, quantised on {} samples in {:?}",
        samples.len(),
        started.elapsed()
    );
    for tensor in &report.tensors {
        println!(
            "{:<24} {:>9.4} … {:<9.4} scale {:<12.8} zero {:>4}  saturated {:>3}  SQNR {:.1} dB",
            tensor.tensor,
            tensor.range.low,
            tensor.range.high,
            tensor.scale,
            tensor.zero,
            tensor.saturated,
            tensor.sqnr_db
        );
    }

    let images = idx(directory, "images-idx3", 16)?;
    let labels = idx(directory, "labels-idx1", 8)?;
    let [_, height, width, 1] = *tensor.shape.dims() else {
        return Err("the model takes no grey images".into());
    };
    let side = ((images.len() / labels.len()) as f64).sqrt() as usize;
    let inputs: Vec<Vec<f32>> = images
        .chunks_exact(side * side)
        .map(|image| centred(image, side, [height, width]))
        .collect();

    let started = Instant::now();
    let real = float::Interpreter::new(&model)?;
    let classify = |values: &Vec<f32>| -> Option<usize> {
        let result = real.run(&[Data::F32(values.clone())], &mut |_, _| {}).ok()?;
        largest(result.first()?.as_f32()?)
    };
    print_accuracy("float", &model, correct(&inputs, &labels, &classify), labels.len(), started);

    let started = Instant::now();
    let integer = int8::Interpreter::new(&quantised)?;
    let scale = quantised
        .tensor(quantised.inputs[0])
        .quantisation
        .clone()
        .ok_or("the int8 model's input has no scale")?;
    let classify = |values: &Vec<f32>| -> Option<usize> {
        let result = integer.run(&[Data::I8(scale.quantise(values))], &mut |_, _| {}).ok()?;
        largest(result.first()?.as_i8()?)
    };
    print_accuracy("int8", &model, correct(&inputs, &labels, &classify), labels.len(), started);
    Ok(())
}

fn print_accuracy(kind: &str, model: &Model, correct: usize, total: usize, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
    println!(
        "{kind} accuracy {:.2} % ({correct} of {total}) in {seconds:.2} s, {:.0} million MACs a second",
        100.0 * correct as f64 / total as f64,
        macs as f64 * total as f64 / seconds / 1e6
    );
}

/// Index of the largest value, the first of equals.
fn largest<T: PartialOrd + Copy>(values: &[T]) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for (index, value) in values.iter().enumerate() {
        if best.is_none_or(|(_, most)| *value > most) {
            best = Some((index, *value));
        }
    }
    best.map(|(index, _)| index)
}

fn correct<I: Sync>(
    inputs: &[I],
    labels: &[u8],
    classify: &(dyn Fn(&I) -> Option<usize> + Sync),
) -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = inputs.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = inputs
            .chunks(each)
            .zip(labels.chunks(each))
            .map(|(inputs, labels)| {
                scope.spawn(move || {
                    let right =
                        |(input, label): &(&I, &u8)| classify(input) == Some(usize::from(**label));
                    inputs.iter().zip(labels).filter(right).count()
                })
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap_or(0)).sum()
    })
}

/// Pixels over 255, between zeros.
fn centred(image: &[u8], side: usize, [height, width]: [usize; 2]) -> Vec<f32> {
    let (top, left) = ((height - side) / 2, (width - side) / 2);
    let mut values = vec![0.0; height * width];
    for (y, row) in image.chunks_exact(side).enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            values[(y + top) * width + x + left] = f32::from(*pixel) / 255.0;
        }
    }
    values
}

/// The bytes behind the header of the file in `directory` whose name contains `part`.
fn idx(directory: &str, part: &str, header: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains("t10k") && name.contains(part) && name.ends_with(".gz") {
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(std::fs::File::open(&path)?).read_to_end(&mut bytes)?;
            return Ok(bytes.split_off(header.min(bytes.len())));
        }
    }
    Err(format!("{directory} holds no t10k-{part}-ubyte.gz").into())
}
