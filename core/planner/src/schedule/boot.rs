//! What comes once, at start, and stays: the core reads it there from then on.

use super::emit::span;
use super::sequence::Place;
use crate::narrow::narrow;
use crate::strategy::external::LINE;
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_plan::{Bytes, Instruction, Lane, LaneKind, Plan, Program, Step};

/// Bytes that are brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Where they are.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// How many.
    pub bytes: u64,
}

impl Load {
    /// Where a place is found once the bytes have come; nothing if they are not these.
    fn brought(&self, place: Place, bytes: u64) -> Option<Place> {
        let Self { from, to, bytes: all } = *self;
        let inside = place.offset.checked_sub(from.offset).filter(|_| place.space == from.space)?;
        (inside + bytes <= all).then(|| to.after(inside))
    }
}

/// Most bytes that the board's DMA moves at a time, whole lines; nothing if it has none that its firmware drives.
pub fn largest(board: &Board) -> Option<u64> {
    let engine = board.engine(LaneKind::Dma).filter(|_| board.drives(LaneKind::Dma))?;
    Some(engine.largest_bytes.0 / LINE * LINE).filter(|bytes| *bytes > 0)
}

/// Lets DMA bring bytes at start, in the plan's boot program, if it has one; operands among them lie where they went.
/// Nothing changes on a board without DMA.
pub fn bring(plan: &mut Plan, loads: &[Load], board: &Board) {
    let Some(largest) = largest(board).filter(|_| !loads.is_empty()) else { return };
    for view in &mut plan.views {
        let Some(space) = view.space() else { continue };
        let place = Place { space, offset: view.offset.into() };
        let bytes = view.extent();
        if let Some(place) = loads.iter().find_map(|load| load.brought(place, bytes)) {
            (view.space, view.offset) = (place.space as u8, narrow(place.offset));
        }
    }
    for Load { to, bytes, .. } in loads {
        let used = &mut plan.space_bytes[to.space as usize];
        *used = (*used).max(Bytes(to.offset + bytes).align_up(LINE));
    }
    let mut steps = Vec::new();
    for Load { from, to, bytes } in loads {
        let mut done = 0;
        while done < *bytes {
            let length = (bytes - done).min(largest);
            let source = narrow::<u32>(plan.spans.len());
            for place in [from, to] {
                plan.spans.push(span(place.space, place.offset + done, length));
            }
            let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
            steps.push(Step { after: [None; 3], frame: 0, layer: 0, instruction });
            done += length;
        }
    }
    let lanes = plan.boot.iter_mut().flat_map(|p| &mut p.lanes);
    match lanes.into_iter().find(|lane| lane.kind == LaneKind::Dma) {
        Some(lane) => lane.steps.extend(steps),
        None => {
            let core = Lane { kind: LaneKind::Core, steps: Vec::new() };
            plan.boot = Some(Program {
                name: "load".to_owned(),
                frames: 1,
                lanes: vec![core, Lane { kind: LaneKind::Dma, steps }],
                inputs: Vec::new(),
                outputs: Vec::new(),
            });
        }
    }
}
