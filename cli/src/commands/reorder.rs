//! `tilewright order MODEL.tflite`.

use std::time::Instant;

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic, Silent, rearrange};
use tilewright_order::Budget;
use tilewright_planner::tflm::Report;
use tilewright_report::Kind;

use super::json;
use crate::Said;
use crate::args::Order;
use crate::files::{self, MODEL_LIMIT};
use crate::outputs::{self, Readers};
use crate::text::{self, Facts};

#[derive(Serialize)]
struct Record<'a> {
    model: String,
    operators: usize,
    moved: usize,
    /// Arena of TensorFlow Lite Micro for the file as it is.
    default_bytes: u64,
    /// Its arena with the offsets found for the file's own order.
    file_order_bytes: u64,
    arena_bytes: u64,
    lower_bound_bytes: u64,
    proved: bool,
    ms: f64,
    order: &'a [usize],
    /// Offset of each tensor; -1: the runtime's to find.
    offsets: &'a [i32],
}

/// Rearranges a TensorFlow Lite file for TensorFlow Lite Micro, and writes it if asked to.
pub fn reorder(options: &Order) -> Result<Said, Diagnostic> {
    let place = options.file.display().to_string();
    if options.in_place || options.concat {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "TensorFlow Lite Micro overwrites no tensor in place and copies in concatenations.",
            if options.in_place { "--in-place" } else { "--concat" },
            "Leave it out for a .tflite file.",
        ));
    }
    if let Some(output) = &options.output {
        outputs::apart(&[output], std::slice::from_ref(&options.file))?;
    }
    let bytes = files::read(&options.file, "model", MODEL_LIMIT)?;
    let start = Instant::now();
    let (found, written) = rearrange(&place, &bytes, Budget::default(), &Silent::default())?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    if let Some(output) = &options.output {
        outputs::write(output, Readers::All, &written)?;
    }
    let report = &found.report;
    if !options.json.json {
        let mut said = words(report, ms);
        if let Some(output) = &options.output {
            let size = text::number(written.len() as u64);
            said.push_str(&format!("\n{}: {size} bytes\n", output.display()));
        }
        return Ok(Said::well(said));
    }
    let record = Record {
        model: files::stem(&options.file),
        operators: report.operators,
        moved: report.moved,
        default_bytes: report.before.0,
        file_order_bytes: report.file_order.0,
        arena_bytes: report.arena.0,
        lower_bound_bytes: report.lower_bound.0,
        proved: report.is_proved(),
        ms: (ms * 1e3).round() / 1e3,
        order: &found.order,
        offsets: &found.offsets,
    };
    Ok(Said::well(json(&record)?))
}

fn words(report: &Report, ms: f64) -> String {
    let gap = match (report.arena.0 - report.lower_bound.0, report.arena.0) {
        (0, _) => "no order and no offsets need less".to_owned(),
        (gap, arena) => format!("gap {:.1} %", 100.0 * gap as f64 / arena as f64),
    };
    let less = |bytes: u64| match report.before.0.checked_sub(bytes) {
        None | Some(0) => String::new(),
        Some(less) => format!(", {:.1} % less", 100.0 * less as f64 / report.before.0 as f64),
    };
    let with = |bytes: u64| format!("{}{}", text::bytes(bytes), less(bytes));
    let mut facts = Facts::default();
    facts.add("arena of TFLM now", text::bytes(report.before.0), Some(Kind::Modelled));
    facts.add("with our offsets", with(report.file_order.0), Some(Kind::Counted));
    facts.add("with our order too", with(report.arena.0), Some(Kind::Counted));
    let bound = format!("{}: {gap}", text::bytes(report.lower_bound.0));
    facts.add("lower bound", bound, Some(Kind::Proved));
    facts.add("operators moved", format!("{} of {}", report.moved, report.operators), None);
    facts.add("time", text::micros(ms * 1e3), None);
    facts.print() + "\nTensors only: what TFLM's kernels ask for besides, it places around them.\n"
}
