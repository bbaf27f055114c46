//! What the firmware says through `tilewright_mark`: invokes and steps.

use std::collections::BTreeMap;

use tilewright_cpu::Memory;
use tilewright_plan::LaneKind;
use tilewright_protocol::{CopyCount, Invoke, Response, StepCount, Watch};
use tilewright_report::{Counts, FailedCopy, FaultKind};

use crate::board::card::Card;
use crate::core::account::{Bucket, FlashCycles, between, sum};
use crate::core::registers::Register;
use crate::engine::Engine;
use crate::machine::Machine;
use crate::watch::recording;

const INVOKE_BEGINS: u32 = 0;
const INVOKE_ENDS: u32 = 1;
const STEP_BEGINS: u32 = 2;
const STEP_ENDS: u32 = 3;
const COPY_BEGINS: u32 = 4;
const COPY_ENDS: u32 = 5;
const BOOT_BEGINS: u32 = 6;
const BOOT_ENDS: u32 = 7;
const FAILED_CARD: u32 = 8;
const FAILED_STEP: u32 = 9;
const FAILED_LAYER: u32 = 10;
const FAILED_COPY: u32 = 11;
const FAILED_SECTOR: u32 = 12;
const PAUSED: u32 = 13;
const GOES_ON: u32 = 14;
const SELECTING: u32 = 15;
const SELECTED: u32 = 16;
const EXIT: u32 = 17;

/// Bytes that a watch may ask for.
const MAX_WATCH: u64 = 16 << 20;

/// A step under way.
#[derive(Clone, Copy, Debug)]
struct Running {
    step: u32,
    start: u64,
    counts: Counts,
    waits: FlashCycles,
}

/// Invokes of the job.
#[derive(Debug, Default)]
pub struct Invokes {
    /// Those that ended.
    pub ended: Vec<Invoke>,
    /// What is known of the next.
    pub under_way: Invoke,
    /// Instructions when its program began to be chosen.
    selecting: Option<u64>,
}

impl Invokes {
    /// All of an invoke has been said; the next is of the same program unless another is chosen.
    pub fn ends(&mut self) {
        let entry = self.under_way.entry;
        self.ended.push(std::mem::take(&mut self.under_way));
        self.under_way.entry = entry;
    }
}

/// A lane of a program.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What runs it.
    pub kind: LaneKind,
    /// The layer of each step.
    pub layers: Vec<u16>,
}

/// A copy under way: its step, when it began and what its engine had moved by then.
#[derive(Clone, Copy, Debug)]
struct Copying {
    step: u32,
    start: u64,
    moved: u64,
}

/// Where the firmware says that it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Whether it was for the card.
    pub card: bool,
    /// The step of the core's lane.
    pub step: Option<u32>,
    pub layer: Option<u16>,
    /// The step of the card's lane.
    copy: Option<u32>,
    sector: Option<u32>,
}

impl Failed {
    /// The copy that failed.
    pub fn copy(&self) -> Option<FailedCopy> {
        let (step, sector) = self.copy.zip(self.sector)?;
        Some(FailedCopy { step, sector })
    }
}

/// What was marked so far.
#[derive(Debug, Default)]
pub struct Marks {
    /// Of the program that runs.
    pub lanes: Vec<Lane>,
    watches: Vec<Watch>,
    /// Counts when the last invoke began, and the virtual time.
    began: Option<(Counts, u64)>,
    invoke: Counts,
    /// Whether an invoke of the last frame has begun.
    last_began: bool,
    announced: Option<u32>,
    /// Where the mark that announced a step returns to: the step begins there, so that the mark
    /// itself is not counted as part of it.
    returns_to: u32,
    running: Option<Running>,
    /// By lane.
    copying: BTreeMap<u8, Copying>,
    /// Counts when a boot program began, and of all that ended.
    loading: Option<Counts>,
    pub load: Counts,
    /// Counts and virtual time when the invoke began to wait for rows of its input.
    paused: Option<(Counts, u64)>,
    /// Cycles asleep until the last step of the invoke ended.
    slept: u64,
    pub failed: Failed,
    pub invokes: Invokes,
}

impl Marks {
    /// With the program's lanes, and the places to read.
    pub fn new(lanes: Vec<Lane>, watches: Vec<Watch>) -> Self {
        Self { lanes, watches, ..Self::default() }
    }

    /// Whether a kernel runs.
    pub const fn in_step(&self) -> bool {
        self.running.is_some()
    }

