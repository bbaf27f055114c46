//! Names the sources that a planned row follows from, so that programs that were built elsewhere know whether they plan alike.

use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Folders and files of the workspace.
const SOURCES: [&str; 5] = ["Cargo.lock", "boards", "chips", "core", "costs"];
/// Parts of them that change no row.
const OTHERS: [&str; 4] = ["tests", "tests.rs", "benches", "target"];

fn main() {
    let workspace =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says it")).join("../..");
    let mut hash = Sha256::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
        add(&mut hash, &workspace, Path::new(source));
    }
    let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=TILEWRIGHT_SOURCES={name}");
}

fn add(hash: &mut Sha256, workspace: &Path, path: &Path) {
    let whole = workspace.join(path);
    if let Ok(entries) = fs::read_dir(&whole) {
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.retain(|name| !OTHERS.iter().any(|other| name == other));
        names.sort();
        names.iter().for_each(|name| add(hash, workspace, &path.join(name)));
        return;
    }
    let bytes = fs::read(&whole).expect("a source can be read");
    // The length keeps a file's end apart from the next one's name.
    hash.update(format!("{}\n{}\n", path.display(), bytes.len()));
    hash.update(&bytes);
}
