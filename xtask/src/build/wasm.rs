//! WASM programs: cargo compiles them, wasm-bindgen writes their glue, wasm-opt makes them smaller. What the
//! last two wrote is kept below the target folder as long as its source has the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};
use wasm_bindgen_cli_support::Bindgen;

use super::paths::Remapped;
use super::{files, hexadecimal};
use crate::process;
use crate::project::{Project, Workspace};
use crate::setup::wasm_opt::RELEASE;

/// What the programs are compiled for.
const TARGET: &str = "wasm32-unknown-unknown";
/// How wasm-opt makes them smaller. Higher levels take up to four times as long, for files that are 5 %
/// smaller as they are and up to 9 % larger compressed, as they travel.
const LEVEL: &str = "-O1";

/// One program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What its files are called: `<name>.js` and `<name>_bg.wasm`.
    pub name: &'static str,
    /// What cargo calls it.
    compiled: &'static str,
    glue: Glue,
    /// Whether functions that are fetched later are a part of their own: [`PART`].
    is_split: bool,
}

/// How a program's glue is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Glue {
    Module,
    /// By `importScripts` in a worker: modules are not loaded there by every browser.
    Script,
}

/// The part of the page's program that is fetched after the first view, as `frontend/src/bin/page.rs` calls it.
pub const PART: &str = "panels";
/// Glue that fetches the part.
pub const PART_GLUE: &str = "page_parts.js";

/// The page and its workers. It starts without the search, which is fetched when somebody searches cells, and
/// without the emulator, which is fetched once there is a plan.
pub const PAGE: [Program; 5] = [
    Program { name: "page", compiled: "page", glue: Glue::Module, is_split: true },
    Program { name: "planner", compiled: "planner", glue: Glue::Script, is_split: false },
    Program { name: "importer", compiled: "importer", glue: Glue::Script, is_split: false },
    Program { name: "search", compiled: "search", glue: Glue::Script, is_split: false },
    Program { name: "emulator", compiled: "emulator", glue: Glue::Script, is_split: false },
];
/// The worker that the page fetches when somebody compares with the float model. tract, which it links, takes
/// about as long to compile as all else.
pub const FLOAT: Program =
    Program { name: "float", compiled: "float", glue: Glue::Script, is_split: false };
/// The program of the JavaScript package.
pub const PACKAGE: Program =
    Program { name: "core", compiled: "tilewright_js", glue: Glue::Module, is_split: false };

impl Program {
    /// The folder with its glue and its types.
    pub fn folder(&self, project: &Project) -> PathBuf {
        project.target(Workspace::Main).join("bound").join(self.name)
    }

    /// The program itself, `is_small` as wasm-opt left it.
    pub fn file(&self, project: &Project, is_small: bool) -> PathBuf {
        let ending = if is_small { "small" } else { "wasm" };
        self.folder(project).join(format!("{}_bg.{ending}", self.name))
    }

    /// The part that is fetched later.
    pub fn part(&self, project: &Project, is_small: bool) -> Option<PathBuf> {
        let ending = if is_small { "small" } else { "wasm" };
        self.is_split.then(|| self.folder(project).join(format!("{PART}.{ending}")))
    }
}

/// Compiles these programs and writes their glue.
///
/// # Errors
/// When cargo or wasm-bindgen fails, or a file cannot be read or written.
pub fn compile(project: &Project, programs: &[Program]) -> Result<()> {
    // tract registers its operators wherever its crate is linked, and cargo unites the features of one call: with the
    // float comparison in it each program would be four times as large.
    let (float, others): (Vec<_>, Vec<_>) = programs.iter().partition(|one| **one == FLOAT);
    for call in [others, float] {
        if !call.is_empty() {
            compile_together(project, &call)?;
        }
    }
    programs.iter().try_for_each(|program| bind(project, program))
}

fn compile_together(project: &Project, programs: &[&Program]) -> Result<()> {
    let mut command = project.cargo(Workspace::Main, "build");
    command.args(["--profile", "web", "--target", TARGET]);
    // The package comes with the page's programs: what they depend on is compiled once.
    command.args(["--package", "tilewright-frontend", "--no-default-features"]);
    let has_float = programs.contains(&&FLOAT);
    for program in PAGE.iter().chain(has_float.then_some(&FLOAT)) {
        command.arg(format!("--features=tilewright-frontend/{}", program.name));
        if programs.contains(&program) {
            command.args(["--bin", program.compiled]);
        }
    }
    if programs.contains(&&PACKAGE) {
        command.args(["--package", "tilewright-js", "--lib"]);
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(project)?).env_remove("RUSTFLAGS");
    process::visible(&mut command)
}