    /// The step under way.
    pub fn step(&self) -> Option<u32> {
        self.announced.or(self.running.map(|running| running.step))
    }

    /// The step whose kernel runs.
    pub fn running_step(&self) -> Option<u32> {
        self.running.map(|running| running.step)
    }

    /// The layer of a step of a lane.
    pub fn layer(&self, lane: u8, step: u32) -> Option<u16> {
        self.lanes.get(usize::from(lane))?.layers.get(step as usize).copied()
    }

    /// Whether the return from a mark is to be watched for.
    pub const fn awaits_return(&self) -> bool {
        self.announced.is_some()
    }

    /// Counts from reset to the last invoke, and of that invoke as far as it went.
    pub fn totals(&self, now: Counts) -> (Counts, Counts) {
        match &self.began {
            None => (now, Counts::default()),
            Some((began, _)) if self.invoke == Counts::default() => (*began, between(began, &now)),
            Some((began, _)) => (*began, self.invoke),
        }
    }
}

/// The block at the mark function's start is entered.
pub fn marked(engine: &mut impl Engine) {
    let kind = engine.read(Register::R0);
    let value = engine.read(Register::R1);
    let link = engine.read(Register::Lr);
    let machine = engine.machine_mut();
    machine.lives();
    match kind {
        INVOKE_BEGINS => {
            let counts = machine.account.counts();
            let is_last = machine.in_last_frame();
            if std::mem::replace(&mut machine.marks.last_began, is_last) {
                let cycles = machine.marks.invoke.cycles().0;
                machine.marks.copying.clear();
                machine.say(Response::Again { cycles });
            }
            machine.marks.began = Some((counts, machine.account.cycles));
            machine.marks.invoke = Counts::default();
            machine.marks.slept = counts.wait_cycles.0;
            if is_last {
                recording::border(machine, None);
            }
        }
        INVOKE_ENDS => {
            let counts = machine.account.counts();
            if let Some((began, _)) = &machine.marks.began {
                machine.marks.invoke = between(began, &counts);
                machine.marks.invokes.under_way.counts = machine.marks.invoke;
            }
        }
        STEP_BEGINS => {
            machine.marks.announced = Some(value);
            machine.marks.returns_to = link & !1;
        }
        STEP_ENDS => step_ends(engine, value),
        COPY_BEGINS => {
            let (lane, step) = ((value >> 24) as u8, value & 0x00ff_ffff);
            let (start, moved) = (machine.account.cycles, moved(machine, lane));
            machine.marks.copying.insert(lane, Copying { step, start, moved });
        }
        COPY_ENDS => copy_ends(machine, value),
        BOOT_BEGINS => machine.marks.loading = Some(machine.account.counts()),
        BOOT_ENDS => {
            if let Some(began) = machine.marks.loading.take() {
                let passed = between(&began, &machine.account.counts());
                machine.marks.load = sum(&machine.marks.load, &passed);
            }
        }
        FAILED_CARD => machine.marks.failed.card = true,
        FAILED_STEP => machine.marks.failed.step = Some(value),
        FAILED_LAYER => machine.marks.failed.layer = Some(value as u16),
        FAILED_COPY => machine.marks.failed.copy = Some(value),
        FAILED_SECTOR => machine.marks.failed.sector = Some(value),
        PAUSED => machine.marks.paused = Some((machine.account.counts(), machine.account.cycles)),
        GOES_ON => goes_on(machine),
        SELECTING => {
            machine.marks.invokes.selecting = Some(machine.account.instructions);
        }
        SELECTED => {
            let now = machine.account.instructions;
            let invokes = &mut machine.marks.invokes;
            let taken = invokes.selecting.take().map_or(0, |began| now - began);
            invokes.under_way.entry = Some(value);
            invokes.under_way.select_instructions = taken;
            machine.selected(value);
        }
        EXIT => machine.marks.invokes.under_way.exit = Some(value as u16),
        _ => {}
    }
}

/// What has passed since the invoke began to wait for rows of its input is no part of it.
fn goes_on(machine: &mut Machine) {
    let counts = machine.account.counts();
    let Some((from, start)) = machine.marks.paused.take() else { return };
    let waited = between(&from, &counts);
    if let Some((began, origin)) = &mut machine.marks.began {
        *began = sum(began, &waited);
        *origin += machine.account.cycles - start;
    }
    machine.marks.slept += waited.wait_cycles.0;
}

