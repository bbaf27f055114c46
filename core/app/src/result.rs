//! What a run of a plan image gives, from the image's own tables and what the worker counted.

use std::collections::BTreeMap;
use std::ops::Range;

use tilewright_board::Board;
use tilewright_model::{DType, Model};
use tilewright_plan::image::{ENTRY, EntryRecord, LaneRecord};
use tilewright_plan::{After, CyclePoint, Cycles, Instruction, Kernel, LaneKind, PlanImage, Step};
use tilewright_protocol::{Border, Invoke, RunOutcome};
use tilewright_report::{
    Counted, Fault, InvokeRow, Kind, LayerCount, Mode, OutputValues, RunResult, Slice, SliceKind,
    Timeline,
};

use crate::layer_bytes::LayerBytes;
use crate::package::Package;
use crate::run::RunOptions;
use crate::watch::Watches;

/// Reads outputs that are 32-bit integers in `model` as such: with one, that is the class. Names classes where the image
/// leaves the model's names out. The program makes the outputs of these numbers.
pub fn name_classes(result: &mut RunResult, model: &Model, made: Range<u16>) {
    let made = usize::from(made.start)..usize::from(made.end);
    let ids = model.outputs.get(made).unwrap_or(&model.outputs);
    for (output, id) in result.outputs.iter_mut().zip(ids.iter().cycle()) {
        if model.tensor(*id).dtype == DType::I32 {
            let bytes: Vec<u8> = output.values.iter().map(|v| v.cast_unsigned()).collect();
            let words = bytes.as_chunks().0.iter();
            output.indices = Some(words.map(|word| i32::from_le_bytes(*word)).collect());
        }
    }
    let names = model.labels();
    for output in result.outputs.iter_mut() {
        if output.labels.is_empty() && output.values.len() == names.len() {
            output.labels.clone_from(&names);
        }
    }
    if result.top1_label.is_none()
        && let Some(top1) = result.top1.as_ref()
    {
        let told = result.outputs.iter().find(|output| !output.labels.is_empty());
        result.top1_label = told.and_then(|told| told.labels.get(**top1).cloned());
    }
    if let Some(indices) = result.outputs.first().and_then(|output| output.indices.as_deref()) {
        let class = match indices {
            [index] => usize::try_from(*index).ok(),
            _ => None,
        };
        let label = class.and_then(|class| names.get(class).cloned());
        (result.top1, result.top1_label) =
            (class.map(Counted::new), label.filter(|label| !label.is_empty()));
    }
}

/// What a run left.
#[derive(Debug)]
pub struct Done {
    /// Its result.
    pub result: RunResult,
    /// The output of every layer, if asked for.
    pub layers: Option<Vec<LayerBytes>>,
    /// What SRAM held where steps ended, if that was recorded: all of them, or those that came first.
    pub borders: Vec<Border>,
    /// What the board said of each invoke.
    pub invokes: Vec<Invoke>,
    /// The very image that ran.
    pub package: Package,
}

