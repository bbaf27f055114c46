//! A measurement in words.

use std::fmt::Write;
use std::path::Path;

use tilewright_board::Board;
use tilewright_desk::Record;
use tilewright_plan::Cycles;
use tilewright_report::{plain, short_name};

use crate::commands::board::talk::{Talked, origin};
use crate::text::{BOLD, DIM, Facts, Side, Table, micros, number};

pub fn text(record: &Record, talked: &Talked, board: &Board, written: Option<&Path>) -> String {
    let on = record.measured_on.words();
    let mut text = format!(
        "{BOLD}{} on {} ({on}), strategy {}{BOLD:#}\n",
        plain(&record.model),
        board.name,
        record.strategy
    );
    let kinds = &record.kinds;
    let mut facts = Facts::default();
    facts.add("verified", verified(record), None);
    facts.add("cycles", number(record.cycles.0), Some(kinds.cycles));
    facts.add("latency", micros(record.latency_us.0), Some(kinds.cycles));
    let beside = |other: Cycles| format!("{} ({})", number(other.0), ratio(record.cycles, other));
    facts.add("predicted", beside(record.predicted_cycles), Some(kinds.predicted_cycles));
    match (record.emulated_cycles, record.emulated_instructions) {
        (Some(cycles), Some(instructions)) => {
            facts.add("emulated", beside(cycles), Some(kinds.emulated_cycles));
            let counted = Some(kinds.emulated_instructions);
            facts.add("instructions", number(instructions), counted);
        }
        _ => facts.add("emulated", "not there: `tilewright run` says why", None),
    }
    if record.sent_again + record.resets > 0 {
        let what = format!("{} times, {} resets", record.sent_again, record.resets);
        facts.add("sent again", what, None);
    }
    text += &facts.print();
    let mut table = Table::new(&[
        ("layer", Side::Left),
        (&format!("cycles ({})", kinds.cycles.word()), Side::Right),
        ("predicted (modelled)", Side::Right),
        ("of it", Side::Right),
        ("emulated (modelled)", Side::Right),
        ("of it", Side::Right),
        ("instructions (counted)", Side::Right),
    ]);
    for layer in &record.layers {
        let cell = |other: Option<Cycles>| other.map_or(String::new(), |other| number(other.0));
        let part =
            |other: Option<Cycles>| other.map_or(String::new(), |other| ratio(layer.cycles, other));
        table.row([
            short_name(&layer.name).to_owned(),
            number(layer.cycles.0),
            cell(layer.predicted_cycles),
            part(layer.predicted_cycles),
            cell(layer.emulated_cycles),
            part(layer.emulated_cycles),
            layer.emulated_instructions.map_or(String::new(), number),
        ]);
    }
    text.push('\n');
    text += &table.print();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{DIM}{}{DIM:#}", origin(talked));
    if let Some(path) = written {
        let _ = writeln!(text, "The record is in {}.", path.display());
    }
    text
}

/// How much of the other the board took.
fn ratio(cycles: Cycles, other: Cycles) -> String {
    if other.0 == 0 {
        return String::new();
    }
    format!("{:.1} %", 100.0 * cycles.0 as f64 / other.0 as f64)
}

fn verified(record: &Record) -> String {
    if record.verified {
        return "yes: every output is bit-equal to the reference interpreter's".to_owned();
    }
    let wrong = record.outputs.iter().find(|output| output.differing_values > 0);
    match wrong {
        Some(output) => format!(
            "no: output {} differs in {} of {} values, first at {}",
            output.index,
            output.differing_values,
            output.bytes,
            output.first_difference.unwrap_or(0)
        ),
        None => "no: the board gave other outputs than the model has".to_owned(),
    }
}
