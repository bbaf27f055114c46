//! What a search says at its end.

use std::fmt::Write as _;
use std::path::Path;

use super::Found;
use crate::args::explore::ExploreSearch;
use crate::text::{BOLD, DIM, Side, Table, number};

pub(super) fn words(options: &ExploreSearch, found: &[Found]) -> String {
    let mut table = Table::new(&[
        ("Γ", Side::Right),
        ("seed", Side::Right),
        ("steps", Side::Right),
        ("validation loss", Side::Right),
        ("accuracy", Side::Right),
        ("normal cell", Side::Right),
        ("reduction cell", Side::Right),
        ("cells, cycles (modelled)", Side::Right),
    ]);
    for one in found {
        let last = Last::of(one);
        table.row([
            one.trade_off.to_string(),
            one.seed.to_string(),
            format!("{} of {}", one.steps, one.of),
            last.as_ref().map_or("–".to_owned(), |last| format!("{:.3}", last.loss)),
            last.as_ref()
                .map_or("–".to_owned(), |last| format!("{:.0} %", 100.0 * last.accuracy)),
            number(one.normal_cost),
            number(one.reduction_cost),
            number(one.cells_cost),
        ]);
    }
    let mut text = table.print();
    let _ = writeln!(
        text,
        "{DIM}Loss and accuracy are means of the last {LATEST} batches (measured).{DIM:#}"
    );
    for one in found {
        let _ = writeln!(text, "\n{BOLD}Γ = {}, seed {}{BOLD:#}", one.trade_off, one.seed);
        let _ = writeln!(text, "{}", one.genotype);
        if one.steps < one.of && one.diverged.is_none() {
            let _ = writeln!(text, "Stopped before its end. {}", goes_on(options));
        }
        let _ = writeln!(text, "{}", next(options, one.file.as_deref()));
    }
    text
}

fn goes_on(options: &ExploreSearch) -> &'static str {
    match options.state {
        Some(_) => "The same command goes on with it.",
        None => "With --state the same command could go on with it.",
    }
}

/// The command that gives the network weights.
fn next(options: &ExploreSearch, file: Option<&Path>) -> String {
    let file = file.map_or("CELLS.txt".to_owned(), |file| file.display().to_string());
    let data = options.data.display();
    format!("Next: tilewright train {file} --data {data} -o cells.onnx")
}

/// Batches whose mean is said.
const LATEST: usize = 20;

struct Last {
    loss: f64,
    accuracy: f64,
}

impl Last {
    fn of(one: &Found) -> Option<Self> {
        let latest = &one.log[one.log.len().saturating_sub(LATEST)..];
        if latest.is_empty() {
            return None;
        }
        let count = latest.len() as f64;
        let loss = latest.iter().map(|row| row.validation_loss).sum::<f64>() / count;
        let accuracy = latest.iter().map(|row| row.validation_accuracy).sum::<f64>() / count;
        Some(Self { loss, accuracy })
    }
}
