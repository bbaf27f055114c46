//! Orders of least peak: the zoo's networks, the nine of the reordering paper and the six of HMCOS
//! beside their figures, graphs of ten thousand operators, and the topologies and models of a folder.

mod cells;
mod large;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use tilewright_model::Tensor;
use tilewright_order::{Budget, Graph, Problem, Rules};
use tilewright_papers::{ORDERED, Ordered};
use tilewright_plan::grouped;
use tilewright_tests::program;

use crate::goals::Figure;

/// What operators may share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Nothing lies where an operand lies.
    Plain,
    /// Element-wise operators in place, reshapes for nothing.
    InPlace,
    /// In place, and operands of a concatenation where its result will lie.
    Concat,
}

impl Rule {
    const ALL: [Self; 3] = [Self::Plain, Self::InPlace, Self::Concat];

    fn rules(self) -> Rules {
        Rules { in_place: self != Self::Plain, concat: self == Self::Concat }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::InPlace => "in place",
            Self::Concat => "concat",
        }
    }
}

/// One network under one rule.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    network: String,
    operators: usize,
    rule: Rule,
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

/// HMCOS on its own networks, element-wise operators in place: peak and final arena in KiB, time.
const HMCOS: [(&str, (u64, u64, &str)); 6] = [
    ("AmoebaNet, CIFAR", (1152, 1568, "0.35 s")),
    ("AmoebaNet, ImageNet", (4214, 4928, "11 ms")),
    ("DARTS, CIFAR", (1368, 1712, "0.19 s")),
    ("DARTS, ImageNet", (3752, 4634, "6 ms")),
    ("NASNet, CIFAR", (1744, 2352, "10.5 s")),
    ("NASNet, ImageNet", (4234, 5050, "35 ms")),
];

/// Orders the zoo's networks (int8 sizes), those of both papers, large graphs, and all topologies and models of `folder`
/// (sizes of the file), and prints tables.
///
/// # Errors
/// If a network cannot be built, a file is no topology or model, or the answer cannot be printed.
pub fn orders(folder: Option<&Path>, json: bool) -> Result<Vec<Figure>, String> {
    let mut zoo = Vec::new();
    for entry in tilewright_zoo::entries() {
        let network = tilewright_zoo::network(entry.name).map_err(|e| e.to_string())?;
        let graph = Graph::of_model(network.float(), as_int8);
        for rule in Rule::ALL {
            zoo.push(ordered(&network.name, graph.clone(), rule)?);
        }
    }
    let mut papers = Vec::new();
    for Ordered { zoo, element_bytes, .. } in ORDERED {
        let network = tilewright_zoo::network(zoo).map_err(|e| e.to_string())?;
        let size = |tensor: &Tensor| as_int8(tensor).saturating_mul(element_bytes);
        let graph = Graph::of_model(network.float(), size);
        for rule in Rule::ALL {
            papers.push(ordered(&network.name, graph.clone(), rule)?);
        }
    }
    let mut of_cells = Vec::new();
    for (name, graph) in cells::graphs() {
        let figures = HMCOS.iter().find(|(known, _)| *known == name).map(|(_, figures)| *figures);
        for rule in [Rule::Plain, Rule::InPlace] {
            let row = ordered(&name, graph.clone(), rule)?;
            of_cells.push(Row { hmcos: figures.filter(|_| rule == Rule::InPlace), ..row });
        }
    }
    let mut large = Vec::new();
    for (name, graph) in large::graphs() {
        large.push(ordered(&name, graph, Rule::Plain)?);
    }
    let mut files = Vec::new();
    if let Some(folder) = folder {
        for path in paths(folder)? {
            for rule in Rule::ALL {
                files.extend(file(&path, rule)?);
            }
        }
    }
    let mut figures = vec![all_proved("zoo", zoo.iter())];
    figures.push(all_proved("papers", papers.iter()));
    figures.extend(of_cells.iter().filter_map(Row::beside_hmcos));
    figures.extend(large.iter().map(Row::figure));
    if json {
        let all = serde_json::json!({
            "zoo": zoo, "papers": papers, "cells": of_cells, "large": large, "files": files,
        });
        println!("{}", serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?);
        return Ok(figures);
    }
    table(&zoo);
    println!("\nThe reordering paper's networks, bytes of its element type\n");
    table(&papers);
    println!("\nNetworks of cells, floats\n");
    table(&of_cells);
    println!("\nLarge graphs\n");
    table(&large);
    if !files.is_empty() {
        println!("\nFiles\n");
        table(&files);
    }
    Ok(figures)
}

/// How many of these are proved, order and arena.
fn all_proved<'a>(name: &str, rows: impl Iterator<Item = &'a Row> + Clone) -> Figure {
    let (all, proved) = (rows.clone().count(), rows.filter(|row| row.is_proved()).count());
    Figure::new(format!("order/{name}"), format!("{proved} of {all}"), proved == all)
}

impl Row {
    /// Whether order and arena are proved least.
    fn is_proved(&self) -> bool {
        self.proved && self.arena_bytes == self.lower_bound_bytes
    }

