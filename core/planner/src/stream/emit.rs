//! From batches to the steps of both lanes: where everything lies, in which order the card works, and
//! what each step waits for.

use std::collections::VecDeque;
use std::ops::Range;

use super::batch::{Access, Batch, Into, Load, Store};
use super::network::{BLOCK, LINE};
use super::{Part, Use};
use crate::costs::Cost;
use crate::schedule::hazards::Hazards;
use crate::schedule::room::{Room, Taken};
use crate::schedule::sequence::LaneId;
use crate::simulate::{Direction, Transfers, simulate};
use crate::{PlanError, Stop};
use tilewright_allocate::Buffer;
use tilewright_plan::{
    After, Bytes, Cycles, Instruction, Lane as PlanLane, LaneKind, Program, RowOrder, Space, Step,
};
use tilewright_report::Slice;

/// Units of work for the places of buffers.
const PLACING: u64 = 2_000_000;
/// Reads behind the next one that the card may do before it, where it would wait.
const AHEAD: usize = 16;

/// What batches become steps with.
pub struct Emitter<'t> {
    /// Bytes of SRAM.
    pub sram: u64,
    /// What transfers take.
    pub transfers: &'t Transfers<'t>,
    /// Most bytes of a command.
    pub largest: u64,
    /// All frames.
    pub frames: u32,
}

/// Steps with all that is counted of them.
pub struct Emitted {
    pub program: Program,
    /// For each step of the core's and of the card's lane cycles and bytes moved.
    pub costs: [Vec<[u64; 2]>; 2],
    /// For each step its frame.
    pub frames: [Vec<u32>; 2],
    pub peak: u64,
    pub commands: u64,
    pub read: u64,
    pub written: u64,
    /// Commands that write.
    pub writes: u64,
    /// When the last step ends.
    pub end: u64,
    pub together: u32,
    pub card: u64,
    pub uses: Vec<Use>,
    pub arrivals: Vec<[u32; 2]>,
}

/// What happens when steps of these costs run together.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn simulated(emitted: &Emitted, frames: u32, stop: &Stop) -> Result<Vec<Slice>, PlanError> {
    let cost = |lane: usize, step: usize| {
        let [cycles, bytes] = emitted.costs[lane][step];
        (Cost { instructions: 0, cycles: Cycles(cycles) }, bytes)
    };
    let mut slices = simulate(&emitted.program, 1, &cost, stop)?;
    for slice in &mut slices {
        let frame = emitted.frames[usize::from(slice.lane)].get(slice.step as usize);
        slice.frame = frame.copied().unwrap_or(0).min(frames.saturating_sub(1));
    }
    Ok(slices)
}

impl Emitter<'_> {
    /// The steps of all frames, `together` in a batch; nothing if there is no room.
    pub fn emit(&self, batch: &Batch, together: u32) -> Option<Emitted> {
        let offsets = self.offsets(batch)?;
        let places = self.places(batch, &offsets, self.frames / together)?;
        let mut line = Line {
            emitter: self,
            batch,
            offsets: &offsets,
            places: &places,
            together,
            hazards: Hazards::default(),
            free: [0; 2],
            ends: [Vec::new(), Vec::new()],
            next: 0,
            is_done: vec![false; places.len()],
            steps_of_loads: vec![0; places.len()],
            pending: VecDeque::new(),
            open: None,
            lanes: [Vec::new(), Vec::new()],
            costs: [Vec::new(), Vec::new()],
            frames: [Vec::new(), Vec::new()],
            counts: [0; 4],
        };
        line.go(self.frames / together);
        Some(line.finish())
    }

    /// Where each buffer lies.
    fn offsets(&self, batch: &Batch) -> Option<Vec<u64>> {
        let buffers = batch.buffers.iter().map(|buffer| {
            Buffer::new(buffer.first.into(), buffer.end.into(), Bytes(buffer.bytes)).aligned(LINE)
        });
        let placed = tilewright_allocate::least(buffers.collect(), PLACING).ok()?;
        (placed.solution.height.0 <= self.sram).then_some(placed.solution.offsets)
    }

    /// Where each load of all batches goes: nothing for those that go to buffers.
    fn places(&self, batch: &Batch, offsets: &[u64], batches: u32) -> Option<Vec<Option<Taken>>> {
        let mut room = Room::new(self.sram);
        let mut places = Vec::with_capacity(batch.loads.len() * batches as usize);
        let tasks = batch.tasks.len() as u32;
        for shift in (0..batches).map(|number| number * tasks) {
            for (buffer, start) in batch.buffers.iter().zip(offsets) {
                room.take(Taken {
                    start: *start,
                    end: start + buffer.bytes,
                    first: buffer.first + shift,
                    last: (buffer.end + shift).saturating_sub(1),
                });
            }
            for load in &batch.loads {
                places.push(match load.into {
                    Into::Anywhere => {
                        Some(room.place(load.bytes, load.uses.map(|step| step + shift))?)
                    }
                    Into::Buffer(..) => None,
                });
            }
        }
        Some(places)
    }
}

