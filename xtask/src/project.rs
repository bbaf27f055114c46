//! Where the project's parts lie, and how cargo is called for each of its workspaces.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The workspaces. Those of the worker (another licence, C code), of the firmware (another target)
/// and of fuzzing (another compiler) stand apart, each with its own lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// The virtual workspace at the root.
    Main,
    /// `emulator/worker`.
    Worker,
    /// `firmware/boards`.
    Firmware,
    /// `fuzz`: only checked here, since it needs a nightly compiler.
    Fuzz,
}

impl Workspace {
    /// Every workspace, in the order in which they are checked.
    pub const ALL: [Self; 4] = [Self::Main, Self::Worker, Self::Firmware, Self::Fuzz];

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "workspace",
            Self::Worker => "worker",
            Self::Firmware => "firmware",
            Self::Fuzz => "fuzz",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Worker => "emulator/worker",
            Self::Firmware => "firmware/boards",
            Self::Fuzz => "fuzz",
        }
    }
}

/// The project's root and the places that follow from it.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder that holds the root `Cargo.toml`; absolute.
    pub root: PathBuf,
    /// Absolute value of `CARGO_TARGET_DIR`, if the user has set it.
    shared_target: Option<PathBuf>,
    /// `PATH` with the tools' cache in front.
    path: OsString,
    /// The tools' cache; see [`crate::setup`].
    pub tools: PathBuf,
    /// This program's file; asked for at the start, since a build may replace it.
    pub own_program: PathBuf,
}

impl Project {
    /// Finds the project from the running command's own manifest, else from the current folder
    /// upwards.
    ///
    /// # Errors
    /// When no folder above holds the project, or the user's home is unknown and no cache named.
    pub fn find() -> Result<Self> {
        let here = std::env::current_dir().context("the current folder is gone")?;
        let start = std::env::var_os("CARGO_MANIFEST_DIR").map_or(here.clone(), PathBuf::from);
        let Some(root) = start.ancestors().chain(here.ancestors()).find(|folder| is_root(folder))
        else {
            bail!("no Tilewright project in {} or above", here.display());
        };
        let tools = tools_folder(&here, |name| std::env::var_os(name))?;
        let mut paths = vec![tools.join("bin")];
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(&paths).with_context(|| {
            format!("the tools' folder {} cannot be part of PATH", tools.display())
        })?;
        Ok(Self {
            root: root.to_owned(),
            shared_target: std::env::var_os("CARGO_TARGET_DIR")
                .filter(|value| !value.is_empty())
                .map(|value| here.join(value)),
            path,
            tools,
            own_program: std::env::current_exe().context("this program's file is unknown")?,
        })
    }

    /// A project at some folder, without tools.
    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            shared_target: None,
            path: std::env::var_os("PATH").unwrap_or_default(),
            tools: root.join("tools"),
            own_program: PathBuf::new(),
        }
    }

    /// The root folder of a workspace.
    pub fn folder(&self, workspace: Workspace) -> PathBuf {
        self.root.join(workspace.folder())
    }

    /// Where finished products go.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// Where cargo builds a workspace. A target folder shared by the user is divided, since the
    /// workspaces' lock files differ.
    pub fn target(&self, workspace: Workspace) -> PathBuf {
        match (&self.shared_target, workspace) {
            (Some(shared), Workspace::Main) => shared.clone(),
            (Some(shared), other) => shared.join(other.name()),
            (None, workspace) => self.folder(workspace).join("target"),
        }
    }

    /// The command-line program, once built.
    pub fn program(&self) -> PathBuf {
        self.target(Workspace::Main).join("release/tilewright")
    }

    /// The server's program, once built.
    pub fn server(&self) -> PathBuf {
        self.target(Workspace::Main).join("release/tilewright-server")
    }

    /// A command in the root folder, with the cached tools first on its `PATH`, the products' place
    /// in `TILEWRIGHT_DIST`, and without what cargo tells this program about its own package.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("PATH", &self.path);
        command.env("TILEWRIGHT_DIST", self.dist());
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// `cargo <verb>` in a workspace's folder, so that its own `.cargo/config.toml` counts.
    pub fn cargo(&self, workspace: Workspace, verb: &str) -> Command {
        let mut command =
            self.command(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        let folder = self.folder(workspace);
        command.arg(verb);
        if verb != "fmt" {
            // Named, since cargo would take the root's manifest for a workspace that has none.
            // (`cargo fmt` knows no virtual workspaces by name.)
            command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
        }
        command.current_dir(folder).env("CARGO_TARGET_DIR", self.target(workspace));
        command
    }

    /// What cargo says about a workspace's own packages.
    ///
    /// # Errors
    /// When cargo cannot read the workspace; its own words are part of the message.
    pub fn metadata(&self, workspace: Workspace) -> Result<Metadata> {
        let mut command = self.cargo(workspace, "metadata");
        command.args(["--no-deps", "--format-version=1", "--quiet"]);
        let text = crate::process::output(&mut command)?;
        serde_json::from_str(&text)
            .with_context(|| format!("cargo metadata of the {} is unreadable", workspace.name()))
    }

    /// Searches the cache's `bin`, then `PATH`.
    pub fn which(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|dir| dir.join(program)).find(|p| is_executable(p))
    }
}

