//! Whether a plan fits, and what would help if not.

use tilewright_board::Board;
use tilewright_plan::{Bytes, Plan};
use tilewright_report::{DoesNotFit, MemoryMap};

/// The memory of tensors, as people call it.
pub const SRAM: &str = "SRAM";

/// Largest model for which strategy `auto` is tried when another does not fit: remedies must not
/// take longer than the plan that they are for.
pub const MOST_NODES: usize = 1000;

/// What does not fit, if anything: SRAM first, then flash.
pub fn does_not_fit(
    plan: &Plan,
    board: &Board,
    sram: Bytes,
    flash_needed: Bytes,
    memory: &MemoryMap,
) -> Option<DoesNotFit> {
    if memory.arena_bytes > sram {
        let peak = memory.rows.get(memory.peak_row);
        let row = peak.filter(|row| row.live_bytes > sram);
        let mut remedies = Vec::new();
        if let Some(row) = peak {
            remedies.push(format!(
                "the operator '{}' needs {} at once: {} of input, {} of output, {} for later \
                 operators; a lower resolution or width shrinks all three",
                row.name, row.live_bytes, row.input_bytes, row.output_bytes, row.other_bytes
            ));
        }
        let larger = larger_boards(board, |other| other.arena() >= memory.arena_bytes);
        if !larger.is_empty() {
            remedies.push(format!("a board with more SRAM: {larger}"));
        }
        return Some(DoesNotFit {
            memory: SRAM.to_owned(),
            operator: row.map(|row| row.name.clone()).unwrap_or_default(),
            needed_bytes: memory.arena_bytes,
            available_bytes: sram,
            remedies,
        });
    }
    let flash = board.plan_bytes();
    if flash_needed > flash {
        let largest = plan.constants.iter().max_by_key(|constant| constant.bytes);
        let layer =
            largest.and_then(|c| plan.layers.iter().find(|layer| layer.nodes.contains(&c.node)));
        let mut remedies = Vec::new();
        if let (Some(constant), Some(layer)) = (largest, layer) {
            remedies.push(format!(
                "the weights of '{}' take {}: the largest share",
                layer.name, constant.bytes
            ));
        }
        let larger = larger_boards(board, |other| other.plan_bytes() >= flash_needed);
        if !larger.is_empty() {
            remedies.push(format!("a board with more flash: {larger}"));
        }
        return Some(DoesNotFit {
            memory: "flash".to_owned(),
            operator: layer.map(|layer| layer.name.clone()).unwrap_or_default(),
            needed_bytes: flash_needed,
            available_bytes: flash,
            remedies,
        });
    }
    None
}

/// What strategy `auto`, whose arena is `height`, does for a plan that needs more SRAM than there
/// is.
pub fn of_auto(trouble: &DoesNotFit, height: Bytes) -> Option<String> {
    let DoesNotFit { needed_bytes, available_bytes, .. } = trouble;
    let result = if height <= *available_bytes { "which fits" } else { "still too much" };
    (height < *needed_bytes)
        .then(|| format!("strategy `auto` needs {height} instead of {needed_bytes}, {result}"))
}

fn larger_boards(board: &Board, enough: impl Fn(&Board) -> bool) -> String {
    let boards = tilewright_board::all();
    let names: Vec<String> = boards
        .into_iter()
        .filter(|other| other.id != board.id && enough(other))
        .map(|other| other.name)
        .collect();
    names.join(", ")
}
