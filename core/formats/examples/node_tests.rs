//! Opens the files of a folder that `models/train/onnx_node_tests.py` wrote, runs them, and compares
//! with the results recorded there: `cargo run --release -p tilewright-formats --example node_tests
//! -- FOLDER`. One line a file: its name, `equal`, `differs` or `refused`, and what is said of it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tilewright_formats::{Limits, open};
use tilewright_model::{DType, Data, Model, Tensor, TensorId, float, int8};

/// An array as the file has it.
struct Array {
    is_input: bool,
    kind: String,
    dims: Vec<usize>,
    values: Vec<f32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder")?);
    let mut names: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.retain(|path| path.extension().is_some_and(|ending| ending == "onnx"));
    names.sort();
    for path in names {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let model = match open(&name, &fs::read(&path)?, &Limits::default(), &[]) {
            Ok(model) => model,
            Err(error) => {
                println!("{name}\trefused\t{error}");
                continue;
            }
        };
        if let Some(operators) = model.opaque_in_words() {
            println!("{name}\trefused\tnothing computes {operators}");
            continue;
        }
        match compare(&model, &arrays(&path)?) {
            Ok(()) => println!("{name}\tequal"),
            Err(words) => println!("{name}\tdiffers\t{words}"),
        }
    }
    Ok(())
}

fn arrays(path: &Path) -> Result<Vec<Array>, Box<dyn Error>> {
    let ports = fs::read_to_string(path.with_extension("ports"))?;
    let array = |(index, line): (usize, &str)| -> Result<Array, Box<dyn Error>> {
        let mut words = line.split(' ');
        let is_input = words.next() == Some("input");
        let kind = words.next().unwrap_or_default().to_owned();
        let dims = words.map(str::parse).collect::<Result<_, _>>()?;
        let bytes = fs::read(path.with_extension(index.to_string()))?;
        let values = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word));
        Ok(Array { is_input, kind, dims, values: values.collect() })
    };
    ports.lines().enumerate().map(array).collect()
}

/// The array in the orders that a tensor of the model can have: channels last, or the file's.
fn layouts(array: &Array, dims: &[usize]) -> Vec<Vec<f32>> {
    let mut found = Vec::new();
    if array.dims.len() > 2 {
        let mut last = array.dims.clone();
        last[1..].rotate_left(1);
        if last == dims {
            let channels = array.dims[1];
            let plane: usize = array.dims[2..].iter().product();
            let batches = array.values.chunks_exact((plane * channels).max(1));
            let pixels = batches.flat_map(|batch| {
                (0..plane).flat_map(move |at| (0..channels).map(move |c| batch[c * plane + at]))
            });
            found.push(pixels.collect());
        }
    }
    if array.dims == dims {
        found.push(array.values.clone());
    }
    found
}

/// Whether some order of the inputs gives the outputs in some order.
fn compare(model: &Model, arrays: &[Array]) -> Result<(), String> {
    let (inputs, outputs): (Vec<&Array>, Vec<&Array>) =
        arrays.iter().partition(|array| array.is_input);
    let dims = |id: &TensorId| model.tensor(*id).shape.dims().to_vec();
    let orders: Vec<Vec<Vec<f32>>> =
        inputs.iter().zip(&model.inputs).map(|(array, id)| layouts(array, &dims(id))).collect();
    let most = orders.iter().map(Vec::len).max().unwrap_or(0);
    let mut said = "the inputs have other shapes".to_owned();
    for choice in 0..most {
        let given: Option<Vec<Data>> = orders
            .iter()
            .zip(&inputs)
            .zip(&model.inputs)
            .map(|((orders, array), id)| {
                let values = orders.get(choice).or(orders.last())?;
                Some(as_data(values, &array.kind, model.tensor(*id)))
            })
            .collect();
        let Some(given) = given else { continue };
        let run = if model.is_int8() { int8::run } else { float::run };
        let results = run(model, &given, &mut |_, _| {}).map_err(|error| error.to_string())?;
        said = match differing(model, &results, &outputs) {
            None => return Ok(()),
            Some(words) => words,
        };
    }
    Err(said)
}

/// Values as the model takes them: bytes are in the file's steps.
fn as_data(values: &[f32], kind: &str, tensor: &Tensor) -> Data {
    let shift = if kind == "uint8" { 128.0 } else { 0.0 };
    let steps: Vec<i8> = values.iter().map(|value| (value - shift) as i8).collect();
    match (&tensor.quantisation, kind) {
        (_, "float") if tensor.dtype == DType::F32 => Data::F32(values.to_vec()),
        (Some(scale), "uint8" | "int8") if tensor.dtype == DType::F32 => {
            Data::F32(scale.dequantise(&steps))
        }
        (Some(scale), "float") => Data::I8(scale.quantise(values)),
        _ if tensor.dtype == DType::I8 => Data::I8(steps),
        _ => Data::F32(values.to_vec()),
    }
}

fn differing(model: &Model, results: &[Data], expected: &[&Array]) -> Option<String> {
    for ((result, array), id) in results.iter().zip(expected).zip(&model.outputs) {
        let shift = if array.kind == "uint8" { 128.0 } else { 0.0 };
        let tensor = model.tensor(*id);
        let found: Vec<f32> = match (result, &tensor.quantisation) {
            (Data::F32(values), Some(steps)) if matches!(&*array.kind, "uint8" | "int8") => {
                steps.quantise(values).iter().map(|v| f32::from(*v) + shift).collect()
            }
            (Data::F32(values), _) => values.clone(),
            (Data::I8(values), Some(steps)) if array.kind == "float" => steps.dequantise(values),
            (Data::I8(values), _) => values.iter().map(|v| f32::from(*v) + shift).collect(),
            (Data::I32(values), _) => values.iter().map(|value| *value as f32).collect(),
        };
        let layouts = layouts(array, tensor.shape.dims());
        if layouts.is_empty() {
            return Some(format!("a result of {} for {:?}", tensor.shape, array.dims));
        }
        let fits = |wanted: &Vec<f32>| {
            let most = wanted.iter().filter(|v| v.is_finite()).fold(0f32, |m, v| m.max(v.abs()));
            // Integers are rounded in another way; the tests' own figures have four digits at least.
            let is_steps = matches!(&*array.kind, "uint8" | "int8");
            let near = if is_steps { 1.0 } else { 1e-5 * most.max(1e-3) };
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= near || a == b)
        };
        if !layouts.iter().any(fits) {
            let wanted = &layouts[0];
            let at = found.iter().zip(wanted).position(|(a, b)| (a - b).abs() > 1e-5).unwrap_or(0);
            let pair = (found.get(at), wanted.get(at));
            return Some(format!("value {at} of '{}': {pair:?}", tensor.name));
        }
    }
    None
}
