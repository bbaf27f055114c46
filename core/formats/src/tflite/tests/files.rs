//! Real files, where they are present.

use std::path::Path;

use crate::{Limits, open};

#[test]
fn models_beside_the_project() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".tflite") {
            continue;
        }
        let bytes = std::fs::read(file.path()).unwrap();
        match open(&name, &bytes, &Limits::default(), &[]) {
            Ok(model) => println!("{name}: {} nodes", model.nodes.len()),
            Err(error) => println!("{name}: {error}"),
        }
    }
}
