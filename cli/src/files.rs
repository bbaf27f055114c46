//! Reading and writing files: with limits, and with sentences for all that goes wrong.

use std::fs::{self, File};
use std::io::{self, Read, Write};
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

/// Writes a file: either the whole of it is there afterwards, or what was there before. What is
/// no plain file, such as a pipe, is written to as it is.
///
/// # Errors
/// If that fails.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    replace(path, bytes).map_err(|error| {
        Problem::new(
            Blame::BadInput,
            format!("The file cannot be written: {error}."),
            path.display().to_string(),
            "Give a path that can be written.",
        )
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = match fs::canonicalize(path) {
        Ok(place) if !fs::metadata(&place)?.is_file() => return fs::write(place, bytes),
        // The file that a link points to is replaced, not the link.
        Ok(place) => place,
        Err(_) => path.to_owned(),
    };
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-");
    #[cfg(unix)]
    builder.permissions({
        use std::os::unix::fs::PermissionsExt;
        // As any new file; the process's mask takes from it.
        fs::metadata(&place).map_or(fs::Permissions::from_mode(0o666), |about| about.permissions())
    });
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
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
