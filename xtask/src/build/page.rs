//! The page, bundled by trunk into `dist/page`. trunk takes seconds even when nothing has changed,
//! so it runs only if a file that could be part of the page has another size or time.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::paths::Remapped;
use super::{compressed, files, hexadecimal, offline};
use crate::process;
use crate::project::{Project, Workspace};

/// What WASM programs are compiled for.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Folders of the project that cannot be part of the page.
const APART: [&str; 16] = [
    ".ci",
    ".git",
    "bench",
    "cli",
    "dist",
    "docs",
    "emulator/cores",
    "emulator/devices",
    "emulator/runner",
    "emulator/server",
    "emulator/worker",
    "firmware/boards",
    "frontend/js",
    "target",
    "tests",
    "xtask",
];

/// Bundles the page if it is not up to date. The firmware must have been built before: the page
/// offers it for download.
///
/// # Errors
/// When trunk fails, or a file cannot be read.
pub fn build(project: &Project) -> Result<()> {
    let stamp = project.dist().join(".page-stamp");
    let now = fingerprint(project)?;
    let is_built = project.dist().join("page/index.html").is_file();
    if is_built && fs::read_to_string(&stamp).is_ok_and(|old| old == now) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    let mut command = project.command("trunk");
    command.args(["--skip-version-check", "build", "--release"]);
    command.env("CARGO_TARGET_DIR", project.target(Workspace::Main));
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(project)?).env_remove("RUSTFLAGS");
    // trunk refuses the value 1, which is the usual one.
    command.env_remove("NO_COLOR");
    process::visible(&mut command)?;
    let page = project.dist().join("page");
    offline::complete(&page)?;
    compressed::add(&page)?;
    files::write_if_changed(&stamp, now.as_bytes())
}

/// The flags that WASM programs are compiled with, as cargo separates them, since paths may hold spaces.
///
/// # Errors
/// As [`Remapped`].
pub(super) fn flags(project: &Project) -> Result<String> {
    let mut flags = Remapped::new(project, Workspace::Main)?.flags()?;
    // Every browser has had vectors since 2023; calibrating needs them.
    flags.extend(["-C".to_owned(), "target-feature=+simd128".to_owned()]);
    Ok(flags.join("\x1f"))
}

fn fingerprint(project: &Project) -> Result<String> {
    let mut hash = Sha256::new();
    describe(&project.root, Path::new(""), &mut hash)?;
    describe(&project.root, Path::new("dist/firmware"), &mut hash)?;
    Ok(hexadecimal(&hash.finalize()))
}

/// Adds the names, sizes and times of a folder's files, in the order of their names.
fn describe(root: &Path, folder: &Path, hash: &mut Sha256) -> Result<()> {
    let path = root.join(folder);
    let unreadable = || format!("cannot read {}", path.display());
    let mut entries: Vec<_> = fs::read_dir(&path)
        .with_context(unreadable)?
        .collect::<Result<_, _>>()
        .with_context(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = folder.join(entry.file_name());
        // A file may vanish between listing and looking: editors do that.
        let Ok(data) = fs::metadata(entry.path()) else { continue };
        if data.is_dir() {
            let apart = APART.iter().any(|apart| Path::new(apart) == name);
            if !apart && entry.file_name() != "node_modules" {
                describe(root, &name, hash)?;
            }
        } else {
            let since = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let nanoseconds = since.map_or(0, |since| since.as_nanos());
            hash.update(format!("{}\0{}\0{nanoseconds}\n", name.display(), data.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(root: &Path) -> String {
        let mut hash = Sha256::new();
        describe(root, Path::new(""), &mut hash).unwrap();
        hexadecimal(&hash.finalize())
    }

    #[test]
    fn only_what_can_be_part_of_the_page_counts() {
        let root = std::env::temp_dir().join(format!("xtask page {}", std::process::id()));
        for folder in ["frontend/src", "target", "cli", "emulator/worker", "emulator/protocol"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("frontend/src/main.rs"), "fn main() {}").unwrap();
        let first = digest(&root);
        fs::write(root.join("target/x"), "").unwrap();
        fs::write(root.join("cli/x"), "").unwrap();
        fs::write(root.join("emulator/worker/x"), "").unwrap();
        let same = digest(&root);
        fs::write(root.join("emulator/protocol/x"), "").unwrap();
        let other = digest(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(first, same);
        assert_ne!(first, other);
    }
}
