//! Runs a model file on inputs of a folder: `cargo run --release -p tilewright-formats --example
//! outputs -- MODEL FOLDER`. Each `FOLDER/*.input` holds the real values of all inputs, one after the
//! other, channels last, as little-endian 32-bit floats; the real values of all outputs go into the
//! `.output` file beside it. Prints the dimensions of each input, and for each output its number of
//! values and the size of its step, 0 for floats. Without such files it prints alone.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tilewright_formats::{Limits, open};
use tilewright_model::{DType, Data, Model, Tensor, TensorId, float, int8};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, folder] = words.as_slice() else {
        return Err("give a model file and a folder of inputs".into());
    };
    let model = open("model", &fs::read(path)?, &Limits::default(), &[])?;
    if let Some(operators) = model.opaque_in_words() {
        return Err(format!("nothing computes {operators}").into());
    }
    for id in &model.inputs {
        let dims = model.tensor(*id).shape.dims().iter().map(|dim| format!(" {dim}"));
        println!("input{}", dims.collect::<String>());
    }
    for id in &model.outputs {
        let tensor = model.tensor(*id);
        let step = tensor.quantisation.as_ref().filter(|_| tensor.dtype == DType::I8);
        let step = step.and_then(|steps| steps.scales.first()).copied().unwrap_or(0.0);
        println!("output {} {step:e}", elements(tensor));
    }
    let mut inputs: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    inputs.retain(|path| path.extension().is_some_and(|ending| ending == "input"));
    for path in inputs {
        fs::write(path.with_extension("output"), outputs(&model, &path)?)?;
    }
    Ok(())
}

fn elements(tensor: &Tensor) -> usize {
    tensor.shape.elements().unwrap_or(0)
}

fn outputs(model: &Model, path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let mut values = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word));
    let mut given = Vec::new();
    for id in &model.inputs {
        let tensor = model.tensor(*id);
        let real: Vec<f32> = values.by_ref().take(elements(tensor)).collect();
        given.push(match (&tensor.quantisation, tensor.dtype) {
            (Some(steps), DType::I8) => Data::I8(steps.quantise(&real)),
            _ => Data::F32(real),
        });
    }
    let run = if model.is_int8() { int8::run } else { float::run };
    let results = run(model, &given, &mut |_, _| {})?;
    let real = |(result, id): (&Data, &TensorId)| match (result, &model.tensor(*id).quantisation) {
        (Data::F32(values), _) => values.clone(),
        (Data::I8(values), Some(steps)) => steps.dequantise(values),
        (Data::I8(values), None) => values.iter().map(|value| f32::from(*value)).collect(),
        (Data::I32(values), _) => values.iter().map(|value| *value as f32).collect(),
    };
    let real = results.iter().zip(&model.outputs).flat_map(real);
    Ok(real.flat_map(f32::to_le_bytes).collect())
}
