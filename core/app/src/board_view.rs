//! Boards as `boards` and `/api/boards` list them.

use serde::Serialize;
use tilewright_board::{Board, Support};
use tilewright_plan::Space;

/// A board, for people and scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoardView {
    /// What `--board` and `?board=` take.
    pub name: String,
    /// Name as the vendor writes it.
    pub title: String,
    /// `firmware`: plans run; `planning`: planned and simulated only; `virtual`: a reference for
    /// comparison, which runs in the emulator if `has_firmware`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
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
    /// External flash, or RAM that is filled at start and stands for it.
    pub external_flash_bytes: u64,
    /// The class of cards that is taken if none is named; nothing if no card goes there.
    pub card: Option<String>,
    /// Whether the board's firmware has been built, so that plans can be run and packaged.
    pub has_firmware: bool,
}

impl BoardView {
    /// The view of a board.
    #[must_use]
    pub fn of(board: &Board, has_firmware: bool) -> Self {
        let external = |space| board.external(space).map_or(0, |memory| memory.bytes.0);
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
            external_ram_bytes: external(Space::ExternalRam),
            external_flash_bytes: external(Space::ExternalFlash),
            card: board.slot.as_ref().map(|slot| slot.card.clone()),
            has_firmware,
        }
    }
}
