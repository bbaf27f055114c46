//! `tilewright image`.

use std::path::{Path, PathBuf};

use tilewright_app::{
    Diagnostic, PackagedFile, PlanFile, Prepared, bytes_of, checked_plan, library, package,
    plan_file,
};
use tilewright_board::Board;
use tilewright_plan::Space;
use tilewright_planner::{Integrity, Options};
use tilewright_runner::{Dist, Native};

use crate::args::Image;
use crate::outputs::{self, Readers};
use crate::text::{Side, Table, number};
use crate::{Said, interrupt, load, progress, several};

/// Writes what is flashed, and what goes with it.
pub fn image(options: &Image) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let host = Native::new(&mut tell, &cancel);
    let integrity = options.checked.integrity();
    let (board, choices) = load::asked(&options.on, integrity)?;
    let dist = Dist::find()?;
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let recipe = load::recipe(&options.from, &prepared.model)?;
    let choices = Options { recipe, ..choices };
    let planned = checked_plan(&prepared.model, &board, options.strategy, &choices, &host)?;
    let several = match options.with.as_slice() {
        [] => None,
        others => {
            let how = (&options.on.quantised, &board, options.strategy, &choices);
            Some(several::joined((&prepared, &planned), others, how, &host)?)
        }
    };
    let (planned, model) = match &several {
        Some(all) => (&all.planned, &all.model),
        None => (&planned, &prepared.model),
    };
    let plan = plan_file(planned, model, &board, integrity, &host)?;
    drop(teller);
    let stem = load::stem(&options.on.quantised.file)?;
    let written = if options.library {
        library(&stem, &board, &dist.library(board.core.kind)?, &plan)?
    } else {
        with_firmware(&stem, &board, &dist, &plan, &prepared)?
    };
    let places: Vec<PathBuf> = written.iter().map(|file| options.output.join(&file.name)).collect();
    let paths: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
    outputs::apart(&paths, &load::files(&options.on.quantised))?;
    outputs::make_folder(&options.output)?;
    // A sealed image holds its key.
    let readers = if integrity == Integrity::Sealed { Readers::Owner } else { Readers::All };
    for (file, place) in written.iter().zip(&places) {
        outputs::write(place, readers, &file.bytes)?;
    }
    Ok(Said::well(said(&options.output, &written)))
}

/// The plan with the board's own firmware.
fn with_firmware(
    stem: &str,
    board: &Board,
    dist: &Dist,
    plan: &PlanFile,
    prepared: &Prepared,
) -> Result<Vec<PackagedFile>, Diagnostic> {
    let mut stores = Vec::new();
    if !plan.external_flash().is_empty() {
        stores.push((Space::ExternalFlash, plan.external_flash().to_vec()));
    }
    if !plan.card().is_empty() {
        stores.push((Space::Card, plan.card().to_vec()));
    }
    let (firmware, input) = (dist.firmware(&board.id)?, bytes_of(&prepared.first));
    package(stem, board, &firmware, plan.bytes(), &stores, &input)
}

fn said(folder: &Path, written: &[PackagedFile]) -> String {
    let mut table =
        Table::new(&[("file", Side::Left), ("bytes", Side::Right), ("what", Side::Left)]);
    for PackagedFile { name, what, bytes } in written {
        table.row([name.clone(), number(bytes.len() as u64), (*what).to_owned()]);
    }
    format!("{}\n{}", folder.display(), table.print())
}