/// The flags that programs are compiled with, as cargo separates them, since paths may hold spaces.
fn flags(project: &Project) -> Result<String> {
    let mut flags = Remapped::new(project, Workspace::Main)?.flags()?;
    // Every browser has had vectors since 2023; calibrating needs them.
    flags.extend(["-C".to_owned(), "target-feature=+simd128".to_owned()]);
    // The emulator puts functions that it makes into its program's table.
    flags.extend(["-C".to_owned(), "link-arg=--growable-table".to_owned()]);
    Ok(flags.join("\x1f"))
}

fn bind(project: &Project, program: &Program) -> Result<()> {
    let compiled = project.target(Workspace::Main).join(TARGET).join("web").join(program.compiled);
    let compiled = compiled.with_added_extension("wasm");
    let (folder, now) = (program.folder(project), digest(&compiled)?);
    let bound = program.file(project, false);
    if is_from(&bound, &now) {
        return Ok(());
    }
    let first = if program.is_split { split(&compiled, &folder)? } else { compiled.clone() };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&first).out_name(program.name).typescript(true);
    // The part shares the table of functions with the rest.
    bindgen.keep_lld_exports(program.is_split);
    match program.glue {
        Glue::Module => bindgen.web(true)?,
        Glue::Script => bindgen.no_modules(true)?,
    };
    bindgen
        .generate(&folder)
        .with_context(|| format!("wasm-bindgen failed on {}", compiled.display()))?;
    files::write_if_changed(&stamp(&bound), now.as_bytes())
}

/// Takes a program's part out of it; the file that is left.
fn split(compiled: &Path, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let bytes =
        fs::read(compiled).with_context(|| format!("cannot read {}", compiled.display()))?;
    let first = folder.join("first.wasm");
    let mut options = wasm_split_cli_support::Options::new(&bytes);
    options.output_dir = folder;
    options.main_out_path = &first;
    options.main_module = "./page.js";
    let link = format!("./{PART_GLUE}");
    options.link_name = &link;
    let parts = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("cannot take {} apart: {error:#}", compiled.display()))?;
    let [part] = parts.split_modules.as_slice() else {
        bail!("{} has parts other than {PART}: {:?}", compiled.display(), parts.split_modules);
    };
    let glue = folder.join(PART_GLUE);
    let text = fs::read_to_string(&glue).context("the parts have no glue")?;
    let old = part.file_name().context("a part has no name")?.display().to_string();
    files::write_if_changed(&glue, text.replace(&old, &format!("{PART}.wasm")).as_bytes())?;
    fs::rename(part, folder.join(format!("{PART}.wasm"))).context("cannot name the part")?;
    Ok(first)
}

/// wasm-opt at work on programs.
#[derive(Debug)]
pub struct Shrinking(Vec<Run>);

#[derive(Debug)]
struct Run {
    child: Child,
    name: &'static str,
    partial: PathBuf,
    small: PathBuf,
    from: String,
}

/// Starts to make these programs smaller, each at the same time: wasm-opt from npm uses one core.
///
/// # Errors
/// When wasm-opt cannot start, or a file cannot be read.
pub fn shrink(project: &Project, programs: &[Program]) -> Result<Shrinking> {
    let mut runs = Shrinking(Vec::new());
    let wholes = programs
        .iter()
        .map(|one| (one.name, Some((one.file(project, false), one.file(project, true)))));
    let parts =
        programs.iter().map(|one| (PART, one.part(project, false).zip(one.part(project, true))));
    for (name, files) in wholes.chain(parts) {
        let Some((bound, small)) = files else { continue };
        let from = format!("{} {LEVEL} {RELEASE}", digest(&bound)?);
        if is_from(&small, &from) {
            continue;
        }
        let partial = small.with_added_extension("partial");
        let mut command = project.command("wasm-opt");
        command.args([LEVEL, "--output"]).args([&partial, &bound]).stdin(Stdio::null());
        let child = command.spawn().context("cannot start wasm-opt")?;
        runs.0.push(Run { child, name, partial, small, from });
    }
    Ok(runs)
}

impl Shrinking {
    /// Waits until all are smaller.
    ///
    /// # Errors
    /// When wasm-opt fails, or a file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        for Run { child, name, partial, small, from } in &mut self.0 {
            let status = child.wait().context("lost wasm-opt")?;
            if !status.success() {
                bail!("wasm-opt failed on {name} ({status}); its own message is above");
            }
            fs::rename(partial, &*small)
                .with_context(|| format!("cannot write {}", small.display()))?;
            files::write_if_changed(&stamp(small), from.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Shrinking {
    fn drop(&mut self) {
        for run in &mut self.0 {
            // Those that have ended are not there any more.
            let _ = run.child.kill();
            let _ = run.child.wait();
        }
    }
}

fn stamp(file: &Path) -> PathBuf {
    file.with_added_extension("from")
}

/// Whether a file is there and was made from this.
fn is_from(file: &Path, from: &str) -> bool {
    file.is_file() && fs::read_to_string(stamp(file)).is_ok_and(|old| old == from)
}

fn digest(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hexadecimal(&Sha256::digest(bytes)))
}
