//! Where loads lie, when they begin, and the steps of both lanes.

use std::ops::Range;

use super::cut::{Cut, Load, Task};
use crate::strategy::external::LINE;
use crate::strategy::lanes;
use crate::strategy::overlay::hazards::{Hazards, Lane};
use crate::strategy::overlay::pipeline::{after, span};
use crate::stream::place::{Room, Taken};
use tilewright_plan::{
    Bytes, Instruction, Lane as PlanLane, LaneKind, Plan, PlannedTensor, Role, Space, Step, View,
};

/// The plan of tasks with what they need from the card within `budget` bytes of SRAM, from one whose
/// weights lie on the card; nothing if there is no room for a load. Loads come so many tasks ahead at most.
pub fn issue(lowered: &Plan, cut: &Cut, [budget, largest]: [u64; 2], ahead: u32) -> Option<Plan> {
    let places = places(lowered, cut, budget, ahead)?;
    let mut plan = lowered.clone();
    plan.tiles.clear();
    let given = std::mem::take(&mut plan.views);
    let ends = cut.loads.iter().zip(&places).map(|(load, place)| Bytes(place + load.length()));
    let arena = &mut plan.space_bytes[Space::Arena as usize];
    *arena = ends.max().unwrap_or_default().max(*arena);
    let (core, card) = (Vec::new(), Vec::new());
    let mut issue = Issue { plan, largest, hazards: Hazards::default(), core, card };
    let mut loads = cut.loads.iter().zip(&places).peekable();
    for (number, task) in (0u32..).zip(&cut.tasks) {
        while let Some((load, place)) = loads.next_if(|(load, _)| load.uses[0] <= number) {
            issue.load(load, *place);
        }
        issue.compute(task, &cut.loads, &places);
    }
    let Issue { mut plan, core, card, .. } = issue;
    let mut lanes = vec![PlanLane { kind: LaneKind::Core, steps: core }];
    lanes.extend((!card.is_empty()).then_some(PlanLane { kind: LaneKind::Card, steps: card }));
    lanes::replace(&mut plan, &given, lanes);
    Some(plan)
}

/// Where each load lies in the arena, beside the activations that live with the tasks from the one before
/// which it begins to the last that needs it.
fn places(plan: &Plan, cut: &Cut, budget: u64, ahead: u32) -> Option<Vec<u64>> {
    let mut room = Room::new(budget / LINE * LINE);
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
    for tensor in plan.tensors.iter().filter(|tensor| tensor.space == Space::Arena) {
        room.take(taken(tensor));
    }
    let place = |load: &Load| {
        room.none_before(load.uses[0].saturating_sub(ahead));
        room.place(load.length(), load.uses).map(|taken| taken.start)
    };
    cut.loads.iter().map(place).collect()
}

struct Issue {
    plan: Plan,
    /// Most bytes of a transfer.
    largest: u64,
    hazards: Hazards,
    core: Vec<Step>,
    card: Vec<Step>,
}

impl Issue {
    fn load(&mut self, load: &Load, place: u64) {
        let mut done = 0;
        while done < load.length() {
            let length = (load.length() - done).min(self.largest);
            let step = (Lane::Engine, self.card.len() as u32);
            let to = place + done..place + done + length;
            let waits = self.hazards.access(step, Space::Arena, to.clone(), true);
            let source = self.plan.spans.len() as u32;
            self.plan.spans.push(span(Space::Card, load.bytes.start + done, length));
            self.plan.spans.push(span(Space::Arena, to.start, length));
            let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
            self.card.push(after(0, waits, load.layer, instruction));
            done += length;
        }
    }

    fn compute(&mut self, task: &Task, loads: &[Load], places: &[u64]) {
        let mut views = task.tiny.views.clone();
        for (index, load) in &task.brought {
            let view = &mut views[*index];
            let inside = u64::from(view.offset) - loads[*load].bytes.start;
            let offset = (places[*load] + inside) as u32;
            *view = View { space: Space::Arena as u8, offset, ..*view };
        }
        let step = (Lane::Core, self.core.len() as u32);
        let mut waits = None;
        for (role, view) in task.roles.iter().zip(&views) {
            if let Some(space) = view.space() {
                let writes = *role == Role::Output;
                waits = waits.max(self.hazards.access(step, space, range(view), writes));
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
        self.core.push(after(1, waits, task.layer, instruction));
    }
}

fn range(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start..start + view.extent()
}
