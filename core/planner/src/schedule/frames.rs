//! Several frames in one program: the layers in front frame by frame, those behind, whose weights are many
//! and whose activations few, for all frames of a batch at once, so that their weights come once for all.
//!
//! Frames lie in external RAM, results too; DMA brings each frame when its layers begin, and keeps there what the
//! layers behind will read until all frames of the batch have come so far. The next frame's weights and bytes come while the
//! one before is computed, as do the weights of the layers behind while the last frames are.
//!
//! A program lists the steps of all frames, not one period of a pipeline: what frames share, weights that come once for all, would
//! make a period many frames long anyway. It costs room for steps, which limits the frames.

use crate::narrow::narrow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::room::Taken;
use super::sequence::{self, LaneId, Place, Rows};
use super::work::{Move, Residence, Task, Work};
use crate::strategy::external::LINE;
use serde::{Deserialize, Serialize};
use tilewright_allocate::Buffer;
use tilewright_plan::{Bytes, InputResidency, Plan, PlannedTensor, Role, RowOrder, Space, View};

/// Most frames of a program.
pub const MOST_FRAMES: u32 = 16;
/// Most copies of all frames: more would take long to place.
const MOST_LOADS: usize = 60_000;
/// Units of work for the places of the layers behind.
const PLACING: u64 = 200_000;
/// What DMA moves at a time: whole words.
const WORD: u64 = 4;

/// The frames of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// How many.
    pub count: u32,
    /// Frames of a batch, which the layers behind compute at once.
    pub batch: u32,
    /// The first layer of those behind.
    pub behind: u32,
}

/// Where tensors of single frames lie: by tensor and frame.
type Own = BTreeMap<(usize, u32), (Space, u64)>;

/// How a network is divided.
struct Divided {
    /// The first layer of those behind.
    behind: u32,
    /// Tensors that layers in front make or take and layers behind read.
    crossing: Vec<usize>,
    /// Where tensors lie that the layers behind read and write: of each frame of a batch.
    own: Own,
    /// The lives of these, in layers, with the bytes that they take.
    held: Vec<(Range<u32>, Range<u64>)>,
    /// Bytes of SRAM that they take together.
    height: u64,
}

impl Frames {
    /// The tasks of all frames from those of one, with the plan whose tensors have places for each, and what lies in
    /// SRAM meanwhile; nothing if some tensor cannot have one, or there are too many copies.
    pub fn repeated(&self, lowered: &Plan, work: &Work) -> Option<(Plan, Work, Vec<Taken>)> {
        let divided = self.divided(lowered)?;
        let mut plan = lowered.clone();
        let places = self.places(&mut plan, &divided)?;
        let (work, held) = self.tasks(lowered, work, &divided, &places);
        (work.residences.len() <= MOST_LOADS).then_some((plan, work, held))
    }

    /// Bytes of SRAM that the layers behind take for a batch; nothing if some tensor cannot be of several frames.
    pub fn height(&self, lowered: &Plan) -> Option<u64> {
        Some(self.divided(lowered)?.height)
    }

    fn divided(&self, plan: &Plan) -> Option<Divided> {
        let behind = self.behind;
        let outputs = given(plan, |program| &program.outputs);
        let is_inside = |tensor: &PlannedTensor| tensor.space == Space::Arena;
        let crosses = |tensor: &PlannedTensor| tensor.first < behind && behind < tensor.end;
        let (mut crossing, mut own) = (Vec::new(), Own::new());
        let (mut buffers, mut names) = (Vec::new(), Vec::new());
        for (index, tensor) in plan.tensors.iter().enumerate() {
            if outputs.contains(&index) || !(crosses(tensor) || tensor.first >= behind) {
                continue;
            }
            if !is_inside(tensor) || tensor.is_part() {
                return None;
            }
            if crosses(tensor) {
                crossing.push(index);
            }
            let (first, end) = (tensor.first.max(behind), tensor.end);
            for frame in 0..self.batch {
                buffers.push(
                    Buffer::new(first.into(), end.into(), Bytes(tensor.extent())).aligned(LINE),
                );
                names.push((index, frame, first..end));
            }
        }
        let mut height = 0;
        let mut held = Vec::new();
        if !buffers.is_empty() {
            let placed = tilewright_allocate::least(buffers, PLACING).ok()?;
            for ((index, frame, lives), offset) in names.into_iter().zip(placed.solution.offsets) {
                let end = (offset + plan.tensors[index].extent()).next_multiple_of(LINE);
                own.insert((index, frame), (Space::Arena, offset));
                held.push((lives, offset..end));
                height = height.max(end);
            }
        }
        Some(Divided { behind, crossing, own, held, height })
    }

