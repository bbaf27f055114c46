//! This program as a wrapper around rustc, so that the firmware is the same wherever the project
//! lies.
//!
//! Cargo derives each crate's `-C metadata`, and from it follow symbol names and the order of
//! functions, from the package's path below its workspace. The boards' workspace uses packages
//! outside of its folder, for which cargo takes the absolute path. The wrapper puts in its place
//! what does not depend on the machine: the path below the project's root.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use sha2::{Digest, Sha256};

use super::hexadecimal;
use crate::project::Project;
use crate::terminal;

/// Set for the wrapper to the project's root; its presence makes this program the wrapper.
const ROOT: &str = "TILEWRIGHT_RUSTC_ROOT";
/// Tells cargo about the wrapper.
const WRAPPER: &str = "RUSTC_WRAPPER";

/// Makes a cargo command use this program as the wrapper.
pub fn wrap(command: &mut Command, project: &Project) {
    command.env(WRAPPER, &project.own_program).env(ROOT, &project.root);
}

/// If cargo has called this program as the wrapper, becomes rustc. Only returns otherwise, or if
/// rustc cannot start.
pub fn become_rustc() -> Option<ExitCode> {
    let root = std::env::var_os(ROOT)?;
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    if let Some(folder) = package.as_deref().map(Path::new)
        && let Ok(folder) = folder.strip_prefix(&root)
    {
        fix_metadata(&mut args, folder);
    }
    let (program, args) = args.split_first()?;
    let error = Command::new(program).args(args).exec();
    terminal::note(&format!("cannot start {}: {error}", program.display()));
    Some(ExitCode::FAILURE)
}

/// Replaces cargo's metadata by a digest of the package's folder and of what else tells two builds
/// of it apart: the crate's name and type, and its features.
fn fix_metadata(args: &mut [OsString], folder: &Path) {
    let mut hash = Sha256::new();
    hash.update(folder.as_os_str().as_encoded_bytes());
    for pair in args.windows(2) {
        if ["--crate-name", "--crate-type", "--cfg"].iter().any(|name| pair[0] == *name) {
            hash.update(b"\0");
            hash.update(pair[1].as_encoded_bytes());
        }
    }
    let digest = hexadecimal(&hash.finalize());
    for index in 1..args.len() {
        if args[index - 1] == "-C" && is_metadata(&args[index]) {
            args[index] = OsString::from(format!("metadata={}", &digest[..16]));
        }
    }
}

fn is_metadata(arg: &OsStr) -> bool {
    arg.to_str().is_some_and(|arg| arg.starts_with("metadata="))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(line: &str, folder: &str) -> Vec<String> {
        let mut args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        fix_metadata(&mut args, Path::new(folder));
        args.into_iter().map(|arg| arg.into_string().unwrap()).collect()
    }

    #[test]
    fn metadata_depends_on_the_package_alone() {
        let line = "rustc --crate-name plan --crate-type lib -C metadata=1 -C extra-filename=-1";
        let one = fixed(line, "core/plan");
        assert_eq!(one, fixed(&line.replace("=1", "=2").replace("-2", "-1"), "core/plan"));
        assert_ne!(one, fixed(line, "core/board"));
        assert_ne!(one, fixed(&format!("{line} --cfg feature"), "core/plan")[..one.len()]);
        assert!(one.contains(&"extra-filename=-1".to_owned()), "{one:?}");
        assert!(!one.contains(&"metadata=1".to_owned()), "{one:?}");
    }

    #[test]
    fn other_calls_are_left_alone() {
        assert_eq!(fixed("rustc -vV", "core/plan"), ["rustc", "-vV"]);
    }
}
