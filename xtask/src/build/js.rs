//! The JavaScript package in `dist/js`: the WASM program with its glue and types, the files written by
//! hand, and the manifest with the workspace's version.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::wasm::PACKAGE;
use super::{files, hexadecimal};
use crate::project::Project;

/// What the package has besides the program, from `frontend/js`.
const OWN: [&str; 5] = ["index.js", "index.d.ts", "elements.js", "elements.d.ts", "example.html"];
/// What it has from the project's folder.
const SHARED: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// Its text for people, and its manifest.
const TEXTS: [&str; 2] = ["README.md", "package.json"];

/// Puts the package together if it is not up to date.
///
/// # Errors
/// When a file cannot be read or written.
pub fn build(project: &Project) -> Result<()> {
    let program = PACKAGE.file(project, true);
    let own = project.root.join("frontend/js");
    let mut sources: Vec<PathBuf> = OWN.iter().chain(&TEXTS).map(|name| own.join(name)).collect();
    sources.extend(SHARED.map(|name| project.root.join(name)));
    let (package, stamp) = (project.dist().join("js"), project.dist().join(".js-stamp"));
    let now = fingerprint(&program, &sources)?;
    let is_built = package.join("package.json").is_file();
    if is_built && fs::read_to_string(&stamp).is_ok_and(|old| old == now) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    let partial = project.dist().join("js.partial");
    files::remove_folder(&partial)?;
    for name in ["core.js", "core.d.ts", "core_bg.wasm.d.ts"] {
        files::copy_if_changed(&PACKAGE.folder(project).join(name), &partial.join(name))?;
    }
    files::copy_if_changed(&program, &partial.join("core_bg.wasm"))?;
    for source in sources {
        let name = source.file_name().unwrap_or_default();
        files::copy_if_changed(&source, &partial.join(name))?;
    }
    let manifest = partial.join("package.json");
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    files::write_if_changed(&manifest, versioned(&text)?.as_bytes())?;
    files::replace_folder(&partial, &package)?;
    files::write_if_changed(&stamp, now.as_bytes())
}

/// The manifest with this workspace's version.
fn versioned(manifest: &str) -> Result<String> {
    let mut manifest: Value = serde_json::from_str(manifest).context("package.json is no JSON")?;
    manifest["version"] = env!("CARGO_PKG_VERSION").into();
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

fn fingerprint(program: &Path, sources: &[PathBuf]) -> Result<String> {
    let mut hash = Sha256::new();
    for path in sources.iter().map(PathBuf::as_path).chain([program]) {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        hash.update(bytes.len().to_le_bytes());
        hash.update(&bytes);
    }
    Ok(hexadecimal(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_has_the_workspaces_version() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/js/package.json");
        let manifest = versioned(&fs::read_to_string(own).unwrap()).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["name"], "tilewright");
    }
}
