//! Everything that a change must pass, in named steps.

use anyhow::Result;

use crate::build;
use crate::process;
use crate::project::{Project, Workspace};
use crate::rules;
use crate::setup::{self, Need};
use crate::steps::Steps;
use crate::test;

/// Runs all checks and tests; whether all passed.
///
/// # Errors
/// None so far: each step's error counts as that step's failure.
pub fn ci(project: &Project) -> Result<bool> {
    let mut steps = Steps::new();
    steps.work("tools", || setup::ensure(project, &Need::ALL));
    for workspace in Workspace::ALL {
        steps.check(&format!("lock file, {}", workspace.name()), || {
            // Resolves, and stops if the lock file would change; fetches this platform's crates only.
            let mut command = project.cargo(workspace, "tree");
            command.args(["--locked", "--workspace", "--depth=0"]);
            process::output(&mut command).map(|_| true)
        });
    }
    for workspace in Workspace::ALL {
        steps.check(&format!("format, {}", workspace.name()), || {
            process::succeeds(project.cargo(workspace, "fmt").arg("--check"))
        });
    }
    rules::check(project, &mut steps);

    let [page, package] = ["tilewright-frontend", "tilewright-js"];
    lint(
        project,
        &mut steps,
        Workspace::Main,
        "workspace",
        &["--release", "--workspace", "--exclude", page, "--exclude", package, "--all-targets"],
    );
    lint(
        project,
        &mut steps,
        Workspace::Main,
        "page and JavaScript package",
        &[
            "--profile=web",
            "--package",
            page,
            "--package",
            package,
            "--target=wasm32-unknown-unknown",
        ],
    );
    // It is built together with its workers, but must not reach what only they need.
    let alone = ["--no-default-features", "--features", "page", "--bin", "page"];
    steps.check("page without its workers", || {
        let mut command = project.cargo(Workspace::Main, "check");
        command.args(["--profile=web", "--package", page, "--target=wasm32-unknown-unknown"]);
        process::succeeds(command.args(alone))
    });
    lint(project, &mut steps, Workspace::Worker, "worker", &["--release", "--all-targets"]);
    steps.check("lints, firmware", || {
        for program in build::programs(project)? {
            if !clippy(project, Workspace::Firmware, &program.arguments())? {
                return Ok(false);
            }
        }
        for library in &build::LIBRARIES {
            if !clippy(project, Workspace::Firmware, &library.arguments())? {
                return Ok(false);
            }
        }
        Ok(true)
    });

    test::add_steps(project, None, &mut steps);
    Ok(steps.finish())
}

fn lint(project: &Project, steps: &mut Steps, workspace: Workspace, name: &str, args: &[&str]) {
    steps.check(&format!("lints, {name}"), || clippy(project, workspace, args));
}

fn clippy(project: &Project, workspace: Workspace, args: &[&str]) -> Result<bool> {
    let mut command = project.cargo(workspace, "clippy");
    process::succeeds(command.args(args).args(["--", "-D", "warnings"]))
}
