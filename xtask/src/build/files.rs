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