/// The result of running `image`; `outcome` is of a job with these `watches`.
#[must_use]
pub fn result_of(
    image: &PlanImage<'_>,
    entry: usize,
    board: &Board,
    options: &RunOptions<'_>,
    watches: &Watches,
    outcome: &RunOutcome,
) -> RunResult {
    let mode = options.mode;
    let program = image.entries().get(entry);
    let lanes = program.map_or(&[][..], |entry| image.entry_lanes(entry));
    let last = outcome.finish.invokes.last();
    let exit = last.and_then(|invoke| invoke.exit);
    let mut outputs = match mode {
        Mode::Full => outputs(image, program, watches, outcome),
        Mode::Sampled => Vec::new(),
    };
    if let Some(exit) = exit {
        outputs.truncate(usize::from(exit) + 1);
    }
    // Of a network with exits the last output is the best.
    let has_exits = lanes.first().is_some_and(|core| {
        let mut steps = image.lane_steps(core).filter_map(|step| Instruction::from_record(&step));
        steps.any(|step| matches!(step, Instruction::Exit { .. }))
    });
    let told = if has_exits { outputs.last() } else { outputs.first() };
    let top1 = told.and_then(|output| largest(&output.values));
    let top1_label = top1.and_then(|class| told?.labels.get(class)).filter(|l| !l.is_empty());
    let invoke = outcome.finish.invoke;
    RunResult {
        board: board.id.clone(),
        engine: outcome.engine.clone(),
        plan_id: hexadecimal(image.plan_id()),
        verified: None,
        compared_layers: 0.into(),
        mode,
        passed_steps: outcome.finish.passed_steps,
        difference: None,
        fault: outcome.finish.fault.clone().map(|fault| named(image, fault)),
        stack: outcome.finish.stack.map(Counted::new),
        frames: program.map_or(1, |entry| entry.frames),
        exit: exit.map(|exit| Counted::new(exit.into())),
        invokes: invokes(image, board, options.limits, outcome),
        instructions: invoke.instructions().into(),
        cycles: invoke.cycles().into(),
        latency_us: invoke.cycles().at(board.core.clock.hertz).into(),
        given_up: outcome.given_up.len().into(),
        given_up_us: Cycles(outcome.given_up.iter().sum()).at(board.core.clock.hertz).into(),
        counts: invoke,
        boot: outcome.finish.boot,
        load: outcome.finish.load,
        top1: top1.map(Counted::new),
        top1_label: top1_label.cloned(),
        layers: layers(image, program, outcome),
        unknown_registers: outcome.finish.unknown_registers.clone(),
        console: String::from_utf8_lossy(&outcome.console).into_owned(),
        timeline: timeline(image, lanes, board, outcome),
        emulation_wall_ns: outcome.finish.wall_ns,
        outputs: outputs.into(),
        plan: None,
    }
}

/// A fault with the name of its layer.
fn named(image: &PlanImage<'_>, fault: Fault) -> Fault {
    let layer = fault.layer.and_then(|layer| image.layers().get(usize::from(layer)));
    Fault { layer_name: layer.map(|layer| image.name(layer.name).to_owned()), ..fault }
}

/// The watched layers' outputs.
#[must_use]
pub fn layer_bytes(watches: &Watches, outcome: &RunOutcome) -> Vec<LayerBytes> {
    let bytes = |watch: usize| outcome.watched.get(watch).cloned().flatten();
    watches
        .layers
        .iter()
        .map(|watched| LayerBytes {
            layer: watched.layer,
            space: watched.space,
            start: watched.start,
            bytes: bytes(watched.watch),
        })
        .collect()
}

/// The program of an image that is run.
pub fn main_entry<'i>(image: &PlanImage<'i>) -> Option<&'i EntryRecord> {
    image.entries().iter().find(|entry| entry.kind == 0)
}

/// What each limit came to.
fn invokes(
    image: &PlanImage<'_>,
    board: &Board,
    limits: &[u32],
    outcome: &RunOutcome,
) -> Vec<InvokeRow> {
    let row = |(limit, invoke): (&u32, &Invoke)| {
        let entry = invoke.entry.and_then(|entry| image.entries().get(entry as usize));
        let latency = invoke.counts.cycles().at(board.core.clock.hertz);
        InvokeRow {
            limit_us: Some(*limit).filter(|limit| *limit < ENTRY),
            program: entry.map_or(String::new(), |entry| image.name(entry.name).to_owned()),
            select_instructions: invoke.select_instructions.into(),
            instructions: invoke.counts.instructions().into(),
            latency_us: latency.into(),
            is_met: (*limit >= ENTRY || latency.0 <= f64::from(*limit)).into(),
            verified: None,
        }
    };
    limits.iter().zip(&outcome.finish.invokes).map(row).collect()
}

