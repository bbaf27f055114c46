//! Which tiles are fetched, computed and stored, in which buffers: the thesis' algorithm 4.

use std::ops::Range;

use super::buffers::Buffers;
use super::partition::Partition;
use crate::schedule::operator::{Operator, Tiny, fetched};
use crate::schedule::sequence::Place;
use crate::schedule::work::{Class, Flow, Operand, Residence, Task, Work};
use crate::strategy::external::LINE;
use tilewright_plan::{Plan, Role, Space, View};

/// Operators whose buffers lie at the same places.
pub struct Phase {
    /// Which.
    pub operators: Range<usize>,
    /// How they are cut.
    pub partition: Partition,
    /// The buffers.
    pub buffers: Buffers,
    /// Whether the first tile is cut once more.
    pub early: bool,
}

/// The work so far.
pub struct Pipeline {
    work: Work,
    /// Where residences lie in the arena.
    offsets: Vec<u64>,
    /// Where the program's outputs lie in external RAM.
    given_outputs: Vec<(u64, u64)>,
    /// Those of the phase.
    buffers: Buffers,
    alignment: u64,
    /// Which buffers the next tile has.
    odd: bool,
    /// What the last task has made that goes; only inputs may come before it.
    stored: Option<usize>,
}

impl Pipeline {
    /// An empty pipeline for a plan whose operands lie in external memory.
    pub fn new(external: &Plan, alignment: u64) -> Self {
        let programs = external.programs.iter().filter(|program| !program.boot);
        let outputs = programs.flat_map(|program| &program.outputs);
        let views = outputs.filter_map(|io| external.views.get(io.view as usize));
        let views = views.filter(|view| view.space == Space::ExternalRam as u8);
        let given_outputs = views
            .map(|view| (u64::from(view.offset), u64::from(view.offset) + view.extent()))
            .collect();
        Self {
            work: Work::default(),
            offsets: Vec::new(),
            given_outputs,
            buffers: Buffers::default(),
            alignment,
            odd: false,
            stored: None,
        }
    }

