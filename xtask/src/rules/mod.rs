//! Rules that no compiler checks.

mod commits;
mod dependencies;
mod files;
mod packages;
mod size;

use crate::project::Project;
use crate::steps::Steps;

/// Adds one step for each set of rules.
pub fn check(project: &Project, steps: &mut Steps) {
    steps.check("dependency rule", || Ok(dependencies::check(project)));
    steps.check("file rules", || files::check(project));
    steps.check("commit subjects", || Ok(commits::check(project)));
    packages::check(project, steps);
}
