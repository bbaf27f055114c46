//! Which bytes of which memory each step of a plan reads and writes.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Instruction, Plan, Program, Role, Space, Span, Step, View};

use crate::occupancy::Held;

/// What a step does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It reads them.
    Read(Held),
    /// It writes them.
    Write,
}

/// Bytes of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// First byte, one past the last.
    pub bytes: [u64; 2],
}

/// Which bytes of which memory each step of a plan's first program that is not a boot program reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// What steps touch; nothing where a step touches no byte.
    pub places: Vec<Option<Place>>,
    /// One entry for each lane.
    pub lanes: Vec<LaneAccesses>,
}

/// The accesses of a lane's steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneAccesses {
    /// For each step, how many accesses it and the steps before it have.
    pub ends: Vec<u32>,
    /// Indices of places, and what happens there.
    pub all: Vec<(u32, Access)>,
}

impl Accesses {
    /// Those of a plan: the bytes from the first to the last that a step may touch.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let place = |space: Option<Space>, offset: u32, extent: u64| {
            let bytes = [u64::from(offset), u64::from(offset) + extent];
            space.filter(|_| extent > 0).map(|space| Place { space, bytes })
        };
        let of_view = |view: &View| place(view.space(), view.offset, view.extent());
        let of_span = |span: &Span| place(span.space(), span.offset, span.extent());
        let places = plan.views.iter().map(of_view).chain(plan.spans.iter().map(of_span));
        let lanes = plan.main.iter().flat_map(|program: &Program| &program.lanes);
        let lanes = lanes.map(|lane| {
            let mut accesses = LaneAccesses::default();
            for step in &lane.steps {
                accesses.all.extend(of_step(plan, step));
                accesses.ends.push(accesses.all.len() as u32);
            }
            accesses
        });
        Self { places: places.collect(), lanes: lanes.collect() }
    }

    /// What a step of a lane reads and writes, reads first; nothing if there is no such step.
    pub fn of_step(&self, lane: u8, step: u32) -> impl Iterator<Item = (Place, Access)> {
        let all = self.lanes.get(usize::from(lane)).and_then(|lane| {
            let step = step as usize;
            let end = *lane.ends.get(step)? as usize;
            let start = step.checked_sub(1).map_or(0, |before| lane.ends[before] as usize);
            lane.all.get(start..end)
        });
        let all = all.unwrap_or_default().iter();
        all.filter_map(|(at, access)| Some(((*self.places.get(*at as usize)?)?, *access)))
    }

    /// How many bytes of a memory, from its first on, hold all that steps touch.
    #[must_use]
    pub fn bytes_of(&self, space: Space) -> u64 {
        let places = self.places.iter().flatten().filter(|place| place.space == space);
        places.map(|place| place.bytes[1]).max().unwrap_or(0)
    }
}

/// What a step touches: numbers of views, then of spans behind all views.
fn of_step(plan: &Plan, step: &Step) -> Vec<(u32, Access)> {
    let mut all: Vec<(u32, Access)> = match step.instruction {
        Instruction::Copy { source, destination, .. } => {
            let first = plan.views.len() as u32;
            [(source, Access::Read(Held::Results)), (destination, Access::Write)]
                .map(|(span, access)| (first.saturating_add(span), access))
                .to_vec()
        }
        Instruction::Compute { op, first_view, .. } => {
            let access = |role: &Role| match role {
                Role::Input => Access::Read(Held::Inputs),
                Role::Weights | Role::Constants => Access::Read(Held::Weights),
                Role::Output => Access::Write,
            };
            let roles = plan.operands(op, first_view).map(|(op, _)| op.roles());
            roles
                .unwrap_or_default()
                .iter()
                .zip(first_view..)
                .map(|(r, at)| (at, access(r)))
                .collect()
        }
        Instruction::Arrive { view } => vec![(view, Access::Write)],
        Instruction::Exit { .. } => Vec::new(),
    };
    all.sort_by_key(|(_, access)| matches!(access, Access::Write));
    all
}
