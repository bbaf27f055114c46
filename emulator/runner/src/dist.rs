//! Where built things lie: `dist/firmware`, `dist/library`, `dist/bin`, `dist/page`.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tilewright_app::{Blame, Diagnostic, archive_name};
use tilewright_board::{Board, CoreKind, Support};

/// Names the folder if it lies elsewhere.
pub const VARIABLE: &str = "TILEWRIGHT_DIST";

const BUILD: &str = "Run `cargo xtask build` in the project's folder, or let TILEWRIGHT_DIST name \
                     the `dist` folder of a built project.";

const WAIT: &str = "Wait some minutes and try again: what is being built is found once it is there. If the \
                    build fails, the terminal says why; `cargo xtask build` repeats it.";

/// Builds share a lock on this file below the folder as long as they run.
const BUILDING: &str = ".building";

/// Largest firmware that is read.
const FIRMWARE_LIMIT: u64 = 16 << 20;

/// The folder with built things.
#[derive(Clone, Debug)]
pub struct Dist {
    root: PathBuf,
    /// Firmware that was read last, by board, so that those who hold the same share it.
    read: Arc<Mutex<BTreeMap<String, Arc<Vec<u8>>>>>,
}

impl Dist {
    /// This folder.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), read: Arc::default() }
    }

    /// The folder that `TILEWRIGHT_DIST` names; else `dist` beside the program or beside one of
    /// its parent folders; else `dist` in the current folder or one of its parents.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Self, Diagnostic> {
        if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            let root = PathBuf::from(named);
            return if root.is_dir() {
                Ok(Self::at(root))
            } else {
                Err(Diagnostic::new(
                    Blame::NotBuilt,
                    format!("{VARIABLE} names {}, which is no folder.", root.display()),
                    VARIABLE,
                    BUILD,
                ))
            };
        }
        let program = env::current_exe().ok();
        let current = env::current_dir().ok();
        let starts = [program.as_deref().and_then(Path::parent), current.as_deref()];
        starts
            .into_iter()
            .flatten()
            .flat_map(Path::ancestors)
            .map(|folder| folder.join("dist"))
            .find(|dist| dist.join("firmware").is_dir() || dist.join("page").is_dir())
            .map(Self::at)
            .ok_or_else(|| {
                Diagnostic::new(
                    Blame::NotBuilt,
                    "The folder `dist` with firmware and emulator was not found.",
                    "dist",
                    BUILD,
                )
            })
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The page, for the server.
    #[must_use]
    pub fn page(&self) -> PathBuf {
        self.root.join("page")
    }

    /// The folder of firmware and its manifest.
    #[must_use]
    pub fn firmware_folder(&self) -> PathBuf {
        self.root.join("firmware")
    }

    /// Whether a board's firmware has been built.
    #[must_use]
    pub fn has_firmware(&self, board: &str) -> bool {
        self.firmware_file(board).is_file()
    }

    /// Whether building would not help: others have their firmware, and this board is none of those with one.
    fn is_planned_only(&self, board: &str) -> bool {
        let built = fs::read_dir(self.firmware_folder()).is_ok_and(|files| {
            files.flatten().any(|f| f.path().extension() == Some("elf".as_ref()))
        });
        let has_one = |board: Board| board.support == Support::Firmware;
        let found = tilewright_board::find(board);
        built && !self.has_firmware(board) && found.is_ok_and(|board| !has_one(board))
    }

    /// What is not there: it is still being built, or nobody builds it.
    fn lacks(&self, what: &str, otherwise: String, path: &Path) -> Diagnostic {
        let (said, remedy) = if self.is_being_built() && !path.exists() {
            (format!("{what} is still being built."), WAIT)
        } else {
            (otherwise, BUILD)
        };
        Diagnostic::new(Blame::NotBuilt, said, path.display().to_string(), remedy)
    }

    /// Whether a build is under way in this folder.
    fn is_being_built(&self) -> bool {
        let lock = fs::File::open(self.root.join(BUILDING));
        lock.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn firmware_file(&self, board: &str) -> PathBuf {
        self.firmware_folder().join(format!("{board}.elf"))
    }

    /// A board's firmware: an ELF file.
    ///
    /// # Errors
    /// If the board has none, or it has not been built or cannot be read.
    pub fn firmware(&self, board: &str) -> Result<Arc<Vec<u8>>, Diagnostic> {
        let path = self.firmware_file(board);
        if self.is_planned_only(board) {
            return Err(Diagnostic::new(
                Blame::BadInput,
                format!("There is no firmware for {board}: it is planned and simulated only."),
                "--board",
                "`tilewright plan` and the page show its plans; `tilewright boards` says which boards run.",
            ));
        }
        let missing = |error: String| self.lacks(&format!("The firmware of {board}"), error, &path);
        let size = fs::metadata(&path)
            .map_err(|error| missing(format!("The firmware of {board} cannot be read: {error}.")))?
            .len();
        if size > FIRMWARE_LIMIT {
            return Err(missing(format!(
                "The firmware has {size} bytes, more than the {FIRMWARE_LIMIT} allowed."
            )));
        }
        let bytes = fs::read(&path).map_err(|error| {
            missing(format!("The firmware of {board} cannot be read: {error}."))
        })?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = read.get(board).filter(|known| ***known == bytes) {
            return Ok(Arc::clone(same));
        }
        let bytes = Arc::new(bytes);
        read.insert(board.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// The static library of the runtime for a core.
    ///
    /// # Errors
    /// If it has not been built or cannot be read.
    pub fn library(&self, core: CoreKind) -> Result<Vec<u8>, Diagnostic> {
        let path = self.root.join("library").join(archive_name(core));
        fs::read(&path).map_err(|error| {
            let what = format!("The library for the {}", core.id());
            self.lacks(&what, format!("{what} cannot be read: {error}."), &path)
        })
    }

    /// The emulator's worker program.
    ///
    /// # Errors
    /// If it has not been built.
    pub fn worker(&self) -> Result<PathBuf, Diagnostic> {
        let path =
            self.root.join("bin").join(format!("tilewright-worker{}", env::consts::EXE_SUFFIX));
        if path.is_file() {
            return Ok(path);
        }
        let unbuilt = "The emulator's worker program has not been built.".to_owned();
        Err(self.lacks("The emulator's worker program", unbuilt, &path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_under_way_brings_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let dist = Dist::at(folder.path().to_owned());
        let board = "stm32f746g-disco";
        let said = || [dist.worker().unwrap_err(), dist.firmware(board).unwrap_err()];
        let lock = fs::File::create(folder.path().join(BUILDING)).unwrap();
        assert!(said().iter().all(|said| said.what_to_do == BUILD), "{:?}", said());
        lock.lock_shared().unwrap();
        for said in said() {
            assert!(said.what.ends_with("is still being built."), "{said:?}");
            assert_eq!((said.kind, &*said.what_to_do), (Blame::NotBuilt, WAIT));
        }
        fs::create_dir(dist.firmware_folder()).unwrap();
        fs::write(dist.firmware_file(board), b"elf").unwrap();
        assert!(dist.firmware(board).is_ok(), "what is there is used");
        drop(lock);
        assert_eq!(dist.worker().unwrap_err().what_to_do, BUILD);
    }

    #[test]
    fn what_has_no_firmware_is_not_said_to_be_unbuilt() {
        let folder = tempfile::tempdir().unwrap();
        let dist = Dist::at(folder.path().to_owned());
        let blame = |board: &str| dist.firmware(board).unwrap_err().kind;
        assert_eq!(blame("weact-h743"), Blame::NotBuilt);
        fs::create_dir(dist.firmware_folder()).unwrap();
        fs::write(dist.firmware_file("stm32f746g-disco"), b"elf").unwrap();
        assert_eq!(blame("weact-h743"), Blame::BadInput);
        assert_eq!(blame("paper-swapnn-8m"), Blame::BadInput);
        assert_eq!(blame("stm32f469i-disco"), Blame::NotBuilt);
        assert!(dist.firmware("stm32f746g-disco").is_ok());
    }
}