    /// All tiles, with the offsets of what they need.
    pub fn cut(mut self, operators: &[Operator<'_>], phases: Vec<Phase>) -> (Work, Vec<u64>) {
        for Phase { operators: range, partition, buffers, mut early } in phases {
            self.buffers = buffers;
            // Buffers of the phase may lie over what is yet to go: else that can wait for what comes.
            if let Some(store) = self.stored {
                let start = self.offsets[store];
                let end = (start + self.work.residences[store].bytes).next_multiple_of(LINE);
                let is_over = |odd: bool| {
                    let input = self.buffers.input(false, odd);
                    input.start < end && start < input.end
                };
                let odd = self.odd ^ is_over(self.odd);
                if is_over(odd) {
                    self.store_first();
                }
                self.odd = odd;
            }
            let operators = &operators[range];
            for (index, (operator, factor)) in operators.iter().zip(&partition.factors).enumerate()
            {
                let is_staged = partition.output > 0 && factor.is_some();
                let is_early = std::mem::take(&mut early);
                self.operator(operator, (*factor, is_staged, is_early), index == 0);
            }
        }
        (self.work, self.offsets)
    }

    /// An operator's tiles; `factor` cuts it, if its inputs come.
    fn operator(
        &mut self,
        operator: &Operator<'_>,
        (factor, is_staged, early): (Option<u16>, bool, bool),
        begins_phase: bool,
    ) {
        let mut constants: Option<Vec<Operand>> = None;
        let has_room = operator.inputs().nth(1).is_none();
        let part = self.buffers.part(operator.bytes(Role::Weights)).filter(|_| has_room);
        let mut tiles = operator.tiles(factor.unwrap_or(1));
        if early && factor.is_some() {
            let first = tiles.first().and_then(|first| operator.halves(first));
            first.into_iter().for_each(|halves| drop(tiles.splice(..1, halves)));
        }
        // At the border of a phase only inputs come before what is yet to go.
        let is_simple = part.is_none()
            && operator.inputs().count() == 1
            && factor.is_some()
            && operator.operands(Role::Weights).chain(operator.operands(Role::Constants)).count()
                == 0;
        if begins_phase && !is_simple {
            self.store_first();
        }
        for tiny in tiles {
            if let Some(part) = part {
                let parts = operator.parts(&tiny, part, 1);
                if parts.len() > 1 {
                    self.parts(operator, parts, factor.is_some());
                    self.odd = !self.odd;
                    continue;
                }
            }
            // What goes may be what comes.
            let meets = |store: usize| meets(&self.work.residences[store], operator, &tiny);
            if self.stored.is_some_and(meets) {
                self.store_first();
            }
            self.stored = None;
            let mut operands = self.inputs(operator, &tiny, factor.is_some());
            let held = constants.get_or_insert_with(|| self.constants(operator));
            operands.extend_from_slice(held);
            let staged = is_staged.then(|| self.staged(operator, &tiny)).flatten();
            operands.extend(staged);
            self.stored = staged.map(|operand| operand.residence);
            self.task(operator, tiny, operands);
            self.odd = !self.odd;
        }
    }

    /// A tile's inputs, and the filters of one of its parts while the one before is computed; the core
    /// writes the output where it belongs.
    fn parts(&mut self, operator: &Operator<'_>, parts: Vec<Tiny>, fetches: bool) {
        let mut inputs: Option<Vec<Operand>> = None;
        for tiny in parts {
            // What was made before may be what comes.
            self.store_first();
            let inputs = inputs.get_or_insert_with(|| self.inputs(operator, &tiny, fetches));
            let mut operands = inputs.clone();
            for index in operator.operands(Role::Weights).chain(operator.operands(Role::Constants))
            {
                let view = tiny.views[index];
                let bytes = view.extent().next_multiple_of(LINE);
                let place = match operator.roles()[index] {
                    Role::Weights => self.buffers.filter(bytes),
                    _ => self.buffers.parameters(bytes),
                };
                operands.extend(place.and_then(|place| self.fetch(operator, index, &view, place)));
            }
            self.task(operator, tiny, operands);
        }
    }

    /// A tile's inputs, if they are to come.
    fn inputs(&mut self, operator: &Operator<'_>, tiny: &Tiny, fetches: bool) -> Vec<Operand> {
        let inputs: Vec<usize> = operator.inputs().filter(|_| fetches).collect();
        let inputs = inputs.into_iter().enumerate().filter_map(|(nth, index)| {
            let place = self.buffers.input(nth > 0, self.odd).start;
            self.fetch(operator, index, &tiny.views[index], place)
        });
        inputs.collect()
    }

    /// An operator's filter, biases and quantisation parameters where they fit.
    fn constants(&mut self, operator: &Operator<'_>) -> Vec<Operand> {
        let mut held = Vec::new();
        // The second input of an operator lies where filters would.
        let has_room = operator.inputs().nth(1).is_none();
        for index in operator.operands(Role::Weights).filter(|_| has_room) {
            let view = operator.views[index];
            let place = self.buffers.filter(view.extent().next_multiple_of(LINE));
            held.extend(place.and_then(|place| self.fetch(operator, index, &view, place)));
        }
        for index in operator.operands(Role::Constants) {
            let view = operator.views[index];
            let place = self.buffers.parameters(view.extent().next_multiple_of(LINE));
            held.extend(place.and_then(|place| self.fetch(operator, index, &view, place)));
        }
        held
    }

    /// A buffer that a tile's output is made in.
    fn staged(&mut self, operator: &Operator<'_>, tiny: &Tiny) -> Option<Operand> {
        let buffer = self.buffers.output(self.odd);
        let mut outputs = operator.operands(Role::Output);
        let index = outputs.next().filter(|_| outputs.next().is_none())?;
        let view = tiny.views[index];
        // What the program gives is complete when the core is done.
        let (start, end) = (u64::from(view.offset), u64::from(view.offset) + view.extent());
        let is_given = self.given_outputs.iter().any(|(first, last)| start < *last && *first < end);
        let fits = view.extent().next_multiple_of(LINE) <= buffer.end - buffer.start;
        if is_given || !fits || !operator.can_stage(tiny, self.alignment) {
            return None;
        }
        let home = Place { space: Space::ExternalRam, offset: start };
        let bytes = view.extent().next_multiple_of(self.alignment);
        let flow = Flow::Goes { first: false };
        let residence = self.add((operator, Class::Output), (home, bytes), flow, buffer.start);
        Some(Operand { index, residence })
    }

    /// The bytes of an operand come to a place in the arena.
    fn fetch(
        &mut self,
        operator: &Operator<'_>,
        index: usize,
        view: &View,
        place: u64,
    ) -> Option<Operand> {
        let bytes = fetched(view, self.alignment);
        let home = Place { space: view.space()?, offset: bytes.start };
        let class = match operator.roles()[index] {
            Role::Input => Class::Input,
            _ => Class::Weights,
        };
        let (length, flow) = (bytes.end - bytes.start, Flow::Comes { behind: None });
        let residence = self.add((operator, class), (home, length), flow, place);
        Some(Operand { index, residence })
    }

    fn add(
        &mut self,
        (operator, class): (&Operator<'_>, Class),
        (home, bytes): (Place, u64),
        flow: Flow,
        offset: u64,
    ) -> usize {
        let (uses, layer) = ([self.work.tasks.len() as u32; 2], operator.step.layer);
        self.work.residences.push(Residence { home, bytes, class, flow, uses, layer, frame: 0 });
        self.offsets.push(offset);
        self.offsets.len() - 1
    }

    fn task(&mut self, operator: &Operator<'_>, tiny: Tiny, operands: Vec<Operand>) {
        let number = self.work.tasks.len() as u32;
        for operand in &operands {
            self.work.residences[operand.residence].uses[1] = number;
        }
        self.work.tasks.push(Task::of(operator, tiny, operands));
    }

    /// What is yet to go does so before anything comes.
    fn store_first(&mut self) {
        if let Some(store) = self.stored.take() {
            self.work.residences[store].flow = Flow::Goes { first: true };
        }
    }
}

/// Whether what goes is written to where a tile of an operator will be read.
fn meets(store: &Residence, operator: &Operator<'_>, tiny: &Tiny) -> bool {
    let Place { space, offset } = store.home;
    let (start, end) = (offset / LINE * LINE, (offset + store.bytes).next_multiple_of(LINE));
    operator.inputs().any(|index| {
        let view = &tiny.views[index];
        let first = u64::from(view.offset) / LINE * LINE;
        let last = (u64::from(view.offset) + view.extent()).next_multiple_of(LINE);
        view.space() == Some(space) && first < end && start < last
    })
}