fn outputs(
    image: &PlanImage<'_>,
    entry: Option<&EntryRecord>,
    watches: &Watches,
    outcome: &RunOutcome,
) -> Vec<OutputValues> {
    let records = entry.map_or(&[][..], |entry| image.entry_outputs(entry));
    // Labels are told once for all frames.
    let of_frame = records.len() / entry.map_or(1, |entry| usize::from(entry.frames.max(1)));
    let told = records.iter().take(of_frame).cycle();
    records
        .iter()
        .zip(told)
        .zip(&watches.outputs)
        .map(|((record, told), range)| {
            let watched = outcome.watched.get(range.clone()).unwrap_or(&[]);
            let bytes = watched.iter().flatten().flatten();
            let view = image.view(record.view).unwrap_or_default();
            let labels = told.label_first..told.label_first.saturating_add(told.label_count);
            OutputValues {
                name: image.name(record.name).to_owned(),
                shape: [u32::from(view.h), u32::from(view.w), view.c],
                scale: f32::from_bits(record.scale_bits),
                zero: record.zero,
                values: bytes.map(|byte| byte.cast_signed()).collect(),
                indices: None,
                labels: labels.map(|label| image.name(label).to_owned()).collect(),
            }
        })
        .collect()
}

/// Index of the largest value, the first of several.
fn largest(values: &[i8]) -> Option<usize> {
    let largest = values.iter().max()?;
    values.iter().position(|value| value == largest)
}

fn layers(
    image: &PlanImage<'_>,
    program: Option<&EntryRecord>,
    outcome: &RunOutcome,
) -> Vec<LayerCount> {
    let mut layers: Vec<LayerCount> = image
        .layers()
        .iter()
        .map(|record| LayerCount {
            name: image.name(record.name).to_owned(),
            op: Kernel::from_number(record.kernel).map_or("unknown", Kernel::name).to_owned(),
            macs: u64::from(record.macs).into(),
            instructions: 0.into(),
            cycles: Cycles(0).into(),
            profile: None,
        })
        .collect();
    for step in &outcome.steps {
        if let Some(layer) = layers.get_mut(usize::from(step.layer)) {
            *layer.instructions += step.instructions;
            *layer.cycles += Cycles(step.cycles);
        }
    }
    let frames = program.map_or(1, |entry| u64::from(entry.frames.max(1)));
    for layer in &mut layers {
        *layer.instructions /= frames;
        layer.cycles = Cycles(layer.cycles.0 / frames).into();
    }
    for of_layer in &outcome.layers {
        if let Some(layer) = layers.get_mut(usize::from(of_layer.layer)) {
            layer.profile = Some(of_layer.profile.clone());
        }
    }
    layers
}

/// Kernels and the core's waits, and what engines copied.
fn timeline(
    image: &PlanImage<'_>,
    records: &[LaneRecord],
    board: &Board,
    outcome: &RunOutcome,
) -> Timeline {
    let frames: Vec<Vec<u8>> = records
        .iter()
        .map(|lane| image.lane_steps(lane).map(|step| step.frame).collect())
        .collect();
    let frame = |lane: u8, step: u32| {
        let frames = frames.get(usize::from(lane));
        let frame = frames.and_then(|frames| frames.get(step as usize));
        u32::from(frame.copied().unwrap_or(0))
    };
    let kind = |lane: &LaneRecord| LaneKind::from_number(lane.kind).unwrap_or(LaneKind::Core);
    let ends: BTreeMap<(u8, u32), u64> =
        outcome.copies.iter().map(|copy| ((copy.lane, copy.step), copy.end)).collect();
    let mut slices = Vec::with_capacity(outcome.steps.len() + outcome.copies.len());
    for step in &outcome.steps {
        let slice = Slice {
            lane: 0,
            kind: SliceKind::Compute,
            waits_for: None,
            layer: step.layer,
            step: step.step,
            frame: frame(0, step.step),
            start: CyclePoint(step.start),
            end: CyclePoint(step.end.max(step.start)),
            instructions: step.instructions,
            bytes: 0,
        };
        if step.waited > 0 {
            let start = CyclePoint(step.start.saturating_sub(step.waited));
            let waits_for = records.first().and_then(|core| {
                let record = image.lane_step(core, step.step)?;
                awaited_last(&Step::from_record(&record)?, &ends)
            });
            let (kind, end) = (SliceKind::Stall, slice.start);
            slices.push(Slice { kind, waits_for, start, end, instructions: 0, ..slice });
        }
        slices.push(slice);
    }
    slices.extend(outcome.copies.iter().map(|copy| Slice {
        lane: copy.lane,
        kind: SliceKind::Copy,
        waits_for: None,
        layer: copy.layer,
        step: copy.step,
        frame: frame(copy.lane, copy.step),
        start: CyclePoint(copy.start),
        end: CyclePoint(copy.end.max(copy.start)),
        instructions: 0,
        bytes: copy.bytes,
    }));
    slices.sort_by_key(|slice| (slice.lane, slice.start, slice.step));
    let mut ends = ends;
    ends.extend(outcome.steps.iter().map(|step| ((0, step.step), step.end)));
    let awaited = |slice: &Slice| {
        let lane = records.get(usize::from(slice.lane))?;
        awaited_last(&Step::from_record(&image.lane_step(lane, slice.step)?)?, &ends)
    };
    let waits = waits_of_engines(&slices, awaited);
    slices.extend(waits);
    slices.sort_by_key(|slice| (slice.lane, slice.start, slice.end));
    Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Counted,
        cycles_kind: Kind::Modelled,
        lanes: if records.is_empty() {
            vec![LaneKind::Core]
        } else {
            records.iter().map(kind).collect()
        },
        slices,
    }
}

