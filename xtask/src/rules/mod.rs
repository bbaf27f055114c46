//! Rules that no compiler checks.

pub mod dependencies;
pub mod files;
