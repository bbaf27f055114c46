//! All tests: the workspace's with the browser's, the worker's, the README's commands.

use anyhow::{Result, bail};

use crate::build::{self, Selection};
use crate::process;
use crate::project::{Project, Workspace};
use crate::readme;
use crate::setup::{self, Need, browser};
use crate::steps::Steps;
use crate::summary::Summary;
use crate::terminal;

/// Installs what is missing, builds, runs all tests whose name contains `filter`.
///
/// # Errors
/// When a tool cannot be installed.
pub fn test(project: &Project, filter: Option<&str>) -> Result<bool> {
    let needs: Vec<Need> = Need::ALL.into_iter().filter(|need| *need != Need::CargoDeny).collect();
    setup::ensure(project, &needs)?;
    let mut steps = Steps::new();
    add_steps(project, filter, &mut steps);
    Ok(steps.finish())
}

/// The steps of [`test`], after the tools are there.
pub fn add_steps(project: &Project, filter: Option<&str>, steps: &mut Steps) {
    steps.work("build", || build::build(project, &[], Selection::Tests));
    // Without one of the packages others would have other features, and be compiled once more.
    steps.tests("workspace tests", || {
        cargo_test(project, Workspace::Main, &["--workspace"], filter)
    });
    // Its other loops are of the same crate.
    steps.tests("small kernels", || {
        let args = ["--package", "tilewright-kernels", "--features", "small"];
        cargo_test(project, Workspace::Main, &args, filter)
    });
    steps.tests("worker tests", || cargo_test(project, Workspace::Worker, &[], filter));
    steps.tests("README commands", || readme::run(project, filter, terminal::line));
}

/// Where property tests look for their seed.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Runs `cargo test` in a workspace and counts.
///
/// Tests find what they drive in the environment: `TILEWRIGHT_PROGRAM` (the command line),
/// `TILEWRIGHT_DIST` (the products' folder), `TILEWRIGHT_CHROMIUM` and `TILEWRIGHT_CHROMEDRIVER`.
/// Property tests draw from one seed, so that a run can be repeated; `PROPTEST_RNG_SEED` gives
/// another, and a plain `cargo test` draws a new one each time.
///
/// # Errors
/// When cargo cannot start, or without a filter no test has run.
fn cargo_test(
    project: &Project,
    workspace: Workspace,
    args: &[&str],
    filter: Option<&str>,
) -> Result<Summary> {
    let mut command = project.cargo(workspace, "test");
    command.args(["--release", "--no-fail-fast"]).args(args).args(filter);
    command.env("TILEWRIGHT_PROGRAM", project.program());
    if std::env::var_os(SEED).is_none() {
        command.env(SEED, "1");
    }
    if let Some(browser) = browser::find(project) {
        command.env("TILEWRIGHT_CHROMIUM", browser.chromium);
        command.env("TILEWRIGHT_CHROMEDRIVER", browser.driver);
    }
    let mut summary = Summary::default();
    let succeeded = process::watched(&mut command, |line| summary.see(line))?;
    let summary = summary.close(succeeded);
    if filter.is_none() && summary == Summary::default() {
        bail!("the {} has no tests", workspace.name());
    }
    Ok(summary)
}