/// A store that has been made and is yet to be planned.
struct Pending {
    store: usize,
    batch: u32,
    before: u32,
    ready: u64,
}

/// Steps so far.
struct Line<'e> {
    emitter: &'e Emitter<'e>,
    batch: &'e Batch,
    offsets: &'e [u64],
    places: &'e [Option<Taken>],
    together: u32,
    hazards: Hazards,
    /// When core and card are free.
    free: [u64; 2],
    /// When their steps so far end.
    ends: [Vec<u64>; 2],
    /// The first load that has no step yet.
    next: usize,
    is_done: Vec<bool>,
    steps_of_loads: Vec<u32>,
    pending: VecDeque<Pending>,
    /// Direction and end of the last command, and its bytes so far.
    open: Option<(Direction, u64, u64)>,
    lanes: [Vec<Step>; 2],
    costs: [Vec<[u64; 2]>; 2],
    frames: [Vec<u32>; 2],
    /// Commands, bytes read, bytes written, commands that write.
    counts: [u64; 4],
}

impl Line<'_> {
    fn go(&mut self, batches: u32) {
        let tasks = self.batch.tasks.len() as u32;
        for now in 0..tasks * batches {
            let late = |pending: &Pending| pending.before <= now;
            while self.pending.front().is_some_and(late) {
                self.store();
            }
            while self.next < self.places.len() && self.uses(self.next)[0] <= now {
                self.one_transfer(now);
            }
            self.compute(now);
        }
        while !self.pending.is_empty() {
            self.store();
        }
    }

    fn load(&self, number: usize) -> (&Load, u32) {
        let loads = self.batch.loads.len();
        (&self.batch.loads[number % loads], (number / loads) as u32)
    }

    /// First and last step of the core that needs a load.
    fn uses(&self, number: usize) -> [u32; 2] {
        let (load, batch) = self.load(number);
        load.uses.map(|step| step + batch * self.batch.tasks.len() as u32)
    }

    /// The step of the core before which a load must not begin.
    fn from(&self, number: usize) -> u32 {
        let (load, batch) = self.load(number);
        match (&load.into, self.places[number]) {
            (Into::Buffer(_, from), _) => from + batch * self.batch.tasks.len() as u32,
            (Into::Anywhere, place) => place.map_or(0, |place| place.first),
        }
    }

    /// When a load may begin.
    fn ready(&self, number: usize) -> u64 {
        let before = self.from(number).checked_sub(1);
        before.map_or(0, |step| self.ends[0].get(step as usize).copied().unwrap_or(u64::MAX))
    }

    /// Plans what the card does best: what could begin first, of a store and the next load; where it
    /// would wait for both, a later load that is done until then.
    fn one_transfer(&mut self, now: u32) {
        let ready = self.ready(self.next);
        if self.pending.front().is_some_and(|pending| pending.ready < ready) {
            return self.store();
        }
        if ready > self.free[1] {
            let window = self.next + 1..(self.next + AHEAD).min(self.places.len());
            let later = window.into_iter().find(|number| {
                let is_open = !self.is_done[*number] && self.from(*number) <= now;
                let (load, _) = self.load(*number);
                let cost = self.emitter.transfers.command(blocks(load.bytes), Direction::Read).0;
                is_open
                    && !load.is_back
                    && self.ready(*number) <= self.free[1]
                    && self.free[1] + cost <= ready
            });
            if let Some(later) = later {
                return self.fetch(later);
            }
        }
        self.fetch(self.next);
    }

    /// Plans a load.
    fn fetch(&mut self, number: usize) {
        let (load, batch) = self.load(number);
        // What went out comes in again.
        if load.is_back && !self.pending.is_empty() {
            return self.store();
        }
        let frame = load.frame + batch * self.together;
        let card = load.card + u64::from(frame) * load.each;
        let (bytes, layer) = (blocks(load.bytes), load.layer);
        let ranges = match (&load.into, self.places[number]) {
            (Into::Buffer(accesses, _), _) => ranges(self.offsets, accesses).collect(),
            (Into::Anywhere, Some(place)) => std::iter::once(place.start..place.end).collect(),
            (Into::Anywhere, None) => Vec::new(),
        };
        let cycles = self.command(card, load.bytes, bytes, Direction::Read);
        self.counts[1] += bytes;
        let free = self.from(number).checked_sub(1);
        let cost = [cycles, bytes];
        self.steps_of_loads[number] = self.transfer(layer, frame, &ranges, (true, free), cost);
        self.is_done[number] = true;
        while self.is_done.get(self.next) == Some(&true) {
            self.next += 1;
        }
    }

    /// Plans the store that waits longest.
    fn store(&mut self) {
        let Some(pending) = self.pending.pop_front() else { return };
        let store: &Store = &self.batch.stores[pending.store];
        let bytes = blocks(store.bytes);
        let frame = store.frame + pending.batch * self.together;
        let card = store.card + u64::from(frame) * store.each;
        let cycles = self.command(card, store.bytes, bytes, Direction::Write);
        self.counts[2] += bytes;
        let ranges: Vec<_> = ranges(self.offsets, &store.from).collect();
        self.transfer(store.layer, frame, &ranges, (false, None), [cycles, bytes]);
    }

    /// What a transfer costs: a command, unless it goes on where the one before ended.
    fn command(&mut self, card: u64, exact: u64, bytes: u64, direction: Direction) -> u64 {
        let transfers = self.emitter.transfers;
        let end = card + exact;
        let goes_on = self.open.filter(|(way, at, done)| {
            // Blocks that hold the end of one and the start of the next are read once more.
            let is_next = card / BLOCK == *at / BLOCK || card == at.next_multiple_of(BLOCK);
            *way == direction && is_next && done + bytes <= self.emitter.largest
        });
        let done = goes_on.map_or(0, |(_, _, done)| done);
        self.open = Some((direction, end, done + bytes));
        if goes_on.is_some() {
            return transfers.more(bytes, direction).0;
        }
        self.counts[0] += 1;
        self.counts[3] += u64::from(direction == Direction::Write);
        transfers.command(bytes, direction).0
    }

    /// Adds a step of the card that writes or reads bytes of SRAM, not before this step of the core
    /// has ended.
    fn transfer(
        &mut self,
        layer: u16,
        frame: u32,
        ranges: &[Range<u64>],
        (writes, free): (bool, Option<u32>),
        cost: [u64; 2],
    ) -> u32 {
        let number = self.lanes[1].len() as u32;
        let mut waits = free;
        for range in ranges {
            let step = (LaneId::FIRST, number);
            let others = self.hazards.access(step, Space::Arena, range.clone(), writes);
            waits = waits.max(others.into_iter().flatten().max());
        }
        let ready = waits.map_or(0, |step: u32| self.ends[0][step as usize]);
        self.free[1] = self.free[1].max(ready) + cost[0];
        let instruction = Instruction::Copy { source: 0, destination: 0, sum: None };
        self.add(1, layer, frame, waits, instruction, cost);
        number
    }

    /// Adds a step of the core, and notes what it has made that goes out.
    fn compute(&mut self, now: u32) {
        let tasks = self.batch.tasks.len() as u32;
        let (number, batch) = (now % tasks, now / tasks);
        let (batched, places) = (self.batch, self.places);
        let task = &batched.tasks[number as usize];
        let step = (LaneId::CORE, now);
        let mut waits = None;
        let loads = batch as usize * self.batch.loads.len();
        let weights = task.weights.clone().filter_map(|load| places[loads + load]);
        let weights = weights.map(|place| place.start..place.end);
        let reads = ranges(self.offsets, &task.reads).chain(weights);
        for range in reads {
            let others = self.hazards.access(step, Space::Arena, range, false);
            waits = waits.max(others.into_iter().flatten().max());
        }
        for range in ranges(self.offsets, &task.writes) {
            let others = self.hazards.access(step, Space::Arena, range, true);
            waits = waits.max(others.into_iter().flatten().max());
        }
        // The card's lane is planned up to what this step needs.
        let ready = waits.map_or(0, |step: u32| self.ends[1][step as usize]);
        self.free[0] = self.free[0].max(ready) + task.cycles;
        let frame = task.frame + batch * self.together;
        let instruction =
            Instruction::Compute { op: 0, tile: 0, first_view: 0, order: RowOrder::Whole };
        self.add(0, task.layer, frame, waits, instruction, [task.cycles, 0]);
        let stores = &batched.stores;
        let first = stores.partition_point(|store| store.made < number);
        for (store, made) in stores.iter().enumerate().skip(first) {
            if made.made != number {
                break;
            }
            let before = made.before + batch * tasks;
            self.pending.push_back(Pending { store, batch, before, ready: self.free[0] });
        }
    }

    fn add(
        &mut self,
        lane: usize,
        layer: u16,
        frame: u32,
        waits: Option<u32>,
        instruction: Instruction,
        cost: [u64; 2],
    ) {
        let other = 1 - lane as u8;
        let after = waits.map(|step| After { lane: other, step });
        let step = Step { after: [after, None, None], frame: 0, layer, instruction };
        self.lanes[lane].push(step);
        self.costs[lane].push(cost);
        self.ends[lane].push(self.free[lane]);
        self.frames[lane].push(frame);
    }
}

