//! Reads `costs/*.toml` and encodes them for the library: a malformed file fails the build.

#[path = "src/costs/file.rs"]
mod file;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&folder).join("../../costs");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let mut all: BTreeMap<String, file::Costs> = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("the folder `costs` is part of the project") {
        let path = entry.expect("the folder `costs` can be read").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        let costs = text.and_then(|text| {
            toml::from_str::<file::Costs>(&text).map_err(|error| error.to_string())
        });
        match costs {
            Ok(costs) => {
                all.insert(name, costs);
            }
            Err(reason) => println!("cargo::error={}: {reason}", path.display()),
        }
    }
    let bytes = postcard::to_allocvec(&all).expect("costs are plain values");
    fs::write(Path::new(&out).join("costs.postcard"), bytes).expect("OUT_DIR can be written");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
}
