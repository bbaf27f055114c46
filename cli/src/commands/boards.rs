//! `tilewright boards`.

use tilewright_app::{BoardView, Diagnostic};
use tilewright_board::{Board, Support};
use tilewright_runner::Dist;

use super::json;
use crate::Said;
use crate::text::{Side, Table, bytes};

/// Lists the boards; reference profiles only if `all` are asked for.
pub fn boards(all: bool, as_json: bool) -> Result<Said, Diagnostic> {
    let dist = Dist::find().ok();
    let is_shown = |board: &Board| all || board.support != Support::Virtual;
    let views: Vec<BoardView> = tilewright_board::all()
        .iter()
        .filter(|board| is_shown(board))
        .map(|board| {
            BoardView::of(board, dist.as_ref().is_some_and(|dist| dist.has_firmware(&board.id)))
        })
        .collect();
    if as_json {
        return Ok(Said::well(json(&views)?));
    }
    let mut table = Table::new(&[
        ("board", Side::Left),
        ("core", Side::Left),
        ("clock", Side::Right),
        ("SRAM for tensors", Side::Right),
        ("flash for plans", Side::Right),
        ("external RAM", Side::Right),
        ("card", Side::Left),
        ("firmware", Side::Left),
    ]);
    for view in &views {
        table.row([
            view.name.clone(),
            view.core.clone(),
            format!("{} MHz", view.clock_hz / 1_000_000),
            bytes(view.arena_bytes),
            bytes(view.plan_bytes),
            bytes(view.external_ram_bytes),
            view.card.clone().unwrap_or_default(),
            match (view.support, view.has_firmware) {
                (Support::Firmware, true) => "built",
                (Support::Firmware, false) => "not built",
                (Support::Planning, _) => "none: planned only",
                (Support::Virtual, true) => "emulated only: a reference for comparison",
                (Support::Virtual, false) => "none: a reference for comparison",
            }
            .to_owned(),
        ]);
    }
    Ok(Said::well(table.print()))
}
