//! Builds the C library for each core and copies it to `dist/library`, for `tilewright image --library`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::paths::Remapped;
use super::{files, firmware};
use crate::process;
use crate::project::{Project, Workspace};
use crate::terminal;

/// The package that makes the archive.
const PACKAGE: &str = "tilewright-static-library";
/// The archive that cargo makes.
const ARCHIVE: &str = "libtilewright.a";

/// A build of the library.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The core, as `core/board` names it.
    core: &'static str,
    /// What it is compiled for.
    target: &'static str,
    /// The package's feature, if one is for the core.
    feature: Option<&'static str>,
}

/// All of them.
pub const ALL: [Library; 3] = [
    Library { core: "cortex-m4", target: "thumbv7em-none-eabihf", feature: None },
    Library { core: "cortex-m7", target: "thumbv7em-none-eabihf", feature: Some("dual-issue") },
    Library { core: "cortex-m33", target: "thumbv8m.main-none-eabihf", feature: None },
];

impl Library {
    /// What cargo is told, so that it builds this one.
    pub fn arguments(&self) -> Vec<&'static str> {
        let mut all = vec!["--release", "--target", self.target, "--package", PACKAGE];
        all.extend(self.feature.into_iter().flat_map(|feature| ["--features", feature]));
        all
    }
}

/// Builds all.
///
/// # Errors
/// When cargo fails, or a file cannot be written.
pub fn build(project: &Project) -> Result<()> {
    let paths = Remapped::new(project, Workspace::Firmware)?;
    let folder = project.dist().join("library");
    for library in &ALL {
        let Library { core, target, .. } = library;
        terminal::note(&format!("building the C library for the {core}"));
        let mut command = project.cargo(Workspace::Firmware, "build");
        command.args(library.arguments());
        firmware::settle(&mut command, project, target, &paths)?;
        process::visible(&mut command)?;
        // Both cores of one target have this place.
        let built = project.target(Workspace::Firmware).join(target).join("release").join(ARCHIVE);
        let small = built.with_extension("small.a");
        strip(project, &built, &small)?;
        let bytes = fs::read(&small).with_context(|| format!("cannot read {}", small.display()))?;
        if let Some(leak) = paths.leak(&bytes) {
            bail!("{ARCHIVE} contains {}: it would differ between machines", leak.display());
        }
        files::copy_if_changed(&small, &folder.join(format!("libtilewright-{core}.a")))?;
    }
    Ok(())
}

/// Leaves out what no linker of C takes: the compiler's own form of its builtins beside their code, and what debuggers
/// are told of them. They are four fifths of the archive.
fn strip(project: &Project, from: &Path, to: &Path) -> Result<()> {
    let sysroot = process::output(project.command("rustc").args(["--print", "sysroot"]))?;
    let version = process::output(project.command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not say which computer it is for")?;
    let libraries = PathBuf::from(sysroot.trim()).join("lib");
    let objcopy = libraries.join("rustlib").join(host).join("bin/rust-objcopy");
    let mut command = project.command(&objcopy);
    // Its own library lies where rustc's does.
    command.env("LD_LIBRARY_PATH", &libraries);
    command.args(["--strip-debug", "--strip-unneeded", "--remove-section=.llvmbc"]);
    command.arg("--remove-section=.llvmcmd").arg(from).arg(to);
    process::output(&mut command)
        .map(|_| ())
        .with_context(|| format!("{} comes with Rust's toolchain", objcopy.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_has_one_library() {
        let mut cores: Vec<_> = ALL.iter().map(|library| library.core).collect();
        cores.dedup();
        assert_eq!(cores.len(), ALL.len());
        let dual = ALL.iter().find(|library| library.core == "cortex-m7").unwrap();
        assert_eq!(dual.arguments()[4..], [PACKAGE, "--features", "dual-issue"]);
    }
}
