//! Files to bring onto a board: firmware with the plan, store images, how to place them, and all of
//! it in one archive.

use std::io::{Cursor, Write};

use tilewright_board::Board;
use tilewright_image::{
    FirmwareImage, INPUT, ImageFile, Images, checked_images, how_to_place, image_files, images,
    sample_input, sealed_images,
};
use tilewright_model::Model;
use tilewright_plan::image::{AlignedBytes, Expected};
use tilewright_plan::{PlanImage, Space};
use tilewright_seal::{KEY_BYTES, Key};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::import::file_stem;
use super::plan::{make, ours};
use super::{Outcome, checks, sha256};
use crate::message::{FileFacts, ImportReply, Package, PlanSettings, Trouble};

/// Puts the plan image, the firmware's ELF file and an input together; `stored`: the model of a plan
/// whose weights lie in stores.
///
/// # Errors
/// If firmware and plan do not go together.
pub fn package(
    settings: &PlanSettings,
    model: &str,
    stored: Option<&Model>,
    [image, firmware, input]: [&[u8]; 3],
) -> Outcome<ImportReply> {
    let board = tilewright_board::find(&settings.board).map_err(|error| ours("board", &error))?;
    let cannot = |error: tilewright_image::FirmwareError| {
        Trouble::new(
            "Firmware and plan could not be put together",
            format!("{error}."),
            "Build the firmware again with `cargo xtask build`; the plan image alone is good.",
        )
    };
    let whole = FirmwareImage::new(firmware, image, &board).map_err(cannot)?;
    let hex = whole.hex().map_err(cannot)?;
    let stores = stored.map(|model| store_images(settings, model, image)).transpose()?;
    let stores = stores.unwrap_or_default();
    let stem = format!("{}-{}", file_stem(model), board.id);
    let mut files = image_files(&stem, &whole, &hex, image, &stores);
    let frame = if input.is_empty() { Vec::new() } else { framed(image, &board, input)? };
    if !frame.is_empty() {
        let (name, what) = (INPUT.to_owned(), "the chosen input as the console takes it");
        files.push(ImageFile { name, what, bytes: &frame, store: None });
    }
    let readme = how_to_place(&stem, &board, &whole, image, &files);
    let text = ImageFile {
        name: "README.txt".to_owned(),
        what: "how to bring it onto the board",
        bytes: readme.as_bytes(),
        store: None,
    };
    files.push(text);
    let archive = zipped(&files).map_err(|error| ours("archive", &error))?;
    let alone = ["elf", "bin", "hex", "uf2", "flash", "card", "txt"];
    let is_alone = |file: &ImageFile<'_>| {
        file.name.rsplit_once('.').is_some_and(|(_, ending)| alone.contains(&ending))
    };
    let mut named = vec![(format!("{stem}.zip"), archive)];
    let files = files.into_iter().filter(is_alone);
    named.extend(files.map(|file| (file.name, file.bytes.to_vec())));
    let files = named
        .iter()
        .map(|(name, bytes)| FileFacts {
            name: name.clone(),
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        })
        .collect();
    let buffers = named.into_iter().map(|(_, bytes)| bytes).collect();
    Ok((ImportReply::Packaged(Package { files }), buffers))
}

fn framed(image: &[u8], board: &Board, input: &[u8]) -> Result<Vec<u8>, Trouble> {
    sample_input(image, board, input).map_err(|error| ours("input", &error))
}

/// The store images that belong to a plan image: the plan is made anew, and is the same.
///
/// # Errors
/// If it does not become the same plan image again.
pub fn store_images(
    settings: &PlanSettings,
    model: &Model,
    image: &[u8],
) -> Result<Vec<(Space, Vec<u8>)>, Trouble> {
    let (planned, board) = make(model, settings)?;
    let made = match checks::of(&planned, settings.integrity).map(|checks| checks.tags) {
        None => images(&planned.plan, planned.model(model)),
        Some(None) => checked_images(&planned.plan, planned.model(model)),
        Some(Some(_)) => {
            let key = key_of(image, &board).ok_or_else(|| ours("plan image", &"it has no key"))?;
            sealed_images(&planned.plan, planned.model(model), key)
        }
    };
    let Images { plan, stores } = made.map_err(|error| ours("plan image", &error))?;
    if plan != image {
        return Err(ours("plan image", &"made anew it is another"));
    }
    Ok(stores)
}

/// The key that the stores of a plan image are sealed with.
fn key_of(image: &[u8], board: &Board) -> Option<Key> {
    let image = AlignedBytes::copy_of(image);
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let words = *PlanImage::read(image.bytes(), &expected).ok()?.key()?;
    let mut bytes = [0; KEY_BYTES];
    for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    Some(Key::new(bytes))
}

/// All files in one archive, uncompressed: weights do not shrink much, and any tool opens it.
fn zipped(files: &[ImageFile<'_>]) -> Result<Vec<u8>, ZipError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for file in files {
        zip.start_file(file.name.as_str(), options)?;
        zip.write_all(file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
