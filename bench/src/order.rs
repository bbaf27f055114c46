//! Orders of least peak: the zoo's networks, and a folder of topologies if one is given.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use tilewright_model::Tensor;
use tilewright_planner::order::{self, Budget, Graph, Problem, Rules};
use tilewright_tests::program;

/// One network under one rule.
#[derive(Debug, Serialize)]
struct Row {
    network: String,
    operators: u64,
    in_place: bool,
    default_bytes: u64,
    peak_bytes: u64,
    lower_bound_bytes: u64,
    arena_bytes: u64,
    proved: bool,
    ms: f64,
    /// What the best public planner reaches: peak and final arena in KiB, and its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    hmcos: Option<(u64, u64, &'static str)>,
}

/// HMCOS on the networks of its own generators, element-wise operators in place: peak and final
/// arena in KiB, time.
const HMCOS: [(&str, (u64, u64, &str)); 3] = [
    ("amoebanet-cifar.onnx", (1152, 1568, "0.35 s")),
    ("darts-imagenet.onnx", (3752, 4634, "6 ms")),
    ("nasnet-imagenet.onnx", (4234, 5050, "35 ms")),
];

/// Orders the zoo's networks (int8 sizes) and all topologies of `folder`, and prints a table.
///
/// # Errors
/// If a network cannot be built, a file is no topology, or the answer cannot be printed.
pub fn orders(folder: Option<&Path>, json: bool) -> Result<(), String> {
    let mut rows = Vec::new();
    for entry in tilewright_zoo::entries() {
        let network = tilewright_zoo::network(entry.name).map_err(|e| e.to_string())?;
        for in_place in [false, true] {
            rows.push(zoo(&network, in_place)?);
        }
    }
    if let Some(folder) = folder {
        let unreadable = |e: std::io::Error| format!("{}: {e}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(unreadable)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        for path in &paths {
            for in_place in [false, true] {
                rows.push(topology(path, in_place)?);
            }
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
        return Ok(());
    }
    println!(
        "{:44} {:>5} {:8} {:>11} {:>11} {:>11} {:>11} {:6} {:>9}  HMCOS: peak, arena, time",
        "network", "ops", "rule", "default B", "peak B", "bound B", "arena B", "proved", "ms"
    );
    for row in rows {
        println!(
            "{:44} {:>5} {:8} {:>11} {:>11} {:>11} {:>11} {:6} {:>9.1}  {}",
            row.network,
            row.operators,
            if row.in_place { "in place" } else { "plain" },
            row.default_bytes,
            row.peak_bytes,
            row.lower_bound_bytes,
            row.arena_bytes,
            if row.proved { "yes" } else { "no" },
            row.ms,
            row.hmcos.map_or_else(String::new, |(peak, arena, time)| format!(
                "{peak} KiB, {arena} KiB, {time}"
            ))
        );
    }
    Ok(())
}

fn zoo(network: &tilewright_zoo::Network, in_place: bool) -> Result<Row, String> {
    let wrong = |error: String| format!("{}: {error}", network.name);
    let int8 = |tensor: &Tensor| tensor.shape.elements().map_or(u64::MAX, |n| n as u64);
    let graph = Graph::of_model(network.float(), int8);
    let start = Instant::now();
    let rules = Rules { in_place, concat: false };
    let problem = Problem::new(graph, rules).map_err(|e| wrong(e.to_string()))?;
    let arranged = order::arrange(&problem, 1, Budget::default());
    let arranged = arranged.map_err(|e| wrong(e.to_string()))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let default = problem.measure(&problem.default_order()).map_err(|e| wrong(e.to_string()))?;
    Ok(Row {
        network: network.name.clone(),
        operators: arranged.ordered.order.len() as u64,
        in_place,
        default_bytes: default.peak.0,
        peak_bytes: arranged.ordered.peak.0,
        lower_bound_bytes: arranged.ordered.lower_bound.0,
        arena_bytes: arranged.solution.height.0,
        proved: arranged.ordered.is_proved(),
        ms,
        hmcos: None,
    })
}

/// What the command line says of a topology.
fn topology(path: &Path, in_place: bool) -> Result<Row, String> {
    let wrong = |error: String| format!("{}: {error}", path.display());
    let path = std::fs::canonicalize(path).map_err(|e| wrong(e.to_string()))?;
    let mut command = program::program();
    command.arg("order").arg(&path).arg("--json");
    if in_place {
        command.arg("--in-place");
    }
    let output = command.output().map_err(|e| wrong(e.to_string()))?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| wrong(format!("{e}: {}", String::from_utf8_lossy(&output.stderr))))?;
    let number = |key: &str| report[key].as_u64().unwrap_or(0);
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let network = name.unwrap_or_default();
    let hmcos = HMCOS.iter().find(|(name, _)| in_place && *name == network);
    Ok(Row {
        operators: number("operators"),
        in_place,
        default_bytes: number("default_bytes"),
        peak_bytes: number("peak_bytes"),
        lower_bound_bytes: number("lower_bound_bytes"),
        arena_bytes: number("arena_bytes"),
        proved: report["proved"] == true,
        ms: report["ms"].as_f64().unwrap_or(f64::NAN),
        hmcos: hmcos.map(|(_, figures)| *figures),
        network,
    })
}
