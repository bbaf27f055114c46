//! Builds the parts into `dist/`, in the order of their needs: firmware, worker, page, JavaScript package,
//! server.
//!
//! ```text
//! dist/firmware/<board>.elf, manifest.json    dist/bin/tilewright-worker    dist/page/
//! dist/clock/<board>.elf                      what measures a board's core
//! dist/bring-up/<board>.elf                   what tests a new board
//! dist/js/                        the JavaScript package
//! target/release/tilewright                   the command line, with the server in it
//! ```

mod compressed;
mod files;
mod firmware;
mod js;
mod offline;
mod page;
mod paths;
mod rustc;

pub use firmware::programs;
pub use rustc::become_rustc;

use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;

use crate::lock::Lock;
use crate::process;
use crate::project::{Project, Workspace};
use crate::setup::{self, Need};
use crate::terminal;

/// A part that can be built alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The boards' firmware
    Firmware,
    /// The emulator's worker process
    Worker,
    /// The page (and the firmware, which it offers for download)
    Page,
    /// The JavaScript package
    Js,
    /// The command line, with the server in it
    Server,
}

/// How much of the workspace is built along with the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The command line only.
    Product,
    /// Every package with its tests. Cargo unites the features of all packages that are built
    /// together, so what is going to be tested is built so at once, not twice.
    Tests,
}

/// Builds everything, or one part.
///
/// # Errors
/// When a tool cannot be installed or a build fails.
pub fn build(project: &Project, only: Option<Part>, selection: Selection) -> Result<()> {
    let wants = |part: Part| only.is_none_or(|only| only == part);
    let mut needs = vec![Need::Rust];
    if wants(Part::Worker) {
        needs.push(Need::Worker);
    }
    if wants(Part::Page) {
        needs.push(Need::Trunk);
    }
    if wants(Part::Page) || wants(Part::Js) {
        needs.extend([Need::WasmOpt, Need::WasmBindgen]);
    }
    setup::ensure(project, &needs)?;

    let _lock = Lock::take(&project.dist(), "building")?;
    if wants(Part::Firmware) || wants(Part::Page) {
        timed("firmware", || firmware::build(project))?;
    }
    if wants(Part::Worker) {
        timed("worker", || worker(project))?;
    }
    if wants(Part::Page) {
        timed("page", || page::build(project))?;
    }
    if wants(Part::Js) {
        timed("JavaScript package", || js::build(project))?;
    }
    if wants(Part::Server) {
        timed("command line and server", || server(project, selection))?;
    }
    Ok(())
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
        Selection::Product => {
            command.args(["--package", "tilewright-cli", "--package", "tilewright-server"])
        }
        Selection::Tests => command.args(["--workspace", "--all-targets"]),
    };
    process::visible(&mut command)
}

fn timed(what: &str, build: impl FnOnce() -> Result<()>) -> Result<()> {
    terminal::note(&format!("building {what}"));
    let start = Instant::now();
    build()?;
    terminal::note(&format!("built {what} in {}", terminal::elapsed(start.elapsed())));
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
