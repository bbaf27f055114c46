//! What every board does once its memories answer: it greets, finds the plan image and serves frames.

use tilewright_board_support::console::{Console, Line, PortError};
use tilewright_board_support::layer_cycles;
use tilewright_board_support::marks::CycleCounter;
use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::Memory;
use tilewright_runtime::console::{self, ConsoleError};

use crate::cache::Cache;
use crate::engines::{Engines, Spaces};
use crate::memory::{Memories, Places};

/// What of a board is told apart here.
#[derive(Clone, Copy)]
pub struct Board {
    /// Its id.
    pub id: &'static str,
    /// Where its memories lie.
    pub places: Places,
    /// Bytes of a card that plans may use.
    pub card_bytes: u64,
    /// The core's clock.
    pub clock_hertz: u32,
}

impl Board {
    /// Greets, finds the plan image and serves frames; returns if something failed and was said.
    ///
    /// # Errors
    /// [`ConsoleError`] as the console has it.
    pub async fn serve<L: Line>(
        &self,
        port: &mut Console<L>,
        memories: Memories,
        cache: Cache,
        marker: &mut CycleCounter,
    ) -> Result<(), ConsoleError<PortError>> {
        console::greet(port, self.id).await?;
        let Memories { plan, arena, external_ram, external_flash } = memories;
        let memory = Memory::new(arena).with_external(external_ram, external_flash);
        let mut memory = memory.with_card(self.card_bytes);
        let expected = Expected { board: self.id, space_bytes: memory.space_bytes() };
        let ended = match PlanImage::read(plan, &expected) {
            Ok(image) => {
                let mut engines = Engines::new(image, cache, self.spaces());
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
    const fn spaces(&self) -> Spaces {
        let Places { arena, external_ram, external_flash, .. } = self.places;
        Spaces {
            arena: arena.address as u32,
            external_ram: Some(external_ram.address as u32),
            external_flash: Some(external_flash.address as u32),
            clock_hertz: self.clock_hertz,
        }
    }
}
