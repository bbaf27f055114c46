//! Plans and runs for people, and a run's JSON.

use serde::Serialize;
use serde_json::{Map, Value, json};
use tilewright_app::{
    Diagnostic, Done, EnergyAndWear, EnergyAndWearView, Mode, OutputValues, PlanView, Port,
    Prepared, RunResult,
};
use tilewright_board::Board;
use tilewright_plan::Micros;
use tilewright_planner::Planned;
use tilewright_report::{
    Counted, Fault, Kind, Modelled, PREDICTION_MAY_BE_OFF, PlanReport, StackUse, kinds_of,
    over_prediction, plain, sentence, short_name,
};

use crate::text::{
    BOLD, DIM, Facts, Side, Table, bytes, decimal_bytes, joules, micros, number, shape,
};
use crate::{energy_and_wear, exits};

/// How the model became int8.
#[must_use]
pub fn preparation(prepared: &Prepared) -> String {
    let mut text = format!("{DIM}{}{DIM:#}\n", prepared.samples);
    for note in &prepared.model.notes {
        text += &format!("{}\n", plain(note));
    }
    text
}

#[must_use]
pub fn plan(planned: &Planned, board: &Board, used: &EnergyAndWear) -> String {
    let report = &planned.report;
    let mut text = format!(
        "{BOLD}{} on {}, strategy {}{BOLD:#}, input {}\n",
        plain(&report.model),
        board.name,
        report.strategy,
        report.input
    );
    let mut facts = Facts::default();
    if let Some(why) = report.no_room() {
        facts.add("fits", format!("no: {}", sentence(&why.what)), None);
        facts.add("where", why.place, None);
    } else {
        facts.add("fits", "yes", Some(Kind::Proved));
    }
    if report.elements != "int8" {
        let what = format!("{}: memory alone is planned, there is no program", report.elements);
        facts.add("elements", what, None);
    }
    if let Some(why) = report.no_program() {
        facts.add("runs", format!("no: {}", sentence(&why.what)), None);
        facts.add("what to do", why.remedy, None);
    }
    // What was allowed, which may be less than the board has.
    let limit = bytes(report.sram_limit_bytes.0);
    let peak = format!("{} of {limit}", bytes(report.peak_sram_bytes.0));
    facts.add("SRAM for tensors", peak, Some(report.peak_sram_bytes.kind()));
    let loaded = planned.memory.loaded_bytes.0;
    if loaded > 0 {
        let text = format!("{}: copied once, at boot", bytes(loaded));
        facts.add("of that weights", text, Some(report.peak_sram_bytes.kind()));
    }
    for stage in &report.stages {
        facts.add(&stage.what, bytes(stage.bytes.0), Some(stage.bytes.kind()));
    }
    // Where tensors come from elsewhere, nothing has to lie in SRAM: a bound of 0 bytes tells nothing.
    if report.lower_bound_bytes.0 > 0 {
        let bound = if report.proved { ": none needs less" } else { "" };
        let bound = format!("{}{bound}", bytes(report.lower_bound_bytes.0));
        facts.add("lower bound", bound, Some(report.lower_bound_bytes.kind()));
    }
    let flash = format!("{} of {}", bytes(report.flash_bytes.0), bytes(board.plan_bytes().0));
    facts.add("flash for the plan", flash, Some(report.flash_bytes.kind()));
    for (name, what) in [("sparse", "without zeros"), ("transformed", "transformed")] {
        let layers = report.layers.iter().filter_map(|layer| layer.packing.as_ref());
        let layers: Vec<_> = layers.filter(|packing| packing.name == name).collect();
        if !layers.is_empty() {
            let more: i64 = layers.iter().map(|packing| *packing.more_flash_bytes).sum();
            let saved: i64 = layers.iter().map(|packing| *packing.saved_cycles).sum();
            let side = |more: i64| if more < 0 { "less" } else { "more" };
            let text = format!(
                "{} layers: {} {} of flash, {} cycles {} (modelled)",
                layers.len(),
                bytes(more.unsigned_abs()),
                side(more),
                number(saved.unsigned_abs()),
                side(-saved)
            );
            facts.add(&format!("weights {what}"), text, Some(report.packing_flash_bytes.kind()));
        }
    }
    facts.add("MACs", number(*report.macs), Some(report.macs.kind()));
    if let Some(tiles) = &report.tiles {
        let part = 100.0 * *report.recomputed_macs as f64
            / (*report.macs - *report.recomputed_macs).max(1) as f64;
        let text = format!("{tiles}: {} MACs again, {part:.1} %", number(*report.recomputed_macs));
        facts.add("in tiles", text, Some(report.recomputed_macs.kind()));
    }
    if let Some(latency) = report.latency_us {
        let of_frames = match report.frames {
            1 => String::new(),
            frames => format!(" for {frames} frames"),
        };
        facts.add("latency", format!("{}{of_frames}", micros(latency.0)), Some(latency.kind()));
    }
    if let Some(transfer) = report.transfer_us.filter(|transfer| transfer.0 > 0.0) {
        let moved = [report.read_bytes, report.written_bytes].map(|moved| bytes(moved.0));
        let [read, written] = moved;
        let text = format!("{}: {read} read, {written} written", micros(transfer.0));
        facts.add("transfers", text, Some(transfer.kind()));
        let times = [("compute", report.compute_us), ("core waits", report.stall_us)];
        for (name, time) in times {
            let text = time.map_or_else(String::new, |time| micros(time.0));
            facts.add(name, text, time.map(|time| time.kind()));
        }
        if let (Some(bound), Some(latency)) = (report.bound_us, report.latency_us) {
            let gap = 100.0 * (latency.0 / bound.0.max(1e-9) - 1.0);
            let text = format!("{}: {gap:.1} % below", micros(bound.0));
            facts.add("no schedule is faster than", text, Some(bound.kind()));
        }
    }
    energy_and_wear::tell(used, &mut facts);
    if let Some(peak) = planned.memory.rows.get(planned.memory.peak_row) {
        let live = format!("{} at '{}'", bytes(peak.live_bytes.0), short_name(&peak.name));
        facts.add("most live", live, Some(Kind::Counted));
    }
    text.push_str(&facts.print());
    text.push_str(&why_not(report));
    text.push_str(&alternatives(report));
    text.push_str(&exits::of_plan(report));
    let mut table = Table::new(&[
        ("layer", Side::Left),
        ("kernel", Side::Left),
        ("output", Side::Left),
        ("MACs", Side::Right),
        ("flash", Side::Right),
        ("live SRAM", Side::Right),
        ("cycles (modelled)", Side::Right),
    ]);
    let live = planned.memory.rows.iter().enumerate().map(|(position, row)| {
        let mark = if position == planned.memory.peak_row { "peak " } else { "" };
        format!("{mark}{}", number(row.live_bytes.0))
    });
    for (layer, live) in report.layers.iter().zip(live) {
        table.row([
            short_name(&layer.name).to_owned(),
            match layer.no_kernel {
                Some(_) => format!("{}: no kernel", layer.op),
                None => match &layer.packing {
                    Some(packing) => format!("{}, {}", layer.op, packing.name),
                    None => layer.op.clone(),
                },
            },
            shape(&layer.output),
            number(*layer.macs),
            number(layer.flash_bytes.0),
            live,
            if report.latency_us.is_some() { number(*layer.cycles) } else { String::new() },
        ]);
    }
    text.push('\n');
    text.push_str(&table.print());
    text
}

