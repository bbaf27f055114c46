//! The networks of MLPerf Tiny on each core that is emulated.

use std::fs;

use serde::Serialize;
use tilewright_board::CoreKind;
use tilewright_formats::Limits;
use tilewright_model::Model;
use tilewright_planner::Packing;
use tilewright_tests::emulated;

use crate::counted::{self, Counted};

/// A network of the benchmark.
struct Network {
    /// Its name there.
    name: &'static str,
    /// The file of the reference submission, beside the project.
    file: &'static str,
    /// What stands for it where the file is missing.
    zoo: &'static str,
    /// Multiply-accumulates of the file, dead channels included.
    macs: u64,
    /// Most instructions for each of them on the Cortex-M4.
    goal: f64,
    /// What CMSIS-NN v7.0.0+43 takes on the Cortex-M4 with the best compiler, counted in the same
    /// way.
    cmsis_nn: f64,
    /// The least published milliseconds on the L4R5 (Cortex-M4, 120 MHz), MLPerf Tiny 1.1 and 1.2, and on the
    /// U575 (Cortex-M33, 160 MHz), MLPerf Tiny 1.2.
    published_ms: [f64; 2],
}

const NETWORKS: [Network; 4] = [
    Network {
        name: "image classification (ResNet-8)",
        file: "mlperf_resnet8_int8.tflite",
        zoo: "resnet8",
        macs: 12_501_632,
        goal: 1.15,
        cmsis_nn: 2.17,
        published_ms: [165.1, 111.0],
    },
    Network {
        name: "keyword spotting (DS-CNN)",
        file: "mlperf_kws_dscnn_int8.tflite",
        zoo: "ds-cnn",
        macs: 2_656_768,
        goal: 1.2,
        cmsis_nn: 2.72,
        published_ms: [43.2, 29.1],
    },
    Network {
        name: "visual wake words (MobileNetV1 0.25)",
        file: "mlperf_vww96_mobilenetv1_025_int8.tflite",
        zoo: "vww",
        macs: 7_489_664,
        goal: 1.35,
        cmsis_nn: 3.02,
        published_ms: [88.9, 59.3],
    },
    Network {
        name: "anomaly detection (autoencoder)",
        file: "mlperf_ad01_autoencoder_int8.tflite",
        zoo: "autoencoder",
        macs: 264_192,
        goal: 1.35,
        cmsis_nn: 2.05,
        published_ms: [4.05, 3.43],
    },
];

/// The clocks of L4R5 and U575.
const PUBLISHED_MHZ: [u32; 2] = [120, 160];

/// What a network takes on a core.
#[derive(Debug, Serialize)]
struct Row {
    network: &'static str,
    /// The file, or the zoo's name.
    model: String,
    core: &'static str,
    /// Nominal multiply-accumulates, dead channels included.
    macs: u64,
    /// Multiply-accumulates that are left without dead channels.
    planned_macs: u64,
    /// Executed instructions (counted).
    instructions: u64,
    /// Cycles (modelled).
    cycles: u64,
    /// Of these, cycles that the core waited for flash (modelled).
    flash_cycles: u64,
}

/// Runs the networks and prints what they take beside their goals.
///
/// # Errors
/// If a model cannot be read or a run fails.
pub fn networks(json: bool) -> Result<(), String> {
    let mut rows = Vec::new();
    for (core, board) in counted::cores()? {
        if !json {
            println!("{}", core.id());
            println!(
                "{:38} {:>12} {:>12} {:>9} {:>9} {:>14} {:>10} {:>26}",
                "network",
                "instructions",
                "cycles",
                "instr/MAC",
                "CMSIS-NN",
                "goal",
                "cycles/MAC",
                "ms (best published)"
            );
        }
        for network in &NETWORKS {
            let (model, from) = model(network)?;
            let planned_macs = model.nodes.iter().map(|node| model.macs(node)).sum();
            let Counted { instructions, cycles, waits } =
                counted::count(&model, &board, Packing::Auto)?;
            let row = Row {
                network: network.name,
                model: from,
                core: core.id(),
                macs: network.macs,
                planned_macs,
                instructions,
                cycles,
                flash_cycles: waits,
            };
            if !json {
                print(network, core, &row);
            }
            rows.push(row);
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
    }
    Ok(())
}

fn print(network: &Network, core: CoreKind, row: &Row) {
    let macs = network.macs as f64;
    let (each, cycles) = (row.instructions as f64 / macs, row.cycles as f64 / macs);
    let goal = network.goal;
    let verdict = if each <= goal { "met" } else { "MISSED" };
    let (theirs, goal) = match core {
        CoreKind::CortexM4 => (format!("{:.2}", network.cmsis_nn), format!("≤ {goal} {verdict}")),
        CoreKind::CortexM7 | CoreKind::CortexM33 => Default::default(),
    };
    let time = |at: usize| {
        let (mhz, published) = (PUBLISHED_MHZ[at], network.published_ms[at]);
        format!("{:.1} at {mhz} MHz ({published})", row.cycles as f64 / f64::from(mhz) / 1000.0)
    };
    let time = match core {
        CoreKind::CortexM4 => time(0),
        CoreKind::CortexM33 => time(1),
        CoreKind::CortexM7 => String::new(),
    };
    println!(
        "{:38} {:>12} {:>12} {each:>9.2} {theirs:>9} {goal:>14} {cycles:>10.2} {time:>26}",
        row.network, row.instructions, row.cycles
    );
}

/// The network's model and where it is from.
fn model(network: &Network) -> Result<(Model, String), String> {
    let path = emulated::project().join("../shared/models").join(network.file);
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", network.file);
    if let Ok(bytes) = fs::read(&path) {
        let model = tilewright_formats::open(network.file, &bytes, &Limits::default(), &[]);
        return Ok((model.map_err(|e| told(&e))?, network.file.to_owned()));
    }
    let zoo = tilewright_zoo::network(network.zoo).map_err(|e| told(&e))?;
    let model = zoo.int8().map_err(|e| told(&e))?;
    Ok((model, format!("zoo:{}", network.zoo)))
}
