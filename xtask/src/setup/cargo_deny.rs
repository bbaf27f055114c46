//! cargo-deny, which knows what is to be known of packages.

use anyhow::Result;

use super::cached;
use crate::project::Project;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Whether the right version is there.
pub fn present(project: &Project) -> bool {
    cached::has_version(project, "cargo-deny", VERSION)
}

/// Compiles it into the cache.
///
/// # Errors
/// When cargo fails.
pub fn install(project: &Project) -> Result<()> {
    cached::cargo_install(project, "cargo-deny", VERSION)
}
