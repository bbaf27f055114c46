//! The page in `dist/page`, put together from its WASM programs, `frontend/index.html`, styles, sample models
//! and firmware.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use super::wasm::{FLOAT, PAGE};
use super::{compressed, files, hexadecimal, lessons, offline};
use crate::project::Project;

/// The page's first file, from `frontend`.
const START: &str = "index.html";
/// Files and folders that keep their names, and where they go.
const KEPT: [(&str, &str); 18] = [
    ("static/planner-worker.js", "planner-worker.js"),
    ("static/importer-worker.js", "importer-worker.js"),
    ("static/float-worker.js", "float-worker.js"),
    ("static/search-worker.js", "search-worker.js"),
    ("static/emulator-worker.js", "emulator-worker.js"),
    ("static/service-worker.js", "service-worker.js"),
    ("static/style/print-lesson.css", "lesson.css"),
    ("static/film.svg", "film.svg"),
    ("models/lenet5.onnx", "models/lenet5.onnx"),
    ("models/lenet5.calibration.npy", "models/lenet5.calibration.npy"),
    ("models/fashion-mobilenet.onnx", "models/fashion-mobilenet.onnx"),
    ("models/fashion-mobilenet.calibration.npy", "models/fashion-mobilenet.calibration.npy"),
    ("models/fashion-exits.onnx", "models/fashion-exits.onnx"),
    ("models/fashion-exits.calibration.npy", "models/fashion-exits.calibration.npy"),
    ("models/person-detect.tflite", "models/person-detect.tflite"),
    ("models/samples", "models/samples"),
    // Built before the page, or behind it: then it follows.
    ("dist/firmware", "firmware"),
    ("dist/library", "library"),
];
/// How the first file names what stands below the project's folder.
const BELOW: &str = "href=\"../";
/// Digits of a content's name; the service worker knows such names by them.
const DIGITS: usize = 16;

/// Names and content.
type Files = BTreeMap<String, Vec<u8>>;

/// Puts the page together if it is not up to date; `is_small` with small programs and with compressed
/// copies. A small page is not replaced by the same page at its full size.
///
/// # Errors
/// When a file cannot be read or written, or the first file does not name what it should.
pub fn build(project: &Project, is_small: bool) -> Result<()> {
    let (page, stamp) = (project.dist().join("page"), project.dist().join(".page-stamp"));
    let as_compiled = all(project, false)?;
    let mut hash = Sha256::new();
    for (name, bytes) in &as_compiled {
        hash.update(format!("{name}\0{}\0", bytes.len()));
        hash.update(bytes);
    }
    let now = hexadecimal(&hash.finalize());
    let small = format!("{now} small");
    let is_built = page.join(START).is_file();
    let old = fs::read_to_string(&stamp).unwrap_or_default();
    if is_built && (old == small || (old == now && !is_small)) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    let partial = project.dist().join("page.partial");
    files::remove_folder(&partial)?;
    let (content, now) = if is_small { (all(project, true)?, small) } else { (as_compiled, now) };
    for (name, bytes) in content {
        files::write_if_changed(&partial.join(name), &bytes)?;
    }
    offline::complete(&partial)?;
    if is_small {
        compressed::add(&partial, &page)?;
    }
    files::replace_folder(&partial, &page)?;
    files::write_if_changed(&stamp, now.as_bytes())
}

