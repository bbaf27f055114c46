//! Targets and components of `rust-toolchain.toml`. rustup installs them with the toolchain; they
//! are missing when the toolchain was there before, or when automatic installation is off.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::cached::logs;
use crate::process;
use crate::project::Project;

#[derive(Debug, Deserialize)]
struct File {
    toolchain: Toolchain,
}

/// The part of `rust-toolchain.toml` that is used here.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Toolchain {
    #[serde(default)]
    components: Vec<String>,
    #[serde(default)]
    targets: Vec<String>,
}

impl Toolchain {
    fn read(root: &Path) -> Result<Self> {
        let path = root.join("rust-toolchain.toml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is unreadable", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str::<File>(text)?.toolchain)
    }

    /// What of it a toolchain lacks: targets, then components.
    fn missing(&self, sysroot: &Path) -> (Vec<&str>, Vec<&str>) {
        let targets = self
            .targets
            .iter()
            .filter(|target| !sysroot.join("lib/rustlib").join(target).join("lib").is_dir())
            .map(String::as_str)
            .collect();
        let components = self
            .components
            .iter()
            .filter(|name| !sysroot.join("bin").join(program(name)).is_file())
            .map(String::as_str)
            .collect();
        (targets, components)
    }
}

/// The program that a component brings.
fn program(component: &str) -> String {
    match component {
        "clippy" => "cargo-clippy".to_owned(),
        other => other.to_owned(),
    }
}

/// Whether the toolchain has all that the project names.
///
/// # Errors
/// When `rust-toolchain.toml` is unreadable or rustc does not answer.
pub fn present(project: &Project) -> Result<bool> {
    let toolchain = Toolchain::read(&project.root)?;
    let (targets, components) = toolchain.missing(Path::new(&sysroot(project)?));
    Ok(targets.is_empty() && components.is_empty())
}

/// Adds what is missing with rustup.
///
/// # Errors
/// When there is no rustup, or it fails.
pub fn install(project: &Project) -> Result<()> {
    let toolchain = Toolchain::read(&project.root)?;
    let sysroot = sysroot(project)?;
    let (targets, components) = toolchain.missing(Path::new(&sysroot));
    if project.which("rustup").is_none() {
        bail!(
            "this Rust toolchain lacks {}, and there is no rustup to add it: install Rust from \
             https://rustup.rs",
            [targets, components].concat().join(", ")
        );
    }
    for (what, names) in [("target", targets), ("component", components)] {
        if !names.is_empty() {
            let mut command = project.command("rustup");
            command.args([what, "add"]).args(&names);
            let log = logs(project).join(format!("rustup-{what}.log"));
            process::logged(&format!("Rust {what}s"), &mut command, &log)?;
        }
    }
    Ok(())
}

fn sysroot(project: &Project) -> Result<String> {
    let text = process::output(project.command("rustc").args(["--print", "sysroot"]))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_lacks_what_is_not_in_its_folder() {
        let toolchain = Toolchain::parse(
            "[toolchain]\nchannel = \"1.95.0\"\ncomponents = [\"rustfmt\", \"clippy\"]\n\
             targets = [\"a-b\", \"c-d\"]\nprofile = \"minimal\"\n",
        )
        .unwrap();
        let root = std::env::temp_dir().join(format!("xtask sysroot {}", std::process::id()));
        std::fs::create_dir_all(root.join("lib/rustlib/c-d/lib")).unwrap();
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/cargo-clippy"), "").unwrap();
        let missing = toolchain.missing(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(missing, (vec!["a-b"], vec!["rustfmt"]));
    }

    #[test]
    fn lists_may_be_absent() {
        let toolchain = Toolchain::parse("[toolchain]\nchannel = \"stable\"").unwrap();
        assert_eq!(toolchain.missing(Path::new("/nowhere")), (vec![], vec![]));
        assert!(Toolchain::parse("nonsense").is_err());
    }
}