/// What `auto` compared, the chosen one first; empty for other strategies.
fn alternatives(report: &PlanReport) -> String {
    let [chosen, _, ..] = report.alternatives.as_slice() else { return String::new() };
    let mut columns = vec![
        ("best plan of each technique", Side::Left),
        ("SRAM (counted)", Side::Right),
        ("a frame (modelled)", Side::Right),
        ("of the chosen", Side::Right),
        ("", Side::Left),
    ];
    // What is made least, if it is neither SRAM nor time.
    let is_of_energy = report.alternatives.iter().any(|one| one.energy_uj.is_some());
    let is_of_wear = chosen.card_written_bytes.is_some();
    if is_of_energy {
        columns.insert(1, ("energy of a frame (modelled)", Side::Right));
    }
    if is_of_wear {
        columns.insert(1, ("written to the card a frame (counted)", Side::Right));
    }
    let mut table = Table::new(&columns);
    for (index, one) in report.alternatives.iter().enumerate() {
        let ratio = 100.0 * one.latency_us.0 / chosen.latency_us.0.max(1e-9);
        let remark = match (index, one.fits) {
            (0, true) => "chosen",
            (0, false) => "does not fit, nor does another",
            (_, true) => "",
            (_, false) => "does not fit",
        };
        let energy = one.energy_uj.map_or_else(|| "unknown".to_owned(), |energy| joules(*energy));
        let written = one.card_written_bytes.map_or_else(String::new, |all| decimal_bytes(*all));
        let objective = [(is_of_wear, written), (is_of_energy, energy)];
        let objective = objective.into_iter().filter(|(is, _)| *is).map(|(_, text)| text);
        table.row([one.words()].into_iter().chain(objective).chain([
            number(one.sram_bytes.0),
            micros(one.latency_us.0),
            format!("{ratio:.1} %"),
            remark.to_owned(),
        ]));
    }
    format!("\n{BOLD}What was compared{BOLD:#}\n{}", table.print())
}

