//! Firmware and plan: the image that runs and that is downloaded.

use std::sync::Arc;
use tilewright_report::sentence;

use tilewright_board::Board;
use tilewright_image::{
    FirmwareError, FirmwareImage, INPUT, ImageFile, how_to_place, image_files, sample_input,
};
use tilewright_plan::Space;

use tilewright_report::{Blame, Diagnostic};

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
        image_of(&self.firmware, &self.plan, &self.board)
    }
}

/// A file to bring onto a board, or what goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagedFile {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub what: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is brought onto a board: firmware and plan as one image in all its forms, store images, `input`
/// as the console takes it unless it is empty, and how to place them. Names begin with `stem`.
///
/// # Errors
/// If firmware and plan do not go together.
pub fn package(
    stem: &str,
    board: &Board,
    firmware: &[u8],
    plan: &[u8],
    stores: &[(Space, Vec<u8>)],
    input: &[u8],
) -> Result<Vec<PackagedFile>, Diagnostic> {
    let image = image_of(firmware, plan, board)?;
    let hex = image.hex().map_err(|error| Diagnostic::ours(format!("{error}."), "Intel HEX"))?;
    let mut files = image_files(stem, &image, &hex, plan, stores);
    let frame = match input {
        [] => Vec::new(),
        input => sample_input(plan, board, input)
            .map_err(|error| Diagnostic::ours(format!("{error}."), "input frame"))?,
    };
    if !frame.is_empty() {
        let (name, what) = (INPUT.to_owned(), "a sample input as the console takes it");
        files.push(ImageFile { name, what, bytes: &frame, store: None });
    }
    let readme = how_to_place(stem, board, &image, plan, &files);
    let (name, what) = ("README.txt".to_owned(), "how to flash it");
    files.push(ImageFile { name, what, bytes: readme.as_bytes(), store: None });
    let owned = |file: ImageFile<'_>| PackagedFile {
        name: file.name,
        what: file.what,
        bytes: file.bytes.to_vec(),
    };
    Ok(files.into_iter().map(owned).collect())
}

fn image_of(firmware: &[u8], plan: &[u8], board: &Board) -> Result<FirmwareImage, Diagnostic> {
    FirmwareImage::new(firmware, plan, board).map_err(|error| {
        let (kind, what_to_do) = match &error {
            FirmwareError::TooLarge { .. } => {
                (Blame::DoesNotFit, "Choose a board with more flash, or a smaller model.")
            }
            FirmwareError::NoFirmware(_) => {
                (Blame::BadInput, "Choose a board that `tilewright boards` lists with firmware.")
            }
            FirmwareError::Elf { .. } => (Blame::NotBuilt, "Run `cargo xtask build` again."),
        };
        Diagnostic::new(kind, sentence(&error.to_string()), board.id.clone(), what_to_do)
    })
}