    /// Gives the plan's tensors that are of single frames places of their own, and its program inputs and outputs of all
    /// frames; says where each frame's inputs, what crosses and outputs lie.
    fn places(&self, plan: &mut Plan, divided: &Divided) -> Option<Own> {
        let mut places = Own::new();
        let mut external = plan.space(Space::ExternalRam).0.next_multiple_of(LINE);
        let inputs = given(plan, |program| &program.inputs);
        let outputs = given(plan, |program| &program.outputs);
        for (index, tensor) in plan.tensors.iter().enumerate() {
            let is_output = outputs.contains(&index);
            let is_part = tensor.is_part() || tensor.pitch.is_some();
            if is_output && (is_part || inputs.contains(&index)) {
                return None;
            }
            if !(is_output || inputs.contains(&index) || divided.crossing.contains(&index)) {
                continue;
            }
            for frame in 0..self.count {
                places.insert((index, frame), (Space::ExternalRam, external));
                external += tensor.bytes.0.next_multiple_of(LINE);
            }
        }
        // Addresses have 32 bits.
        u32::try_from(external).ok()?;
        plan.space_bytes[Space::ExternalRam as usize] = Bytes(external);
        plan.input = InputResidency::External;
        self.describe(plan, divided, &places);
        Some(places)
    }

    /// Adds the tensors of single frames, and what programs take and give.
    fn describe(&self, plan: &mut Plan, divided: &Divided, places: &Own) {
        let outputs = given(plan, |program| &program.outputs);
        let mut named: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        let given = plan.tensors.clone();
        let mut add = |(index, frame): (usize, u32), (space, offset): (Space, u64), first: u32| {
            let tensor = PlannedTensor {
                name: format!("{}, frame {}", given[index].name, frame + 1),
                space,
                offset,
                first,
                ..given[index].clone()
            };
            // What layers in front have in SRAM lies there in each frame's turn.
            let is_shared = !outputs.contains(&index) && given[index].first < divided.behind;
            if frame == 0 && !is_shared {
                plan.tensors[index] = tensor;
                return narrow(index);
            }
            plan.tensors.push(tensor);
            narrow(plan.tensors.len() - 1)
        };
        for (key, place) in &divided.own {
            add(*key, *place, given[key.0].first.max(divided.behind));
        }
        for (key, place) in places {
            named.insert(*key, add(*key, *place, given[key.0].first));
        }
        for program in plan.main.iter_mut() {
            program.frames = narrow(self.count);
            for ios in [&mut program.inputs, &mut program.outputs] {
                let given = std::mem::take(ios);
                for frame in 0..self.count {
                    for io in &given {
                        let place = places.get(&(io.tensor as usize, frame));
                        let Some((space, offset)) = place else { continue };
                        let view = plan.views[io.view as usize];
                        let mut io = io.clone();
                        if frame > 0 {
                            // Told once.
                            io.labels.clear();
                        }
                        io.tensor = named.get(&(io.tensor as usize, frame)).copied().unwrap_or(0);
                        io.view = narrow(plan.views.len());
                        plan.views.push(View {
                            space: *space as u8,
                            offset: narrow(*offset),
                            ..view
                        });
                        ios.push(io);
                    }
                }
            }
        }
        // Those that lie elsewhere for each frame are told by these alone.
        for index in divided.crossing.iter().copied() {
            plan.tensors[index].end = divided.behind;
        }
    }

