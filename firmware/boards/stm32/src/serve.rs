//! What every board does once its memories answer: it greets, finds the plan image and serves frames.

use cortex_m::peripheral::SYST;
use tilewright_board_support::console::{Console, Line, PortError};
use tilewright_board_support::marks::CycleCounter;
use tilewright_board_support::{layer_cycles, wait};
use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::Memory;
use tilewright_runtime::console::{self, ConsoleError};

use crate::board;
use crate::cache::Cache;
use crate::engines::{Engines, Spaces};
use crate::memory::{Memories, Place, Places};

/// What of a board is told apart here.
#[derive(Clone, Copy)]
pub struct Board {
    /// Its id.
    pub id: &'static str,
    /// Where its memories lie.
    pub places: Places,
    /// Bytes of a card that plans may use.
    pub card_bytes: u64,
    /// The fastest clock that the way to the card carries; 0 if there is none.
    pub card_hertz: u32,
    /// Whether reads of a card may wait for room with their command open.
    pub open_reads: bool,
    /// The core's clock.
    pub clock_hertz: u32,
}

/// The board that this build is for.
pub const BOARD: Board = Board {
    id: board::BOARD,
    places: Places {
        plan: Place::of((board::PLAN_ADDRESS, board::PLAN_BYTES)),
        arena: Place::of((board::ARENA_ADDRESS, board::ARENA_BYTES)),
        external_ram: Place::of_any(board::EXTERNAL_RAM),
        external_flash: Place::of_any(board::EXTERNAL_FLASH),
    },
    card_bytes: board::CARD_BYTES,
    card_hertz: board::CARD_HERTZ,
    open_reads: board::OPEN_READS,
    clock_hertz: board::CLOCK_HERTZ,
};

impl Board {
    /// Serves frames for ever; returns once something failed and was said.
    // Not of type `!`: what leads there the compiler takes to run seldom, and so makes larger.
    pub fn run<L: Line>(
        &self,
        port: &mut Console<L>,
        memories: Memories,
        (cache, timer): (Cache, SYST),
        marker: &mut CycleCounter,
    ) {
        let served = wait::for_ready(self.serve(port, memories, (cache, timer), marker));
        if let Err(ConsoleError::Port(error)) = served {
            panic!("{error}");
        }
    }

    /// Greets, finds the plan image and serves frames; returns if something failed and was said.
    ///
    /// # Errors
    /// [`ConsoleError`] as the console has it.
    async fn serve<L: Line>(
        &self,
        port: &mut Console<L>,
        memories: Memories,
        (cache, timer): (Cache, SYST),
        marker: &mut CycleCounter,
    ) -> Result<(), ConsoleError<PortError>> {
        console::greet(port, self.id).await?;
        let Memories { plan, arena, external_ram, external_flash, serial_flash, ram_fault } =
            memories;
        if let Some(answer) = serial_flash {
            console::tell(port, format_args!("{answer}")).await?;
        }
        if let Some(fault) = ram_fault {
            console::tell(port, format_args!("error: {fault}")).await?;
            port.sent().await;
            return Ok(());
        }
        let memory = Memory::new(arena).with_external(external_ram, external_flash);
        let mut memory = memory.with_card(self.card_bytes);
        let expected = Expected { board: self.id, space_bytes: memory.space_bytes() };
        let ended = match PlanImage::read(plan, &expected) {
            Ok(image) => {
                let mut engines = Engines::new(image, cache, timer, self.spaces());
                console::serve(port, &image, &mut memory, &mut engines, marker, layer_cycles())
                    .await
                    .map(|never| match never {})
            }
            Err(error) => console::refuse(port, &error, self.places.plan.address).await,
        };
        port.sent().await;
        ended
    }

    /// Where engines find memories.
    pub(crate) fn spaces(&self) -> Spaces {
        let Places { arena, external_ram, external_flash, .. } = self.places;
        Spaces {
            arena: arena.address as u32,
            external_ram: external_ram.map(|place| place.address as u32),
            external_flash: external_flash.map(|place| place.address as u32),
            clock_hertz: self.clock_hertz,
            card_hertz: self.card_hertz,
            open_reads: self.open_reads,
        }
    }
}
