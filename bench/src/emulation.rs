//! Speed of emulation beside bare Unicorn, and the idle server's memory.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tilewright_model::Data;
use tilewright_planner::{Options, Strategy};
use tilewright_protocol::{Request, write_frame};
use tilewright_tests::emulated::{self, dist};
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

/// Networks whose kernels are timed, on which board, and how they are planned.
const NETWORKS: [(&str, &str, Strategy); 4] = [
    ("mobilenet-v1-w0.25-r128", "stm32f746g-disco", Strategy::Swap),
    ("vww", "stm32f746g-disco", Strategy::Swap),
    ("resnet8", "stm32f746g-disco", Strategy::Resident),
    ("resnet8", "stm32f469i-disco", Strategy::Resident),
];

/// Instructions a second in the kernels of networks, beside Unicorn without any hook on the same steps.
///
/// # Errors
/// If a network cannot be planned, or the worker is not built or fails.
pub fn kernels() -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    for (network, board, strategy) in NETWORKS {
        let [hooked, bare, own] = steps(network, board, strategy)?;
        let what = format!("kernels of {network}, {strategy}, {board}");
        let unit = "M instr/s";
        measured.push(Measured::new(what.clone(), hooked, unit, Some(Goal::AtLeast(300.0))));
        measured.push(Measured::new(format!("{what}: bare Unicorn"), bare, unit, None));
        let goal = Some(Goal::AtLeast(400.0));
        measured.push(Measured::new(format!("{what}: own core"), own, unit, goal));
        let share = Some(Goal::AtLeast(60.0));
        measured.push(Measured::new(
            format!("{what}: share of it"),
            100.0 * hooked / bare,
            "%",
            share,
        ));
    }
    Ok(measured)
}

/// Million instructions a second in the compute steps of a network: with counting, bare, on the own core.
fn steps(network: &str, board: &str, strategy: Strategy) -> Result<[f64; 3], String> {
    let board = tilewright_board::find(board).map_err(|error| error.to_string())?;
    let model = tilewright_zoo::network(network).map_err(|error| error.to_string())?;
    let model = model.int8().map_err(|error| error.to_string())?;
    let mut rng = fastrand::Rng::with_seed(7);
    let elements = model.inputs.first().and_then(|id| model.tensor(*id).shape.elements());
    let inputs = [Data::I8((0..elements.unwrap_or(0)).map(|_| rng.i8(..)).collect())];
    let (_, job) = emulated::job_with(&model, &board, strategy, &inputs, &Options::default())?;
    let text = |error: &dyn std::fmt::Display| format!("worker: {error}");
    let mut worker = Command::new(dist().join("bin/tilewright-worker"))
        .arg("--bench-steps")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| text(&error))?;
    let mut input = worker.stdin.take().ok_or("worker: no input")?;
    write_frame(&mut input, &Request::Run(job)).map_err(|error| text(&error))?;
    drop(input);
    let output = worker.wait_with_output().map_err(|error| text(&error))?;
    let figures: Value = serde_json::from_slice(&output.stdout).map_err(|error| text(&error))?;
    let number = |key: &str| figures[key].as_f64().unwrap_or(f64::NAN);
    Ok(["hooked", "bare", "own"].map(|of| number(&format!("{of}_million_per_second"))))
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
