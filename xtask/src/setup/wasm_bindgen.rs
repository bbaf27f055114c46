//! wasm-bindgen's program. Its version must be exactly that of the library which the page links,
//! so it is read from the lock file.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::cached;
use crate::project::Project;

/// Whether the right version is there.
///
/// # Errors
/// When the lock file does not tell which version is right.
pub fn present(project: &Project) -> Result<bool> {
    Ok(cached::has_version(project, "wasm-bindgen", &version(project)?))
}

/// Compiles it into the cache. Its package's own lock file lags behind the library, so cargo
/// resolves its dependencies afresh.
///
/// # Errors
/// When cargo fails.
pub fn install(project: &Project) -> Result<()> {
    cached::cargo_install(project, "wasm-bindgen-cli", &version(project)?, false)
}

fn version(project: &Project) -> Result<String> {
    let path = project.root.join("Cargo.lock");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    locked_version(&text, "wasm-bindgen").with_context(|| path.display().to_string())
}

#[derive(Deserialize)]
struct LockFile {
    #[serde(default, rename = "package")]
    packages: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
}

/// The version of a package in the text of a lock file.
///
/// # Errors
/// When the text is no lock file, or names the package never or in several versions.
pub fn locked_version(text: &str, package: &str) -> Result<String> {
    let lock: LockFile = toml::from_str(text).context("this is no lock file")?;
    let mut found = lock.packages.into_iter().filter(|entry| entry.name == package);
    match (found.next(), found.next()) {
        (Some(entry), None) => Ok(entry.version),
        (None, _) => bail!("{package} is not among the locked packages: does the page use it?"),
        (Some(one), Some(two)) => {
            bail!("{package} is locked in versions {} and {}", one.version, two.version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\
        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n\
        [[package]]\nname = \"twice\"\nversion = \"1.0.0\"\n\
        [[package]]\nname = \"twice\"\nversion = \"2.0.0\"\n";

    #[test]
    fn the_locked_version_is_found() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen").unwrap(), "0.2.130");
    }

    #[test]
    fn none_and_two_are_errors() {
        let none = locked_version(LOCK, "absent").unwrap_err().to_string();
        assert!(none.contains("absent is not among"), "{none}");
        let two = locked_version(LOCK, "twice").unwrap_err().to_string();
        assert!(two.contains("1.0.0 and 2.0.0"), "{two}");
        assert!(locked_version("<html>", "twice").is_err());
        assert!(locked_version("", "twice").is_err());
    }
}
