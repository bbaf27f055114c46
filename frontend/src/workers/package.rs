//! Files to bring onto a board: firmware with the plan, store images, how to place them, and all of
//! it in one archive.

use std::io::{Cursor, Write};

use tilewright_app::{Diagnostic, PackagedFile, PlanFile, board_of, images_again};
use tilewright_model::Model;
use tilewright_plan::Space;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::import::file_stem;
use super::plan::{make, ours};
use super::{Outcome, sha256};
use crate::message::{FileFacts, ImportReply, Package, PlanSettings};

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
    let board = board_of(settings)?;
    let stores = stored.map(|model| store_images(settings, model, image)).transpose()?;
    let stem = format!("{}-{}", file_stem(model), board.id);
    let files = tilewright_app::package(
        &stem,
        &board,
        firmware,
        image,
        &stores.unwrap_or_default(),
        input,
    )?;
    let readme = files.iter().find(|file| file.name.ends_with(".txt"));
    let steps = readme.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let archive = zipped(&files).map_err(|error| ours("archive", &error))?;
    let alone = ["elf", "bin", "hex", "uf2", "flash", "card", "txt"];
    let is_alone = |file: &PackagedFile| {
        file.name.rsplit_once('.').is_some_and(|(_, ending)| alone.contains(&ending))
    };
    let mut named = vec![(format!("{stem}.zip"), archive)];
    let files = files.into_iter().filter(is_alone);
    named.extend(files.map(|file| (file.name, file.bytes)));
    let files = named
        .iter()
        .map(|(name, bytes)| FileFacts {
            name: name.clone(),
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        })
        .collect();
    let buffers = named.into_iter().map(|(_, bytes)| bytes).collect();
    Ok((ImportReply::Packaged(Package { files, steps: steps.unwrap_or_default() }), buffers))
}

/// Puts the plan image and the C library for the board's core into one archive; `stored` as for [`package`].
///
/// # Errors
/// If the plan demands what only the board's own firmware does.
pub fn library(
    settings: &PlanSettings,
    model: &str,
    stored: Option<&Model>,
    [image, archive]: [&[u8]; 2],
) -> Outcome<ImportReply> {
    let board = board_of(settings)?;
    let mut plan = PlanFile::read(image, &board)?;
    if let Some(model) = stored {
        let stores = store_images(settings, model, image)?;
        let of = |space| stores.iter().find(|(at, _)| *at == space).map(|(_, bytes)| bytes.clone());
        let [flash, card] = [Space::ExternalFlash, Space::Card].map(of);
        plan = plan.with_stores(flash.unwrap_or_default(), card.unwrap_or_default());
    }
    let stem = file_stem(model);
    let files = tilewright_app::library(&stem, &board, archive, &plan)?;
    let bytes = zipped(&files).map_err(|error| ours("archive", &error))?;
    let name = format!("{stem}-{}-library.zip", board.core.kind.id());
    let facts = FileFacts { name, bytes: bytes.len() as u64, sha256: sha256(&bytes) };
    Ok((ImportReply::Saved(facts), vec![bytes]))
}

/// The store images that belong to a plan image: the plan is made anew, and is the same.
///
/// # Errors
/// If it does not become the same plan image again.
pub fn store_images(
    settings: &PlanSettings,
    model: &Model,
    image: &[u8],
) -> Result<Vec<(Space, Vec<u8>)>, Diagnostic> {
    let (planned, board) = make(model, settings)?;
    Ok(images_again(&planned, model, &board, settings.integrity, image)?.stores)
}

/// All files in one archive, uncompressed: weights do not shrink much, and any tool opens it.
fn zipped(files: &[PackagedFile]) -> Result<Vec<u8>, ZipError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for file in files {
        zip.start_file(file.name.as_str(), options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
