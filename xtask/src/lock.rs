//! One run at a time where two would write the same files.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::terminal;

/// Holds a folder for this process; given back when dropped, or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Creates `folder` if needed and waits until no other run holds it.
    ///
    /// # Errors
    /// When the folder cannot be created or its file system has no locks.
    pub fn take(folder: &Path, what: &str) -> Result<Self> {
        let (file, path) = open(folder, ".lock")?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                terminal::note(&format!("waiting for another run to finish {what}"));
                file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        Ok(Self { _file: file })
    }

    /// Says that something is being built for `folder`, as long as this lives. Several may say so at a time;
    /// programs that lack a file there then ask for patience (`emulator/runner`).
    ///
    /// # Errors
    /// As [`Lock::take`].
    pub fn building(folder: &Path) -> Result<Self> {
        let (file, path) = open(folder, ".building")?;
        file.lock_shared().with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(Self { _file: file })
    }
}

fn open(folder: &Path, name: &str) -> Result<(File, PathBuf)> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_waits_for_the_first() {
        let folder = std::env::temp_dir().join(format!("xtask lock {}", std::process::id()));
        let first = Lock::take(&folder, "the test").unwrap();
        let other = File::open(folder.join(".lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        // Waits: a program that another test starts may hold a copy for a moment.
        other.lock().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
