//! In which order the card makes its transfers, and what each step waits for.
//!
//! What the next work needs is read first, then what was made is written, then what comes later is
//! read, as far as its buffers are free. Each lane runs in that order; a step waits for the last step
//! of the other lane that used its bytes of SRAM otherwise.

use super::cut::{Load, Store, Work};
use super::pools::{Pool, Pools};
use crate::strategy::external::LINE;
use crate::strategy::lanes;
use crate::strategy::overlay::hazards::{Hazards, Lane};
use tilewright_plan::{
    After, Bytes, Instruction, Lane as PlanLane, LaneKind, Plan, Role, RowOrder, Space, Span, Step,
};

struct Issue<'a> {
    plan: Plan,
    loads: &'a [Load],
    stores: &'a [Store],
    pools: &'a Pools,
    /// Most bytes of a transfer.
    largest: u64,
    /// For each load the last work that used its buffer before.
    freed_by: Vec<Option<usize>>,
    hazards: Hazards,
    core: Vec<Step>,
    card: Vec<Step>,
    /// Loads and stores that were issued.
    loaded: usize,
    stored: usize,
    /// Stores whose tiles were computed.
    made: usize,
    /// Works that were issued.
    worked: usize,
}

/// The plan of works with their loads and stores, from one whose operands lie on the card.
pub fn issue(
    lowered: &Plan,
    works: Vec<Work>,
    loads: &[Load],
    stores: &[Store],
    pools: &Pools,
    largest: u64,
) -> Plan {
    let mut plan = lowered.clone();
    plan.tiles.clear();
    let given = std::mem::take(&mut plan.views);
    plan.space_bytes[Space::Arena as usize] = Bytes(pools.end());
    let mut issue = Issue {
        plan,
        loads,
        stores,
        pools,
        largest: largest.max(super::SECTOR),
        freed_by: freed_by(loads, pools),
        hazards: Hazards::default(),
        core: Vec::new(),
        card: Vec::new(),
        loaded: 0,
        stored: 0,
        made: 0,
        worked: 0,
    };
    let mut works = works.into_iter().peekable();
    while let Some(work) = works.next() {
        issue.load_for(&work);
        issue.work(work);
        if let Some(next) = works.peek() {
            let wanted = next.loads.iter().max().map_or(0, |last| last + 1);
            issue.load_until(wanted);
        }
        issue.store_until(issue.made);
        issue.load_until(loads.len());
    }
    let Issue { mut plan, core, card, .. } = issue;
    let lanes = vec![
        PlanLane { kind: LaneKind::Core, steps: core },
        PlanLane { kind: LaneKind::Card, steps: card },
    ];
    lanes::replace(&mut plan, &given, lanes);
    plan
}

/// For each load the last work that uses what lay in its buffer before.
fn freed_by(loads: &[Load], pools: &Pools) -> Vec<Option<usize>> {
    let mut last: [Vec<Option<usize>>; 3] =
        [Pool::Input, Pool::Weights, Pool::Output].map(|p| vec![None; pools.count(p) as usize]);
    let freed = loads.iter().map(|load| {
        let slots = &mut last[load.pool as usize];
        let slot = (load.turn % slots.len().max(1) as u64) as usize;
        slots.get_mut(slot).and_then(|slot| slot.replace(load.last))
    });
    freed.collect()
}

impl Issue<'_> {
    /// What a work needs, whatever must come before.
    fn load_for(&mut self, work: &Work) {
        let wanted = work.loads.iter().max().map_or(0, |last| last + 1);
        while self.loaded < wanted {
            if let Some(behind) = self.loads[self.loaded].behind {
                self.store_until(behind + 1);
            }
            self.load();
        }
    }

    /// Loads as far as buffers are free and what is read is written, or could be.
    fn load_until(&mut self, wanted: usize) {
        while self.loaded < wanted {
            let load = &self.loads[self.loaded];
            let is_free = self.freed_by[self.loaded].is_none_or(|work| work < self.worked);
            if !is_free || load.behind.is_some_and(|store| store >= self.made) {
                return;
            }
            if let Some(behind) = load.behind {
                self.store_until(behind + 1);
            }
            self.load();
        }
    }

    fn store_until(&mut self, wanted: usize) {
        while self.stored < wanted {
            let Store { bytes, turn, layer } = &self.stores[self.stored];
            let place = self.pools.place(Pool::Output, *turn);
            self.stored += 1;
            self.copy((Space::Arena, place), (Space::Card, bytes.start), bytes, *layer);
        }
    }

    fn load(&mut self) {
        let Load { bytes, pool, turn, layer, .. } = &self.loads[self.loaded];
        let place = self.pools.place(*pool, *turn);
        self.loaded += 1;
        self.copy((Space::Card, bytes.start), (Space::Arena, place), bytes, *layer);
    }

    fn copy(
        &mut self,
        from: (Space, u64),
        to: (Space, u64),
        bytes: &std::ops::Range<u64>,
        layer: u16,
    ) {
        let (total, mut done) = (bytes.end - bytes.start, 0);
        while done < total {
            let length = (total - done).min(self.largest);
            let step = (Lane::Engine, self.card.len() as u32);
            let mut waits = None;
            let source = self.plan.spans.len() as u32;
            for ((space, start), writes) in [(from, false), (to, true)] {
                let range = start + done..start + done + length;
                waits = waits.max(self.hazards.access(step, space, range, writes));
                self.plan.spans.push(Span {
                    offset: (start + done) as u32,
                    rows: 1,
                    row_bytes: length as u32,
                    pitch: length as u32,
                    space: space as u8,
                    reserved: [0; 3],
                });
            }
            let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
            self.card.push(step_behind(0, waits, layer, instruction));
            done += length;
        }
    }

    fn work(&mut self, work: Work) {
        let Work { op, layer, tile, views, store, .. } = work;
        let step = (Lane::Core, self.core.len() as u32);
        let kernel = self.plan.ops.get(op as usize).and_then(|op| op.kernel());
        let roles = kernel.map_or(&[][..], |kernel| kernel.roles());
        let mut waits = None;
        for (role, view) in roles.iter().zip(&views) {
            let start = u64::from(view.offset);
            if let Some(space) = view.space() {
                let writes = *role == Role::Output;
                let range = start..start + view.extent();
                waits = waits.max(self.hazards.access(step, space, range, writes));
            }
        }
        let instruction = Instruction::Compute {
            op,
            tile: self.plan.tiles.len() as u32,
            first_view: self.plan.views.len() as u32,
            order: RowOrder::Whole,
        };
        self.plan.tiles.push(tile);
        self.plan.views.extend(views);
        self.core.push(step_behind(1, waits, layer, instruction));
        self.worked += 1;
        if let Some(store) = store {
            self.made = store + 1;
        }
    }
}

const _: () = assert!(super::SECTOR.is_multiple_of(LINE));

fn step_behind(lane: u8, waits: Option<u32>, layer: u16, instruction: Instruction) -> Step {
    let after = waits.map(|step| After { lane, step });
    Step { after: [after, None, None], frame: 0, layer, instruction }
}
