//! The two schedulers of SwapNN's algorithm 1, run against a clock.
//!
//! A task is INIT while its in-degree is not zero, READY in one of the queues here, SELECTED once it
//! has its buffer and runs, and FINISHED when its lane's event fires, which counts the in-degrees of
//! its successors down and frees buffers. Both queues are sorted by frame, then layer, then tile;
//! tasks for which no buffer is free are passed over. There are as many input as output buffers, so
//! that each tile with an input finds an output in the end: no deadlock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Graph, Tile};
use super::swap::Pools;
use tilewright_plan::CyclePoint;
use tilewright_planner::simulate::{Direction, Transfers};
use tilewright_report::{Held, Slice, SliceKind};

/// What came of it.
pub struct Run {
    /// Bytes read, written.
    pub read: u64,
    pub written: u64,
    /// Commands that write.
    pub writes: u64,
    /// Cycles in which the card, the core is busy.
    pub io: u64,
    pub compute: u64,
    /// When the first frame, and when all frames are complete.
    pub first_frame: u64,
    pub end: u64,
    /// What core (lane 0) and card (lane 1) do.
    pub slices: Vec<Slice>,
}

const CORE: usize = 0;
const CARD: usize = 1;

/// A tile of a frame: earlier frames first, then earlier layers.
type Key = (u32, u32);
type Queue = BinaryHeap<Reverse<Key>>;

/// How far a tile of a frame is.
#[derive(Clone, Copy, Default)]
struct State {
    /// In-degree of its first read.
    waits_for: u32,
    /// Tasks that have read input.
    read: u32,
    /// Weight tiles for which reading has begun.
    asked: u32,
    /// Weight tiles that have arrived.
    arrived: u32,
    /// Compute tasks that have ended.
    computed: u32,
    /// Whether a compute task is ready or running.
    is_queued: bool,
}

/// What a lane is doing.
#[derive(Clone, Copy)]
enum Task {
    Read,
    Weights,
    Write,
    Compute,
}

struct Running {
    end: u64,
    task: Task,
    key: Key,
}

struct Scheduler<'a> {
    graph: &'a Graph,
    transfers: &'a Transfers<'a>,
    frames: u32,
    states: Vec<State>,
    /// Tiles of each layer of each frame that are yet to be written.
    left: Vec<u32>,
    /// Free buffers, of each of [`Held::ALL`].
    buffers: [u32; 3],
    /// Ready IO tasks: first reads of a tile's input, further parts of it, weights, writes.
    to_read: Queue,
    to_go_on: Queue,
    to_fetch: Queue,
    to_write: Queue,
    /// Ready compute tasks: of tiles without, with output buffer.
    to_begin: Queue,
    to_continue: Queue,
    /// When each lane is free, and its steps so far.
    free: [u64; 2],
    steps: [u32; 2],
    lanes: [Vec<Slice>; 2],
    run: Run,
}

/// Schedules `frames` frames.
pub fn schedule(graph: &Graph, pools: &Pools, transfers: &Transfers<'_>, frames: u32) -> Run {
    let tiles = graph.tiles.iter();
    let of_frame: Vec<State> =
        tiles.map(|tile| State { waits_for: tile.waits_for, ..State::default() }).collect();
    let repeat = frames as usize;
    let mut scheduler = Scheduler {
        graph,
        transfers,
        frames,
        states: of_frame.repeat(repeat),
        left: graph.counts.repeat(repeat),
        buffers: [pools.inputs, pools.weights, pools.outputs],
        to_read: Queue::new(),
        to_go_on: Queue::new(),
        to_fetch: Queue::new(),
        to_write: Queue::new(),
        to_begin: Queue::new(),
        to_continue: Queue::new(),
        free: [0; 2],
        steps: [0; 2],
        lanes: [Vec::new(), Vec::new()],
        run: Run {
            read: 0,
            written: 0,
            writes: 0,
            io: 0,
            compute: 0,
            first_frame: 0,
            end: 0,
            slices: Vec::new(),
        },
    };
    for frame in 0..frames {
        for (tile, _) in graph.tiles.iter().enumerate().filter(|(_, tile)| tile.waits_for == 0) {
            scheduler.to_read.push(Reverse((frame, tile as u32)));
        }
    }
    scheduler.go()
}

