//! Reading and writing files: with limits, and with sentences for all that goes wrong.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use tilewright_server::{Blame, Problem};

/// Largest model file that is read.
pub const MODEL_LIMIT: u64 = 512 << 20;
/// Largest samples file that is read.
pub const SAMPLES_LIMIT: u64 = 512 << 20;
/// Largest input file that is read.
pub const INPUT_LIMIT: u64 = 64 << 20;

/// Reads a file of at most `limit` bytes; its size is looked at before.
///
/// # Errors
/// If it is missing, no plain file, empty, too large or unreadable. `what` names it: "model".
pub fn read(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Problem> {
    let place = path.display().to_string();
    let wrong = |kind, error: String, what_to_do: &str| {
        Err(Problem::new(kind, error, place.clone(), what_to_do))
    };
    let unreadable = |error: &io::Error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
            _ => error.to_string(),
        };
        wrong(Blame::BadInput, format!("The {what} cannot be read: {reason}."), "Check the path.")
    };
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) => return unreadable(&error),
    };
    if !about.is_file() {
        let kind = if about.is_dir() { "a folder" } else { "no plain file" };
        return wrong(Blame::BadInput, format!("The {what} is {kind}."), "Give a file.");
    }
    let too_large = |size: u64| {
        wrong(
            Blame::TooLarge,
            format!("The {what} has {size} bytes, more than the {limit} that are read."),
            "Give a smaller file.",
        )
    };
    if about.len() > limit {
        return too_large(about.len());
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return unreadable(&error);
    }
    if bytes.len() as u64 > limit {
        return too_large(bytes.len() as u64);
    }
    if bytes.is_empty() {
        return wrong(Blame::BadInput, format!("The {what} is empty."), "Give a whole file.");
    }
    Ok(bytes)
}

/// Writes a file.
///
/// # Errors
/// If that fails.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    fs::write(path, bytes).map_err(|error| {
        Problem::new(
            Blame::BadInput,
            format!("The file cannot be written: {error}."),
            path.display().to_string(),
            "Give a path that can be written.",
        )
    })
}

/// Makes a folder and those above it.
///
/// # Errors
/// If that fails.
pub fn make_folder(path: &Path) -> Result<(), Problem> {
    fs::create_dir_all(path).map_err(|error| {
        Problem::new(
            Blame::BadInput,
            format!("The folder cannot be made: {error}."),
            path.display().to_string(),
            "Give a path that can be written.",
        )
    })
}

/// The file's name without folder and ending.
#[must_use]
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