/// What the bytes are that do not fit, and what would help; empty for a plan that fits.
#[must_use]
pub fn why_not(report: &PlanReport) -> String {
    let Some(reason) = &report.does_not_fit else { return String::new() };
    let mut text = format!(
        "\n{BOLD}What fills the {} with strategy {}{BOLD:#}\n",
        reason.memory, report.strategy
    );
    let mut table = Table::new(&[("what", Side::Left), ("bytes", Side::Right), ("", Side::Left)]);
    for part in &reason.parts {
        table.row([
            part.role.words().to_owned(),
            number(part.bytes.0),
            short_name(&part.name).to_owned(),
        ]);
    }
    table.row(["needed".to_owned(), number(reason.needed_bytes.0), String::new()]);
    table.row(["there".to_owned(), number(reason.available_bytes.0), String::new()]);
    text.push_str(&table.print());
    let untried = match reason.untried {
        0 => String::new(),
        1 => "\nOne more change was not tried to the end: it takes long to plan.\n".to_owned(),
        more => {
            format!("\n{more} more changes were not tried to the end: they take long to plan.\n")
        }
    };
    if reason.remedies.is_empty() {
        return text + "\nNothing that was tried helps.\n" + &untried;
    }
    text.push_str(&format!("\n{BOLD}What would help{BOLD:#}\n"));
    let latency = match report.frames {
        1 => "latency".to_owned(),
        frames => format!("latency of {frames} frames"),
    };
    let mut table = Table::new(&[
        ("change", Side::Left),
        ("fits", Side::Left),
        ("needs", Side::Right),
        ("of", Side::Right),
        (&latency, Side::Right),
    ]);
    for remedy in &reason.remedies {
        let missing = *remedy.needed_bytes - *remedy.available_bytes;
        table.row([
            remedy.text.clone(),
            if remedy.fits {
                "yes".to_owned()
            } else {
                format!("no, {} of {} missing", bytes(missing.0), remedy.memory)
            },
            number(remedy.needed_bytes.0),
            number(remedy.available_bytes.0),
            remedy.latency_us.map_or_else(String::new, |latency| micros(latency.0)),
        ]);
    }
    text.push_str(&table.print());
    text + &untried
}

