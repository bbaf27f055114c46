//! The page in `dist/page`, put together from its WASM programs, `frontend/index.html`, styles, sample models
//! and firmware.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use super::wasm::{FLOAT, PAGE, PART, PART_GLUE};
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
    let part = page.part(project, is_small).context("the page's program has no part")?;
    let program = Named {
        glue: text(&page.folder(project).join("page.js"))?,
        program: read(&page.file(project, is_small))?,
        part_glue: text(&page.folder(project).join(PART_GLUE))?,
        part: read(&part)?,
    };
    let start = text(&project.root.join("frontend").join(START))?;
    let start = with_styles(&start, &project.root, &mut all)?;
    let start = with_program(&start, &program, &mut all)?;
    all.insert(START.to_owned(), start.into_bytes());
    Ok(all)
}

/// The page's program.
struct Named {
    glue: String,
    program: Vec<u8>,
    /// Glue of the part that is fetched later: each of the two names the other.
    part_glue: String,
    part: Vec<u8>,
}

/// The first file with the page's program by its content's name.
fn with_program(start: &str, program: &Named, all: &mut Files) -> Result<String> {
    let Named { glue, program, part_glue, part } = program;
    let hash = content_name(&[glue.as_bytes(), program, part_glue.as_bytes(), part]);
    let names = [
        ("page.js".to_owned(), format!("page-{hash}.js")),
        ("page_bg.wasm".to_owned(), format!("page-{hash}_bg.wasm")),
        (PART_GLUE.to_owned(), format!("page-{hash}_parts.js")),
        (format!("{PART}.wasm"), format!("{PART}-{hash}.wasm")),
    ];
    let renamed = |text: &str| {
        let change = |text: String, (old, new): &(String, String)| {
            text.replace(&format!("./{old}"), &format!("./{new}"))
        };
        names.iter().fold(text.to_owned(), change)
    };
    for (old, _) in &names[..3] {
        ensure!(start.contains(&format!("\"./{old}\"")), "{START} does not name {old}");
    }
    // The program imports from the part's glue by its old name: the glue's table keeps that.
    let from = |name: &str| format!("from \"./{name}\"");
    let (_, new_glue) = &names[2];
    let glue = glue.replace(&from(PART_GLUE), &from(new_glue));
    let contents =
        [glue.into_bytes(), program.clone(), renamed(part_glue).into_bytes(), part.clone()];
    for ((_, name), bytes) in names.iter().zip(contents) {
        all.insert(name.clone(), bytes);
    }
    Ok(renamed(start))
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

fn text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).with_context(|| format!("{} is no text", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(first: &str, part: &str) -> Named {
        Named {
            glue: format!("import from \"./{PART_GLUE}\" {{\"./{PART_GLUE}\": 1}}"),
            program: first.into(),
            part_glue: "fetch(\"./panels.wasm\")".to_owned(),
            part: part.into(),
        }
    }

    #[test]
    fn the_first_file_names_its_files_by_their_content() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let start = fs::read_to_string(root.join("frontend").join(START)).unwrap();
        let mut all = Files::new();
        let start = with_styles(&start, &root, &mut all).unwrap();
        let start = with_program(&start, &program("one", "later"), &mut all).unwrap();
        assert!(!start.contains("../") && !start.contains("./page."), "{start}");
        let named: Vec<_> =
            start.split("\"./").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(named.iter().all(|name| all.contains_key(*name)), "{named:?}");
        let (later, first): (Vec<_>, Vec<_>) = all.keys().partition(|name| name.starts_with(PART));
        assert!(first.iter().all(|name| named.contains(&name.as_str())), "{first:?}");
        let glue = all.iter().find(|(name, _)| name.ends_with("_parts.js")).unwrap().1;
        assert_eq!(glue, format!("fetch(\"./{}\")", later[0]).as_bytes());
        let keeps_key = |text: &[u8]| text.ends_with(b"_parts.js\" {\"./page_parts.js\": 1}");
        assert!(all.iter().any(|(name, text)| name.ends_with(".js") && keeps_key(text)));
        let page = |all: &Files| all.keys().find(|name| name.ends_with("_bg.wasm")).cloned();
        let mut other = Files::new();
        let names = "\"./page.js\" \"./page_bg.wasm\" \"./page_parts.js\"";
        let again = with_program(names, &program("one", "another"), &mut other);
        assert!(again.is_ok() && page(&all) != page(&other));
        assert!(
            with_program("", &program("", ""), &mut other).is_err(),
            "no place for the program"
        );
    }

    #[test]
    fn firmware_may_be_missing_and_nothing_else() {
        let mut all = Files::new();
        add(Path::new("/nowhere"), "firmware", &mut all).unwrap();
        assert!(all.is_empty() && add(Path::new("/nowhere"), "models", &mut all).is_err());
    }
}