impl Scheduler<'_> {
    fn go(mut self) -> Run {
        let mut now = 0;
        let mut running: [Option<Running>; 2] = [None, None];
        loop {
            if running[CARD].is_none() {
                running[CARD] = self.schedule_io(now);
            }
            if running[CORE].is_none() {
                running[CORE] = self.schedule_compute(now);
            }
            // Of two that end at once the card's goes first.
            let first = [CARD, CORE]
                .into_iter()
                .filter(|lane| running[*lane].is_some())
                .min_by_key(|lane| running[*lane].as_ref().map_or(u64::MAX, |running| running.end));
            let Some(lane) = first else { break };
            if let Some(ended) = running[lane].take() {
                now = ended.end;
                self.finish(now, ended.task, ended.key);
            }
        }
        self.run.end = now;
        let [mut core, card] = std::mem::take(&mut self.lanes);
        core.extend(card);
        Run { slices: core, ..self.run }
    }

    /// `ScheduleIOTask`: the first ready IO task for which there is a buffer.
    fn schedule_io(&mut self, now: u64) -> Option<Running> {
        let top = |queue: &Queue| queue.peek().map(|Reverse(key)| *key);
        let buffers = |key: Key| self.graph.tiles[key.1 as usize].input_buffers;
        let [inputs, weights, _] = self.buffers;
        let begin = top(&self.to_read).filter(|key| buffers(*key) <= inputs);
        let fetch = top(&self.to_fetch).filter(|_| weights > 0);
        let candidates =
            [(begin, 0), (top(&self.to_go_on), 1), (fetch, 2), (top(&self.to_write), 3)];
        let (key, kind) =
            candidates.into_iter().filter_map(|(key, kind)| Some((key?, kind))).min()?;
        let graph = self.graph;
        let tile = &graph.tiles[key.1 as usize];
        let (task, bytes) = match kind {
            0 => {
                self.to_read.pop();
                self.buffers[Held::Inputs as usize] -= tile.input_buffers;
                (Task::Read, part(tile, 0))
            }
            1 => {
                self.to_go_on.pop();
                (Task::Read, part(tile, self.state(key).read))
            }
            2 => {
                self.to_fetch.pop();
                self.buffers[Held::Weights as usize] -= 1;
                let asked = u64::from(self.state(key).asked);
                self.state(key).asked += 1;
                if asked + 1 < tile.weight_tiles {
                    self.to_fetch.push(Reverse(key));
                }
                (Task::Weights, share(tile.weights, asked, tile.weight_tiles))
            }
            _ => {
                self.to_write.pop();
                (Task::Write, tile.output)
            }
        };
        let direction = match task {
            Task::Write => Direction::Write,
            _ => Direction::Read,
        };
        let cycles = self.transfers.command(bytes, direction).0;
        match direction {
            Direction::Read => self.run.read += bytes,
            Direction::Write => {
                self.run.written += bytes;
                self.run.writes += 1;
            }
        }
        self.run.io += cycles;
        Some(self.start(CARD, now, cycles, task, key, bytes))
    }

    /// `ScheduleComputeTask`: the first ready compute task whose tile has, or gets, an output
    /// buffer.
    fn schedule_compute(&mut self, now: u64) -> Option<Running> {
        let top = |queue: &Queue| queue.peek().map(|Reverse(key)| *key);
        let [_, _, outputs] = self.buffers;
        let begin = top(&self.to_begin).filter(|_| outputs > 0);
        let (key, is_first) = match (begin, top(&self.to_continue)) {
            (Some(first), Some(next)) if first < next => (first, true),
            (_, Some(next)) => (next, false),
            (Some(first), None) => (first, true),
            (None, None) => return None,
        };
        let graph = self.graph;
        let tile = &graph.tiles[key.1 as usize];
        if is_first {
            self.to_begin.pop();
            self.buffers[Held::Results as usize] -= 1;
        } else {
            self.to_continue.pop();
        }
        let computed = u64::from(self.state(key).computed);
        let cycles = share(tile.cycles, computed, tile.weight_tiles.max(1));
        self.run.compute += cycles;
        Some(self.start(CORE, now, cycles, Task::Compute, key, 0))
    }

    /// What a finished task sets free, and what it makes ready.
    fn finish(&mut self, now: u64, task: Task, key: Key) {
        let graph = self.graph;
        let tile = &graph.tiles[key.1 as usize];
        match task {
            Task::Read => {
                self.state(key).read += 1;
                if u64::from(self.state(key).read) < reads(tile) {
                    self.to_go_on.push(Reverse(key));
                } else if tile.weight_tiles > 0 {
                    self.to_fetch.push(Reverse(key));
                } else {
                    self.state(key).is_queued = true;
                    self.to_begin.push(Reverse(key));
                }
            }
            Task::Weights => {
                self.state(key).arrived += 1;
                self.queue_compute(key);
            }
            Task::Compute => {
                let state = self.state(key);
                state.computed += 1;
                state.is_queued = false;
                let is_last = u64::from(state.computed) == tile.weight_tiles.max(1);
                if tile.weight_tiles > 0 {
                    self.buffers[Held::Weights as usize] += 1;
                }
                if is_last {
                    self.buffers[Held::Inputs as usize] += tile.input_buffers;
                    self.to_write.push(Reverse(key));
                } else {
                    self.queue_compute(key);
                }
            }
            Task::Write => {
                self.buffers[Held::Results as usize] += 1;
                let layer = tile.of as usize;
                let left = key.0 as usize * graph.counts.len() + layer;
                self.left[left] -= 1;
                if self.left[left] == 0 {
                    for successor in graph.dependants[layer].iter().cloned().flatten() {
                        self.release((key.0, successor));
                    }
                }
                if key.0 == 0 {
                    self.run.first_frame = now;
                }
            }
        }
    }

    /// Makes the next compute task of a tile ready if its weights are there.
    fn queue_compute(&mut self, key: Key) {
        let state = self.state(key);
        if !state.is_queued && state.computed < state.arrived {
            state.is_queued = true;
            let has_output = state.computed > 0;
            let queue = if has_output { &mut self.to_continue } else { &mut self.to_begin };
            queue.push(Reverse(key));
        }
    }

    /// Counts an in-degree down.
    fn release(&mut self, key: Key) {
        let state = self.state(key);
        state.waits_for -= 1;
        if state.waits_for == 0 {
            self.to_read.push(Reverse(key));
        }
    }

    fn state(&mut self, (frame, tile): Key) -> &mut State {
        debug_assert!(frame < self.frames);
        &mut self.states[frame as usize * self.graph.tiles.len() + tile as usize]
    }

    /// Starts a task on a lane that is free, and notes it, with the stall before it.
    fn start(
        &mut self,
        lane: usize,
        now: u64,
        cycles: u64,
        task: Task,
        key: Key,
        bytes: u64,
    ) -> Running {
        let end = now + cycles;
        let slice = Slice {
            lane: lane as u8,
            kind: SliceKind::Stall,
            waits_for: None,
            layer: self.graph.tiles[key.1 as usize].layer,
            step: self.steps[lane],
            frame: key.0,
            start: CyclePoint(self.free[lane]),
            end: CyclePoint(now),
            instructions: 0,
            bytes: 0,
        };
        if self.free[lane] < now {
            let other = (1 - lane) as u8;
            self.lanes[lane].push(Slice { waits_for: Some(other), ..slice });
        }
        let kind = if lane == CORE { SliceKind::Compute } else { SliceKind::Copy };
        let (start, end_point) = (CyclePoint(now), CyclePoint(end));
        self.lanes[lane].push(Slice { kind, start, end: end_point, bytes, ..slice });
        self.free[lane] = end;
        self.steps[lane] += 1;
        Running { end, task, key }
    }
}

/// Tasks that read a tile's input.
fn reads(tile: &Tile) -> u64 {
    tile.inputs.iter().map(|(_, tasks)| tasks).sum()
}

/// Bytes of the task with this number among those that read a tile's input.
fn part(tile: &Tile, number: u32) -> u64 {
    let mut number = u64::from(number);
    for (bytes, tasks) in &tile.inputs {
        if number < *tasks {
            return share(*bytes, number, *tasks);
        }
        number -= tasks;
    }
    0
}

/// The part with this number of a whole in `count` parts.
fn share(whole: u64, number: u64, count: u64) -> u64 {
    let until = |number: u64| {
        u64::try_from(u128::from(whole) * u128::from(number) / u128::from(count)).unwrap_or(whole)
    };
    until(number + 1) - until(number)
}