#[must_use]
pub fn run(report: &PlanReport, result: &RunResult, board: &Board, used: &EnergyAndWear) -> String {
    let mut text = format!(
        "{BOLD}{} on {} (emulated by {}), strategy {}{BOLD:#}\n",
        plain(&report.model),
        board.name,
        result.engine,
        report.strategy
    );
    let mut facts = Facts::default();
    facts.add("verified", verified(result), None);
    if result.mode == Mode::Sampled {
        let passed =
            format!("{} steps passed as long as one like them took", number(result.passed_steps));
        facts.add("sampled", passed, None);
    }
    let told = if report.exits.is_empty() { result.outputs.first() } else { result.outputs.last() };
    if let (Some(class), Some(output)) = (result.top1, told) {
        let label = result.top1_label.as_ref().map(|label| format!(" '{label}'"));
        let label = label.unwrap_or_default();
        if output.indices.is_some() {
            facts.add("class", format!("{class}{label}"), None);
        } else {
            let value = output.values.get(*class).copied().unwrap_or(0);
            let real = output.scale * f32::from(i16::from(value) - output.zero);
            facts.add("largest output", format!("{class}{label} with {real:.3}"), None);
        }
    }
    if let Some(exit) = result.exit {
        let name = report.exits.get(*exit).map_or("", |exit| exit.output.as_str());
        facts.add("exit", format!("taken at '{name}'"), Some(Kind::Counted));
    }
    facts.add("instructions", number(*result.instructions), Some(Kind::Counted));
    facts.add("cycles", number(result.cycles.0), Some(Kind::Modelled));
    // What is planned for several runs is predicted for all of them.
    let part = f64::from(result.frames) / f64::from(report.frames.max(1));
    let predicted = exits::predicted(report, result).map(|latency| Micros(latency.0 * part));
    let over = predicted.and_then(|predicted| over_prediction(*result.latency_us, predicted));
    let predicted = predicted.map(|latency| format!(" (predicted {})", micros(latency.0)));
    let of_frames = match result.frames {
        1 => String::new(),
        frames => format!(" for {frames} frames"),
    };
    let latency = micros(result.latency_us.0) + &of_frames + &predicted.unwrap_or_default();
    facts.add("latency", latency, Some(Kind::Modelled));
    if let Some(over) = over {
        let (over, may) = (100.0 * over, 100.0 * PREDICTION_MAY_BE_OFF);
        let text = format!(
            "took {over:.1} % longer than predicted: more than the {may:.0} % it may be off"
        );
        facts.add("prediction", text, Some(Kind::Modelled));
    }
    if *result.given_up > 0 {
        let times = if result.given_up == 1 { "once" } else { "more than once" };
        let lost = micros(result.given_up_us.0);
        let what = format!("{times}, behind {lost}: what the card held was lost");
        facts.add("computed again", what, Some(Kind::Modelled));
    }
    let peak = bytes(report.peak_sram_bytes.0);
    facts.add("SRAM for tensors", peak, Some(Kind::Counted));
    facts.add("flash for the plan", bytes(report.flash_bytes.0), Some(Kind::Counted));
    if let Some(stack) = &result.stack {
        facts.add("stack", depth(stack), Some(Kind::Counted));
    }
    energy_and_wear::tell(used, &mut facts);
    text.push_str(&facts.print());
    text.push_str(&exits::of_run(result));
    if let Some(fault) = &result.fault {
        text.push_str(&broken(fault, &result.console));
    }
    let mut table = Table::new(&[
        ("layer", Side::Left),
        ("kernel", Side::Left),
        ("MACs", Side::Right),
        ("instructions (counted)", Side::Right),
        ("a MAC", Side::Right),
        ("cycles (modelled)", Side::Right),
    ]);
    for layer in &result.layers {
        let per_mac = if layer.macs == 0 {
            String::new()
        } else {
            format!("{:.2}", *layer.instructions as f64 / *layer.macs as f64)
        };
        table.row([
            short_name(&layer.name).to_owned(),
            layer.op.clone(),
            number(*layer.macs),
            number(*layer.instructions),
            per_mac,
            number(layer.cycles.0),
        ]);
    }
    text.push('\n');
    text.push_str(&table.print());
    text
}

/// How deep the firmware's stack grew.
fn depth(stack: &StackUse) -> String {
    let StackUse { thread_bytes, handler_bytes, used_bytes, limit_bytes } = *stack;
    let [thread, handlers, used, limit] =
        [thread_bytes, handler_bytes, used_bytes, limit_bytes].map(|part| number(part.0));
    format!("{used} of {limit} bytes: {thread}, and {handlers} of an interrupt on top")
}

/// What is bit-equal to the reference, in words.
pub fn agreement(compared: usize, layers: usize) -> String {
    if compared == layers {
        format!("all {layers} layers are bit-equal to the reference")
    } else {
        format!("the outputs and {compared} of {layers} layers are bit-equal to the reference")
    }
}

fn verified(result: &RunResult) -> String {
    match (&result.difference, result.verified) {
        (Some(difference), _) => format!(
            "NO: {} of layer '{}' differs from the reference first at element {}: {} instead of \
             {}; {} elements differ",
            difference.tensor,
            difference.layer,
            difference.element,
            difference.found,
            difference.expected,
            difference.differing
        ),
        (None, Some(true)) => {
            let layers = result.layers.len() * usize::from(result.frames);
            format!("yes: {}", agreement(*result.compared_layers, layers))
        }
        _ => "not compared".to_owned(),
    }
}