/// What lies between the copies of an engine, in order: it waits for the lane whose step `awaited` tells
/// of the next copy, or else for the core, which begins all copies.
fn waits_of_engines(slices: &[Slice], awaited: impl Fn(&Slice) -> Option<u8>) -> Vec<Slice> {
    let mut free = CyclePoint(0);
    let mut waits = Vec::new();
    for (index, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.lane > 0) {
        let is_first = index == 0 || slices[index - 1].lane != slice.lane;
        let start = if is_first { CyclePoint(0) } else { free };
        if start < slice.start {
            let waits_for = awaited(slice).or(Some(0));
            let (kind, end, bytes) = (SliceKind::Stall, slice.start, 0);
            waits.push(Slice { kind, waits_for, start, end, bytes, ..*slice });
        }
        free = if is_first { slice.end } else { free.max(slice.end) };
    }
    waits
}

/// The lane of the step that a step waited for longest; `ends` tells when each ended, by lane and
/// step.
fn awaited_last(step: &Step, ends: &BTreeMap<(u8, u32), u64>) -> Option<u8> {
    let end = |after: &After| ends.get(&(after.lane, after.step)).map(|end| (*end, after.lane));
    step.after.iter().flatten().filter_map(end).max().map(|(_, lane)| lane)
}

/// Lower-case hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256 of bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(largest(&[-3, 7, 7, -128]), Some(1));
        assert_eq!(largest(&[]), None);
    }

    #[test]
    fn engines_wait_where_they_copy_nothing() {
        let copy = |lane: u8, step: u32, start: u64, end: u64| Slice {
            lane,
            kind: SliceKind::Copy,
            waits_for: None,
            layer: 0,
            step,
            frame: 0,
            start: CyclePoint(start),
            end: CyclePoint(end),
            instructions: 0,
            bytes: 64,
        };
        let slices = [copy(1, 0, 5, 10), copy(1, 1, 10, 20), copy(1, 2, 30, 40), copy(2, 0, 0, 9)];
        // The last copy of the first engine waits for the second.
        let awaited = |slice: &Slice| (slice.step == 2).then_some(2);
        let waits = waits_of_engines(&slices, awaited);
        let told: Vec<_> = waits
            .iter()
            .map(|wait| {
                (wait.lane, wait.step, wait.start.0, wait.end.0, wait.waits_for, wait.bytes)
            })
            .collect();
        assert_eq!(told, [(1, 0, 0, 5, Some(0), 0), (1, 2, 20, 30, Some(2), 0)]);
    }

    #[test]
    fn hexadecimal_has_two_digits_a_byte() {
        assert_eq!(hexadecimal(&[0, 0x0a, 0xff]), "000aff");
    }
}
