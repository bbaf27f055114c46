//! wasm-opt, from npm's `binaryen`: Debian's is too old for what rustc emits.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::cached;
use crate::build::files;
use crate::process;
use crate::project::Project;

/// The release that the programs' sizes are measured with.
pub const RELEASE: &str = "132";

/// Whether the right release is there, and Node to run it. The cache's is known by its folder, since
/// asking it takes a third of a second.
pub fn present(project: &Project) -> bool {
    let cached = project.tools.join("bin/wasm-opt").canonicalize();
    project.which("node").is_some()
        && match (cached, folder(project).canonicalize()) {
            (Ok(program), Ok(folder)) if program.starts_with(&folder) => true,
            _ => cached::has_version(project, "wasm-opt", RELEASE),
        }
}

/// Node, which runs wasm-opt, and npm, unless they are here. (Node from elsewhere than Debian brings
/// its own npm, and cannot be installed beside Debian's.)
pub fn packages(project: &Project) -> Vec<&'static str> {
    [("node", "nodejs"), ("npm", "npm")]
        .into_iter()
        .filter(|(program, _)| project.which(program).is_none())
        .map(|(_, package)| package)
        .collect()
}

/// Fetches it with npm into the cache.
///
/// # Errors
/// When npm fails, or its wasm-opt does not run.
pub fn install(project: &Project) -> Result<()> {
    let folder = folder(project);
    let partial = folder.with_extension("partial");
    files::remove_folder(&partial)?;
    files::remove_folder(&folder)?;
    std::fs::create_dir_all(&partial)
        .with_context(|| format!("cannot create {}", partial.display()))?;
    let mut command = project.command("npm");
    command
        .args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"])
        // Without a network npm would try for minutes.
        .args([
            "--prefer-offline",
            "--fetch-retries=1",
            "--fetch-retry-mintimeout=2000",
            "--prefix",
        ])
        .arg(&partial)
        .arg(format!("binaryen@{RELEASE}.0.0"))
        .current_dir(&partial);
    process::logged("wasm-opt", &mut command, &cached::logs(project).join("wasm-opt.log"))?;
    let program = "node_modules/.bin/wasm-opt";
    process::output(project.command(partial.join(program)).arg("--version"))
        .context("wasm-opt does not run: it needs Node 18 or newer")?;
    std::fs::rename(&partial, &folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;

    let bin = project.tools.join("bin");
    std::fs::create_dir_all(&bin).with_context(|| format!("cannot create {}", bin.display()))?;
    let link = bin.join("wasm-opt");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(folder.join(program), &link)
        .with_context(|| format!("cannot create {}", link.display()))
}

fn folder(project: &Project) -> PathBuf {
    project.tools.join(format!("binaryen-{RELEASE}"))
}
