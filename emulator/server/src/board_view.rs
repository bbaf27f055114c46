//! Boards as `boards` and `/api/boards` list them.

use serde::Serialize;
use tilewright_board::{Board, MemoryKind, Support};
use utoipa::ToSchema;

/// A board, for people and scripts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoardView {
    /// What `--board` and `?board=` take.
    pub name: String,
    /// Name as the vendor writes it.
    pub title: String,
    /// `firmware`: plans run; `planning`, `virtual`: planned and simulated only.
    #[schema(value_type = String)]
    pub support: Support,
    /// Processor core.
    pub core: String,
    /// Clock in hertz.
    pub clock_hz: u64,
    /// Internal SRAM.
    pub sram_bytes: u64,
    /// Largest tensor arena: what the firmware leaves of SRAM.
    pub arena_bytes: u64,
    /// Internal flash.
    pub flash_bytes: u64,
    /// Largest plan image: what the firmware leaves of flash.
    pub plan_bytes: u64,
    /// External RAM.
    pub external_ram_bytes: u64,
    /// External flash.
    pub external_flash_bytes: u64,
    /// Whether the board's firmware has been built, so that plans can be run and packaged.
    pub has_firmware: bool,
}

impl BoardView {
    /// The view of a board.
    #[must_use]
    pub fn of(board: &Board, has_firmware: bool) -> Self {
        Self {
            name: board.id.clone(),
            title: board.name.clone(),
            support: board.support,
            core: board.core.kind.id().to_owned(),
            clock_hz: board.core.clock.hertz.0,
            sram_bytes: board.sram().0,
            arena_bytes: board.arena().0,
            flash_bytes: board.flash().0,
            plan_bytes: board.plan_bytes().0,
            external_ram_bytes: board.total(|kind| kind == MemoryKind::Sdram).0,
            external_flash_bytes: board.total(|kind| kind == MemoryKind::QspiFlash).0,
            has_firmware,
        }
    }
}
