//! Installs what a command needs and does not find. A second run only looks for files and asks two
//! small programs for their version, which takes milliseconds.
//!
//! Tools live in the user's cache (`TILEWRIGHT_TOOLS`, else `tilewright/tools` in the cache
//! folder), so a clean clone finds them again. Each keeps the log of its installation there.
//!
//! | tool | from | needed for |
//! |---|---|---|
//! | Rust targets and components | rustup | everything |
//! | cargo-deny | crates.io | `ci` |
//! | wasm-opt | npm's `binaryen` | small WASM programs: all commands but `serve` |
//! | cmake, pkg-config, libclang | Debian | worker |
//! | Chromium and its driver | Debian | browser tests |
//! | a C compiler for Arm, cmake | Debian | tests of the C library |

mod arm_compiler;
pub mod browser;
mod cached;
mod cargo_deny;
mod rust;
mod system;
pub mod wasm_opt;
mod worker;

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::lock::Lock;
use crate::progress::Progress;
use crate::project::Project;
use crate::terminal;

/// Something that a command may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The targets and components of `rust-toolchain.toml`.
    Rust,
    /// wasm-opt, which makes WASM programs smaller.
    WasmOpt,
    /// cmake, pkg-config and libclang, which the worker's C parts need.
    Worker,
    /// Chromium and its driver.
    Browser,
    /// A C compiler for Arm and cmake, with which the C library's example is compiled.
    ArmCompiler,
    /// cargo-deny, which checks packages.
    CargoDeny,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Rust,
        Self::Worker,
        Self::Browser,
        Self::ArmCompiler,
        Self::WasmOpt,
        Self::CargoDeny,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Rust => "the Rust targets and components",
            Self::WasmOpt => "wasm-opt",
            Self::Worker => "the worker's build tools",
            Self::Browser => "Chromium and its driver",
            Self::ArmCompiler => "a C compiler for Arm",
            Self::CargoDeny => "cargo-deny",
        }
    }

    fn present(self, project: &Project) -> Result<bool> {
        match self {
            Self::Rust => rust::present(project),
            Self::WasmOpt => Ok(wasm_opt::present(project)),
            Self::Worker => Ok(worker::packages(project).is_empty()),
            Self::Browser => Ok(browser::find(project).is_some()),
            Self::ArmCompiler => Ok(arm_compiler::packages(project).is_empty()),
            Self::CargoDeny => Ok(cargo_deny::present(project)),
        }
    }

    /// The Debian packages that are missing for it.
    fn packages(self, project: &Project) -> Vec<&'static str> {
        match self {
            Self::Worker => worker::packages(project),
            Self::Browser => browser::packages(project),
            Self::ArmCompiler => arm_compiler::packages(project),
            Self::WasmOpt => wasm_opt::packages(project),
            Self::Rust | Self::CargoDeny => Vec::new(),
        }
    }

    fn install(self, project: &Project) -> Result<()> {
        match self {
            Self::Rust => rust::install(project),
            Self::WasmOpt => wasm_opt::install(project),
            Self::CargoDeny => cargo_deny::install(project),
            // Debian's packages are all there is to them.
            Self::Worker | Self::Browser | Self::ArmCompiler => Ok(()),
        }
    }
}

/// Makes sure that everything named is installed.
///
/// # Errors
/// When something cannot be installed. For Debian packages without the rights to install them, the
/// message is the exact command to type.
pub fn ensure(project: &Project, needs: &[Need]) -> Result<()> {
    if missing(project, needs)?.is_empty() {
        return Ok(());
    }
    let _lock = Lock::take(&project.tools, "installing tools")?;
    // Another run may have installed them meanwhile.
    let missing = missing(project, needs)?;
    if missing.is_empty() {
        return Ok(());
    }
    let start = Instant::now();
    let names: Vec<_> = missing.iter().map(|need| need.name()).collect();
    terminal::note(&format!(
        "not here yet: {}; installing (logs in {})",
        names.join(", "),
        cached::logs(project).display()
    ));
    let packages: Vec<_> = missing.iter().flat_map(|need| need.packages(project)).collect();
    system::install(project, &packages)?;
    let mut progress = Progress::of("setup", missing.len());
    for need in &missing {
        progress.step(need.name(), || need.install(project)).with_context(|| {
            format!(
                "{} could not be installed. What was installed before stays: if the network was \
                 the reason, run `cargo xtask setup` again once it is there",
                need.name()
            )
        })?;
        if !need.present(project)? {
            bail!(
                "{} cannot be found after its installation; the logs are in {}",
                need.name(),
                cached::logs(project).display()
            );
        }
    }
    terminal::note(&format!("tools are ready after {}", terminal::elapsed(start.elapsed())));
    Ok(())
}

fn missing(project: &Project, needs: &[Need]) -> Result<Vec<Need>> {
    let mut missing = Vec::new();
    for need in needs {
        if !need.present(project)? {
            missing.push(*need);
        }
    }
    Ok(missing)
}
