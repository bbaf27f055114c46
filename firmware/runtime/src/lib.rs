//! Runs step programs.