/// All of the page's files, but for what [`offline::complete`] fills in.
fn all(project: &Project, is_small: bool) -> Result<Files> {
    let mut all = Files::new();
    for (from, to) in KEPT {
        add(&project.root.join(from), to, &mut all)?;
    }
    for (name, bytes) in lessons::all(&project.root.join("static/lessons"))? {
        all.insert(format!("lessons/{name}.html"), bytes);
    }
    let [page, workers @ ..] = PAGE;
    let float = FLOAT.folder(project).is_dir().then_some(FLOAT);
    for worker in workers.into_iter().chain(float) {
        let (glue, program) = (format!("{}.js", worker.name), format!("{}_bg.wasm", worker.name));
        add(&worker.folder(project).join(&glue), &glue, &mut all)?;
        all.insert(program, read(&worker.file(project, is_small))?);
    }
    let glue = read(&page.folder(project).join("page.js"))?;
    let program = read(&page.file(project, is_small))?;
    let start = project.root.join("frontend").join(START);
    let start = String::from_utf8(read(&start)?).context("index.html is no text")?;
    let start = with_styles(&start, &project.root, &mut all)?;
    let start = with_program(&start, glue, program, &mut all)?;
    all.insert(START.to_owned(), start.into_bytes());
    Ok(all)
}

/// The first file with the page's program by its content's name.
fn with_program(start: &str, glue: Vec<u8>, program: Vec<u8>, all: &mut Files) -> Result<String> {
    let hash = content_name(&[&glue, &program]);
    let mut start = start.to_owned();
    for (old, ending, bytes) in [("page.js", ".js", glue), ("page_bg.wasm", "_bg.wasm", program)] {
        let (old, new) = (format!("\"./{old}\""), format!("page-{hash}{ending}"));
        ensure!(start.contains(&old), "{START} does not name {old}");
        start = start.replace(&old, &format!("\"./{new}\""));
        all.insert(new, bytes);
    }
    Ok(start)
}

/// The first file with all that it names below the project's folder by its content's name.
fn with_styles(start: &str, root: &Path, all: &mut Files) -> Result<String> {
    let mut parts = start.split(BELOW);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once('"').context("an address in index.html has no end")?;
        let bytes = read(&root.join(path))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let name = format!("{stem}-{}.{ending}", content_name(&[&bytes]));
        out += &format!("href=\"./{name}\"{rest}");
        all.insert(name, bytes);
    }
    Ok(out)
}

fn content_name(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let mut name = hexadecimal(&hash.finalize());
    name.truncate(DIGITS);
    name
}

/// Adds a file, or a folder's files; what other steps build may not be there yet.
fn add(from: &Path, to: &str, all: &mut Files) -> Result<()> {
    if !from.is_dir() {
        if !["firmware", "library"].contains(&to) {
            all.insert(to.to_owned(), read(from)?);
        }
        return Ok(());
    }
    let unreadable = || format!("cannot read {}", from.display());
    for entry in fs::read_dir(from).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        add(&entry.path(), &format!("{to}/{}", entry.file_name().display()), all)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_names_its_files_by_their_content() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let start = fs::read_to_string(root.join("frontend").join(START)).unwrap();
        let mut all = Files::new();
        let start = with_styles(&start, &root, &mut all).unwrap();
        let start = with_program(&start, b"glue".into(), b"one".into(), &mut all).unwrap();
        assert!(!start.contains("../") && !start.contains("./page."), "{start}");
        let named: Vec<_> =
            start.split("\"./").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(named.iter().all(|name| all.contains_key(*name)), "{named:?}");
        assert!(all.keys().all(|name| named.contains(&name.as_str())), "{:?}", all.keys());
        let page = |all: &Files| all.keys().find(|name| name.ends_with("_bg.wasm")).cloned();
        let mut other = Files::new();
        let again = with_program(
            "\"./page.js\" \"./page_bg.wasm\"",
            b"glue".into(),
            b"two".into(),
            &mut other,
        );
        assert!(again.is_ok() && page(&all) != page(&other));
        assert!(with_program("", vec![], vec![], &mut other).is_err(), "no place for the program");
    }

    #[test]
    fn firmware_may_be_missing_and_nothing_else() {
        let mut all = Files::new();
        add(Path::new("/nowhere"), "firmware", &mut all).unwrap();
        assert!(all.is_empty() && add(Path::new("/nowhere"), "models", &mut all).is_err());
    }
}
