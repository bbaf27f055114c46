//! `tilewright zoo`.

use std::borrow::Cow;
use std::path::Path;

use tilewright_app::{Diagnostic, zoo};

use super::json;
use crate::Said;
use crate::args::{Zoo, ZooCommand};
use crate::outputs;
use crate::text::{DIM, Side, Table, number, shape};

/// Lists the networks, or writes one as ONNX or TensorFlow Lite.
pub fn zoo(options: &Zoo) -> Result<Said, Diagnostic> {
    match &options.command {
        None => list(options.json.json),
        Some(ZooCommand::Export { name, output }) => write(name, output),
    }
}

fn list(as_json: bool) -> Result<Said, Diagnostic> {
    let views = zoo::list()?;
    if as_json {
        return Ok(Said::well(json(&views)?));
    }
    let mut table = Table::new(&[
        ("network", Side::Left),
        ("family", Side::Left),
        ("input", Side::Left),
        ("parameters", Side::Right),
        ("MACs", Side::Right),
        ("sizes", Side::Left),
        ("what", Side::Left),
    ]);
    for view in &views {
        let mut sizes = Vec::new();
        if let Some(width) = view.width {
            sizes.push(format!("w {}–{}", width.least, width.most));
        }
        if let Some(resolution) = view.resolution {
            sizes.push(format!("r {}–{}", resolution.least, resolution.most));
        }
        let dims: Vec<u32> = view.input.iter().skip(1).map(|dim| *dim as u32).collect();
        table.row([
            view.name.clone(),
            view.family.clone(),
            shape(&dims),
            number(view.parameters),
            number(view.macs),
            sizes.join(", "),
            view.about.clone(),
        ]);
    }
    let note = "Names take width and resolution: zoo:mobilenet-v2-w0.35-r96. Batch normalisation \
                is folded, so that parameters are fewer than published; --json gives both.";
    Ok(Said::well(format!("{}{DIM}{note}{DIM:#}\n", table.print())))
}

fn write(name: &str, output: &Path) -> Result<Said, Diagnostic> {
    let network = zoo::network(name)?;
    let model = match outputs::is_tflite(output) {
        true => {
            Cow::Owned(network.int8().map_err(|error| Diagnostic::ours(format!("{error}."), name))?)
        }
        false => Cow::Borrowed(network.float()),
    };
    let bytes = outputs::write_model(output, &model)?;
    Ok(Said::well(format!("{}: {}, {} bytes\n", output.display(), network.name, number(bytes))))
}
