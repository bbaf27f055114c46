//! Builds the parts into `dist/`, in the order of their needs.
//!
//! ```text
//! dist/firmware/<board>.elf, manifest.json    dist/bin/tilewright-worker    dist/page/
//! dist/library/libtilewright-<core>.a         the C library
//! dist/clock/<board>.elf                      what measures a board's core
//! dist/bring-up/<board>.elf                   what tests a new board
//! dist/js/                                    the JavaScript package
//! target/release/tilewright                   the command line
//! target/release/tilewright-server            the server
//! ```

mod compressed;
pub mod files;
mod firmware;
mod js;
mod lessons;
mod library;
mod offline;
mod page;
mod paths;
mod rustc;
mod wasm;

pub use firmware::programs;
pub use library::ALL as LIBRARIES;
pub use rustc::become_rustc;

use anyhow::Result;
use clap::ValueEnum;

use crate::lock::Lock;
use crate::process;
use crate::progress::Progress;
use crate::project::{Project, Workspace};
use crate::setup::{self, Need};

/// A part that can be built alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The boards' firmware
    Firmware,
    /// The C library for firmware of one's own
    Library,
    /// The emulator's worker process
    Worker,
    /// The page (and the firmware, which it offers for download)
    Page,
    /// The JavaScript package
    Js,
    /// The command line and the server
    Server,
}

/// How much is built of these parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// What comes first when the project is served: of the programs only the server, and a page without
    /// small programs and without firmware that is not there yet.
    Start,
    /// What goes on behind the served page: the same with the worker of the float comparison.
    Rest,
    /// All that belongs to them.
    Product,
    /// Every package with its tests besides. Cargo unites the features of all packages that are built
    /// together, so what is going to be tested is built so at once, not twice.
    Tests,
}

/// Builds these parts; all, if none is named.
///
/// # Errors
/// When a tool cannot be installed or a build fails.
pub fn build(project: &Project, only: &[Part], selection: Selection) -> Result<()> {
    let wants = |part: Part| only.is_empty() || only.contains(&part);
    let is_small = !matches!(selection, Selection::Start | Selection::Rest);
    let [page, package] = [wants(Part::Page), wants(Part::Js)];
    let mut programs = Vec::new();
    if page {
        programs.extend(wasm::PAGE);
        if selection != Selection::Start || wasm::FLOAT.folder(project).is_dir() {
            programs.push(wasm::FLOAT);
        }
    }
    if package {
        programs.push(wasm::PACKAGE);
    }
    let has_wasm = !programs.is_empty();
    let mut needs = vec![Need::Rust];
    if wants(Part::Worker) {
        needs.push(Need::Worker);
    }
    if has_wasm && is_small {
        needs.push(Need::WasmOpt);
    }
    let _building = Lock::building(&project.dist())?;
    setup::ensure(project, &needs)?;
    let _lock = Lock::take(&project.dist(), "building")?;

    let firmware = wants(Part::Firmware) || (page && is_small);
    let is_library = wants(Part::Library);
    let steps =
        [firmware, is_library, wants(Part::Worker), has_wasm, wants(Part::Server), page, package];
    let mut progress = Progress::of("build", steps.into_iter().filter(|step| *step).count());
    if firmware {
        progress.step("firmware", || firmware::build(project))?;
    }
    if is_library {
        progress.step("C library", || library::build(project))?;
    }
    if wants(Part::Worker) {
        progress.step("worker", || worker(project))?;
    }
    let mut shrinking = None;
    if has_wasm {
        progress.step("WASM programs", || wasm::compile(project, &programs))?;
        // It goes on while cargo builds what comes next.
        shrinking = is_small.then(|| wasm::shrink(project, &programs)).transpose()?;
    }
    if wants(Part::Server) {
        progress.step("programs", || server(project, selection))?;
    }
    let mut finished = |wanted: bool, name: &str, build: &dyn Fn() -> Result<()>| {
        if !wanted {
            return Ok(());
        }
        progress.step(name, || {
            shrinking.take().map_or(Ok(()), wasm::Shrinking::finish)?;
            build()
        })
    };
    finished(page, "page", &|| page::build(project, is_small))?;
    finished(package, "JavaScript package", &|| js::build(project))
}

fn worker(project: &Project) -> Result<()> {
    process::visible(project.cargo(Workspace::Worker, "build").arg("--release"))?;
    let built = project.target(Workspace::Worker).join("release/tilewright-worker");
    files::copy_if_changed(&built, &project.dist().join("bin/tilewright-worker"))
}

fn server(project: &Project, selection: Selection) -> Result<()> {
    let mut command = project.cargo(Workspace::Main, "build");
    command.arg("--release");
    match selection {
        Selection::Start | Selection::Rest => command.args(["--package", "tilewright-server"]),
        Selection::Product => {
            let programs = ["tilewright-cli", "tilewright-cli-float", "tilewright-server"];
            command.args(programs.iter().flat_map(|name| ["--package", name]))
        }
        Selection::Tests => command.args(["--workspace", "--all-targets"]),
    };
    process::visible(&mut command)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
