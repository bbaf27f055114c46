//! Writing files: whole or not at all, and never over what is read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tilewright_app::{Blame, Diagnostic, export, export_tflite};
use tilewright_model::Model;

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whom the process's mask leaves, or who may read the file that is replaced.
    All,
    /// Its owner alone: it holds a key.
    Owner,
}

impl Readers {
    #[cfg(unix)]
    const fn mode(self) -> u32 {
        match self {
            Self::All => 0o666,
            Self::Owner => 0o600,
        }
    }
}

/// Writes a file: either the whole of it is there afterwards, or what was there before. What is
/// no plain file, such as a pipe, is written to as it is.
///
/// # Errors
/// If that fails.
pub fn write(path: &Path, readers: Readers, bytes: &[u8]) -> Result<(), Diagnostic> {
    write_parts(path, readers, |file| {
        file.write_all(bytes).map_err(|error| unwritable(path, &error))
    })
}

/// As [`write()`], for a file whose bytes come one after the other.
///
/// # Errors
/// If that fails, or whatever `put` says.
pub fn write_parts(
    path: &Path,
    readers: Readers,
    put: impl FnOnce(&mut File) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let failed = |error: io::Error| unwritable(path, &error);
    let place = destination(path).map_err(failed)?;
    let before = fs::metadata(&place).ok();
    if before.as_ref().is_some_and(|about| !about.is_file()) {
        return put(&mut File::create(&place).map_err(failed)?);
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let fill = |file: &mut File| {
        if let Some(about) = before.as_ref().filter(|_| readers == Readers::All) {
            file.set_permissions(about.permissions()).map_err(failed)?;
        }
        put(file)
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-");
    #[cfg(target_os = "linux")]
    if let Some(mut file) = nameless::make(folder, readers.mode()) {
        fill(&mut file)?;
        return match nameless::name(&file, &place) {
            // A name is given only where there is none: what has one is replaced.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => builder
                .make_in(folder, |path| nameless::name(&file, path))
                .and_then(|named| Ok(named.persist(&place).map(drop)?)),
            named => named,
        }
        .map_err(failed);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(readers.mode()));
    }
    let mut named = builder.tempfile_in(folder).map_err(failed)?;
    fill(named.as_file_mut())?;
    named.persist(&place).map(drop).map_err(|error| failed(error.error))
}

/// Whether a model is written there as TensorFlow Lite, and not as ONNX: what the file's name ends in.
#[must_use]
pub fn is_tflite(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("tflite"))
}

/// Writes a model as TensorFlow Lite if the file's name says so, else as ONNX; how many bytes it has.
///
/// # Errors
/// If that fails, or the model has no form there.
pub fn write_model(path: &Path, model: &Model) -> Result<u64, Diagnostic> {
    if !is_tflite(path) {
        return write_onnx(path, model);
    }
    let bytes = export_tflite(model)?;
    write_parts(path, Readers::All, |file| {
        file.write_all(&bytes).map_err(|error| unwritable(path, &error))
    })?;
    Ok(bytes.len() as u64)
}

/// Writes a float model as ONNX; how many bytes it has.
///
/// # Errors
/// If that fails, or the model has no form in ONNX.
fn write_onnx(path: &Path, model: &Model) -> Result<u64, Diagnostic> {
    let failed = |error| unwritable(path, &error);
    let mut bytes = 0u64;
    write_parts(path, Readers::All, |file| {
        let mut writer = BufWriter::new(file);
        let mut put = |piece: &[u8]| {
            bytes += piece.len() as u64;
            writer.write_all(piece)
        };
        export(model, &mut put, failed)?;
        writer.flush().map_err(failed)
    })?;
    Ok(bytes)
}

/// Files that have no name while they are written, so that nothing stays behind if the process is
/// killed.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// Where open files have a path by which they can be linked.
    const OPEN_FILES: &str = "/proc/self/fd";

    /// A file in this folder, if its file system knows such files.
    pub fn make(folder: &Path, mode: u32) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = open(folder, flags, Mode::from_raw_mode(mode)).ok()?;
        Path::new(OPEN_FILES).is_dir().then(|| file.into())
    }

    /// Gives it a name that no file has.
    pub fn name(file: &File, path: &Path) -> io::Result<()> {
        let opened = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        Ok(linkat(CWD, opened, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
}

/// Most links that are followed, as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The path behind all links: that of a file, or of one that is to be made.
fn destination(path: &Path) -> io::Result<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Ok(place);
    }
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&place) else {
            let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            return Ok(place.file_name().map_or(folder.clone(), |name| folder.join(name)));
        };
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("its links lead to each other"))
}

/// What to say of a file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        format!("The file cannot be written: {error}."),
        path.display().to_string(),
        "Give a path that can be written, on a disk with room.",
    )
}

/// Whether both are one plain file, there already or to be made.
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (destination(one), destination(other)) else { return false };
    let about = [&one, &other].map(|path| fs::metadata(path).ok());
    if about.iter().flatten().any(|about| !about.is_file()) {
        return false;
    }
    #[cfg(unix)]
    if let [Some(one), Some(other)] = &about {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    one == other
}

