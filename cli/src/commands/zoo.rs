//! `tilewright zoo`.

use std::borrow::Cow;
use std::path::Path;

use tilewright_app::Diagnostic;
use tilewright_app::zoo::{self, Network};

use super::json;
use crate::Said;
use crate::args::{Zoo, ZooCommand};
use crate::files;
use crate::outputs;
use crate::text::{DIM, Side, Table, number, shape};

/// Largest genotype file that is read; its text may be shorter yet.
const GENOTYPE_LIMIT: u64 = 1 << 20;

/// Lists the networks, or writes one as ONNX or TensorFlow Lite.
pub fn zoo(options: &Zoo) -> Result<Said, Diagnostic> {
    match &options.command {
        None => list(options.json.json),
        Some(ZooCommand::Export { name, output }) => write(&zoo::network(name)?, output),
        Some(ZooCommand::Stack { genotype, cells, channels, resolution, colours, output }) => {
            let bytes = files::read(genotype, "genotype", GENOTYPE_LIMIT)?;
            let place = genotype.display().to_string();
            let mut stacked = zoo::cells(&bytes, &place)?;
            let stack = &mut stacked.stack;
            stack.cells = cells.unwrap_or(stack.cells);
            stack.channels = channels.unwrap_or(stack.channels);
            stack.resolution = resolution.unwrap_or(stack.resolution);
            stack.colours = colours.unwrap_or(stack.colours);
            write(&zoo::stacked(&stacked, &place)?, output)
        }
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
        if let Some(channels) = view.channels {
            sizes.push(format!("c {}–{}", channels.least, channels.most));
        }
        if let Some(cells) = view.cells {
            sizes.push(format!("n {}–{}", cells.least, cells.most));
        }
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
    let note = "Names take width and resolution: zoo:mobilenet-v2-w0.35-r96; stacks of cells take \
                channels and a number of cells: zoo:darts-cells-r16-c8-n8. Batch normalisation is \
                folded, so that parameters are fewer than published; --json gives both.";
    Ok(Said::well(format!("{}{DIM}{note}{DIM:#}\n", table.print())))
}

fn write(network: &Network, output: &Path) -> Result<Said, Diagnostic> {
    let model = match outputs::is_tflite(output) {
        true => {
            let ours = |error| Diagnostic::ours(format!("{error}."), &network.name);
            Cow::Owned(network.int8().map_err(ours)?)
        }
        false => Cow::Borrowed(network.float()),
    };
    let bytes = outputs::write_model(output, &model)?;
    Ok(Said::well(format!("{}: {}, {} bytes\n", output.display(), network.name, number(bytes))))
}
