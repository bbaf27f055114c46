//! `tilewright explore`: experiments over many networks and techniques.

use std::fmt::Write as _;

use tilewright_app::{Blame, Diagnostic, Progress, Stage};
use tilewright_explore::Fit;
use tilewright_report::{FitCell, FitClaim, FitReport, Technique, csv_row};

use super::json;
use crate::args::{Explore, ExploreFit};
use crate::outputs::{self, Readers};
use crate::text::{BOLD, DIM, Side, Table, bytes, micros};
use crate::{Said, interrupt, load, progress};

/// Runs an experiment.
pub fn explore(options: &Explore) -> Result<Said, Diagnostic> {
    match options {
        Explore::Fit(options) => fit(options),
    }
}

fn fit(options: &ExploreFit) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let board = load::board_of(&options.board)?;
    let mut experiment = Fit::new(&board);
    teller.tell(&Progress::Stage(Stage::Planning));
    loop {
        let went_on = experiment.advance().map_err(|error| {
            Diagnostic::new(
                Blame::BadInput,
                format!("{error}."),
                &*board.id,
                "Choose another board.",
            )
        })?;
        cancel.check()?;
        if !went_on {
            break;
        }
    }
    drop(teller);
    let record = experiment.report();
    if let Some(path) = &options.csv {
        outputs::write(path, Readers::All, table(&record.cells).as_bytes())?;
    }
    Ok(Said::well(if options.json.json { json(&record)? } else { words(&record) }))
}

/// The cells as comma-separated values.
fn table(cells: &[FitCell]) -> String {
    let columns = [
        "network",
        "technique",
        "accuracy_percent",
        "sram_bytes",
        "published_sram_bytes",
        "flash_bytes",
        "latency_us",
        "macs",
        "recomputed_macs",
        "fits",
        "lacks",
    ];
    let mut text = csv_row(&columns.map(str::to_owned));
    for cell in cells {
        text += &csv_row(&[
            cell.network.clone(),
            cell.technique.name().to_owned(),
            format!("{:.1}", f64::from(cell.accuracy_permille) / 10.0),
            cell.sram_bytes.to_string(),
            cell.published_sram_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
            cell.flash_bytes.to_string(),
            cell.latency_us.map_or_else(String::new, |latency| format!("{latency:.0}")),
            cell.macs.to_string(),
            cell.recomputed_macs.to_string(),
            cell.fits.to_string(),
            cell.lacks().join(" "),
        ]);
    }
    text
}

fn words(record: &FitReport) -> String {
    let FitReport { board, cells, claims } = record;
    let mut table = Table::new(&[
        ("network", Side::Left),
        ("top-1", Side::Right),
        ("technique", Side::Left),
        ("SRAM (counted)", Side::Right),
        ("as published", Side::Right),
        ("flash (counted)", Side::Right),
        ("latency (modelled)", Side::Right),
        ("fits", Side::Left),
    ]);
    for cell in cells {
        let is_first = cell.technique == Technique::ALL[0];
        let name = cell.title();
        let accuracy = format!("{:.1} %", f64::from(cell.accuracy_permille) / 10.0);
        let lacks = cell.lacks();
        let first = |text: String| if is_first { text } else { String::new() };
        table.row([
            first(name),
            first(accuracy),
            cell.technique.name().to_owned(),
            bytes(cell.sram_bytes),
            cell.published_sram_bytes.map_or_else(String::new, bytes),
            bytes(cell.flash_bytes),
            cell.latency_us.map_or_else(String::new, micros),
            if lacks.is_empty() { "yes".to_owned() } else { format!("no: {}", lacks.join(", ")) },
        ]);
    }
    let [sram, flash] = cells.first().map_or([0; 2], |cell| cell.limits);
    let mut text = format!(
        "{BOLD}What fits {board}: {} of SRAM, {} of flash{BOLD:#}\n{}\n",
        bytes(sram),
        bytes(flash),
        table.print()
    );
    let mut judged = Table::new(&[
        ("Cipolletta and Calimera, IV", Side::Left),
        ("their count", Side::Left),
        ("our plans", Side::Left),
        ("found in our plans", Side::Left),
    ]);
    let word = |holds: bool| if holds { "yes" } else { "no" }.to_owned();
    for FitClaim { claim, as_published, as_planned, found } in claims {
        let row = [claim.clone(), word(*as_published), word(*as_planned), found.clone()];
        judged.row(row);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", judged.print());
    let note = "Accuracy is the dense network's, as published. Weights are random, so that pruning \
                says nothing of accuracy here.";
    text + &format!("{DIM}{note}{DIM:#}\n")
}
