//! Writing products so that a reader never sees half of one, and a tool that compares times does
//! not rebuild for the same bytes.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Copies a file with its permissions, unless the destination has the same bytes.
///
/// # Errors
/// When a file cannot be read or written.
pub fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    replace(to, |partial| fs::copy(from, partial).map(drop))
}

/// Writes a file, unless it has the same bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn write_if_changed(to: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    replace(to, |partial| fs::write(partial, bytes))
}

/// Puts a folder in the place of another.
///
/// # Errors
/// When one cannot be moved or removed.
pub fn replace_folder(from: &Path, to: &Path) -> Result<()> {
    let old = to.with_added_extension("old");
    remove_folder(&old)?;
    // Only moving lies between the two: a server may be reading there.
    let _ = fs::rename(to, &old);
    fs::rename(from, to).with_context(|| format!("cannot write {}", to.display()))?;
    remove_folder(&old)
}

/// Removes a folder if it is there.
///
/// # Errors
/// When it is there and stays.
pub fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn replace(to: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    let partial = to.with_added_extension("partial");
    let steps = || -> std::io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        write(&partial)?;
        fs::rename(&partial, to)
    };
    steps().with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_the_place_of_another() {
        let root = std::env::temp_dir().join(format!("xtask folders {}", std::process::id()));
        let [from, to] = ["a", "b"].map(|name| root.join(name));
        for _ in 0..2 {
            write_if_changed(&from.join("new"), b"new").unwrap();
            write_if_changed(&to.join("old"), b"old").unwrap();
            replace_folder(&from, &to).unwrap();
            assert!(to.join("new").is_file() && !to.join("old").exists());
        }
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
        remove_folder(&root).unwrap();
        remove_folder(&root).unwrap();
    }

    #[test]
    fn the_same_bytes_keep_their_time() {
        let folder = std::env::temp_dir().join(format!("xtask files {}", std::process::id()));
        let file = folder.join("deep/a.elf");
        write_if_changed(&file, b"one").unwrap();
        let first = fs::metadata(&file).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        write_if_changed(&file, b"one").unwrap();
        copy_if_changed(&file, &file).unwrap();
        let same = fs::metadata(&file).unwrap().modified().unwrap();
        write_if_changed(&file, b"two").unwrap();
        let later = fs::metadata(&file).unwrap().modified().unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(first, same);
        assert!(later > first);
    }
}
