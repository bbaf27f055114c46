//! The steps of core and DMA: the thesis' algorithm 4.

use std::ops::Range;

use super::buffers::Buffers;
use super::hazards::{Hazards, Lane};
use super::partition::{Operator, Partition, Tiny, fetched};
use crate::strategy::external::LINE;
use crate::strategy::lanes;
use tilewright_plan::{
    After, Bytes, Instruction, Lane as PlanLane, LaneKind, Plan, Role, RowOrder, Space, Span, Step,
    View,
};

/// The plan under way.
pub struct Pipeline {
    plan: Plan,
    /// The views of the plan that is overlaid.
    given: Vec<View>,
    /// Where the program's outputs lie in external RAM.
    given_outputs: Vec<(u64, u64)>,
    /// Those of the phase.
    buffers: Buffers,
    alignment: u64,
    /// Most bytes of a copy.
    largest: u64,
    hazards: Hazards,
    core: Vec<Step>,
    dma: Vec<Step>,
    /// What the phase before has yet to store.
    stored: Option<([Span; 2], u16)>,
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
    roles: &'static [Role],
    /// Copy of the output to its place: source and destination.
    store: Option<[Span; 2]>,
}

impl Pipeline {
    /// An empty pipeline for the tensors and tables of a plan whose operands lie in external memory.
    pub fn new(external: &Plan, alignment: u64, largest: u64) -> Self {
        let mut plan = external.clone();
        plan.tiles.clear();
        let given = std::mem::take(&mut plan.views);
        let largest = (largest / LINE * LINE).max(LINE);
        let (core, dma) = (Vec::new(), Vec::new());
        let programs = plan.programs.iter().filter(|program| !program.boot);
        let outputs = programs.flat_map(|program| &program.outputs);
        let views = outputs.filter_map(|io| given.get(io.view as usize));
        let views = views.filter(|view| view.space == Space::ExternalRam as u8);
        let given_outputs = views
            .map(|view| (u64::from(view.offset), u64::from(view.offset) + view.extent()))
            .collect();
        let (hazards, buffers) = (Hazards::default(), Buffers::default());
        let stored = None;
        Self { plan, given, given_outputs, buffers, alignment, largest, hazards, core, dma, stored }
    }

    /// Fetches and computes all tiles, each fetched while the one before is computed.
    pub fn plan(mut self, operators: &[Operator<'_>], phases: Vec<Phase>) -> Plan {
        let mut before: Option<Fetched> = None;
        let mut odd = false;
        for Phase { operators: range, partition, buffers, mut early } in phases {
            let arena = &mut self.plan.space_bytes[Space::Arena as usize];
            *arena = (*arena).max(Bytes(buffers.end()));
            self.buffers = buffers;
            // Buffers of the phase may lie over what is yet to be stored: else that can wait for what is fetched.
            self.stored = before.take().and_then(|fetched| self.compute(fetched));
            if let Some((spans, layer)) = self.stored {
                let is_over = |odd: bool| {
                    let (start, end) = (u64::from(spans[0].offset), spans[0].bytes());
                    let input = self.buffers.input(false, odd);
                    input.start < (start + end).next_multiple_of(LINE) && start < input.end
                };
                odd ^= is_over(odd);
                if is_over(odd) {
                    self.stored = None;
                    self.copy(spans, layer);
                }
            }
            for (operator, factor) in operators[range].iter().zip(&partition.factors) {
                let is_staged = partition.output > 0 && factor.is_some();
                let cut = (*factor, is_staged, std::mem::take(&mut early));
                self.operator(operator, cut, &mut odd, &mut before);
            }
        }
        let stored = before.and_then(|fetched| self.compute(fetched));
        if let Some((spans, layer)) = stored.or_else(|| self.stored.take()) {
            self.copy(spans, layer);
        }
        self.finish()
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
        if let Some((spans, layer)) = self.stored.take_if(|_| !is_simple) {
            self.copy(spans, layer);
        }
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
                Some((spans, layer)) if meets(&spans[1], operator, &tiny) => {
                    self.copy(spans, layer);
                    None
                }
                store => store,
            };
            let mut fetched = self.inputs(operator, tiny, factor.is_some(), *odd);
            let held = constants.get_or_insert_with(|| self.constants(operator));
            for (index, view) in held.iter() {
                fetched.tiny.views[*index] = *view;
            }
            if let Some((spans, layer)) = store {
                self.copy(spans, layer);
            }
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
            if let Some((spans, layer)) = before.take().and_then(|fetched| self.compute(fetched)) {
                self.copy(spans, layer);
            }
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
        let (op, order, roles) = (operator.op, operator.order, operator.roles());
        Fetched { tiny, op, layer, order, roles, store: None }
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
        let spans = [(Space::Arena, buffer.start), (Space::ExternalRam, view.offset.into())];
        fetched.store = Some(spans.map(|(space, offset)| span(space, offset, bytes)));
        fetched.tiny.views[*index] =
            View { space: Space::Arena as u8, offset: buffer.start as u32, ..view };
    }

