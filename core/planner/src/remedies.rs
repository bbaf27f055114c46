//! Whether a plan fits, and what would help if not.

use tilewright_board::Board;
use tilewright_plan::{Bytes, Plan};
use tilewright_report::{DoesNotFit, MemoryMap};

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
            memory: "SRAM".to_owned(),
            operator: row.map(|row| row.name.clone()).unwrap_or_default(),
            needed_bytes: memory.arena_bytes,
            available_bytes: sram,
            remedies,
        });
    }
    let flash = board.plan_bytes();
    if flash_needed > flash {
        let largest = plan.constants.iter().max_by_key(|constant| constant.bytes);
        let layer = largest.and_then(|c| plan.layers.iter().find(|layer| layer.node == c.node));
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

fn larger_boards(board: &Board, enough: impl Fn(&Board) -> bool) -> String {
    let boards = tilewright_board::all();
    let names: Vec<String> = boards
        .into_iter()
        .filter(|other| other.id != board.id && enough(other))
        .map(|other| other.name)
        .collect();
    names.join(", ")
}
