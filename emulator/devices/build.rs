//! Reads `chips/*.toml` and writes them as tables for the library: a malformed file fails the build.

#[path = "build/code.rs"]
mod code;
#[path = "build/file.rs"]
mod file;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use file::ChipFile;

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&folder).join("../../chips");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", folder.display());
    let text = read_all(&folder).and_then(|files| code::of_all(&files));
    match text {
        Ok(text) => {
            let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
            fs::write(Path::new(&out).join("chips.rs"), text).expect("OUT_DIR can be written");
        }
        Err(reason) => println!("cargo::error={reason}"),
    }
}

/// All files by the names of chips.
fn read_all(folder: &Path) -> Result<BTreeMap<String, ChipFile>, String> {
    let at = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| at(folder, &error))? {
        let path = entry.map_err(|error| at(folder, &error))?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let (Some(name), Some("toml")) = (name, path.extension().and_then(|e| e.to_str())) else {
            continue;
        };
        let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        let file = toml::from_str(&text).map_err(|error| at(&path, &error))?;
        files.insert(name.to_owned(), file);
    }
    Ok(files)
}
