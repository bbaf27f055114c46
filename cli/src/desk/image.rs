//! Images that were written before.

use std::path::{Path, PathBuf};

use tilewright_app::{Blame, Diagnostic, PlanFile};
use tilewright_board::{Board, SMALL};
use tilewright_image::{INPUT, ImageForm, ReadImage};
use tilewright_plan::image::FRAME_MAGIC;
use tilewright_report::sentence;

use crate::files::{self, DATA_LIMIT, INPUT_LIMIT};

/// Largest image that is read: all of a microcontroller's flash, and what debuggers want to know.
const IMAGE_LIMIT: u64 = 256 << 20;

/// An image that `tilewright image` wrote.
pub struct Image {
    /// Its file.
    pub path: PathBuf,
    /// The file's form.
    pub form: ImageForm,
    pub bytes: Vec<u8>,
    /// The board that it is for.
    pub board: Board,
    pub plan: PlanFile,
}

impl Image {
    /// Reads an image.
    ///
    /// # Errors
    /// If it is none, or for another board than the one that is expected.
    pub fn read(path: &Path, expected: Option<&str>) -> Result<Self, Diagnostic> {
        let bytes = files::read(path, "image", IMAGE_LIMIT)?;
        let read = ReadImage::read(&bytes).map_err(|error| {
            Diagnostic::new(
                Blame::BadInput,
                sentence(&error.to_string()),
                path.display().to_string(),
                "Give the .elf or .bin file that `tilewright image MODEL --board BOARD -o DIR` writes.",
            )
        })?;
        let ReadImage { form, board, plan } = read;
        if let Some(expected) = expected {
            let wanted = crate::load::board_of(expected)?;
            if base(&wanted.id) != base(&board.id) {
                return Err(Diagnostic::new(
                    Blame::BadInput,
                    format!("The image is for {}, not for {}.", board.id, wanted.id),
                    path.display().to_string(),
                    format!("Make one for it: `tilewright image MODEL --board {}`.", wanted.id),
                ));
            }
        }
        let plan = PlanFile::read(&plan, &board)
            .map_err(|problem| Diagnostic { place: path.display().to_string(), ..problem })?;
        Ok(Self { path: path.to_owned(), form, bytes, board, plan })
    }

    /// The file with another ending beside it, if there is one.
    #[must_use]
    pub fn beside(&self, ending: &str) -> Option<PathBuf> {
        let path = self.path.with_extension(ending);
        path.is_file().then_some(path)
    }

    /// The store image with this ending; empty if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn store(&self, ending: &str) -> Result<Vec<u8>, Diagnostic> {
        let path = self.beside(ending);
        path.map_or(Ok(Vec::new()), |path| files::read(&path, "store image", DATA_LIMIT))
    }

    /// The int8 bytes of the program's inputs: of a file, or of the sample beside the image.
    ///
    /// # Errors
    /// If there is none, or it does not suit the program.
    pub fn input(&self, file: Option<&Path>) -> Result<Vec<u8>, Diagnostic> {
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(path) = file {
            let bytes = files::read(path, "input", INPUT_LIMIT)?;
            return self.plan.payload(&name(path), &bytes);
        }
        let path = self.path.with_file_name(INPUT);
        if !path.is_file() {
            return Err(Diagnostic::new(
                Blame::BadInput,
                format!("There is no {INPUT} beside the image."),
                "--input",
                "Give --input FILE: a PNG picture, a .npy array, or the raw int8 bytes.",
            ));
        }
        let bytes = files::read(&path, "input", INPUT_LIMIT)?;
        let payload = payload_of_frames(&bytes).ok_or_else(|| {
            Diagnostic::new(
                Blame::BadInput,
                "These are no frames as `tilewright image` writes them.",
                path.display().to_string(),
                "Make the image again, or give --input FILE.",
            )
        })?;
        self.plan.payload(INPUT, &payload)
    }
}

/// The board itself, whichever kernels its firmware has.
#[must_use]
pub fn base(id: &str) -> &str {
    id.strip_suffix(SMALL).unwrap_or(id)
}

/// The payloads of frames, one behind the other.
fn payload_of_frames(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut payload = Vec::with_capacity(bytes.len());
    while !bytes.is_empty() {
        bytes = bytes.strip_prefix(&FRAME_MAGIC)?;
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        payload.extend_from_slice(rest.get(..length)?);
        bytes = rest.get(length.checked_add(4)?..)?;
    }
    Some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_apart() {
        let frame = |bytes: &[u8]| tilewright_plan::image::input_frame(bytes).unwrap();
        let two = [frame(b"abc"), frame(b"de")].concat();
        assert_eq!(payload_of_frames(&two).unwrap(), b"abcde");
        assert_eq!(payload_of_frames(&two[..two.len() - 1]), None);
        assert_eq!(payload_of_frames(b"abc"), None);
        assert_eq!(payload_of_frames(b""), Some(Vec::new()));
    }
}
