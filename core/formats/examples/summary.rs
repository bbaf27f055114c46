//! Prints the graph of a model file: `cargo run --release --example summary -- FILE.onnx [dim=size ...]`.

use std::process::ExitCode;

use tilewright_formats::{Limits, open};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((path, rest)) = arguments.split_first() else {
        eprintln!("usage: summary FILE.onnx [dim=size ...]");
        return ExitCode::from(2);
    };
    let dims: Vec<(String, usize)> = rest
        .iter()
        .filter_map(|pair| pair.split_once('='))
        .filter_map(|(name, size)| Some((name.to_owned(), size.parse().ok()?)))
        .collect();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let model = match open(path, &bytes, &Limits::default(), &dims) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    for id in &model.inputs {
        println!("input {} {}", model.tensor(*id).name, model.tensor(*id).shape);
    }
    for node in &model.nodes {
        let shape = |id: &tilewright_model::TensorId| model.tensor(*id).shape.to_string();
        let inputs: Vec<String> = node.inputs.iter().map(shape).collect();
        let outputs: Vec<String> = node.outputs.iter().map(shape).collect();
        println!(
            "{:<16} {:<24} {} -> {}  {} MACs",
            node.op.name(),
            node.name,
            inputs.join(", "),
            outputs.join(", "),
            model.macs(node)
        );
    }
    println!("{} parameters; metadata {:?}", model.parameters(), model.metadata);
    ExitCode::SUCCESS
}
