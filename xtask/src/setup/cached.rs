//! Programs that are compiled into the cache, and how their versions are told.

use std::path::PathBuf;

use anyhow::Result;

use crate::build::files;
use crate::process;
use crate::project::Project;
use crate::terminal;

/// Where the installations' logs lie.
pub fn logs(project: &Project) -> PathBuf {
    project.tools.join("logs")
}

/// Whether the cache or `PATH` has a program that answers `--version` with this version.
pub fn has_version(project: &Project, program: &str, version: &str) -> bool {
    let Some(path) = project.which(program) else { return false };
    let answer = process::output(project.command(path).arg("--version")).unwrap_or_default();
    version_in(&answer) == Some(version)
}

/// The version in an answer such as `cargo-deny 0.20.2` or `wasm-opt version 132 (version_132)`: the
/// first word that begins with a digit.
pub fn version_in(answer: &str) -> Option<&str> {
    answer
        .lines()
        .next()?
        .split_whitespace()
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Compiles a program from the package registry into the cache, with the dependencies that its authors
/// tested. An interrupted installation is
/// taken up where it stopped: what is compiled is kept until the program is installed.
///
/// # Errors
/// When cargo fails; the message shows the end of its log.
pub fn cargo_install(project: &Project, package: &str, version: &str) -> Result<()> {
    let scratch = project.tools.join("build").join(package);
    let mut command = project.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["install", "--force", "--locked", "--color=never", "--root"])
        .arg(&project.tools)
        .arg(package)
        .arg(format!("--version={version}"))
        .env("CARGO_TARGET_DIR", &scratch)
        // They run for a second and compile for minutes: link-time optimisation alone takes half.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        // The project's settings are not meant for tools.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(&project.tools);
    process::logged(package, &mut command, &logs(project).join(format!("{package}.log")))?;
    terminal::note(&format!("{package}: removing what it was compiled in"));
    files::remove_folder(&scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_answers() {
        assert_eq!(version_in("cargo-deny 0.20.2\n"), Some("0.20.2"));
        assert_eq!(version_in("wasm-opt version 132 (version_132)"), Some("132"));
        assert_eq!(version_in("v18.19.0\n"), Some("18.19.0"));
        assert_eq!(version_in("no idea"), None);
        assert_eq!(version_in(""), None);
    }
}
