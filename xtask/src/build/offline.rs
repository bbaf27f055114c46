//! What lets the page work without a network: its service worker learns the build and the checksum
//! of every file, the page learns the build.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use super::hexadecimal;

const SERVICE_WORKER: &str = "service-worker.js";
const START: &str = "index.html";
/// What stands in the sources for a build.
const UNBUILT: &str = "development";
/// Digits of a build's name.
const DIGITS: usize = 16;

/// Completes a page whose other files all lie in `page`.
///
/// # Errors
/// When a file cannot be read or written, or lacks the place that is to be filled in.
pub fn complete(page: &Path) -> Result<()> {
    let mut files = BTreeMap::new();
    list(page, "", &mut files)?;
    files.remove(SERVICE_WORKER);
    let mut hash = Sha256::new();
    for (name, digest) in &files {
        hash.update(format!("{name}\0{digest}\n"));
    }
    let mut build = hexadecimal(&hash.finalize());
    build.truncate(DIGITS);

    let attribute = |build: &str| format!("data-build=\"{build}\"");
    let start = fill(&page.join(START), &[(attribute(UNBUILT), attribute(&build))])?;
    files.insert(START.to_owned(), hexadecimal(&Sha256::digest(start)));
    let entries: Vec<String> =
        files.iter().map(|(name, digest)| format!("{name:?}:{digest:?}")).collect();
    let constants = [
        (format!("BUILD = \"{UNBUILT}\""), format!("BUILD = \"{build}\"")),
        ("FILES = {}".to_owned(), format!("FILES = {{{}}}", entries.join(","))),
    ];
    fill(&page.join(SERVICE_WORKER), &constants).map(drop)
}

/// Adds the names and checksums of a folder's files.
fn list(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    let unreadable = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        let name = format!("{prefix}{}", entry.file_name().display());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            let bytes = fs::read(entry.path()).with_context(unreadable)?;
            files.insert(name, hexadecimal(&Sha256::digest(bytes)));
        }
    }
    Ok(())
}

/// Replaces texts that a file must hold; its new content.
fn fill(path: &Path, replacements: &[(String, String)]) -> Result<String> {
    let mut text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    for (from, to) in replacements {
        ensure!(text.contains(from), "{} does not say {from}", path.display());
        text = text.replace(from, to);
    }
    fs::write(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKER: &str = include_str!("../../../static/service-worker.js");
    const INDEX: &str = include_str!("../../../frontend/index.html");

    fn completed(name: &str, planner: &str) -> (String, String) {
        let root = std::env::temp_dir().join(format!("xtask {name} {}", std::process::id()));
        fs::create_dir_all(root.join("models")).unwrap();
        fs::write(root.join(SERVICE_WORKER), WORKER).unwrap();
        fs::write(root.join(START), INDEX).unwrap();
        fs::write(root.join("planner.js"), planner).unwrap();
        fs::write(root.join("models/a.onnx"), "model").unwrap();
        complete(&root).unwrap();
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        let texts = (read(START), read(SERVICE_WORKER));
        fs::remove_dir_all(&root).unwrap();
        texts
    }

    #[test]
    fn page_and_service_worker_name_the_same_build_and_all_files() {
        let (page, worker) = completed("offline", "planner");
        let (_, rest) = page.split_once("data-build=\"").unwrap();
        let build = &rest[..DIGITS];
        assert!(worker.contains(&format!("BUILD = \"{build}\"")), "{worker}");
        for (name, bytes) in [("models/a.onnx", "model"), ("planner.js", "planner"), (START, &page)]
        {
            let digest = hexadecimal(&Sha256::digest(bytes));
            assert!(worker.contains(&format!("\"{name}\":\"{digest}\"")), "{name}");
        }
        assert!(!worker.contains("\"service-worker.js\""));
        for later in ["\"float_bg.wasm\"", "\"search_bg.wasm\""] {
            assert!(worker.contains(later), "{worker}");
        }
    }

    #[test]
    fn another_file_makes_another_build() {
        assert_ne!(completed("build a", "planner").0, completed("build b", "other").0);
    }

    #[test]
    fn a_page_without_the_place_is_refused() {
        let root = std::env::temp_dir().join(format!("xtask no place {}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join(START), "<html></html>").unwrap();
        let error = complete(&root).unwrap_err();
        fs::remove_dir_all(&root).unwrap();
        assert!(error.to_string().contains("data-build"), "{error}");
    }
}
