//! Speed of emulation beside bare Unicorn, and the idle server's memory.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tilewright_tests::emulated::dist;
use tilewright_tests::server::Server;

use crate::figures::{Goal, Measured};

/// Instructions a second with counting and the cost table, beside Unicorn without any hook.
///
/// # Errors
/// If the worker is not built or fails.
pub fn speed() -> Result<Vec<Measured>, String> {
    let worker = dist().join("bin/tilewright-worker");
    let output = Command::new(&worker)
        .arg("--bench")
        .output()
        .map_err(|e| format!("{}: {e}; run `cargo xtask build`", worker.display()))?;
    let figures: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("worker: {e}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let number = |key: &str| figures[key].as_f64().unwrap_or(f64::NAN);
    let (bare, hooked) = (number("bare_million_per_second"), number("hooked_million_per_second"));
    let unit = "M instr/s";
    Ok(vec![
        Measured::new("emulation: bare Unicorn, no hooks", bare, unit, None),
        Measured::new(
            "emulation: counting and cost table",
            hooked,
            unit,
            Some(Goal::AtLeast(250.0)),
        ),
        Measured::new("emulation: share of bare Unicorn", 100.0 * hooked / bare, "%", None),
    ])
}

/// Resident memory of the server when nothing happens.
///
/// # Errors
/// If the operating system does not say.
pub fn idle_server() -> Result<Vec<Measured>, String> {
    let server = Server::start(&[]);
    let _ = server.get("/");
    thread::sleep(Duration::from_secs(2));
    let status = format!("/proc/{}/status", server.process());
    let status = fs::read_to_string(&status).map_err(|e| format!("{status}: {e}"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = resident
        .and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or("no VmRSS in /proc")?;
    let goal = Some(Goal::AtMost(60.0));
    Ok(vec![Measured::new("server, idle: resident memory", kib / 1024.0, "MiB", goal)])
}
