//! When tiles are fetched, computed and stored: the thesis' algorithm 4.

use std::ops::Range;

use super::buffers::Buffers;
use super::partition::Partition;
use crate::schedule::emit::emit;
use crate::schedule::operator::{Operator, Tiny, fetched};
use crate::schedule::sequence::{Engine, Event, LaneId, Move, Place, Sequence, Task};
use crate::strategy::external::LINE;
use tilewright_plan::{Bytes, LaneKind, Plan, Role, RowOrder, Space, View};

/// The events so far.
pub struct Pipeline<'p> {
    /// The plan that is overlaid.
    external: &'p Plan,
    /// Where the program's outputs lie in external RAM.
    given_outputs: Vec<(u64, u64)>,
    /// Those of the phase.
    buffers: Buffers,
    alignment: u64,
    /// Most bytes of a copy.
    largest: u64,
    arena: Bytes,
    events: Vec<Event>,
    /// What the phase before has yet to store.
    stored: Option<Move>,
}

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

/// A tile that the core will compute, with its operands where they will be then.
struct Fetched {
    tiny: Tiny,
    op: u32,
    layer: u16,
    order: RowOrder,
    /// Copy of the output to its place.
    store: Option<Move>,
}

impl<'p> Pipeline<'p> {
    /// An empty pipeline for the tensors and tables of a plan whose operands lie in external memory.
    pub fn new(external: &'p Plan, alignment: u64, largest: u64) -> Self {
        let largest = (largest / LINE * LINE).max(LINE);
        let programs = external.programs.iter().filter(|program| !program.boot);
        let outputs = programs.flat_map(|program| &program.outputs);
        let views = outputs.filter_map(|io| external.views.get(io.view as usize));
        let views = views.filter(|view| view.space == Space::ExternalRam as u8);
        let given_outputs = views
            .map(|view| (u64::from(view.offset), u64::from(view.offset) + view.extent()))
            .collect();
        let (buffers, events) = (Buffers::default(), Vec::new());
        let (arena, stored) = (external.space(Space::Arena), None);
        Self { external, given_outputs, buffers, alignment, largest, arena, events, stored }
    }

