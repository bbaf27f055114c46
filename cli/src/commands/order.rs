//! `tilewright order`.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic};
use tilewright_model::Tensor;
use tilewright_order::{Arranged, Budget, Graph, Joint, Measured, Rules};
use tilewright_plan::Bytes;
use tilewright_report::Kind;

use super::{UNDECIDED, json};
use crate::args::Order;
use crate::text::{self, Facts, Side, Table};
use crate::{Said, files, interrupt, load, topology};

/// Units of work between two looks at whether someone wants an end.
const SLICE: u64 = 1_000_000;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// An arena within the capacity; without one the least peak, proved.
    Solved,
    /// No order needs as little as the capacity.
    Infeasible,
    /// The budget did not do to know.
    BudgetSpent,
    /// Ended by Ctrl-C.
    Cancelled,
}

/// Why no order needs less than the bound.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Witness {
    /// One operator needs it, whatever runs before.
    Operator { operator: usize, name: String, bytes: u64 },
    /// Every order was excluded, or inputs or outputs alone need it.
    AllOrders { bytes: u64 },
}

#[derive(Serialize)]
struct Report<'a> {
    answer: Answer,
    model: String,
    in_place: bool,
    concat_in_place: bool,
    operators: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity_bytes: Option<u64>,
    default_bytes: u64,
    peak_bytes: u64,
    arena_bytes: u64,
    lower_bound_bytes: u64,
    proved: bool,
    ms: f64,
    units: u64,
    /// Why no order needs less than the bound.
    witness: Witness,
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
pub fn order(options: &Order) -> Result<Said, Diagnostic> {
    if options.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tflite")) {
        return super::reorder::reorder(options);
    }
    if let Some(output) = &options.output {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "Only a .tflite file can be written in another order.",
            output.display().to_string(),
            "Give a .tflite file, or leave -o out: --json prints order and offsets.",
        ));
    }
    let place = options.file.display().to_string();
    let (model, graph) = match load::of_zoo(&options.file)? {
        Some(network) => {
            // As the network is planned: int8, a byte an element.
            let bytes = |tensor: &Tensor| tensor.shape.elements().unwrap_or(0) as u64;
            let graph = Graph::of_model(network.float(), bytes);
            (network.name, graph)
        }
        None => topology::parse(&files::read(&options.file, "topology", topology::LIMIT)?, &place)?,
    };
    let rules = Rules { in_place: options.in_place, concat: options.concat };
    let start = Instant::now();
    let problem = tilewright_order::Problem::new(graph, rules).map(Arc::new).map_err(|error| {
        let what = "Correct the topology.";
        Diagnostic::new(Blame::BadInput, format!("The graph is wrong: {error}."), place, what)
    })?;
    let ours = |error: String| Diagnostic::ours(format!("{error}."), "order");
    let measure = |order: &[usize]| problem.measure(order).map_err(|error| ours(error.to_string()));
    let default = measure(&problem.default_order())?;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let budget = Budget { work: options.budget, ..Budget::default() };
    let mut joint = Joint::new(Arc::clone(&problem), 1, budget);
    let within = |bytes: Bytes| options.capacity.is_none_or(|capacity| bytes <= capacity);
    while !joint.advance(SLICE).map_err(|error| ours(error.to_string()))? {
        let (_, bound) = joint.solver().standing();
        let is_found = options.capacity.is_some()
            && joint.best().is_some_and(|best| within(best.solution.height));
        if is_found || !within(bound) || cancel.is_cancelled() {
            break;
        }
    }
    let (units, witness) = (joint.spent().0, joint.solver().witness());
    let arranged = joint.settled().map_err(|error| ours(error.to_string()))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let measured = measure(&arranged.ordered.order)?;
    let bound = arranged.ordered.lower_bound;
    let is_solved = match options.capacity {
        Some(capacity) => arranged.solution.height <= capacity,
        None => arranged.ordered.is_proved(),
    };
    let answer = match is_solved {
        true => Answer::Solved,
        false if !within(bound) => Answer::Infeasible,
        false if cancel.is_cancelled() => Answer::Cancelled,
        false => Answer::BudgetSpent,
    };
    let code = match (answer, options.capacity) {
        (Answer::Solved, _) | (Answer::BudgetSpent, None) => 0,
        (Answer::Infeasible, _) => Blame::DoesNotFit.exit_code(),
        (Answer::BudgetSpent, Some(_)) => UNDECIDED,
        (Answer::Cancelled, _) => Blame::Cancelled.exit_code(),
    };
    let witness = match witness {
        Some(operator) => Witness::Operator {
            operator,
            name: problem.graph().operators[operator].name.clone(),
            bytes: bound.0,
        },
        None => Witness::AllOrders { bytes: bound.0 },
    };
    if !options.json.json {
        let mut said = String::new();
        let capacity = options.capacity.map_or(0, |capacity| capacity.0);
        match answer {
            Answer::Infeasible => {
                said = format!(
                    "No order needs {} or less: {}.\n",
                    text::bytes(capacity),
                    because(&witness)
                )
            }
            Answer::BudgetSpent if options.capacity.is_some() => {
                said = format!(
                    "Not known whether an order needs {} or less: give more with --budget.\n",
                    text::bytes(capacity)
                )
            }
            Answer::Cancelled => said.push_str("Cancelled: the best so far.\n"),
            Answer::Solved | Answer::BudgetSpent => {}
        }
        said.push_str(&words(&problem, &default, &measured, &arranged, ms));
        return Ok(Said { text: said, code });
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
        answer,
        model,
        in_place: rules.in_place,
        concat_in_place: rules.concat,
        operators: arranged.ordered.order.len(),
        capacity_bytes: options.capacity.map(|capacity| capacity.0),
        default_bytes: default.peak.0,
        peak_bytes: measured.peak.0,
        arena_bytes: arranged.solution.height.0,
        lower_bound_bytes: arranged.ordered.lower_bound.0,
        proved: arranged.ordered.is_proved(),
        ms: (ms * 1e3).round() / 1e3,
        units,
        witness,
        peak_position: measured.position,
        peak_tensors: measured.tensors.clone(),
        order: &arranged.ordered.order,
        buffers: buffers.collect(),
    };
    Ok(Said { text: json(&report)?, code })
}

fn because(witness: &Witness) -> String {
    match witness {
        Witness::Operator { operator, name, bytes } => {
            format!("operator {operator} ('{name}') alone needs {}", text::bytes(*bytes))
        }
        Witness::AllOrders { bytes } => format!("each needs {} or more", text::bytes(*bytes)),
    }
}

fn words(
    problem: &tilewright_order::Problem,
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
