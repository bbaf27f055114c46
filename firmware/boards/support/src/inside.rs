//! What a board does that has no memory outside of the microcontroller: it greets, finds the plan image and serves
//! frames in SRAM.

use core::slice;

use tilewright_plan::PlanImage;
use tilewright_plan::image::Expected;
use tilewright_runtime::console::{self, ConsoleError};
use tilewright_runtime::{Memory, NoEngines};

use crate::console::{Console, Line, PortError};
use crate::marks::CycleCounter;
use crate::{layer_cycles, wait};

/// Address and bytes of a memory.
#[derive(Clone, Copy)]
pub struct Place {
    /// Where it begins.
    pub address: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// What of a board is told apart here.
#[derive(Clone, Copy)]
pub struct Board {
    /// Its id.
    pub id: &'static str,
    /// The plan image in flash.
    pub plan: Place,
    /// The tensor arena in SRAM.
    pub arena: Place,
}

/// The board of a module with what the build script made of its file.
#[macro_export]
macro_rules! board_inside {
    ($file:ident) => {
        $crate::inside::Board {
            id: $file::BOARD,
            plan: $crate::inside::Place { address: $file::PLAN_ADDRESS, bytes: $file::PLAN_BYTES },
            arena: $crate::inside::Place {
                address: $file::ARENA_ADDRESS,
                bytes: $file::ARENA_BYTES,
            },
        }
    };
}

impl Board {
    /// The plan image, and the tensor arena.
    ///
    /// # Safety
    /// Both are real memory, apart from each other and from the linker's; flash is not written; nothing else uses
    /// them, and this is called once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    pub unsafe fn memories(&self) -> (&'static [u8], &'static mut [u8]) {
        let Self { plan, arena, .. } = *self;
        // SAFETY: as the caller says; any bytes are valid.
        unsafe {
            (
                slice::from_raw_parts(plan.address as *const u8, plan.bytes),
                slice::from_raw_parts_mut(arena.address as *mut u8, arena.bytes),
            )
        }
    }

    /// Serves frames for ever; returns once something failed and was said.
    pub fn run<L: Line>(
        &self,
        port: &mut Console<L>,
        memories: (&'static [u8], &'static mut [u8]),
        marker: &mut CycleCounter,
    ) {
        let served = wait::for_ready(self.serve(port, memories, marker));
        if let Err(ConsoleError::Port(error)) = served {
            panic!("{error}");
        }
    }

    async fn serve<L: Line>(
        &self,
        port: &mut Console<L>,
        (plan, arena): (&'static [u8], &'static mut [u8]),
        marker: &mut CycleCounter,
    ) -> Result<(), ConsoleError<PortError>> {
        console::greet(port, self.id).await?;
        let mut memory = Memory::new(arena);
        let expected = Expected { board: self.id, space_bytes: memory.space_bytes() };
        let layers = layer_cycles();
        let ended = match PlanImage::read(plan, &expected) {
            Ok(image) => console::serve(port, &image, &mut memory, &mut NoEngines, marker, layers)
                .await
                .map(|never| match never {}),
            Err(error) => console::refuse(port, &error, self.plan.address).await,
        };
        port.sent().await;
        ended
    }
}
