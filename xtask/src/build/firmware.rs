//! The boards' firmware: built once, the same bytes wherever the project lies, with a manifest of
//! checksums. Page, server and command line all package these files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::paths::Remapped;
use super::{files, hexadecimal, rustc};
use crate::process;
use crate::project::{Metadata, Package, Project, Workspace};
use crate::terminal;

/// The target of boards that name no other (Cortex-M4F and Cortex-M7F).
const TARGET: &str = "thumbv7em-none-eabihf";

/// Programs beside a board's firmware: how their names begin, and the folder of `dist` that they go to. One
/// measures the board's core, the other tests a new board.
const BESIDE: [(&str, &str); 2] =
    [("tilewright-clock-", "clock"), ("tilewright-bring-up-", "bring-up")];

/// The feature of a board's package with which its kernels are small, and what the board's id and the file's
/// name then end with, behind a hyphen.
const SMALL: &str = "small";

/// What small kernels are compiled for.
const SMALL_KERNELS: &str = "profile.release.package.tilewright-kernels.opt-level=\"z\"";

/// `dist/firmware/manifest.json`.
#[derive(Debug, Serialize)]
struct Manifest {
    /// Which plan images the firmware reads; see `core/plan`.
    abi: u32,
    boards: Vec<Entry>,
}

/// A board's program, which is a package of the same name.
///
/// A package for several boards has a feature for each, named as the board is, and builds one at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    name: String,
    /// The board's.
    board: String,
    /// Whether the board is a feature of the package.
    is_feature: bool,
    /// What it is compiled for.
    target: String,
    /// Whether there is a build with small kernels.
    has_small: bool,
    /// Which of [`BESIDE`] there are, by name and folder.
    beside: Vec<(String, &'static str)>,
}

/// One board's firmware.
#[derive(Debug, Serialize)]
struct Entry {
    board: String,
    file: String,
    size_bytes: u64,
    /// Lower-case hexadecimal digits.
    sha256: String,
}

/// Builds all boards, those that can with small kernels too, and copies them to `dist/firmware`, and the programs
/// beside them to folders of their own; firmware of boards that are gone is removed.
///
/// # Errors
/// When cargo fails, or a file cannot be written.
pub fn build(project: &Project) -> Result<()> {
    let boards = programs(project)?;
    let paths = Remapped::new(project, Workspace::Firmware)?;
    // One by one: cargo unites the features of what it builds together, and `embassy-stm32` is
    // for one microcontroller.
    let folder = project.dist().join("firmware");
    if boards.is_empty() {
        bail!("firmware/boards has no program: nothing to put into {}", folder.display());
    }
    let mut entries = Vec::new();
    let all = boards.len() + boards.iter().filter(|program| program.has_small).count();
    for program in &boards {
        let Program { name, board, target, has_small, beside, .. } = program;
        let tell = |done: usize, id: &str| {
            terminal::note(&format!("building firmware {} of {all}: {id}", done + 1));
        };
        tell(entries.len(), board);
        let built = project.target(Workspace::Firmware).join(target).join("release");
        let file = format!("{board}.elf");
        compile(project, program, false, &paths)?;
        files::copy_if_changed(&built.join(name), &folder.join(&file))?;
        for (name, folder) in beside {
            let folder = project.dist().join(folder);
            files::copy_if_changed(&built.join(name), &folder.join(&file))?;
            entry(board, &folder, file.clone(), &paths)?;
        }
        entries.push(entry(board, &folder, file, &paths)?);
        if *has_small {
            tell(entries.len(), &format!("{board}-{SMALL}"));
            // It has the same place among what cargo builds.
            compile(project, program, true, &paths)?;
            let (board, file) = (format!("{board}-{SMALL}"), format!("{board}-{SMALL}.elf"));
            files::copy_if_changed(&built.join(name), &folder.join(&file))?;
            entries.push(entry(&board, &folder, file, &paths)?);
        }
    }
    remove_others(&folder, &entries)?;
    let manifest = Manifest { abi: abi(project)?, boards: entries };
    let mut text = serde_json::to_vec_pretty(&manifest).context("the manifest is no JSON")?;
    text.push(b'\n');
    files::write_if_changed(&folder.join("manifest.json"), &text)
}

/// Compiles a board's firmware and the programs beside it, or the firmware with small kernels.
fn compile(project: &Project, program: &Program, is_small: bool, paths: &Remapped) -> Result<()> {
    let mut command = project.cargo(Workspace::Firmware, "build");
    command.args(program.arguments());
    settle(&mut command, project, &program.target, paths)?;
    if is_small {
        command.args(["--bin", &program.name, "--features", SMALL, "--config", SMALL_KERNELS]);
    }
    process::visible(&mut command)
}

