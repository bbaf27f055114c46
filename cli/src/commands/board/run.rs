//! `tilewright board run`.

use std::fmt::Write;

use serde::Serialize;
use tilewright_app::{Diagnostic, hexadecimal};
use tilewright_desk::{MeasuredOn, RecordKinds};
use tilewright_plan::{Cycles, PlanImage};
use tilewright_report::Kind;

use super::talk::{Talked, origin, resetter_of, with_board};
use crate::args::board::Run;
use crate::commands::json;
use crate::desk::image::Image;
use crate::text::{DIM, Facts, Side, Table, micros, number};
use crate::{Said, interrupt};

/// A layer in the JSON report.
#[derive(Debug, Serialize)]
struct LayerView<'t> {
    index: u32,
    name: &'t str,
    cycles: u64,
}

/// Of which kind the figures are.
#[derive(Debug, Serialize)]
struct Kinds {
    cycles: Kind,
    latency_us: Kind,
    loaded_cycles: Kind,
    given_up_cycles: Kind,
}

/// The JSON report.
#[derive(Debug, Serialize)]
struct View<'t> {
    measured_on: MeasuredOn,
    stand_in: Option<&'t str>,
    port: String,
    board: &'t str,
    firmware_version: &'t str,
    firmware_abi: u32,
    plan_id: String,
    board_remarks: &'t [String],
    cycles: u64,
    latency_us: f64,
    loaded_cycles: Option<u64>,
    given_up_cycles: &'t [u64],
    layers: Vec<LayerView<'t>>,
    /// Int8 values of each output, NHWC.
    outputs: &'t [Vec<i8>],
    /// The program that the limit of latency chose.
    program: Option<&'t str>,
    /// The number of the output at whose exit the run ended.
    exit: Option<u32>,
    sent_again: u32,
    resets: u32,
    kinds: Kinds,
}

/// Runs an image's program on the board that holds it.
pub fn run(options: &Run) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let image = Image::read(&options.image, None)?;
    let payload = image.input(options.input.as_deref())?;
    let plan = image.plan.image();
    let (at, board) = (&options.at, &image.board);
    let by = resetter_of(at, board, &options.flashing)?;
    let limit = options.limit.map(|limit| limit.0 as u32);
    let talked = with_board(at, board, plan, (&payload, limit), None, by.as_ref(), &cancel)?;
    let text =
        if options.json.json { json(&view(&talked, plan, &image))? } else { text(&talked, &image) };
    Ok(Said::well(text))
}

fn latency_us(cycles: u64, image: &Image) -> f64 {
    Cycles(cycles).at(image.board.core.clock.hertz).0
}

fn view<'t>(talked: &'t Talked, plan: &PlanImage<'_>, image: &Image) -> View<'t> {
    let outcome = &talked.outcome;
    let answer = &outcome.answer;
    let cycles = answer.invoke_cycles.unwrap_or(0);
    let kind = RecordKinds::of(talked.measured_on).cycles;
    let layers = answer.layers.iter();
    View {
        measured_on: talked.measured_on,
        stand_in: outcome.emulated.as_deref(),
        port: talked.port.to_string(),
        board: &outcome.greeting.board,
        firmware_version: &outcome.greeting.firmware_version,
        firmware_abi: outcome.greeting.abi,
        plan_id: hexadecimal(plan.plan_id()),
        board_remarks: &outcome.remarks,
        cycles,
        latency_us: latency_us(cycles, image),
        loaded_cycles: outcome.loaded_cycles,
        given_up_cycles: &answer.given_up_cycles,
        layers: layers
            .map(|layer| LayerView { index: layer.index, name: &layer.name, cycles: layer.cycles })
            .collect(),
        outputs: &answer.outputs,
        program: answer.program.as_deref(),
        exit: answer.exit,
        sent_again: outcome.sent_again,
        resets: outcome.resets,
        kinds: Kinds { cycles: kind, latency_us: kind, loaded_cycles: kind, given_up_cycles: kind },
    }
}

/// Values of an output that are shown.
const SHOWN: usize = 16;

fn text(talked: &Talked, image: &Image) -> String {
    let answer = &talked.outcome.answer;
    let kind = Some(RecordKinds::of(talked.measured_on).cycles);
    let mut table =
        Table::new(&[("layer", Side::Right), ("name", Side::Left), ("cycles", Side::Right)]);
    for layer in &answer.layers {
        table.row([layer.index.to_string(), layer.name.clone(), number(layer.cycles)]);
    }
    let mut text = table.print();
    text.push('\n');
    let cycles = answer.invoke_cycles.unwrap_or(0);
    let mut facts = Facts::default();
    facts.add("cycles", number(cycles), kind);
    facts.add("latency", micros(latency_us(cycles, image)), kind);
    if let Some(program) = &answer.program {
        facts.add("program", program.clone(), None);
    }
    if let Some(exit) = answer.exit {
        facts.add("exit", format!("taken at output {exit}"), None);
    }
    for (index, values) in answer.outputs.iter().enumerate() {
        let shown: Vec<String> = values.iter().take(SHOWN).map(i8::to_string).collect();
        let rest = values.len().saturating_sub(SHOWN);
        let more =
            if rest > 0 { format!(" … {} more", number(rest as u64)) } else { String::new() };
        facts.add(&format!("output {index}"), format!("{}{more}", shown.join(" ")), None);
    }
    if let Some(best) = answer.scores.first() {
        facts.add("best class", format!("{} {}", best.class, best.label), None);
    }
    text += &facts.print();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{DIM}{}{DIM:#}", origin(talked));
    text
}
