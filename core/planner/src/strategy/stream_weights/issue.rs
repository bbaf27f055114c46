//! Where loads lie, when they begin, and the steps of all lanes.

use std::ops::Range;

use super::cut::{Cut, Load, Move, Task};
use crate::strategy::external::LINE;
use crate::strategy::lanes;
use crate::strategy::overlay::hazards::{Hazards, Lane, Waits, later};
use crate::strategy::overlay::pipeline::span;
use crate::stream::place::{Room, Taken};
use crate::{PlanError, Stop};
use tilewright_plan::{
    After, Bytes, Instruction, Lane as PlanLane, LaneKind, Plan, PlannedTensor, Role, Space, Step,
    View,
};

/// Bytes of SRAM and of its transfers.
#[derive(Clone, Copy, Debug)]
pub struct Within<'s> {
    /// Bytes of SRAM that loads and activations lie in.
    pub budget: u64,
    /// Most bytes of a card's transfer.
    pub largest: u64,
    /// Loads come so many tasks ahead at most.
    pub ahead: u32,
    /// Whether anybody waits.
    pub stop: &'s Stop,
}

/// Units of work of a step.
const STEP: u64 = 100;

/// The plan of tasks with what they need from the card, from one whose weights lie on the card, beside
/// activations that lie there; nothing if there is no room for a load.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn issue(
    lowered: &Plan,
    cut: &Cut,
    held: &[Taken],
    within: Within<'_>,
) -> Result<Option<Plan>, PlanError> {
    let Some(places) = places(cut, held, within)? else { return Ok(None) };
    let mut plan = lowered.clone();
    plan.tiles.clear();
    let given = std::mem::take(&mut plan.views);
    let ends = cut.loads.iter().zip(&places).map(|(load, place)| Bytes(place + load.length()));
    let arena = &mut plan.space_bytes[Space::Arena as usize];
    *arena = ends.max().unwrap_or_default().max(*arena);
    let lanes = [Vec::new(), Vec::new(), Vec::new()];
    let largest = within.largest;
    let mut issue = Issue { plan, largest, hazards: Hazards::default(), lanes };
    let mut loads = cut.loads.iter().zip(&places).peekable();
    let mut moves = cut.moves.iter().peekable();
    for (number, task) in (0u32..).zip(&cut.tasks) {
        while let Some(copy) = moves.next_if(|copy| copy.before <= number) {
            issue.copy(copy);
        }
        while let Some((load, place)) = loads.next_if(|(load, _)| load.uses[0] <= number) {
            issue.load(load, *place);
        }
        issue.compute(task, &cut.loads, &places);
    }
    let Issue { mut plan, lanes: [core, card, dma], .. } = issue;
    let lanes = vec![
        PlanLane { kind: LaneKind::Core, steps: core },
        PlanLane { kind: LaneKind::Card, steps: card },
        PlanLane { kind: LaneKind::Dma, steps: dma },
    ];
    lanes::replace(&mut plan, &given, lanes);
    within.stop.after(STEP * (cut.tasks.len() + cut.loads.len()) as u64)?;
    Ok(Some(plan))
}

/// Where a plan's activations lie in SRAM, with the tasks that need them.
pub fn held(plan: &Plan, cut: &Cut) -> Vec<Taken> {
    let first_of = |layer: u32| cut.tasks.partition_point(|task| task.lives < layer);
    let taken = |tensor: &PlannedTensor| Taken {
        start: tensor.offset / LINE * LINE,
        end: (tensor.offset + tensor.extent()).next_multiple_of(LINE),
        first: first_of(tensor.first) as u32,
        last: match first_of(tensor.end) {
            end if end == cut.tasks.len() => u32::MAX,
            end => end.saturating_sub(1) as u32,
        },
    };
    plan.tensors.iter().filter(|tensor| tensor.space == Space::Arena).map(taken).collect()
}

/// Where each load lies in the arena, beside the activations that live with the tasks from the one before
/// which it begins to the last that needs it.
fn places(cut: &Cut, held: &[Taken], within: Within<'_>) -> Result<Option<Vec<u64>>, PlanError> {
    let mut room = Room::new(within.budget / LINE * LINE);
    for taken in held {
        room.take(*taken);
    }
    let mut places = Vec::with_capacity(cut.loads.len());
    for load in &cut.loads {
        room.none_before(load.uses[0].saturating_sub(within.ahead));
        within.stop.after(room.work())?;
        let Some(taken) = room.place(load.length(), load.uses) else { return Ok(None) };
        places.push(taken.start);
    }
    Ok(Some(places))
}

struct Issue {
    plan: Plan,
    /// Most bytes of a card's transfer.
    largest: u64,
    hazards: Hazards,
    /// Steps of the core, the card and DMA.
    lanes: [Vec<Step>; 3],
}

impl Issue {
    fn load(&mut self, load: &Load, place: u64) {
        let mut done = 0;
        while done < load.length() {
            let length = (load.length() - done).min(self.largest);
            let ends = [(Space::Card, load.bytes.start + done), (Space::Arena, place + done)];
            self.transfer(Lane::Engine, ends, length, (load.layer, load.frame));
            done += length;
        }
    }

    fn copy(&mut self, copy: &Move) {
        let Move { ends, bytes, layer, frame, .. } = *copy;
        self.transfer(Lane::Second, ends, bytes, (layer, frame));
    }

    /// Adds a copy to the lane of an engine.
    fn transfer(&mut self, lane: Lane, [from, to]: [(Space, u64); 2], bytes: u64, of: (u16, u8)) {
        let step = (lane, self.lanes[lane as usize].len() as u32);
        let mut waits = Waits::default();
        for ((space, start), writes) in [(from, false), (to, true)] {
            let range = start..start + bytes;
            later(&mut waits, self.hazards.access_of_all(step, space, range, writes));
        }
        let source = self.plan.spans.len() as u32;
        self.plan.spans.extend([from, to].map(|(space, start)| span(space, start, bytes)));
        let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
        self.add(lane, waits, of, instruction);
    }

    fn compute(&mut self, task: &Task, loads: &[Load], places: &[u64]) {
        let mut views = task.tiny.views.clone();
        for (index, load) in &task.brought {
            let view = &mut views[*index];
            let inside = u64::from(view.offset) - loads[*load].bytes.start;
            let offset = (places[*load] + inside) as u32;
            *view = View { space: Space::Arena as u8, offset, ..*view };
        }
        let step = (Lane::Core, self.lanes[0].len() as u32);
        let mut waits = Waits::default();
        for (role, view) in task.roles.iter().zip(&views) {
            if let Some(space) = view.space() {
                let writes = *role == Role::Output;
                later(&mut waits, self.hazards.access_of_all(step, space, range(view), writes));
            }
        }
        let instruction = Instruction::Compute {
            op: task.op,
            tile: self.plan.tiles.len() as u32,
            first_view: self.plan.views.len() as u32,
            order: task.order,
        };
        self.plan.tiles.push(task.tiny.tile);
        self.plan.views.extend(views);
        self.add(Lane::Core, waits, (task.layer, task.frame), instruction);
    }

    fn add(
        &mut self,
        lane: Lane,
        waits: Waits,
        (layer, frame): (u16, u8),
        instruction: Instruction,
    ) {
        let mut after = [None; 3];
        let waits = (0u8..).zip(waits).filter_map(|(lane, step)| Some(After { lane, step: step? }));
        for (after, wait) in after.iter_mut().zip(waits) {
            *after = Some(wait);
        }
        self.lanes[lane as usize].push(Step { after, frame, layer, instruction });
    }
}

fn range(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start..start + view.extent()
}