/// Keeps this machine's paths out of what a cargo command builds for a target.
///
/// # Errors
/// When a path is no Unicode text.
pub fn settle(
    command: &mut Command,
    project: &Project,
    target: &str,
    paths: &Remapped,
) -> Result<()> {
    command.arg("--config").arg(rustflags(target, paths)?);
    // These would replace the flags above.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    rustc::wrap(command, project);
    Ok(())
}

impl Program {
    /// What cargo is told, so that it builds this program and those beside it.
    pub fn arguments(&self) -> Vec<&str> {
        let mut all = vec!["--release", "--target", &self.target, "--package", &self.name];
        if self.is_feature {
            all.extend(["--features", &self.board]);
        }
        all
    }
}

/// The boards' programs.
///
/// # Errors
/// When cargo cannot read the workspace, or a board's file cannot be read.
pub fn programs(project: &Project) -> Result<Vec<Program>> {
    Ok(boards(
        &project.metadata(Workspace::Firmware)?,
        &known_boards(&project.root.join("boards"))?,
    ))
}

/// Ids of boards, and whether their files say where small firmware ends.
///
/// # Errors
/// When a file cannot be read.
fn known_boards(folder: &Path) -> Result<BTreeMap<String, bool>> {
    let listing =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = listing.flatten().map(|found| found.path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let has_small = text.lines().any(|line| line.starts_with("small_flash_bytes"));
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((id, has_small))
    };
    files.map(read).collect()
}

/// The programs of the workspace for boards with these files, sorted. A package that is not for most boards' target
/// says so under `package.metadata.firmware`.
fn boards(metadata: &Metadata, files: &BTreeMap<String, bool>) -> Vec<Program> {
    let compiled_for = |package: &Package| {
        let said = package.metadata.as_ref().and_then(|all| all.firmware.as_ref());
        said.map_or_else(|| TARGET.to_owned(), |firmware| firmware.target.clone())
    };
    let programs = |package: &Package| -> Vec<String> {
        let targets = package.targets.iter();
        let programs = targets.filter(|target| target.kind.iter().any(|kind| kind == "bin"));
        programs.map(|program| program.name.clone()).collect()
    };
    let is_beside = |name: &String| BESIDE.iter().any(|(prefix, _)| name.starts_with(prefix));
    let mut boards: Vec<_> = metadata
        .packages
        .iter()
        .flat_map(|package| {
            let all = programs(package);
            let board = all.clone().into_iter().filter(|name| !is_beside(name));
            board.map(move |name| (package, name, all.clone()))
        })
        .flat_map(|(package, name, all)| {
            let own = name.strip_prefix("tilewright-").unwrap_or(&name).to_owned();
            let beside = BESIDE.iter().filter_map(|(prefix, folder)| {
                let name = format!("{prefix}{own}");
                all.contains(&name).then_some((name, *folder))
            });
            let (beside, target) = (beside.collect::<Vec<_>>(), compiled_for(package));
            let features = package.features.keys().filter(|id| files.contains_key(*id)).cloned();
            let features: Vec<String> = features.collect();
            let is_feature = !features.is_empty();
            let boards = if is_feature { features } else { vec![own] };
            let small = package.features.contains_key(SMALL);
            boards.into_iter().map(move |board| Program {
                name: name.clone(),
                has_small: small && files.get(&board) == Some(&true),
                is_feature,
                target: target.clone(),
                beside: beside.clone(),
                board,
            })
        })
        .collect();
    boards.sort();
    boards
}

/// Describes a board's firmware.
///
/// # Errors
/// When it cannot be read, or one of this machine's paths got into it.
fn entry(board: &str, folder: &Path, file: String, paths: &Remapped) -> Result<Entry> {
    let path = folder.join(&file);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if let Some(leak) = paths.leak(&bytes) {
        bail!("{file} contains {}: it would differ between machines", leak.display());
    }
    Ok(Entry {
        board: board.to_owned(),
        file,
        size_bytes: bytes.len() as u64,
        sha256: hexadecimal(&Sha256::digest(&bytes)),
    })
}

fn remove_others(folder: &Path, entries: &[Entry]) -> Result<()> {
    let listing =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for found in listing.flatten() {
        let name = found.file_name().to_string_lossy().into_owned();
        if name.ends_with(".elf") && entries.iter().all(|entry| entry.file != name) {
            fs::remove_file(found.path()).with_context(|| format!("cannot remove {name}"))?;
        }
    }
    Ok(())
}