fn broken(fault: &Fault, console: &str) -> String {
    let mut text = format!("\n{BOLD}The board had a fault:{BOLD:#} {}\n", fault.message);
    let mut facts = Facts::default();
    facts.add("where", fault.place(), None);
    for (name, value) in &fault.registers {
        facts.add(name, format!("{value:#010x}"), None);
    }
    for (address, function) in &fault.last_blocks {
        facts.add("block", format!("{address:#010x} {function}"), None);
    }
    text.push_str(&facts.print());
    if !console.is_empty() {
        text.push_str("  console\n");
        for line in console.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

/// A report's keys.
///
/// # Errors
/// Reports hold text and numbers only, so an error is ours.
pub fn keys(report: &impl serde::Serialize) -> Result<Map<String, Value>, Diagnostic> {
    match serde_json::to_value(report) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => Err(Diagnostic::ours("A report is no object.", "JSON")),
        Err(error) => Err(Diagnostic::ours(format!("{error}."), "JSON")),
    }
}

/// A plan's keys, on what the model was quantised, and the memory map.
///
/// # Errors
/// Reports hold text and numbers only, so an error is ours.
pub fn plan_json(
    planned: &Planned,
    prepared: &Prepared,
    used: &EnergyAndWear,
) -> Result<Value, Diagnostic> {
    keys(&PlanView::of(planned, prepared, used)).map(Value::Object)
}

/// A run as one flat object: the plan's keys, `latency_us` as `predicted_latency_us`; then the
/// run's own keys, energy and wear, and the kinds of all figures.
///
/// # Errors
/// Reports hold text and numbers only, so an error is ours.
pub fn run_json(
    report: &PlanReport,
    prepared: &Prepared,
    done: &Done,
    used: &EnergyAndWear,
) -> Result<Value, Diagnostic> {
    let result = &done.result;
    // Of what is planned for several runs as much as one takes.
    let part = f64::from(result.frames) / f64::from(report.frames.max(1));
    let predicted = report.latency_us.map(|latency| Micros(latency.0 * part));
    let values = |output: &OutputValues| match &output.indices {
        Some(indices) => json!(indices),
        None => json!(output.values),
    };
    let model = &prepared.model;
    let details = (0..model.outputs.len()).map(|position| Port::of_output(model, position));
    let besides = RunKeys {
        predicted_latency_us: predicted.map(Modelled::new),
        over_prediction: predicted
            .and_then(|predicted| over_prediction(*result.latency_us, predicted))
            .map(Modelled::new),
        energy_uj: used.energy_uj().map(Modelled::new).or(report.energy_uj),
        samples: &prepared.samples,
        invoke_frames: result.frames,
        outputs: result.outputs.iter().map(values).collect::<Vec<_>>().into(),
        output_details: details.collect(),
        energy_and_wear: used.view(),
    };
    let mut of_run = keys(result)?;
    // A run's frames are those of the plan; its timeline is written by `--perfetto`.
    of_run.retain(|key, _| !["frames", "timeline", "plan", "emulation_wall_ns"].contains(&&**key));
    // Of the plan what the run does not say anew.
    let plan = PlanReport { latency_us: None, layers: Vec::new(), ..report.clone() };
    let mut all = keys(&plan)?;
    all.extend(of_run);
    all.extend(keys(&besides)?);
    let mut kinds = kinds_of(&plan);
    kinds.extend(kinds_of(result));
    kinds.extend(kinds_of(&besides));
    let is_told = |key: &str| all.contains_key(key.split(['.', '[']).next().unwrap_or(key));
    kinds.retain(|key, _| is_told(key));
    all.insert("kinds".to_owned(), json!(kinds));
    Ok(Value::Object(all))
}

/// What a run's JSON has besides the keys of plan and run.
#[derive(Serialize)]
struct RunKeys<'r> {
    predicted_latency_us: Option<Modelled<Micros>>,
    over_prediction: Option<Modelled<f64>>,
    energy_uj: Option<Modelled<f64>>,
    samples: &'r str,
    invoke_frames: u16,
    /// In the place of the run's: for each output its values alone.
    outputs: Counted<Vec<Value>>,
    output_details: Vec<Port>,
    #[serde(flatten)]
    energy_and_wear: EnergyAndWearView<'r>,
}
