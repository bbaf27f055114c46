//! `tilewright order`.

use std::time::Instant;

use serde::Serialize;
use tilewright_planner::order::{self, Arranged, Budget, Measured, Rules};
use tilewright_report::Kind;
use tilewright_server::{Blame, Problem};

use super::json;
use crate::args::Order;
use crate::text::{self, Facts, Side, Table};
use crate::{Said, files, topology};

#[derive(Serialize)]
struct Report<'a> {
    model: String,
    in_place: bool,
    concat_in_place: bool,
    operators: usize,
    default_bytes: u64,
    peak_bytes: u64,
    arena_bytes: u64,
    lower_bound_bytes: u64,
    proved: bool,
    ms: f64,
    /// Position of the first operator at which the peak is reached; nothing: before all.
    peak_position: Option<usize>,
    peak_tensors: Vec<usize>,
    order: &'a [usize],
    buffers: Vec<Buffer<'a>>,
}

#[derive(Serialize)]
struct Buffer<'a> {
    tensors: &'a [usize],
    first: u64,
    end: u64,
    bytes: u64,
    offset: u64,
}

/// Finds the order of least peak, and offsets.
pub fn order(options: &Order) -> Result<Said, Problem> {
    if options.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tflite")) {
        return super::reorder::reorder(options);
    }
    if let Some(output) = &options.output {
        return Err(Problem::new(
            Blame::BadInput,
            "Only a .tflite file can be written in another order.",
            output.display().to_string(),
            "Give a .tflite file, or leave -o out: --json prints order and offsets.",
        ));
    }
    let place = options.file.display().to_string();
    let bytes = files::read(&options.file, "topology", topology::LIMIT)?;
    let (model, graph) = topology::parse(&bytes, &place)?;
    let rules = Rules { in_place: options.in_place, concat: options.concat };
    let start = Instant::now();
    let problem = order::Problem::new(graph, rules).map_err(|error| {
        let what = "Correct the topology.";
        Problem::new(Blame::BadInput, format!("The graph is wrong: {error}."), place, what)
    })?;
    let ours = |error: String| Problem::ours(format!("{error}."), "order");
    let measure = |order: &[usize]| problem.measure(order).map_err(|error| ours(error.to_string()));
    let default = measure(&problem.default_order())?;
    let arranged =
        order::arrange(&problem, 1, Budget::default()).map_err(|error| ours(error.to_string()))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let measured = measure(&arranged.ordered.order)?;
    if !options.json.json {
        return Ok(Said::well(words(&problem, &default, &measured, &arranged, ms)));
    }
    let buffers = arranged.placed.iter().zip(&arranged.solution.offsets);
    let buffers = buffers.map(|(placed, offset)| Buffer {
        tensors: &placed.tensors,
        first: placed.buffer.first,
        end: placed.buffer.end,
        bytes: placed.buffer.bytes.0,
        offset: *offset,
    });
    let report = Report {
        model,
        in_place: rules.in_place,
        concat_in_place: rules.concat,
        operators: arranged.ordered.order.len(),
        default_bytes: default.peak.0,
        peak_bytes: measured.peak.0,
        arena_bytes: arranged.solution.height.0,
        lower_bound_bytes: arranged.ordered.lower_bound.0,
        proved: arranged.ordered.is_proved(),
        ms: (ms * 1e3).round() / 1e3,
        peak_position: measured.position,
        peak_tensors: measured.tensors.clone(),
        order: &arranged.ordered.order,
        buffers: buffers.collect(),
    };
    Ok(Said::well(json(&report)?))
}

fn words(
    problem: &order::Problem,
    default: &Measured,
    measured: &Measured,
    arranged: &Arranged,
    ms: f64,
) -> String {
    let ordered = &arranged.ordered;
    let gap = match (measured.peak.0 - ordered.lower_bound.0, measured.peak.0) {
        (0, _) => "no order needs less".to_owned(),
        (gap, peak) => format!("gap {:.1} %", 100.0 * gap as f64 / peak as f64),
    };
    let arena = arranged.solution.height;
    let waste = match arena.0 - measured.peak.0 {
        0 => String::new(),
        waste => format!(", {} more than the peak", text::bytes(waste)),
    };
    let mut facts = Facts::default();
    facts.add("default order", text::bytes(default.peak.0), Some(Kind::Counted));
    facts.add("least peak", text::bytes(measured.peak.0), Some(Kind::Counted));
    facts.add("arena", format!("{}{waste}", text::bytes(arena.0)), Some(Kind::Counted));
    let bound = format!("{}: {gap}", text::bytes(ordered.lower_bound.0));
    facts.add("lower bound", bound, Some(Kind::Proved));
    facts.add("time", text::micros(ms * 1e3), None);
    let graph = problem.graph();
    let mut said = facts.print();
    said.push('\n');
    let mut table =
        Table::new(&[("position", Side::Right), ("#", Side::Right), ("op", Side::Left)]);
    for (position, operator) in ordered.order.iter().enumerate() {
        let mark = if measured.position == Some(position) { "  ← peak" } else { "" };
        let name = format!("{}{mark}", graph.operators[*operator].name);
        table.row([position.to_string(), operator.to_string(), name]);
    }
    said.push_str(&table.print());
    said
}
