//! trunk, which bundles the page.

use anyhow::Result;

use super::cached;
use crate::project::Project;

/// The version that the project is built and tested with.
const VERSION: &str = "0.21.14";

/// Whether the right version is there.
pub fn present(project: &Project) -> bool {
    cached::has_version(project, "trunk", VERSION)
}

/// Compiles it into the cache, with the dependencies that its authors tested.
///
/// # Errors
/// When cargo fails.
pub fn install(project: &Project) -> Result<()> {
    cached::cargo_install(project, "trunk", VERSION, true)
}