/// The `--config` value that adds the remappings to the flags which the workspace sets itself.
fn rustflags(target: &str, paths: &Remapped) -> Result<String> {
    let flags: Vec<_> = paths.flags()?.into_iter().map(toml::Value::from).collect();
    // Cargo reads dots in a target's name as those between keys, so that it is not quoted.
    Ok(format!("target.{target}.rustflags={}", toml::Value::from(flags)))
}

/// `FIRMWARE_ABI` of `core/plan`: read as text, since this crate depends on none of the others.
fn abi(project: &Project) -> Result<u32> {
    let path = project.root.join("core/plan/src/image.rs");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    abi_in(&text).with_context(|| format!("{} has no FIRMWARE_ABI: u32", path.display()))
}

fn abi_in(text: &str) -> Option<u32> {
    text.lines().find_map(|line| {
        line.trim().strip_prefix("pub const FIRMWARE_ABI: u32 = ")?.strip_suffix(';')?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Custom, ForFirmware, Target};

    #[test]
    fn boards_are_the_programs_or_their_features() {
        let target = |name: &str, kind: &str| Target { name: name.into(), kind: vec![kind.into()] };
        let package = |targets, features: &[&str], metadata| Package {
            name: "any".into(),
            dependencies: vec![],
            targets,
            features: features.iter().map(|name| ((*name).to_owned(), vec![])).collect(),
            metadata,
        };
        let other = Custom { firmware: Some(ForFirmware { target: "other".into() }) };
        let many = ["tilewright-z", "tilewright-clock-z"].map(|name| target(name, "bin"));
        let metadata = Metadata {
            packages: vec![
                package(many.into(), &["z-1", "z-2", "small", "family"], None),
                package(vec![target("shared", "lib"), target("a-board", "bin")], &[], Some(other)),
            ],
        };
        let files = [("z-1", false), ("z-2", true), ("a-board", true)];
        let files = files.map(|(id, has_small)| (id.to_owned(), has_small)).into();
        let found = boards(&metadata, &files);
        let names: Vec<_> = found.iter().map(|it| (it.board.as_str(), it.has_small)).collect();
        assert_eq!(names, [("a-board", false), ("z-1", false), ("z-2", true)]);
        let beside = ("tilewright-clock-z".to_owned(), "clock");
        assert!(found[0].beside.is_empty() && found[1].beside == [beside]);
        let told = ["--release", "--target", "other", "--package", "a-board"];
        assert_eq!(found[0].arguments(), told);
        assert_eq!(
            found[2].arguments()[2..],
            [TARGET, "--package", "tilewright-z", "--features", "z-2"]
        );
    }

    #[test]
    fn the_abi_is_read_from_the_source() {
        assert_eq!(abi_in("/// ABI.\npub const FIRMWARE_ABI: u32 = 7;\n"), Some(7));
        assert_eq!(abi_in("if abi != FIRMWARE_ABI {"), None);
    }

    #[test]
    fn flags_survive_spaces_and_quotes() {
        let paths = Remapped::of(&[("/a b/it's/\"deep\"", "deep"), ("/a b", "top")]);
        let value: toml::Table = toml::from_str(&rustflags(TARGET, &paths).unwrap()).unwrap();
        let flags = value["target"][TARGET]["rustflags"].as_array().unwrap();
        assert_eq!(flags[0].as_str(), Some("--remap-path-prefix=/a b=top"));
        assert_eq!(flags[1].as_str(), Some("--remap-path-prefix=/a b/it's/\"deep\"=deep"));
    }

    #[test]
    fn a_path_of_this_machine_is_refused() {
        let folder = std::env::temp_dir().join(format!("xtask entry {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("b.elf"), b"\x7fELF\0/a b/src/main.rs\0").unwrap();
        let entry = |path| entry("b", &folder, "b.elf".to_owned(), &Remapped::of(&[(path, "x")]));
        let (good, bad) = (entry("/a c"), entry("/a b"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(good.unwrap().size_bytes, 22);
        assert!(bad.unwrap_err().to_string().contains("contains /a b"));
    }

    #[test]
    fn checksums_are_hexadecimal() {
        let digest = hexadecimal(&Sha256::digest(b"abc"));
        assert!(digest.starts_with("ba7816bf8f01cfea") && digest.len() == 64, "{digest}");
    }
}
