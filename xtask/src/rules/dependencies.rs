//! Who may depend on whom. ARCHITECTURE.md gives the reasons; this table is the rule.
//!
//! Development dependencies are free, since they reach no product, but for one: `check` proves
//! what the planner claims, so it must not see the planner even in its tests.

use std::path::Path;

use anyhow::{Context, Result};

use crate::project::{Dependency, Package, Project, Workspace};
use crate::terminal;

/// Whom a package may depend on.
enum May {
    /// These of ours, and no other of ours.
    Only(&'static [&'static str]),
    /// These, and what serves people on a computer.
    Host(&'static [&'static str]),
    /// Any of ours.
    Anything,
}

/// What serves people on a computer: command line, server and page. `plan` and `model` are the
/// values that the others take and give.
const HOST: [&str; 15] = [
    "planner", "order", "allocate", "check", "explore", "papers", "search", "image", "formats",
    "zoo", "report", "desk", "board", "plan", "model",
];

/// One row a package, without the prefix `tilewright-`.
const TABLE: &[(&str, May)] = &[
    ("plan", May::Only(&[])),
    ("kernels", May::Only(&[])),
    ("seal", May::Only(&[])),
    ("model", May::Only(&[])),
    ("board", May::Only(&["plan"])),
    ("report", May::Only(&["plan", "board"])),
    ("desk", May::Only(&["board", "plan", "report"])),
    ("zoo", May::Only(&["model"])),
    ("search", May::Only(&["model", "zoo"])),
    ("tflite-schema", May::Only(&[])),
    ("formats", May::Only(&["model", "tflite-schema"])),
    ("float", May::Only(&["app", "formats", "report", "model"])),
    ("allocate", May::Only(&["plan"])),
    ("order", May::Only(&["allocate", "plan", "model"])),
    ("planner", May::Only(&["order", "allocate", "plan", "board", "model", "report"])),
    ("explore", May::Only(&["planner", "zoo", "model", "board", "plan", "report"])),
    (
        "papers",
        May::Only(&["explore", "planner", "order", "zoo", "model", "board", "plan", "report"]),
    ),
    ("check", May::Only(&["plan", "board", "model"])),
    ("image", May::Only(&["plan", "board", "model", "kernels", "seal"])),
    (
        "app",
        May::Only(&[
            "planner", "order", "check", "image", "formats", "zoo", "report", "board", "model",
            "plan", "seal", "protocol",
        ]),
    ),
    ("runtime", May::Only(&["plan", "kernels"])),
    ("library", May::Only(&["plan", "runtime"])),
    ("protocol", May::Only(&["report"])),
    ("cores", May::Only(&["board"])),
    ("devices", May::Only(&["board"])),
    ("cpu", May::Only(&[])),
    (
        "machine",
        May::Only(&["cpu", "protocol", "cores", "devices", "desk", "plan", "board", "report"]),
    ),
    ("worker", May::Only(&["machine", "protocol", "cores", "devices", "board", "report"])),
    ("runner", May::Only(&["app", "board", "protocol", "report"])),
    ("queue", May::Only(&[])),
    ("server", May::Host(&["app", "runner", "protocol", "queue"])),
    ("cli", May::Host(&["app", "runner", "protocol", "queue"])),
    ("cli-float", May::Host(&["cli", "float"])),
    ("frontend", May::Host(&["app", "float", "machine", "protocol"])),
    ("js", May::Host(&["app", "protocol", "runtime", "seal"])),
    ("bench", May::Anything),
    ("tests", May::Anything),
    ("fuzz", May::Anything),
    ("xtask", May::Only(&[])),
];

/// What a board crate may depend on: what boards share, which stands beside them, and `plan`, the
/// value that it hands to the runtime.
const FIRMWARE: &[&str] = &["board-support", "stm32", "runtime", "plan", "seal", "library"];
/// What a board crate's build script may depend on besides: it writes the linker's memory map.
const FIRMWARE_BUILD: &[&str] = &["board"];

/// The emulator library is GPL-2.0, so only the worker's workspace may know it.
const WORKER_ALONE: &str = "unicorn-engine";

/// Checks the workspaces and prints each violation; whether there is none.
pub fn check(project: &Project) -> bool {
    let mut violations = Vec::new();
    for workspace in Workspace::ALL {
        // A workspace that cannot be read does not hide the others' violations.
        let found = workspace_violations(project, workspace);
        violations.extend(found.unwrap_or_else(|error| vec![format!("error: {error:#}")]));
    }
    for violation in &violations {
        terminal::line(violation);
    }
    violations.is_empty()
}

fn workspace_violations(project: &Project, workspace: Workspace) -> Result<Vec<String>> {
    let packages = project.metadata(workspace)?.packages;
    let mut violations: Vec<_> =
        packages.iter().flat_map(|package| violations_of(package, workspace)).collect();
    if workspace != Workspace::Worker {
        let path = project.folder(workspace).join("Cargo.lock");
        violations.extend(licence_violation(&path)?);
    }
    Ok(violations)
}

