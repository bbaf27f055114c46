//! Many short jobs through the queue, and its promises on a real PostgreSQL.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::figures::{Goal, Measured};

/// Jobs of a round.
const JOBS: &str = "10000";
/// Seconds that a round on SQLite may take.
const LIMIT: f64 = 60.0;

/// Seconds of each round, and how many jobs were lost, stuck or wrong.
///
/// # Errors
/// If a round or a test fails, or PostgreSQL is not installed.
pub fn figures() -> Result<Vec<Measured>, String> {
    load(&["tests"])?;
    let lines = load(&["all", JOBS])?;
    let mut measured = Vec::new();
    let mut jobs = 0.0;
    for line in lines.lines() {
        let round: Value =
            serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        let number = |key: &str| round[key].as_f64().unwrap_or(f64::NAN);
        let database = round["database"].as_str().unwrap_or_default();
        let (killed, again) = (number("killed"), number("again"));
        let workers = if killed > 0.0 {
            format!("workers killed {killed} times, {again} jobs begun again")
        } else {
            "two workers".to_owned()
        };
        let goal = (database == "SQLite" && killed == 0.0).then_some(Goal::AtMost(LIMIT));
        let what = format!("queue: {} jobs of 1 ms, {database}, {workers}", number("jobs"));
        let id = format!("queue/{database}{}", if killed > 0.0 { "/killed" } else { "" });
        measured.push(Measured::new(what, number("seconds"), "s", goal).named(id));
        jobs += number("jobs");
    }
    // A round with one ends by an error.
    let what = format!("queue: jobs lost, stuck or wrong of {jobs}");
    measured.push(Measured::new(what, 0.0, "jobs", Some(Goal::AtMost(0.0))).named("queue/lost"));
    Ok(measured)
}

/// What the load program says.
fn load(words: &[&str]) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", "tilewright-queue"]);
    command.args(["--example", "load", "--"]).args(words).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(said)
    } else {
        Err(format!("the queue does not keep what it promises:\n{said}"))
    }
}
