//! Where the worker is.

use std::env;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Name of the program.
const PROGRAM: &str = if cfg!(windows) { "tilewright-worker.exe" } else { "tilewright-worker" };
/// Where the build puts it, relative to the project.
const BUILT: &str = "dist/bin";
/// Names the program, before all other places.
const VARIABLE: &str = "TILEWRIGHT_WORKER";

/// There is no worker.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no emulator worker at {}; run `cargo xtask build`", places(.looked))]
pub struct WorkerMissing {
    /// Where it was looked for.
    pub looked: Vec<PathBuf>,
}

fn places(looked: &[PathBuf]) -> String {
    looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The first worker of: what the variable names (and nothing else, if it is set), the
/// executable's folder, `dist/bin` in the current folder or above the executable.
pub fn find() -> Result<PathBuf, WorkerMissing> {
    let executable = env::current_exe().ok();
    let folder = env::current_dir().ok();
    let looked = candidates(env::var_os(VARIABLE).map(PathBuf::from), executable, folder);
    match looked.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(WorkerMissing { looked }),
    }
}

fn candidates(
    named: Option<PathBuf>,
    executable: Option<PathBuf>,
    folder: Option<PathBuf>,
) -> Vec<PathBuf> {
    if let Some(path) = named {
        return vec![path];
    }
    let built = |folder: &Path| folder.join(BUILT).join(PROGRAM);
    let mut places = Vec::new();
    if let Some(beside) = executable.as_deref().and_then(Path::parent) {
        places.push(beside.join(PROGRAM));
    }
    places.extend(folder.as_deref().map(built));
    let above = executable.as_deref().into_iter().flat_map(|path| path.ancestors().skip(2));
    for place in above.map(built) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_first_and_alone() {
        let named = candidates(Some("/w".into()), Some("/a/b".into()), Some("/c".into()));
        assert_eq!(named, [PathBuf::from("/w")]);
    }

    #[test]
    fn the_project_is_found_from_its_target_folder() {
        let places =
            candidates(None, Some("/p/target/release/tilewright".into()), Some("/here".into()));
        let expected = ["/p/target/release", "/here/dist/bin", "/p/target/dist/bin", "/p/dist/bin"];
        let expected = expected.map(|folder| Path::new(folder).join(PROGRAM));
        assert!(places.starts_with(&expected), "{places:?}");
    }
}