    /// The tasks of all frames, and the lives of what lies in SRAM.
    fn tasks(
        &self,
        plan: &Plan,
        cut: &Work,
        divided: &Divided,
        places: &Own,
    ) -> (Work, Vec<Taken>) {
        let front = cut.tasks.partition_point(|task| task.lives < divided.behind);
        let outputs = given(plan, |program| &program.outputs);
        let mut made = Repeated {
            frames: self,
            plan,
            divided,
            places,
            outputs: &outputs,
            given: cut,
            cut: Work::default(),
            held: Vec::new(),
        };
        let inputs = given(plan, |program| &program.inputs);
        for batch in 0..self.count / self.batch {
            let frames = batch * self.batch..(batch + 1) * self.batch;
            for frame in frames.clone() {
                for index in inputs.iter().copied() {
                    if plan.tensors[index].space == Space::Arena {
                        made.brings(index, frame);
                    }
                }
                made.tasks((0..front, false), frame..frame + 1);
                for index in divided.crossing.iter().copied() {
                    if !inputs.contains(&index) {
                        made.takes(index, frame);
                    }
                }
            }
            for frame in frames.clone() {
                for index in divided.crossing.iter().copied() {
                    made.brings_behind(index, frame);
                }
            }
            made.tasks((front..cut.tasks.len(), true), frames);
        }
        (made.cut, made.held)
    }
}

/// Tensors that programs take, or give.
fn given(
    plan: &Plan,
    of: impl Fn(&tilewright_plan::Program) -> &Vec<tilewright_plan::Io>,
) -> Vec<usize> {
    plan.main.iter().flat_map(of).map(|io| io.tensor as usize).collect()
}

struct Repeated<'r> {
    frames: &'r Frames,
    plan: &'r Plan,
    divided: &'r Divided,
    places: &'r Own,
    outputs: &'r [usize],
    /// The tasks of one frame.
    given: &'r Work,
    /// Those of all so far.
    cut: Work,
    held: Vec<Taken>,
}