    /// The arena beside that of HMCOS.
    fn beside_hmcos(&self) -> Option<Figure> {
        let (_, arena, _) = self.hmcos?;
        let ours = self.arena_bytes >> 10;
        let id = format!("order/{}", self.network);
        Some(Figure::new(id, format!("{ours} KiB"), self.is_proved() && ours <= arena))
    }

    /// Peak and bound.
    fn figure(&self) -> Figure {
        let peak = grouped(self.peak_bytes);
        let text = if self.proved {
            format!("{peak} B, proved")
        } else {
            format!("{peak} B, bound {} B", grouped(self.lower_bound_bytes))
        };
        Figure::new(format!("order/{}", self.network), text, self.proved)
    }
}

/// One byte an element.
fn as_int8(tensor: &Tensor) -> u64 {
    tensor.shape.elements().map_or(u64::MAX, |elements| elements as u64)
}

fn ordered(network: &str, graph: Graph, rule: Rule) -> Result<Row, String> {
    let wrong = |error: String| format!("{network}: {error}");
    let start = Instant::now();
    let problem =
        Problem::new(graph, rule.rules()).map(Arc::new).map_err(|e| wrong(e.to_string()))?;
    let arranged = tilewright_order::arrange(Arc::clone(&problem), 1, Budget::default());
    let arranged = arranged.map_err(|e| wrong(e.to_string()))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let default = problem.measure(&problem.default_order()).map_err(|e| wrong(e.to_string()))?;
    Ok(Row {
        network: network.to_owned(),
        operators: arranged.ordered.order.len(),
        rule,
        default_bytes: default.peak.0,
        peak_bytes: arranged.ordered.peak.0,
        lower_bound_bytes: arranged.ordered.lower_bound.0,
        arena_bytes: arranged.solution.height.0,
        proved: arranged.ordered.is_proved(),
        ms,
        hmcos: None,
    })
}

fn table(rows: &[Row]) {
    println!(
        "{:44} {:>6} {:8} {:>12} {:>12} {:>12} {:>12} {:7} {:>9}",
        "network", "ops", "rule", "default B", "peak B", "bound B", "arena B", "proved", "ms"
    );
    for row in rows {
        let hmcos = row.hmcos.map_or_else(String::new, |(peak, arena, time)| {
            format!("  HMCOS: peak {peak} KiB, arena {arena} KiB, {time}")
        });
        let proved = match (row.proved, row.arena_bytes == row.lower_bound_bytes) {
            (true, true) => "both".to_owned(),
            (true, false) => "order".to_owned(),
            (false, _) => {
                let gap = row.peak_bytes - row.lower_bound_bytes;
                format!("{:.1} %", 100.0 * gap as f64 / row.peak_bytes as f64)
            }
        };
        println!(
            "{:44} {:>6} {:8} {:>12} {:>12} {:>12} {:>12} {:7} {:>9.1}{hmcos}",
            row.network,
            row.operators,
            row.rule.name(),
            row.default_bytes,
            row.peak_bytes,
            row.lower_bound_bytes,
            row.arena_bytes,
            proved,
            row.ms,
        );
    }
    let mut times: Vec<f64> = rows.iter().map(|row| row.ms).collect();
    times.sort_by(f64::total_cmp);
    if let (Some(median), Some(longest)) = (times.get(times.len() / 2), times.last()) {
        println!(
            "{} of {} proved, order and arena; median {median:.1} ms, longest {longest:.1} ms",
            rows.iter().filter(|row| row.is_proved()).count(),
            rows.len()
        );
    }
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

/// A topology or a model; nothing if the file is neither, or no model that opens.
fn file(path: &Path, rule: Rule) -> Result<Option<Row>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => topology(path, rule).map(Some),
        Some("tflite" | "onnx") => {
            let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
            match tilewright_formats::open(&name, &bytes, &Default::default(), &[]) {
                Ok(model) => {
                    let size = |tensor: &Tensor| tensor.bytes().map_or(u64::MAX, |b| b as u64);
                    ordered(&name, Graph::of_model(&model, size), rule).map(Some)
                }
                Err(error) => {
                    if rule == Rule::Plain {
                        eprintln!("{name} does not open: {error}");
                    }
                    Ok(None)
                }
            }
        }
        _ => Ok(None),
    }
}

/// What the command line says of a topology.
fn topology(path: &Path, rule: Rule) -> Result<Row, String> {
    let wrong = |error: String| format!("{}: {error}", path.display());
    let path = std::fs::canonicalize(path).map_err(|e| wrong(e.to_string()))?;
    let mut command = program::program();
    command.arg("order").arg(&path).arg("--json");
    let Rules { in_place, concat } = rule.rules();
    command.args(in_place.then_some("--in-place")).args(concat.then_some("--concat"));
    let output = command.output().map_err(|e| wrong(e.to_string()))?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| wrong(format!("{e}: {}", String::from_utf8_lossy(&output.stderr))))?;
    let number = |key: &str| report[key].as_u64().unwrap_or(0);
    let network = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Row {
        operators: number("operators") as usize,
        rule,
        default_bytes: number("default_bytes"),
        peak_bytes: number("peak_bytes"),
        lower_bound_bytes: number("lower_bound_bytes"),
        arena_bytes: number("arena_bytes"),
        proved: report["proved"] == true,
        ms: report["ms"].as_f64().unwrap_or(f64::NAN),
        hmcos: None,
        network,
    })
}
