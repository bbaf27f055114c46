//! `tilewright board flash`.

use std::io::Write;

use tilewright_app::{Cancel, Diagnostic};

use crate::args::board::{Flash, Flashing};
use crate::desk::image::Image;
use crate::desk::writers::{Way, by_hand, way};
use crate::text::{DIM, obeyed};
use crate::{Said, interrupt};

/// Writes an image to a board.
pub fn flash(options: &Flash) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let image = Image::read(&options.image, options.board.as_deref())?;
    write(&image, &options.flashing, &cancel)?.reset(&mut tell, &cancel)?;
    let mut text = format!("{} is on the {}.\n", image.path.display(), image.board.name);
    for line in by_hand(&image) {
        text += &format!("{line}\n");
    }
    text +=
        &format!("{DIM}Run it: tilewright board run {} --port PORT{DIM:#}\n", image.path.display());
    Ok(Said::well(text))
}

/// Writes an image; gives what resets the board then.
///
/// # Errors
/// If there is nothing to write with, or it fails.
pub fn write(image: &Image, flashing: &Flashing, cancel: &Cancel) -> Result<Way, Diagnostic> {
    let way = way(image, flashing)?;
    way.write(&mut tell, cancel)?;
    Ok(way)
}

/// Says on standard error what is done.
pub fn tell(line: &str) {
    // Nobody need read it.
    let _ = writeln!(anstream::stderr().lock(), "$ {}", obeyed(line));
}