    /// Copies the bytes of a view to a place in the arena; gives the view there.
    fn fetch(&mut self, view: &View, place: u64, layer: u16) -> View {
        let Some(space) = view.space() else { return *view };
        let bytes = fetched(view, self.alignment);
        let length = bytes.end - bytes.start;
        let inside = u64::from(view.offset) - bytes.start;
        let spans = [span(space, bytes.start, length), span(Space::Arena, place, length)];
        self.copy(spans, layer);
        View { space: Space::Arena as u8, offset: (place + inside) as u32, ..*view }
    }

    /// Adds copies of contiguous spans to the DMA lane.
    fn copy(&mut self, [from, to]: [Span; 2], layer: u16) {
        let total = from.bytes();
        let mut done = 0;
        while done < total {
            let length = (total - done).min(self.largest);
            let step = (Lane::Engine, self.dma.len() as u32);
            let mut waits = None;
            let spans = [(from, false), (to, true)].map(|(whole, writes)| {
                let (space, start) = (whole.space(), u64::from(whole.offset) + done);
                let space = space.unwrap_or(Space::Arena);
                waits = waits.max(self.hazards.access(step, space, start..start + length, writes));
                self.plan.spans.push(span(space, start, length));
                (self.plan.spans.len() - 1) as u32
            });
            let [source, destination] = spans;
            let instruction = Instruction::Copy { source, destination, sum: None };
            self.dma.push(after(0, waits, layer, instruction));
            done += length;
        }
    }

    /// Adds a compute step; gives the copy of its output, if there is one, and its layer.
    fn compute(&mut self, fetched: Fetched) -> Option<([Span; 2], u16)> {
        let Fetched { tiny, op, layer, order, roles, store } = fetched;
        let step = (Lane::Core, self.core.len() as u32);
        let mut waits = None;
        for (role, view) in roles.iter().zip(&tiny.views) {
            let start = u64::from(view.offset);
            let range = start..start + view.extent();
            if let Some(space) = view.space() {
                let writes = *role == Role::Output;
                waits = waits.max(self.hazards.access(step, space, range, writes));
            }
        }
        let tile = self.plan.tiles.len() as u32;
        let first_view = self.plan.views.len() as u32;
        self.plan.tiles.push(tiny.tile);
        self.plan.views.extend(tiny.views);
        let instruction = Instruction::Compute { op, tile, first_view, order };
        self.core.push(after(1, waits, layer, instruction));
        store.map(|spans| (spans, layer))
    }

    fn finish(mut self) -> Plan {
        let lanes = vec![
            PlanLane { kind: LaneKind::Core, steps: self.core },
            PlanLane { kind: LaneKind::Dma, steps: self.dma },
        ];
        lanes::replace(&mut self.plan, &self.given, lanes);
        self.plan
    }
}

/// A step that waits for this step of a lane, if for any.
pub fn after(lane: u8, waits: Option<u32>, layer: u16, instruction: Instruction) -> Step {
    let after = waits.map(|step| After { lane, step });
    Step { after: [after, None, None], frame: 0, layer, instruction }
}

/// Bytes that follow each other.
pub fn span(space: Space, offset: u64, bytes: u64) -> Span {
    let (offset, row_bytes) = (offset as u32, bytes as u32);
    Span { offset, rows: 1, row_bytes, pitch: row_bytes, space: space as u8, reserved: [0; 3] }
}

/// Whether a copy writes what a tile of an operator will read.
fn meets(written: &Span, operator: &Operator<'_>, tiny: &Tiny) -> bool {
    let (start, end) = (u64::from(written.offset), u64::from(written.offset) + written.extent());
    let (start, end) = (start / LINE * LINE, end.next_multiple_of(LINE));
    operator.inputs().any(|index| {
        let view = &tiny.views[index];
        let first = u64::from(view.offset) / LINE * LINE;
        let last = (u64::from(view.offset) + view.extent()).next_multiple_of(LINE);
        view.space == written.space && first < end && start < last
    })
}
