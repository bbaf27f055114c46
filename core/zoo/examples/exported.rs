//! Writes a network of the zoo as ONNX, with a made-up input and what the float interpreter makes of
//! it: `cargo run --release -p tilewright-zoo --example exported -- NAME DIR`. What reads the
//! three kinds of files is `models/train/zoo_exports.py`.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;

use tilewright_model::{Data, float};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("give a network's name and a folder".into());
    };
    let (network, folder) = (tilewright_zoo::network(&name)?, PathBuf::from(folder));
    fs::create_dir_all(&folder)?;
    let mut file = Vec::new();
    let mut keep = |bytes: &[u8]| -> Result<(), Infallible> {
        file.extend_from_slice(bytes);
        Ok(())
    };
    tilewright_formats::export(network.float(), &mut keep)?;
    fs::write(folder.join(format!("{name}.onnx")), file)?;
    let model = network.float();
    let dims = model.tensor(model.inputs[0]).shape.clone();
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let input: Vec<f32> = (0..dims.elements().unwrap_or(0)).map(|_| next()).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    fs::write(folder.join(format!("{name}.input")), bytes(&input))?;
    let outputs = float::run(model, &[Data::F32(input)], &mut |_, _| {})?;
    for (index, output) in outputs.iter().enumerate() {
        let values = output.as_f32().unwrap_or_default();
        fs::write(folder.join(format!("{name}.output{index}")), bytes(values))?;
    }
    println!("{name}: input {dims}, {} outputs", outputs.len());
    Ok(())
}