/// A block is entered while the return from a mark is awaited.
pub fn returned(machine: &mut Machine, address: u32) {
    if machine.marks.returns_to != address || !machine.handlers.is_empty() {
        return;
    }
    if let Some(step) = machine.marks.announced.take() {
        if let Some(message) = machine.bus.slower_than_modelled() {
            machine.fault(FaultKind::Firmware, message);
        }
        machine.account.switch(Bucket::Compute);
        let counts = machine.account.counts();
        let (start, waits) = (machine.account.cycles, machine.account.compute_waits());
        machine.marks.running = Some(Running { step, start, counts, waits });
        machine.count_blocks();
    }
}

fn step_ends(engine: &mut impl Engine, step: u32) {
    let machine = engine.machine_mut();
    machine.marks.announced = None;
    let running = machine.marks.running.take();
    machine.account.switch(Bucket::Dispatch);
    machine.count_blocks();
    let counted = machine.table.take_counted();
    if !machine.in_last_frame() {
        return;
    }
    if let Some(running) = running.filter(|running| running.step == step) {
        let counts = between(&running.counts, &machine.account.counts());
        let waits = machine.account.compute_waits().since(running.waits);
        let origin = machine.marks.began.map_or(0, |(_, cycles)| cycles);
        let slept = running.counts.wait_cycles.0;
        let waited = slept.saturating_sub(machine.marks.slept);
        let layer = machine.marks.layer(0, step).unwrap_or(0);
        if let Some(profile) = &mut machine.profile {
            profile.add(layer, &counted);
        }
        machine.say(Response::Step(StepCount {
            step,
            layer,
            start: running.start - origin,
            end: machine.account.cycles - origin,
            instructions: counts.compute_instructions,
            cycles: counts.compute_cycles.0,
            code_waits: waits.code,
            constant_waits: waits.constants,
            waited,
        }));
        machine.marks.slept = slept;
    }
    watch(machine, 0, step);
    recording::border(machine, Some(step));
}

/// Reads the places that are watched for a step that ended.
fn watch(machine: &mut Machine, lane: u8, step: u32) {
    let watches = machine.marks.watches.iter().copied().zip(0u32..);
    let due = watches.filter(|(watch, _)| (watch.lane, watch.step) == (lane, step));
    let due: Vec<(Watch, u32)> = due.collect();
    for (this, watch) in due {
        let bytes = watched(&machine.memories, &machine.card, &this);
        machine.say(Response::Watched { watch, bytes });
    }
}

/// An engine's copy is complete.
fn copy_ends(machine: &mut Machine, value: u32) {
    let lane = (value >> 24) as u8;
    let Some(copying) = machine.marks.copying.remove(&lane) else { return };
    let Copying { step, start, moved: before } = copying;
    // Copies of a boot program come before any invoke.
    let Some((_, origin)) = machine.marks.began else { return };
    if value & 0x00ff_ffff != step || start < origin || !machine.in_last_frame() {
        return;
    }
    machine.say(Response::Copy(CopyCount {
        lane,
        step,
        layer: machine.marks.layer(lane, step).unwrap_or(0),
        start: start - origin,
        end: machine.account.cycles - origin,
        bytes: moved(machine, lane) - before,
    }));
    watch(machine, lane, step);
}

/// Bytes that the engine of a lane has moved since reset.
fn moved(machine: &Machine, lane: u8) -> u64 {
    match machine.marks.lanes.get(usize::from(lane)).map(|lane| lane.kind) {
        Some(LaneKind::Card) => machine.card.moved,
        _ => machine.transfers.moved,
    }
}

/// The bytes of a watched place; those that cannot be read are missing at the end.
fn watched(memories: &Memory, card: &Card, watch: &Watch) -> Vec<u8> {
    let mut bytes = Vec::new();
    if u64::from(watch.rows) * u64::from(watch.row_bytes) > MAX_WATCH {
        return bytes;
    }
    for row in 0..watch.rows {
        let offset = row.checked_mul(watch.pitch);
        let Some(address) = offset.and_then(|offset| watch.address.checked_add(offset)) else {
            break;
        };
        let had = bytes.len();
        bytes.resize(had + watch.row_bytes as usize, 0);
        let place = &mut bytes[had..];
        let is_there =
            if watch.on_card { card.look(address, place) } else { memories.read(address, place) };
        if !is_there {
            bytes.truncate(had);
            break;
        }
    }
    bytes
}