impl Repeated<'_> {
    fn tensor(&self, index: usize) -> &PlannedTensor {
        &self.plan.tensors[index]
    }

    fn now(&self) -> u32 {
        narrow(self.cut.tasks.len())
    }

    /// A copy between a frame's place outside and its place in SRAM.
    fn moves(&mut self, index: usize, frame: u32, inside: u64, (layer, comes): (u32, bool)) {
        let Some(outside) = self.places.get(&(index, frame)) else { return };
        let outside = Place { space: outside.0, offset: outside.1 };
        let inside = Place { space: Space::Arena, offset: inside };
        let (from, to) = if comes { (outside, inside) } else { (inside, outside) };
        let bytes = self.tensor(index).bytes.0.next_multiple_of(WORD);
        let (before, layer, frame) = (self.now(), narrow(layer), narrow(frame));
        let lane = LaneId::DMA;
        let rows = Rows::ONE;
        let copy = sequence::Move { lane, from, to, bytes, rows, layer, frame };
        self.cut.moves.push(Move { before, copy });
    }

    /// A frame's input comes for the layers in front.
    fn brings(&mut self, index: usize, frame: u32) {
        let (offset, first) = (self.tensor(index).offset, self.tensor(index).first);
        self.moves(index, frame, offset, (first, true));
    }

    /// What the layers behind will read goes.
    fn takes(&mut self, index: usize, frame: u32) {
        let offset = self.tensor(index).offset;
        let layers = self.plan.layers.iter();
        let maker = layers.into_iter().rposition(|layer| layer.writes.contains(&narrow(index)));
        self.moves(index, frame, offset, (narrow(maker.unwrap_or(0)), false));
    }

    /// It comes for them.
    fn brings_behind(&mut self, index: usize, frame: u32) {
        let own = self.divided.own.get(&(index, frame % self.frames.batch));
        if let Some((_, offset)) = own.copied() {
            self.moves(index, frame, offset, (self.divided.behind, true));
        }
    }

    /// Tasks of these frames: each task for one frame after the other, with the loads once for all.
    fn tasks(&mut self, (tasks, are_behind): (Range<usize>, bool), frames: Range<u32>) {
        let (start, count) = (self.now(), frames.end - frames.start);
        let at = |task: u32| start + (task - narrow::<u32>(tasks.start)) * count;
        let mut loads: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, load) in self.given.residences.iter().enumerate() {
            if tasks.contains(&(load.uses[0] as usize)) {
                loads.insert(number, self.cut.residences.len());
                let uses = [at(load.uses[0]), at(load.uses[1]) + count - 1];
                let frame = narrow(frames.start);
                self.cut.residences.push(Residence { uses, frame, ..load.clone() });
            }
        }
        self.holds((&tasks, are_behind), &frames, start);
        for number in tasks {
            for frame in frames.clone() {
                let mut task = self.given.tasks[number].clone();
                for operand in &mut task.operands {
                    operand.residence = loads.get(&operand.residence).copied().unwrap_or(0);
                }
                task.frame = narrow(frame);
                self.place(&mut task, frame);
                self.cut.tasks.push(task);
            }
        }
    }

    /// Puts a frame's operands where they lie.
    fn place(&self, task: &mut Task, frame: u32) {
        let plan = self.plan;
        let layer = &plan.layers[usize::from(task.layer)];
        let is_behind = u32::from(task.layer) >= self.divided.behind;
        for (role, view) in task.roles.iter().zip(&mut task.tiny.views) {
            let tensors = if *role == Role::Output { &layer.writes } else { &layer.reads };
            let lies = |index: &&u32| {
                let tensor = &plan.tensors[**index as usize];
                let inside = tensor.offset..tensor.offset + tensor.extent();
                view.space == tensor.space as u8 && inside.contains(&view.offset.into())
            };
            let is_operand = matches!(role, Role::Input | Role::Output);
            let Some(index) = tensors.iter().find(lies).filter(|_| is_operand) else { continue };
            let (index, tensor) = (*index as usize, self.tensor(*index as usize));
            let batch = self.divided.own.get(&(index, frame % self.frames.batch));
            let own = match batch.filter(|_| is_behind) {
                Some(own) => Some(own),
                // In front what is in SRAM lies there in each frame's turn, but for outputs.
                None => self
                    .places
                    .get(&(index, frame))
                    .filter(|(space, _)| *space == tensor.space || self.outputs.contains(&index)),
            };
            if let Some((space, offset)) = own {
                let inside = u64::from(view.offset) - tensor.offset;
                *view = View { space: *space as u8, offset: narrow(offset + inside), ..*view };
                if *role == Role::Output {
                    task.order = RowOrder::Whole;
                }
            }
        }
    }

    /// Notes what lies in SRAM while tasks run.
    fn holds(
        &mut self,
        (tasks, are_behind): (&Range<usize>, bool),
        frames: &Range<u32>,
        start: u32,
    ) {
        let plan = self.plan;
        let behind = self.divided.behind;
        let lives = |layer: u32| {
            let first = self.given.tasks.partition_point(|task| task.lives < layer);
            first.clamp(tasks.start, tasks.end) - tasks.start
        };
        let count = frames.end - frames.start;
        let taken = |bytes: Range<u64>, layers: Range<u32>| {
            let [first, end] = [layers.start, layers.end].map(|layer| narrow::<u32>(lives(layer)));
            let last = (start + end * count).saturating_sub(1);
            (first < end).then_some(Taken {
                start: bytes.start / LINE * LINE,
                end: bytes.end.next_multiple_of(LINE),
                first: start + first * count,
                last,
            })
        };
        if are_behind {
            let held = self.divided.held.iter();
            let held = held.filter_map(|(layers, bytes)| taken(bytes.clone(), layers.clone()));
            self.held.extend(held);
        } else {
            let inside = plan.tensors.iter().enumerate().filter(|(index, tensor)| {
                let is_output = self.outputs.contains(index);
                tensor.space == Space::Arena && tensor.first < behind && !is_output
            });
            self.held.extend(inside.filter_map(|(_, tensor)| {
                let bytes = tensor.offset..tensor.offset + tensor.extent();
                taken(bytes, tensor.first..tensor.end.min(behind))
            }));
        }
    }
}
