//! What is said of an upload before its run waits for others.

use std::io;

use tilewright_app::{Blame, Diagnostic, PlanFile, StoreStart};
use tilewright_board::Board;

use super::Shared;
use crate::upload::{Part, Upload};

/// Says what can be said of an upload without much work or memory.
///
/// # Errors
/// What is wrong with the upload.
pub fn check(shared: &Shared, board: &Board, upload: &Upload<Part>) -> Result<(), Diagnostic> {
    // Without firmware there is nothing to run.
    if !shared.dist().has_firmware(&board.id) {
        shared.dist().firmware(&board.id)?;
    }
    if let Some(image) = &upload.image {
        check_image(board, image, upload)?;
    }
    if let Some(name) = &upload.zoo {
        tilewright_app::zoo::network(name)?;
    }
    Ok(())
}

fn check_image(board: &Board, image: &Part, upload: &Upload<Part>) -> Result<(), Diagnostic> {
    let read = |error: io::Error| Diagnostic::ours(format!("{error}."), "upload");
    let file = PlanFile::read(&image.whole().map_err(read)?, board)?;
    let head = |part: &Option<Part>| {
        part.as_ref().map(|part| part.read(0, PlanFile::STORE_HEAD)).transpose().map_err(read)
    };
    let (flash, card) = (head(&upload.external_flash)?, head(&upload.card)?);
    file.check_stores(
        start(flash.as_deref(), &upload.external_flash),
        start(card.as_deref(), &upload.card),
    )?;
    let input = upload.input.as_ref().ok_or_else(|| {
        Diagnostic::new(
            Blame::BadInput,
            "A plan image alone holds no input.",
            "input",
            "Add the part `input`: the int8 bytes of all inputs, or a PNG picture.",
        )
    })?;
    file.payload("input", &input.whole().map_err(read)?).map(drop)
}

fn start<'s>(bytes: Option<&'s [u8]>, part: &Option<Part>) -> Option<StoreStart<'s>> {
    Some(StoreStart { bytes: bytes?, of: part.as_ref()?.length() as u64 })
}