    /// Fetches and computes all tiles, each fetched while the one before is computed.
    pub fn plan(mut self, operators: &[Operator<'_>], phases: Vec<Phase>) -> Plan {
        let mut before: Option<Fetched> = None;
        let mut odd = false;
        for Phase { operators: range, partition, buffers, mut early } in phases {
            self.arena = self.arena.max(Bytes(buffers.end()));
            self.buffers = buffers;
            // Buffers of the phase may lie over what is yet to be stored: else that can wait for what is fetched.
            self.stored = before.take().and_then(|fetched| self.compute(fetched));
            if let Some(store) = self.stored {
                let is_over = |odd: bool| {
                    let (start, end) = (store.from.offset, store.from.offset + store.bytes);
                    let input = self.buffers.input(false, odd);
                    input.start < end.next_multiple_of(LINE) && start < input.end
                };
                odd ^= is_over(odd);
                if is_over(odd) {
                    self.stored = None;
                    self.events.push(Event::Move(store));
                }
            }
            for (operator, factor) in operators[range].iter().zip(&partition.factors) {
                let is_staged = partition.output > 0 && factor.is_some();
                let cut = (*factor, is_staged, std::mem::take(&mut early));
                self.operator(operator, cut, &mut odd, &mut before);
            }
        }
        let stored = before.and_then(|fetched| self.compute(fetched));
        self.events.extend(stored.or_else(|| self.stored.take()).map(Event::Move));
        let engines = vec![Engine { kind: LaneKind::Dma, largest: self.largest }];
        let (arena, events) = (self.arena, self.events);
        emit(self.external, Sequence { arena, engines, events })
    }

    /// Fetches an operator's tiles, and computes all but the last; `factor` cuts it, if its inputs are
    /// fetched.
    fn operator(
        &mut self,
        operator: &Operator<'_>,
        (factor, is_staged, early): (Option<u16>, bool, bool),
        odd: &mut bool,
        before: &mut Option<Fetched>,
    ) {
        let mut constants: Option<Vec<(usize, View)>> = None;
        let has_room = operator.inputs().nth(1).is_none();
        let part = self.buffers.part(operator.bytes(Role::Weights)).filter(|_| has_room);
        let mut tiles = operator.tiles(factor.unwrap_or(1));
        if early && factor.is_some() {
            let first = tiles.first().and_then(|first| operator.halves(first));
            first.into_iter().for_each(|halves| drop(tiles.splice(..1, halves)));
        }
        // Only inputs are fetched before what the phase before has yet to store.
        let is_simple = part.is_none()
            && operator.inputs().count() == 1
            && factor.is_some()
            && operator.operands(Role::Weights).chain(operator.operands(Role::Constants)).count()
                == 0;
        self.events.extend(self.stored.take_if(|_| !is_simple).map(Event::Move));
        for tiny in tiles {
            if let Some(part) = part {
                let parts = operator.parts(&tiny, part, 1);
                if parts.len() > 1 {
                    self.parts(operator, parts, factor.is_some(), *odd, before);
                    *odd = !*odd;
                    continue;
                }
            }
            // As if all steps ran one after the other: lanes overlap where nothing forbids it.
            let store = before.take().and_then(|fetched| self.compute(fetched));
            let store = store.or_else(|| self.stored.take());
            let store = match store {
                // What is stored may be what is fetched.
                Some(store) if meets(&store, operator, &tiny) => {
                    self.events.push(Event::Move(store));
                    None
                }
                store => store,
            };
            let mut fetched = self.inputs(operator, tiny, factor.is_some(), *odd);
            let held = constants.get_or_insert_with(|| self.constants(operator));
            for (index, view) in held.iter() {
                fetched.tiny.views[*index] = *view;
            }
            self.events.extend(store.map(Event::Move));
            if is_staged {
                self.stage(operator, &mut fetched, *odd);
            }
            *before = Some(fetched);
            *odd = !*odd;
        }
    }

    /// Fetches a tile's inputs, and the filters of one of its parts while the one before is computed;
    /// the core writes the output where it belongs.
    fn parts(
        &mut self,
        operator: &Operator<'_>,
        parts: Vec<Tiny>,
        fetches: bool,
        odd: bool,
        before: &mut Option<Fetched>,
    ) {
        let mut inputs: Option<Vec<View>> = None;
        for mut tiny in parts {
            // What was made before may be what is fetched.
            let store = before.take().and_then(|fetched| self.compute(fetched));
            self.events.extend(store.map(Event::Move));
            if let Some(held) = &inputs {
                let roles = operator.roles().iter().zip(&mut tiny.views).zip(held);
                for ((_, view), held) in roles.filter(|((role, _), _)| **role == Role::Input) {
                    *view = *held;
                }
            }
            let is_first = inputs.is_none();
            let mut fetched = self.inputs(operator, tiny, fetches && is_first, odd);
            inputs.get_or_insert_with(|| fetched.tiny.views.clone());
            for index in operator.operands(Role::Weights).chain(operator.operands(Role::Constants))
            {
                let view = fetched.tiny.views[index];
                let bytes = view.extent().next_multiple_of(LINE);
                let place = match operator.roles()[index] {
                    Role::Weights => self.buffers.filter(bytes),
                    _ => self.buffers.parameters(bytes),
                };
                if let Some(place) = place {
                    fetched.tiny.views[index] = self.fetch(&view, place, operator.step.layer);
                }
            }
            *before = Some(fetched);
        }
    }

    /// Fetches a tile's inputs, if they are to be fetched.
    fn inputs(
        &mut self,
        operator: &Operator<'_>,
        mut tiny: Tiny,
        fetches: bool,
        odd: bool,
    ) -> Fetched {
        let layer = operator.step.layer;
        let inputs: Vec<usize> = operator.inputs().filter(|_| fetches).collect();
        for (nth, index) in inputs.into_iter().enumerate() {
            let place = self.buffers.input(nth > 0, odd).start;
            tiny.views[index] = self.fetch(&tiny.views[index], place, layer);
        }
        Fetched { tiny, op: operator.op, layer, order: operator.order, store: None }
    }

    /// Fetches an operator's filter, biases and quantisation parameters where they fit; gives them
    /// with their places among the operands.
    fn constants(&mut self, operator: &Operator<'_>) -> Vec<(usize, View)> {
        let layer = operator.step.layer;
        let mut held = Vec::new();
        // The second input of an operator lies where filters would.
        let has_room = operator.inputs().nth(1).is_none();
        for index in operator.operands(Role::Weights).filter(|_| has_room) {
            let view = operator.views[index];
            if let Some(place) = self.buffers.filter(view.extent().next_multiple_of(LINE)) {
                held.push((index, self.fetch(&view, place, layer)));
            }
        }
        for index in operator.operands(Role::Constants) {
            let view = operator.views[index];
            if let Some(place) = self.buffers.parameters(view.extent().next_multiple_of(LINE)) {
                held.push((index, self.fetch(&view, place, layer)));
            }
        }
        held
    }

    /// Lets a tile's output be made in a buffer.
    fn stage(&self, operator: &Operator<'_>, fetched: &mut Fetched, odd: bool) {
        let buffer = self.buffers.output(odd);
        let fits = |view: &View| view.extent().next_multiple_of(LINE) <= buffer.end - buffer.start;
        let outputs: Vec<usize> = operator.operands(Role::Output).collect();
        let [index] = outputs.as_slice() else { return };
        let view = fetched.tiny.views[*index];
        // What the program gives is complete when the core is done.
        let start = u64::from(view.offset);
        if self
            .given_outputs
            .iter()
            .any(|(first, end)| start < *end && *first < start + view.extent())
        {
            return;
        }
        if !operator.can_stage(&fetched.tiny, self.alignment) || !fits(&view) {
            return;
        }
        let bytes = view.extent().next_multiple_of(self.alignment);
        fetched.store = Some(Move {
            lane: LaneId::FIRST,
            from: Place { space: Space::Arena, offset: buffer.start },
            to: Place { space: Space::ExternalRam, offset: view.offset.into() },
            bytes,
            layer: fetched.layer,
            frame: 0,
        });
        fetched.tiny.views[*index] =
            View { space: Space::Arena as u8, offset: buffer.start as u32, ..view };
    }

    /// Copies the bytes of a view to a place in the arena; gives the view there.
    fn fetch(&mut self, view: &View, place: u64, layer: u16) -> View {
        let Some(space) = view.space() else { return *view };
        let bytes = fetched(view, self.alignment);
        let inside = u64::from(view.offset) - bytes.start;
        self.events.push(Event::Move(Move {
            lane: LaneId::FIRST,
            from: Place { space, offset: bytes.start },
            to: Place { space: Space::Arena, offset: place },
            bytes: bytes.end - bytes.start,
            layer,
            frame: 0,
        }));
        View { space: Space::Arena as u8, offset: (place + inside) as u32, ..*view }
    }

    /// Adds a step of the core; gives the copy of its output, if there is one.
    fn compute(&mut self, fetched: Fetched) -> Option<Move> {
        let Fetched { tiny: Tiny { tile, views }, op, layer, order, store } = fetched;
        self.events.push(Event::Task(Task { op, layer, frame: 0, order, tile, views }));
        store
    }
}

/// Whether a copy writes what a tile of an operator will read.
fn meets(store: &Move, operator: &Operator<'_>, tiny: &Tiny) -> bool {
    let Place { space, offset } = store.to;
    let (start, end) = (offset, offset + store.bytes);
    let (start, end) = (start / LINE * LINE, end.next_multiple_of(LINE));
    operator.inputs().any(|index| {
        let view = &tiny.views[index];
        let first = u64::from(view.offset) / LINE * LINE;
        let last = (u64::from(view.offset) + view.extent()).next_multiple_of(LINE);
        view.space() == Some(space) && first < end && start < last
    })
}
