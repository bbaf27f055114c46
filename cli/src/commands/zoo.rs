//! `tilewright zoo`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tilewright_server::pipeline::{export, zoo};
use tilewright_server::{Blame, Problem, ZooView};

use super::json;
use crate::Said;
use crate::args::{Zoo, ZooCommand};
use crate::text::{DIM, Side, Table, number, shape};

/// Lists the networks, or writes one as ONNX.
pub fn zoo(options: &Zoo) -> Result<Said, Problem> {
    match &options.command {
        None => list(options.json.json),
        Some(ZooCommand::Export { name, output }) => write(name, output),
    }
}

fn list(as_json: bool) -> Result<Said, Problem> {
    let views = ZooView::all().map_err(|error| Problem::ours(format!("{error}."), "zoo"))?;
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

fn write(name: &str, output: &Path) -> Result<Said, Problem> {
    let network = zoo::network(name)?;
    let place = output.display().to_string();
    let failed = |error: io::Error| {
        let what_to_do = "Give a path that can be written, on a disk with room.";
        let error = format!("The file cannot be written: {error}.");
        Problem::new(Blame::BadInput, error, place.clone(), what_to_do)
    };
    let file = File::create(output).map_err(failed)?;
    let mut writer = BufWriter::new(file);
    let mut bytes = 0u64;
    let mut put = |piece: &[u8]| {
        bytes += piece.len() as u64;
        writer.write_all(piece)
    };
    let written =
        export(network.float(), &mut put, failed).and_then(|()| writer.flush().map_err(failed));
    if let Err(problem) = written {
        // Half a model is worse than none.
        let _ = fs::remove_file(output);
        return Err(problem);
    }
    Ok(Said::well(format!("{}: {}, {} bytes\n", output.display(), network.name, number(bytes))))
}
