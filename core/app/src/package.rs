//! Firmware and plan: the image that runs and that is downloaded.

use std::sync::Arc;
use tilewright_report::sentence;

use tilewright_board::Board;
use tilewright_image::{FirmwareError, FirmwareImage};

use crate::diagnostic::{Blame, Diagnostic};

/// What an image is made of. Many results are kept, so they share the firmware and hold their
/// plans; the same parts give the same bytes each time.
#[derive(Clone, Debug)]
pub struct Package {
    board: Board,
    firmware: Arc<Vec<u8>>,
    plan: Vec<u8>,
}

impl Package {
    /// The package of a plan image and its board's firmware, an ELF file.
    #[must_use]
    pub fn new(firmware: Arc<Vec<u8>>, board: &Board, plan: Vec<u8>) -> Self {
        Self { board: board.clone(), firmware, plan }
    }

    /// Board id.
    #[must_use]
    pub fn board(&self) -> &str {
        &self.board.id
    }

    /// The plan image.
    #[must_use]
    pub fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// The image.
    ///
    /// # Errors
    /// If the firmware is no such file, or the plan does not fit behind it.
    pub fn image(&self) -> Result<FirmwareImage, Diagnostic> {
        FirmwareImage::new(&self.firmware, &self.plan, &self.board).map_err(|error| {
            let (kind, what_to_do) = match &error {
                FirmwareError::TooLarge { .. } => {
                    (Blame::DoesNotFit, "Choose a board with more flash, or a smaller model.")
                }
                FirmwareError::NoFirmware(_) => (
                    Blame::BadInput,
                    "Choose a board that `tilewright boards` lists with firmware.",
                ),
                FirmwareError::Elf { .. } => (Blame::NotBuilt, "Run `cargo xtask build` again."),
            };
            Diagnostic::new(kind, sentence(&error.to_string()), self.board.id.clone(), what_to_do)
        })
    }
}
