//! `swap-rows`: activations and weights on a card, brought to buffers in SRAM tile by tile and written
//! back: SwapNN's pools and tiles ([`crate::swap`]) as a program that runs, one frame at a time.
//!
//! It differs from the published strategy where a step program, its kernels and a card's sectors ask
//! for it:
//! * Tiles are rows of the output with all channels, as many as a buffer holds, and begin at sectors;
//!   a tile of input has the rows that its windows see.
//! * The frame arrives on the console: program inputs and outputs stay in SRAM, beside the pools; those
//!   that would take more than a quarter of it in external RAM, where the board has some.
//! * Weight tiles are read again for every output tile, but if the pool holds all of a layer's.
//! * A card transfer waits for the bytes of its buffer alone, so that the next tiles are read while
//!   the core computes, across the borders of layers; what a layer reads has been written.
//! * Biases, multipliers and tables stay in the plan image.
//!
//! There are 4, 8 or 16 buffers: as many as are predicted to be fastest with a plan that fits flash,
//! unless their size is given.

mod cut;
mod issue;
mod pools;

use crate::costs::Costs;
use crate::lower::{self, Stored};
use crate::share::Parts;
use crate::strategy::external::LINE;
use crate::strategy::sharing::Candidate;
use crate::{Options, PlanError, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, LaneKind, Plan, PlannedTensor, Space};

use cut::Group;
use pools::Pools;

/// Bytes of a card's sector.
pub const SECTOR: u64 = 512;
/// Numbers of buffers that are tried.
const COUNTS: [u64; 3] = [4, 8, 16];

/// Why the strategy has no plans for a board; nothing if it has.
#[must_use]
pub fn obstacle(board: &Board) -> Option<String> {
    if board.slot.is_none() {
        return Some("it has no place for a card".to_owned());
    }
    let none = board.engine(LaneKind::Card).is_none();
    none.then(|| format!("board '{}' has no controller that moves a card's data", board.id))
}

/// The plan of layers whose tensors and weights lie on the card.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is, or the layer that needs larger buffers
/// than those asked for.
pub fn plan(
    model: &Model,
    board: &Board,
    options: &Options,
    found: Candidate,
) -> Result<Plan, PlanError> {
    let Candidate { layers, arranged } = found;
    let stored =
        Stored { weights: Space::Card, reserved: SECTOR, alignment: SECTOR, ..Stored::IMAGE };
    let draft = |tensors| lower::draft_stored(model, &layers, &Parts::none(), tensors, stored);
    // Where the weights end is known once there are some.
    let first = draft(arranged.tensors.clone())?;
    let weights_end = first.space(Space::Card).align_up(SECTOR);
    let mut tensors = arranged.tensors;
    let budget = options.sram.map_or(board.arena(), |sram| sram.min(board.arena()));
    let has_ram = board.external(Space::ExternalRam).is_some() && board.serves(Space::ExternalRam);
    let most = if has_ram { Bytes(budget.0 / 4) } else { Bytes(u64::MAX) };
    let [resident, external, end] = place(&mut tensors, &first, weights_end, most);
    let mut lowered = draft(tensors)?;
    lowered.space_bytes[Space::Card as usize] = end;
    lowered.space_bytes[Space::ExternalRam as usize] = external;
    if external.0 > 0 {
        lowered.input = InputResidency::External;
    }
    if lowered.programs.is_empty() {
        lowered.space_bytes[Space::Arena as usize] = resident;
        return Ok(lowered);
    }
    let groups = Group::of(&lowered);
    let most = board.engine(LaneKind::Card).map_or(SECTOR, |engine| engine.largest_bytes.0);
    let build = |pools: &Pools| {
        let (works, loads, stores) = cut::cut(&groups, pools);
        issue::issue(&lowered, works, &loads, &stores, pools, most / SECTOR * SECTOR)
    };
    let (least, layer) = cut::least_buffer(&groups);
    let layer = || lowered.layers.get(layer).map_or_else(String::new, |layer| layer.name.clone());
    let room = budget.0.saturating_sub(resident.0);
    if let Some(buffer) = options.buffer {
        let buffer = buffer.0 / LINE * LINE;
        if buffer < least {
            return Err(PlanError::Buffer { layer: layer(), needed: Bytes(least) });
        }
        let count = room.checked_div(buffer).unwrap_or(0).max(Pools::FEWEST);
        return Ok(build(&Pools::new(resident.0, buffer, count)));
    }
    let costs = Costs::on(board);
    let card = options.card_in(board);
    let fitting = COUNTS.into_iter().filter(|count| room / count / LINE * LINE >= least);
    let plans =
        fitting.map(|count| build(&Pools::new(resident.0, room / count / LINE * LINE, count)));
    let fastest = plans.min_by_key(|plan| {
        let timeline = simulate::predict(plan, board, &costs, card.as_ref(), 1);
        let is_large = plan.image_bytes() > board.plan_bytes();
        (is_large, timeline.end().since(Default::default()))
    });
    // What does not fit says how much would.
    Ok(fastest.unwrap_or_else(|| build(&Pools::new(resident.0, least, Pools::FEWEST))))
}

/// Gives program inputs and outputs places in the arena, or in external RAM if they have more than
/// `most` bytes, all other tensors places on the card from `first` on; gives the bytes of each.
fn place(tensors: &mut [PlannedTensor], draft: &Plan, first: Bytes, most: Bytes) -> [Bytes; 3] {
    let ios =
        draft.programs.iter().flat_map(|program| program.inputs.iter().chain(&program.outputs));
    let resident: Vec<u32> = ios.map(|io| io.tensor).collect();
    let (mut arena, mut external, mut card) = (Bytes(0), Bytes(0), first);
    for (index, tensor) in (0u32..).zip(tensors) {
        let (space, end, alignment) = match resident.contains(&index) {
            true if tensor.bytes > most => (Space::ExternalRam, &mut external, LINE),
            true => (Space::Arena, &mut arena, LINE),
            false => (Space::Card, &mut card, SECTOR),
        };
        (tensor.space, tensor.offset, tensor.pitch) = (space, end.0, None);
        *end = (*end + tensor.bytes).align_up(alignment);
    }
    [arena, external, card]
}