fn violations_of(package: &Package, workspace: Workspace) -> Vec<String> {
    let name = short(&package.name);
    let row = TABLE.iter().find(|(known, _)| *known == name).map(|(_, may)| may);
    if row.is_none() && workspace != Workspace::Firmware {
        return vec![format!("{name}: has no row in the dependency rule's table")];
    }
    let mut violations = Vec::new();
    for dependency in &package.dependencies {
        let Some(other) = dependency.name.strip_prefix("tilewright-") else { continue };
        let allowed = match dependency.kind.as_deref() {
            Some("dev") => name != "check" || other != "planner",
            Some("build")
                if workspace == Workspace::Firmware && FIRMWARE_BUILD.contains(&other) =>
            {
                true
            }
            _ => match row {
                Some(May::Anything) => true,
                Some(May::Only(these)) => these.contains(&other),
                Some(May::Host(these)) => these.contains(&other) || HOST.contains(&other),
                None => FIRMWARE.contains(&other),
            },
        };
        if !allowed {
            let kind =
                dependency.kind.as_deref().map_or(String::new(), |kind| format!(" ({kind})"));
            violations.push(format!("{name}: must not depend on {other}{kind}"));
        }
        violations.extend(packing_violation(name, other, dependency));
    }
    violations
}

/// The kernels' packing code is for hosts: of the products only `image` may switch it on.
fn packing_violation(name: &str, other: &str, dependency: &Dependency) -> Option<String> {
    let packs = other == "kernels" && dependency.features.iter().any(|feature| feature == "pack");
    let is_free = dependency.kind.as_deref() == Some("dev")
        || ["image", "bench", "tests", "fuzz"].contains(&name);
    (packs && !is_free).then(|| format!("{name}: must not switch on the kernels' feature `pack`"))
}

fn licence_violation(lock: &Path) -> Result<Option<String>> {
    let text =
        std::fs::read_to_string(lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let known = text.lines().any(|line| {
        line.strip_prefix("name = \"").is_some_and(|name| name.starts_with(WORKER_ALONE))
    });
    Ok(known.then(|| {
        format!("{}: {WORKER_ALONE} is GPL-2.0; only the worker may link it", lock.display())
    }))
}

fn short(package: &str) -> &str {
    package.strip_prefix("tilewright-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn dependency(name: &str, kind: Option<&str>, features: &[&str]) -> Dependency {
        Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            features: features.iter().map(|&feature| feature.to_owned()).collect(),
        }
    }

    fn found(name: &str, dependencies: Vec<Dependency>) -> Vec<String> {
        let package = Package {
            name: name.to_owned(),
            dependencies,
            targets: vec![],
            features: BTreeMap::new(),
            metadata: None,
        };
        violations_of(&package, Workspace::Main)
    }

    #[test]
    fn what_the_table_allows_passes() {
        let ours = |name: &str| dependency(&format!("tilewright-{name}"), None, &[]);
        assert!(found("tilewright-check", vec![ours("plan"), ours("model")]).is_empty());
        assert!(found("tilewright-cli", vec![ours("runner"), ours("zoo")]).is_empty());
        assert!(found("tilewright-tests", vec![ours("planner"), ours("runtime")]).is_empty());
        assert!(found("tilewright-plan", vec![dependency("serde", None, &[])]).is_empty());
    }

    #[test]
    fn the_checker_cannot_reach_the_planner() {
        for kind in [None, Some("dev"), Some("build")] {
            let planner = dependency("tilewright-planner", kind, &[]);
            assert_eq!(found("tilewright-check", vec![planner]).len(), 1, "{kind:?}");
        }
        let planner = dependency("tilewright-planner", Some("dev"), &[]);
        assert!(found("tilewright-image", vec![planner]).is_empty());
    }

    #[test]
    fn a_build_script_may_depend_on_what_its_package_may() {
        let of = |name: &str| vec![dependency(&format!("tilewright-{name}"), Some("build"), &[])];
        assert!(found("tilewright-board", of("plan")).is_empty());
        assert_eq!(found("tilewright-board", of("model")).len(), 1);
    }

    #[test]
    fn what_the_table_does_not_name_fails() {
        let server = dependency("tilewright-server", None, &[]);
        assert_eq!(
            found("tilewright-frontend", vec![server]),
            ["frontend: must not depend on server"]
        );
        assert_eq!(found("tilewright-new", vec![]).len(), 1);
    }

    #[test]
    fn packing_is_for_images() {
        let packing = |kind| dependency("tilewright-kernels", kind, &["pack"]);
        assert!(found("tilewright-image", vec![packing(None)]).is_empty());
        assert!(found("tilewright-runtime", vec![packing(Some("dev"))]).is_empty());
        assert_eq!(found("tilewright-runtime", vec![packing(None)]).len(), 1);
    }

    #[test]
    fn boards_are_not_named_one_by_one() {
        let package = |dependencies| Package {
            name: "tilewright-a-board".to_owned(),
            dependencies,
            targets: vec![],
            features: BTreeMap::new(),
            metadata: None,
        };
        let good = package(vec![
            dependency("tilewright-runtime", None, &[]),
            dependency("tilewright-board", Some("build"), &[]),
        ]);
        assert!(violations_of(&good, Workspace::Firmware).is_empty());
        let bad = package(vec![dependency("tilewright-board", None, &[])]);
        assert_eq!(violations_of(&bad, Workspace::Firmware).len(), 1);
    }

    #[test]
    fn every_name_in_the_table_has_a_row() {
        let known = |name: &&str| TABLE.iter().any(|(row, _)| row == name);
        for (row, may) in TABLE {
            if let May::Only(names) | May::Host(names) = may {
                assert!(names.iter().all(known), "{row}");
            }
        }
        assert!(HOST.iter().all(known));
    }
}
