//! Reads an image again that `tilewright image` wrote: for which board it is, and which plan it holds.

use object::read::elf::ElfFile32;
use object::{Object, ObjectSection};
use thiserror::Error;
use tilewright_board::Board;
use tilewright_plan::image::{Header, MAGIC};
use zerocopy::FromBytes;

/// Form of an image's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageForm {
    /// An ELF file.
    Elf,
    /// Contents of flash.
    Bin,
}

/// An image that was read.
#[derive(Clone, Debug)]
pub struct ReadImage {
    /// Its form.
    pub form: ImageForm,
    /// The board that it is for.
    pub board: Board,
    /// The plan image, not validated; bytes may follow it.
    pub plan: Vec<u8>,
}

/// Why a file is no image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadImageError {
    /// Something else.
    #[error(
        "this is no image: neither an ELF file nor flash contents with a plan where boards look for one"
    )]
    Other,
    /// Intel HEX.
    #[error("this is Intel HEX, which is for flashing tools alone")]
    Hex,
    /// A plan image without firmware.
    #[error("this is a plan image without firmware")]
    PlanAlone,
    /// Firmware without a plan.
    #[error("this is firmware without a plan")]
    FirmwareAlone,
    /// For a board that there is not.
    #[error("this image is for the board '{0}', which is not known here")]
    UnknownBoard(String),
}

impl ReadImage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadImageError`].
    pub fn read(bytes: &[u8]) -> Result<Self, ReadImageError> {
        match bytes {
            [b':', ..] => return Err(ReadImageError::Hex),
            _ if bytes.starts_with(&MAGIC) => return Err(ReadImageError::PlanAlone),
            _ => {}
        }
        if bytes.starts_with(b"\x7fELF") {
            let file = ElfFile32::<object::LittleEndian>::parse(bytes);
            let file = file.map_err(|_| ReadImageError::Other)?;
            let section = file.section_by_name(".plan").ok_or(ReadImageError::FirmwareAlone)?;
            let plan = section.data().map_err(|_| ReadImageError::Other)?;
            let board = named(plan)?.ok_or(ReadImageError::Other)?;
            return Ok(Self { form: ImageForm::Elf, board, plan: plan.to_vec() });
        }
        let of = |board: &Board| Some(board.firmware.as_ref()?.flash_bytes.0);
        let boards = tilewright_board::all();
        let small = boards.iter().filter_map(Board::small);
        let mut starts: Vec<u64> = boards.iter().filter_map(of).collect();
        starts.extend(small.filter_map(|board| of(&board)));
        for start in starts {
            let plan = usize::try_from(start).ok().and_then(|start| bytes.get(start..));
            let Some(plan) = plan.filter(|plan| plan.starts_with(&MAGIC)) else { continue };
            // The same bytes may stand at another board's place by chance.
            if let Some(board) = named(plan)?.filter(|board| of(board) == Some(start)) {
                return Ok(Self { form: ImageForm::Bin, board, plan: plan.to_vec() });
            }
        }
        Err(ReadImageError::Other)
    }
}

/// The board that a plan image's header names; nothing if that is no header.
fn named(plan: &[u8]) -> Result<Option<Board>, ReadImageError> {
    let Ok((header, _)) = Header::read_from_prefix(plan) else { return Ok(None) };
    let name = header.board.split(|byte| *byte == 0).next().unwrap_or_default();
    let Ok(name) = str::from_utf8(name) else { return Ok(None) };
    if header.magic != MAGIC || name.is_empty() {
        return Ok(None);
    }
    tilewright_board::find(name)
        .map(Some)
        .map_err(|_| ReadImageError::UnknownBoard(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flash contents with a plan's header for a board, at the place of `at`.
    fn flash(board: &str, at: &str) -> Vec<u8> {
        let at = tilewright_board::find(at).unwrap();
        let mut bytes = vec![0xff; crate::size(at.firmware.unwrap().flash_bytes.0)];
        bytes.extend(MAGIC);
        bytes.resize(bytes.len() + core::mem::offset_of!(Header, board) - MAGIC.len(), 0);
        bytes.extend(board.bytes());
        bytes.resize(bytes.len() + size_of::<Header>(), 0);
        bytes
    }

    #[test]
    fn flash_contents_name_their_board() {
        for id in ["stm32f746g-disco", "stm32f746g-disco-small", "nucleo-f767zi"] {
            let image = ReadImage::read(&flash(id, id)).unwrap();
            assert_eq!((image.board.id.as_str(), image.form), (id, ImageForm::Bin));
            assert!(image.plan.starts_with(&MAGIC));
        }
        let error = |bytes: &[u8]| ReadImage::read(bytes).unwrap_err();
        let other = flash("pdp-11", "nucleo-f767zi");
        assert_eq!(error(&other), ReadImageError::UnknownBoard("pdp-11".into()));
        let elsewhere = flash("stm32f746g-disco", "stm32f746g-disco-small");
        assert_eq!(error(&elsewhere), ReadImageError::Other);
    }

    #[test]
    fn what_is_no_image_is_told_by_what_it_is() {
        let error = |bytes: &[u8]| ReadImage::read(bytes).unwrap_err();
        assert_eq!(error(b":020000040800F2"), ReadImageError::Hex);
        assert_eq!(error(b"TWPI"), ReadImageError::PlanAlone);
        assert_eq!(error(b""), ReadImageError::Other);
        assert_eq!(error(b"\x7fELF"), ReadImageError::Other);
    }
}
