//! What other people's packages may be: their licences, where they come from, in how many versions
//! they are there, and whether somebody has found a fault in them. `deny.toml` says what is allowed,
//! `emulator/worker/deny.toml` for the worker, whose licence is another.

use anyhow::Result;

use crate::process;
use crate::project::{Project, Workspace};
use crate::steps::Steps;
use crate::summary::Summary;
use crate::terminal;

/// The workspaces that make products. The fuzzers are given to nobody.
const SHIPPED: [Workspace; 3] = [Workspace::Main, Workspace::Worker, Workspace::Firmware];

/// Adds one step for each workspace, and one for known faults.
pub fn check(project: &Project, steps: &mut Steps) {
    for workspace in SHIPPED {
        steps.check(&format!("packages, {}", workspace.name()), || {
            passes(project, workspace, &["licenses", "bans", "sources"])
        });
    }
    steps.tests("known faults of packages", || known_faults(project));
}

fn passes(project: &Project, workspace: Workspace, checks: &[&str]) -> Result<bool> {
    let mut command = project.cargo(workspace, "deny");
    let own = project.folder(workspace).join("deny.toml");
    let rules = if own.is_file() { own } else { project.root.join("deny.toml") };
    command.arg("--locked").arg("--config").arg(rules);
    // Workspaces with the same rules do not all have the packages that these name.
    command.args(["check", "--hide-inclusion-graph", "-A=unmatched-skip", "-A=unnecessary-skip"]);
    process::succeeds(command.args(checks))
}

/// Looks packages up in RustSec's database, a git repository. Where that is out of reach, nothing is
/// checked, and that is said.
fn known_faults(project: &Project) -> Result<Summary> {
    let mut fetch = project.cargo(Workspace::Main, "deny");
    if let Err(error) = process::output(fetch.args(["fetch", "db"])) {
        let text = format!("{error:#}");
        let why = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        terminal::line(&format!(
            "NOT CHECKED: the database of known faults is out of reach: {why}"
        ));
        return Ok(Summary::default());
    }
    let mut summary = Summary::default();
    for workspace in SHIPPED {
        summary += Summary::one(passes(project, workspace, &["advisories"])?);
    }
    Ok(summary)
}