impl Line<'_> {
    fn finish(self) -> Emitted {
        let tasks = self.batch.tasks.len() as u32;
        let batches = self.emitter.frames / self.together;
        let mut uses = Vec::new();
        for shift in (0..batches).map(|number| number * tasks) {
            for (buffer, start) in self.batch.buffers.iter().zip(self.offsets) {
                let (from, last) = (buffer.first + shift, (buffer.end + shift).saturating_sub(1));
                let end = start + buffer.bytes;
                let (start, of) = (*start, buffer.of);
                uses.push(Use { start, end, from, last, load: None, of });
            }
        }
        let mut arrivals = Vec::with_capacity(self.places.len());
        for (number, place) in self.places.iter().enumerate() {
            let load = self.steps_of_loads[number];
            arrivals.push([load, self.uses(number)[0]]);
            if let Some(Taken { start, end, first: from, last }) = *place {
                let of = (self.load(number).0.layer, Part::Weights);
                uses.push(Use { start, end, from, last, load: Some(load), of });
            }
        }
        let [commands, read, written, writes] = self.counts;
        let kinds = [LaneKind::Core, LaneKind::Card];
        let lanes = kinds.into_iter().zip(self.lanes);
        Emitted {
            program: Program {
                name: "main".to_owned(),
                boot: false,
                frames: 1,
                lanes: lanes.map(|(kind, steps)| PlanLane { kind, steps }).collect(),
                inputs: Vec::new(),
                outputs: Vec::new(),
            },
            costs: self.costs,
            frames: self.frames,
            peak: uses.iter().map(|used| used.end).max().unwrap_or(0),
            commands,
            read,
            written,
            writes,
            end: self.free[0].max(self.free[1]),
            together: self.together,
            card: self.batch.card,
            arrivals,
            uses,
        }
    }
}

/// The bytes of accesses in SRAM, where buffers lie there.
fn ranges<'a>(offsets: &'a [u64], accesses: &'a [Access]) -> impl Iterator<Item = Range<u64>> + 'a {
    accesses.iter().map(|access| {
        let start = offsets[access.buffer];
        start + access.bytes.start..start + access.bytes.end
    })
}

/// Whole blocks.
const fn blocks(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK)
}