/// Makes sure that no file is written twice, and none that is read.
///
/// # Errors
/// Names the file.
pub fn apart(written: &[&Path], read: &[PathBuf]) -> Result<(), Diagnostic> {
    for (index, path) in written.iter().enumerate() {
        let is_path = |other: &Path| is_same(path, other);
        let error = if read.iter().any(|other| is_path(other)) {
            "The file is read by the same command, which would replace it."
        } else if written[..index].iter().any(|other| is_path(other)) {
            "Two things would be written to the same file."
        } else {
            continue;
        };
        let place = path.display().to_string();
        return Err(Diagnostic::new(Blame::BadInput, error, place, "Give another file."));
    }
    Ok(())
}

/// The word for standard output where a file could stand.
const STANDARD_OUTPUT: &str = "-";

/// The files that a command writes beside what it says. One of them may be standard output.
#[derive(Debug, Default)]
pub struct Outputs {
    said: Option<String>,
}

impl Outputs {
    /// For files that were asked for, and whether JSON was, which is for standard output; and those
    /// that are read.
    ///
    /// # Errors
    /// If more than one thing is for standard output or for one file, or for a file that is read.
    pub fn new<'f>(
        json: bool,
        files: impl IntoIterator<Item = &'f Option<PathBuf>>,
        read: &[PathBuf],
    ) -> Result<Self, Diagnostic> {
        let files = files.into_iter().flatten().map(PathBuf::as_path);
        let (there, files): (Vec<&Path>, Vec<&Path>) =
            files.partition(|file| is_standard_output(file));
        if there.len() + usize::from(json) > 1 {
            return Err(Diagnostic::new(
                Blame::BadInput,
                "Standard output can hold one of JSON, CSV, SVG and trace.",
                STANDARD_OUTPUT,
                "Give files for the others.",
            ));
        }
        apart(&files, read)?;
        Ok(Self::default())
    }

    /// Writes a file, if it was asked for, or keeps it for standard output.
    ///
    /// # Errors
    /// If there is no text, or it cannot be written.
    pub fn put(
        &mut self,
        path: Option<&Path>,
        text: impl FnOnce() -> Result<String, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        match path {
            None => Ok(()),
            Some(path) if is_standard_output(path) => {
                self.said = Some(text()?);
                Ok(())
            }
            Some(path) => write(path, Readers::All, text()?.as_bytes()),
        }
    }

    /// What is for standard output in place of what the command says, if there is something.
    pub fn said(self) -> Option<String> {
        self.said
    }
}

fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

/// Makes a folder and those above it.
///
/// # Errors
/// If that fails.
pub fn make_folder(path: &Path) -> Result<(), Diagnostic> {
    fs::create_dir_all(path).map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            format!("The folder cannot be made: {error}."),
            path.display().to_string(),
            "Give a path that can be written.",
        )
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn links_stay_and_lead_to_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("behind", at("link")).unwrap();
        symlink("link", at("first")).unwrap();
        for text in ["one", "another"] {
            write(&at("first"), Readers::All, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(at("behind")).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["behind", "first", "link"]);
        assert!(fs::read_link(at("link")).is_ok() && fs::read_link(at("first")).is_ok());
        symlink("round", at("round")).unwrap();
        assert!(write(&at("round"), Readers::All, b"").is_err());
    }

    #[test]
    fn a_file_that_is_being_written_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole");
        for text in ["one", "another"] {
            let before = names(folder.path());
            write_parts(&path, Readers::All, |file| {
                file.write_all(text.as_bytes()).unwrap();
                // Where files without names are unknown, one of ours stands beside.
                let is_ours = |name: &String| !name.starts_with(".tilewright-");
                let during: Vec<String> =
                    names(folder.path()).into_iter().filter(is_ours).collect();
                assert_eq!(during, before);
                #[cfg(target_os = "linux")]
                if nameless::make(folder.path(), 0o600).is_some() {
                    assert_eq!(names(folder.path()), before);
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let gone =
            write_parts(&path, Readers::All, |_| Err(unwritable(&path, &io::Error::other(""))));
        assert!(gone.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "another");
        assert_eq!(names(folder.path()), ["whole"]);
    }

    #[test]
    fn keys_are_for_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        write(&path, Readers::Owner, b"key").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        write(&path, Readers::All, b"none").unwrap();
        assert_eq!(mode(), 0o664, "as it was before");
        write(&path, Readers::Owner, b"key").unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn one_file_by_two_names_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("model"), "weights").unwrap();
        fs::hard_link(at("model"), at("linked")).unwrap();
        symlink("new", at("away")).unwrap();
        fs::create_dir(at("in")).unwrap();
        let model = [at("model")];
        for same in ["model", "linked", "in/../model"] {
            assert!(apart(&[&at(same)], &model).unwrap_err().what.contains("read"), "{same}");
        }
        assert!(apart(&[&at("new"), &at("away")], &model).unwrap_err().what.contains("Two"));
        assert!(apart(&[&at("new"), &at("other")], &model).is_ok());
        let null = Path::new("/dev/null");
        assert!(apart(&[null, null], &[null.to_owned()]).is_ok());
    }
}
