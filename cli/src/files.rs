//! Reading files: with limits, and with sentences for all that goes wrong.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use tilewright_app::{Blame, Diagnostic};
use tilewright_model::Store;

/// Largest model file that is read: what its formats can address.
pub const MODEL_LIMIT: u64 = 2 << 30;
/// Largest file of weights beside a model.
pub const DATA_LIMIT: u64 = 1 << 40;
/// Largest samples file that is read.
pub const SAMPLES_LIMIT: u64 = 512 << 20;
/// Largest input file that is read.
pub const INPUT_LIMIT: u64 = 64 << 20;
/// Longest file of class names.
pub const LABELS_LIMIT: u64 = 1 << 20;

/// A file that is read in parts.
#[derive(Debug)]
pub struct Opened {
    file: Mutex<File>,
    size: u64,
}

impl Store for Opened {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        // Before memory is taken.
        if offset.checked_add(length as u64)? > self.size {
            return None;
        }
        let mut bytes = vec![0; length];
        let mut file = self.file.lock().ok()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Opens a file of at most `limit` bytes.
///
/// # Errors
/// If it is missing, no plain file, empty, too large or unreadable. `what` names it: "model".
pub fn open(path: &Path, what: &str, limit: u64) -> Result<Opened, Diagnostic> {
    let place = path.display().to_string();
    let wrong = |kind, error: String, what_to_do: &str| {
        Err(Diagnostic::new(kind, error, place.clone(), what_to_do))
    };
    // Looked at before it is opened: opening a pipe waits for a writer.
    let about = fs::metadata(path).map_err(|error| unreadable(path, what, &error))?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a folder" } else { "no plain file" };
        return wrong(Blame::BadInput, format!("The {what} is {kind}."), "Give a file.");
    }
    let file = File::open(path).map_err(|error| unreadable(path, what, &error))?;
    let size = file.metadata().map_err(|error| unreadable(path, what, &error))?.len();
    if size > limit {
        return wrong(
            Blame::TooLarge,
            format!("The {what} has {size} bytes, more than the {limit} that are read."),
            "Give a smaller file.",
        );
    }
    if size == 0 {
        return wrong(Blame::BadInput, format!("The {what} is empty."), "Give a whole file.");
    }
    Ok(Opened { file: Mutex::new(file), size })
}

/// Reads a file of at most `limit` bytes; its size is looked at before.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Diagnostic> {
    let opened = open(path, what, limit)?;
    let length = usize::try_from(opened.size()).ok();
    length.and_then(|length| opened.read(0, length)).ok_or_else(|| {
        let changed = io::Error::other("it ended early, or a disk failed");
        unreadable(path, what, &changed)
    })
}

/// The file at this path from the folder of `model`, if there is one.
///
/// # Errors
/// Why it is not taken, as the end of a sentence.
pub fn beside(model: &Path, path: &str) -> Result<Option<Opened>, String> {
    let folder = match model.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let wanted = folder.join(path);
    let real = match wanted.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    // Nobody's model may read what is not its own.
    let home = folder.canonicalize().map_err(|error| error.to_string())?;
    if !real.starts_with(home) {
        return Err("it is a link to a place outside the model's folder; copy it there".to_owned());
    }
    open(&real, "data file", DATA_LIMIT).map(Some).map_err(|problem| problem.what)
}

fn unreadable(path: &Path, what: &str, error: &io::Error) -> Diagnostic {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    };
    Diagnostic::new(
        Blame::BadInput,
        format!("The {what} cannot be read: {reason}."),
        path.display().to_string(),
        "Check the path.",
    )
}

/// The file's name without folder and ending.
#[must_use]
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.data");
        fs::write(&path, b"0123456789").unwrap();
        let file = open(&path, "data file", 10).unwrap();
        assert_eq!(file.size(), 10);
        assert_eq!(file.read(7, 3).as_deref(), Some(&b"789"[..]));
        assert_eq!(file.read(0, 2).as_deref(), Some(&b"01"[..]));
        assert_eq!(file.read(8, 3), None);
        assert_eq!(file.read(u64::MAX, 3), None);
        assert!(open(&path, "data file", 9).unwrap_err().what.contains("more than the 9"));
    }

    #[test]
    fn data_lies_in_the_models_folder() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join("weights")).unwrap();
        fs::write(home.join("weights/net.data"), b"inside").unwrap();
        fs::write(folder.path().join("secret"), b"outside").unwrap();
        let model = home.join("net.onnx");
        assert_eq!(beside(&model, "weights/net.data").unwrap().unwrap().size(), 6);
        assert!(beside(&model, "none.data").unwrap().is_none());
        assert!(beside(&model, "weights").unwrap_err().contains("a folder"));
        #[cfg(unix)]
        {
            let link = |target: &Path, name: &str| {
                std::os::unix::fs::symlink(target, home.join(name)).unwrap();
            };
            link(&folder.path().join("secret"), "away");
            link(Path::new("weights/net.data"), "near");
            assert!(beside(&model, "away").unwrap_err().contains("outside the model's folder"));
            assert_eq!(beside(&model, "near").unwrap().unwrap().size(), 6);
        }
    }
}
