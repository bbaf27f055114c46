//! A sequence becomes a plan: lanes of steps that wait for each other where they touch the same bytes.

use crate::narrow::narrow;
use std::ops::Range;

use super::hazards::{Hazards, Waits, later};
use super::sequence::{Arrival, Event, LaneId, Move, Place, Rows, Sequence, Task};
use tilewright_plan::{After, Instruction, Lane, LaneKind, Plan, Role, Space, Span, Step, View};

/// The plan `given` with the steps of a sequence instead of its own. Tiles, views and spans stand in the order of
/// the events, spans behind those of boot programs, and the views of what programs take and give last.
pub fn emit(given: &Plan, sequence: Sequence) -> Plan {
    let Sequence { arena, engines, events } = sequence;
    let mut plan = given.clone();
    plan.tiles.clear();
    plan.views.clear();
    plan.space_bytes[Space::Arena as usize] = arena;
    let kinds = std::iter::once(LaneKind::Core).chain(engines.iter().map(|engine| engine.kind));
    let lanes = kinds.map(|kind| Lane { kind, steps: Vec::new() }).collect();
    let mut emitter = Emitter { plan, lanes, hazards: Hazards::default() };
    for event in events {
        match event {
            Event::Task(task) => emitter.task(task),
            Event::Arrival(arrival) => emitter.arrival(arrival),
            Event::Move(whole) => {
                let engine = engines.get(usize::from(whole.lane.0).wrapping_sub(1));
                let most = engine.map_or(u64::MAX, |engine| engine.largest.max(1));
                if whole.rows != Rows::ONE {
                    emitter.moves(whole);
                    continue;
                }
                let mut done = 0;
                while done < whole.bytes {
                    let bytes = (whole.bytes - done).min(most);
                    let (from, to) = (whole.from.after(done), whole.to.after(done));
                    emitter.moves(Move { from, to, bytes, ..whole });
                    done += bytes;
                }
            }
        }
    }
    emitter.finish(&given.views)
}

struct Emitter {
    plan: Plan,
    lanes: Vec<Lane>,
    hazards: Hazards,
}

impl Emitter {
    fn task(&mut self, task: Task) {
        let Task { op, layer, frame, order, tile, views } = task;
        let kernel = self.plan.ops.get(op as usize).and_then(|op| op.kernel());
        let mut waits = Waits::default();
        for (role, view) in kernel.map_or(&[][..], |kernel| kernel.roles()).iter().zip(&views) {
            let Some(space) = view.space() else { continue };
            let start = u64::from(view.offset);
            let writes = *role == Role::Output;
            self.access(LaneId::CORE, space, start..start + view.extent(), writes, &mut waits);
        }
        let instruction = Instruction::Compute {
            op,
            tile: narrow(self.plan.tiles.len()),
            first_view: narrow(self.plan.views.len()),
            order,
        };
        self.plan.tiles.push(tile);
        self.plan.views.extend(views);
        self.add(LaneId::CORE, waits, Step { after: [None; 3], frame, layer, instruction });
    }

    fn arrival(&mut self, Arrival { layer, view }: Arrival) {
        let (mut waits, start) = (Waits::default(), u64::from(view.offset));
        let bytes = start..start + view.extent();
        self.access(LaneId::CORE, Space::Arena, bytes, true, &mut waits);
        let instruction = Instruction::Arrive { view: narrow(self.plan.views.len()) };
        self.plan.views.push(view);
        self.add(LaneId::CORE, waits, Step { after: [None; 3], frame: 0, layer, instruction });
    }

    fn moves(&mut self, part: Move) {
        let Move { lane, from, to, bytes, rows: Rows { count, pitch }, layer, frame } = part;
        let source = narrow::<u32>(self.plan.spans.len());
        let mut waits = Waits::default();
        for (Place { space, offset }, writes) in [(from, false), (to, true)] {
            self.access(lane, space, offset..offset + bytes, writes, &mut waits);
            let mut part = span(space, offset, bytes);
            if count > 1 && space != Space::Arena {
                part = Span { rows: count, row_bytes: part.row_bytes / count, pitch, ..part };
            }
            self.plan.spans.push(part);
        }
        let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
        self.add(lane, waits, Step { after: [None; 3], frame, layer, instruction });
    }

    /// Notes that the next step of a lane reads or writes bytes.
    fn access(
        &mut self,
        lane: LaneId,
        space: Space,
        range: Range<u64>,
        writes: bool,
        waits: &mut Waits,
    ) {
        let step = self.lanes[usize::from(lane.0)].steps.len();
        later(waits, self.hazards.access((lane, narrow(step)), space, range, writes));
    }

    fn add(&mut self, lane: LaneId, waits: Waits, mut step: Step) {
        let waits = (0u8..).zip(waits).filter_map(|(lane, step)| Some(After { lane, step: step? }));
        for (after, wait) in step.after.iter_mut().zip(waits) {
            *after = Some(wait);
        }
        self.lanes[usize::from(lane.0)].steps.push(step);
    }

    /// The plan. Lanes of engines without steps are left out, since firmware refuses those whose engine it does
    /// not drive; steps name the lanes that are left.
    fn finish(self, given: &[View]) -> Plan {
        let Self { mut plan, mut lanes, .. } = self;
        let mut next = 0u8;
        let numbers: Vec<u8> = lanes
            .iter()
            .map(|lane| {
                let is_left = lane.kind == LaneKind::Core || !lane.steps.is_empty();
                next += u8::from(is_left);
                next.saturating_sub(1)
            })
            .collect();
        lanes.retain(|lane| lane.kind == LaneKind::Core || !lane.steps.is_empty());
        for after in lanes
            .iter_mut()
            .flat_map(|lane| &mut lane.steps)
            .flat_map(|step| step.after.iter_mut().flatten())
        {
            after.lane = numbers.get(usize::from(after.lane)).copied().unwrap_or(after.lane);
        }
        let Plan { main, views, .. } = &mut plan;
        if let Some(program) = main {
            for io in program.inputs.iter_mut().chain(&mut program.outputs) {
                let view = given.get(io.view as usize).copied().unwrap_or_default();
                io.view = narrow(views.len());
                views.push(view);
            }
            program.lanes = lanes;
        }
        plan
    }
}

/// Bytes that follow each other.
pub fn span(space: Space, offset: u64, bytes: u64) -> Span {
    let (offset, row_bytes) = (narrow(offset), narrow(bytes));
    Span { offset, rows: 1, row_bytes, pitch: row_bytes, space: space as u8, reserved: [0; 3] }
}