/// The part of `cargo metadata` that is used here.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// The workspace's own packages.
    pub packages: Vec<Package>,
}

/// One package of a workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name, `tilewright-<folder>`.
    pub name: String,
    /// Its declared dependencies.
    pub dependencies: Vec<Dependency>,
    /// Its libraries, programs, tests.
    pub targets: Vec<Target>,
    #[serde(default)]
    pub features: BTreeMap<String, Vec<String>>,
    /// What its manifest says for other programs than cargo.
    #[serde(default)]
    pub metadata: Option<Custom>,
}

/// `package.metadata` of a manifest.
#[derive(Debug, Deserialize)]
pub struct Custom {
    /// For a board's firmware.
    pub firmware: Option<ForFirmware>,
}

/// `package.metadata.firmware` of a manifest.
#[derive(Debug, Deserialize)]
pub struct ForFirmware {
    /// What the board's programs are compiled for.
    pub target: String,
}

/// One declared dependency.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The package depended on.
    pub name: String,
    /// `None`, `"dev"` or `"build"`.
    pub kind: Option<String>,
    /// The features asked for.
    pub features: Vec<String>,
}

/// One thing that cargo builds from a package.
#[derive(Debug, Deserialize)]
pub struct Target {
    /// The target's name.
    pub name: String,
    /// `lib`, `bin`, `test`, ...
    pub kind: Vec<String>,
}

/// Whether a path names a file that somebody may execute.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn is_root(folder: &Path) -> bool {
    folder.join("xtask/Cargo.toml").is_file() && folder.join("Cargo.toml").is_file()
}

/// `TILEWRIGHT_TOOLS`, else `tilewright/tools` in the user's cache.
fn tools_folder(here: &Path, var: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(|v| here.join(v));
    set("TILEWRIGHT_TOOLS")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("tilewright/tools")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/tilewright/tools")))
        .context("HOME is not set: name a folder for the tools in TILEWRIGHT_TOOLS")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(vars: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| {
            vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        tools_folder(Path::new("/here"), find).ok()
    }

    #[test]
    fn the_tools_folder_follows_the_usual_variables() {
        let home = ("HOME", "/h");
        assert_eq!(folder(&[home]), Some("/h/.cache/tilewright/tools".into()));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "/c"), home]), Some("/c/tilewright/tools".into()));
        assert_eq!(folder(&[("TILEWRIGHT_TOOLS", "t"), home]), Some("/here/t".into()));
        assert_eq!(folder(&[("XDG_CACHE_HOME", ""), home]), folder(&[home]));
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn a_shared_target_folder_is_divided() {
        let alone = Project::at(Path::new("/p q"));
        let project = Project { shared_target: Some("/t".into()), ..alone.clone() };
        assert_eq!(project.program(), Path::new("/t/release/tilewright"));
        assert_eq!(project.target(Workspace::Worker), Path::new("/t/worker"));
        assert_eq!(alone.target(Workspace::Firmware), Path::new("/p q/firmware/boards/target"));
    }
}
