//! This machine's folders, kept out of what is built: products are the same wherever the project
//! lies, and tell nobody where that was.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;
use crate::project::{Project, Workspace};

/// Folders, and the names that stand for them in a product.
#[derive(Debug)]
pub struct Remapped(Vec<(PathBuf, String)>);

impl Remapped {
    /// The project's, cargo's and rustc's folders.
    ///
    /// # Errors
    /// When rustc does not tell its own.
    pub fn new(project: &Project, workspace: Workspace) -> Result<Self> {
        let mut paths = vec![
            (project.root.clone(), "tilewright".to_owned()),
            // What build scripts write; the folder may be anywhere.
            (project.target(workspace), "target".to_owned()),
        ];
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        if let Some(cargo) = cargo_home.or_else(|| home.map(|home| home.join(".cargo"))) {
            let sources = cargo.join("registry/src");
            // Each registry has a folder whose name depends on its address: left out as well.
            for registry in fs::read_dir(&sources).into_iter().flatten().flatten() {
                paths.push((registry.path(), "crates".to_owned()));
            }
            paths.push((cargo, "cargo".to_owned()));
        }
        let sysroot = process::output(project.command("rustc").args(["--print", "sysroot"]))?;
        paths.push((PathBuf::from(sysroot.trim()), "rust".to_owned()));
        Ok(Self::sorted(paths))
    }

    #[cfg(test)]
    pub fn of(paths: &[(&str, &str)]) -> Self {
        Self::sorted(paths.iter().map(|(path, name)| (path.into(), (*name).to_owned())).collect())
    }

    /// rustc takes the last that fits, so the most particular come last.
    fn sorted(mut paths: Vec<(PathBuf, String)>) -> Self {
        paths.sort_by_key(|(path, _)| path.components().count());
        Self(paths)
    }

    /// The flags for rustc.
    ///
    /// # Errors
    /// When a path is no Unicode text.
    pub fn flags(&self) -> Result<Vec<String>> {
        let flag = |(path, name): &(PathBuf, String)| {
            let path = path.to_str().with_context(|| {
                format!("{} is no Unicode text: nothing can be built there", path.display())
            })?;
            Ok(format!("--remap-path-prefix={path}={name}"))
        };
        self.0.iter().map(flag).collect()
    }

    /// The first of the folders whose path is among the bytes.
    pub fn leak(&self, bytes: &[u8]) -> Option<&Path> {
        self.0.iter().map(|(path, _)| path.as_path()).find(|path| {
            let path = path.as_os_str().as_encoded_bytes();
            !path.is_empty() && bytes.windows(path.len()).any(|part| part == path)
        })
    }
}
