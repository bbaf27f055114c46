//! `tilewright explore fit`: what fits a small board.

use std::fmt::Write as _;

use tilewright_app::Diagnostic;
use tilewright_explore::Fit;
use tilewright_report::{Axis, CsvColumn, FitCell, FitClaim, FitReport, Point, Scatter, Technique};

use super::take_steps;
use crate::args::explore::ExploreFit;
use crate::experiment::{End, command, series, some, told};
use crate::text::{BOLD, DIM, Side, Table, bytes, micros};
use crate::{Said, interrupt, load};

/// Runs the experiment.
pub fn fit(options: &ExploreFit) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let board = load::board_of(&options.board)?;
    let mut experiment = Fit::new(&board);
    // What the paper says is of all cells, so that a part of them says nothing.
    if take_steps(&mut experiment, &cancel, &board.id)? == End::Cancelled {
        cancel.check()?;
    }
    let record = experiment.report();
    told(&options.out, End::Whole, &record, &COLUMNS, &record.cells, words, |record| {
        scatter(record).svg()
    })
}

/// A cell, as comma-separated values.
const COLUMNS: [CsvColumn<FitCell>; 11] = [
    CsvColumn { head: "network", field: |cell| cell.network.clone() },
    CsvColumn { head: "technique", field: |cell| cell.technique.name().to_owned() },
    CsvColumn {
        head: "accuracy_percent",
        field: |cell| format!("{:.1}", f64::from(cell.accuracy_permille) / 10.0),
    },
    CsvColumn { head: "sram_bytes", field: |cell| cell.sram_bytes.to_string() },
    CsvColumn { head: "published_sram_bytes", field: |cell| some(cell.published_sram_bytes) },
    CsvColumn { head: "flash_bytes", field: |cell| cell.flash_bytes.to_string() },
    CsvColumn {
        head: "latency_us",
        field: |cell| some(cell.latency_us.map(|us| format!("{us:.0}"))),
    },
    CsvColumn { head: "macs", field: |cell| cell.macs.to_string() },
    CsvColumn { head: "recomputed_macs", field: |cell| cell.recomputed_macs.to_string() },
    CsvColumn { head: "fits", field: |cell| cell.fits.to_string() },
    CsvColumn { head: "lacks", field: |cell| cell.lacks().join(" ") },
];

/// RAM against flash, by technique (figures 4 and 6).
fn scatter(record: &FitReport) -> Scatter {
    let point = |cell: &FitCell| {
        let [x, y] = [cell.sram_bytes, cell.flash_bytes].map(|bytes| bytes as f64 / 1024.0);
        (cell.technique.name().to_owned(), Point { x, y, title: cell.title() })
    };
    Scatter {
        title: format!("Twelve MobileNets on {}", record.board),
        command: command(),
        x: Axis { title: "SRAM in KiB (counted)".to_owned(), is_logarithmic: false },
        y: Axis { title: "flash in KiB (counted)".to_owned(), is_logarithmic: false },
        series: series(record.cells.iter().map(point)),
        ..Scatter::default()
    }
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
