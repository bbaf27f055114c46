//! Kernels layer by layer, each as a model of its own through planner, image and firmware.

mod break_even;
mod code;
mod layers;
mod record;

use serde::Serialize;
use tilewright_board::CoreKind;
use tilewright_plan::grouped;

use crate::counted::{self, Counted};
use crate::goals::Figure;
pub use break_even::break_even;
use layers::{LAYERS, Layer};
use record::Record;

/// What one layer takes on one core.
#[derive(Debug, Serialize)]
struct Row {
    layer: &'static str,
    core: &'static str,
    /// Nominal multiply-accumulates; 0 for operators without.
    macs: u64,
    /// Executed instructions (counted).
    instructions: u64,
    /// Cycles of the core (modelled): waits for flash, which depend on the board, are left out.
    cycles: u64,
    /// What `units` counts.
    unit: &'static str,
    units: u64,
}

/// Measures all layers on all cores and prints them beside their goals; writes the record if asked. Figures of the goals.
///
/// # Errors
/// If a run fails or the record cannot be written.
pub fn kernels(records: bool, json: bool) -> Result<Vec<Figure>, String> {
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for (core, board) in counted::cores()? {
        let bytes = code::kernel_bytes(&board)?;
        let small = board.small().map(|small| code::kernel_bytes(&small)).transpose()?;
        figures.push(code_figure("fast", core, bytes, code::FAST));
        figures.extend(small.map(|bytes| code_figure("small", core, bytes, code::SMALL)));
        if !json {
            head(core, bytes, small);
        }
        for layer in LAYERS {
            let model = layer.model();
            let Counted { instructions, cycles, waits } =
                counted::count(&model, &board, layer.packing)?;
            let cycles = cycles - waits;
            let macs = model.nodes.iter().map(|node| model.macs(node)).sum();
            let (unit, units) = (layer.unit.name(), layer.units(&model));
            let row =
                Row { layer: layer.name, core: core.id(), macs, instructions, cycles, unit, units };
            if !json {
                print(layer, core, &row);
            }
            figures.extend(figures_of(layer, core, &row));
            rows.push(row);
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
    }
    if records {
        let mut record = Record::default();
        for row in &rows {
            record.set(row.core, row.layer, row.instructions);
        }
        record.write()?;
    }
    Ok(figures)
}

fn code_figure(which: &str, core: CoreKind, bytes: u64, most: u64) -> Figure {
    let id = format!("kernels/{which}/{}", core.id());
    Figure::new(id, format!("{} B", grouped(bytes)), bytes <= most)
}

/// Instructions a unit on the Cortex-M4, cycles a unit on the Cortex-M7 where that is asked.
fn figures_of(layer: &Layer, core: CoreKind, row: &Row) -> Option<Figure> {
    let each = |value: u64| value as f64 / row.units.max(1) as f64;
    let (value, goal) = match core {
        CoreKind::CortexM4 => (each(row.instructions), layer.goal),
        CoreKind::CortexM7 => (each(row.cycles), layer.cycle_goal?),
        CoreKind::CortexM33 => return None,
    };
    let id = format!("kernels/{}/{}", layer.name, core.id());
    Some(Figure::new(id, format!("{value:.2}"), value <= goal))
}

fn head(core: CoreKind, code_bytes: u64, small: Option<u64>) {
    let small = small.map_or_else(String::new, |bytes| format!("; small ones {bytes} bytes"));
    println!("{}: functions of the kernels' crate {code_bytes} bytes{small}", core.id());
    println!(
        "{:48} {:>12} {:>12} {:>9} {:>9} {:>18} {:>18}",
        "layer", "instructions", "cycles", "instr/…", "CMSIS-NN", "goal", "cycles/…"
    );
}

fn print(layer: &Layer, core: CoreKind, row: &Row) {
    let each = |value: u64| value as f64 / row.units.max(1) as f64;
    let (instructions, cycles) = (each(row.instructions), each(row.cycles));
    let (theirs, goal, cycle_goal) = match core {
        CoreKind::CortexM4 => (layer.cmsis_nn[0], Some(layer.goal), None),
        CoreKind::CortexM7 => (layer.cmsis_nn[1], None, layer.cycle_goal),
        CoreKind::CortexM33 => (None, None, None),
    };
    let verdict = |value: f64, goal: Option<f64>| {
        goal.map_or_else(String::new, |goal| {
            format!("≤ {goal} {}", if value <= goal { "met" } else { "MISSED" })
        })
    };
    println!(
        "{:48} {:>12} {:>12} {instructions:>9.2} {:>9} {:>18} {cycles:>7.2} {:>10}",
        layer.name,
        row.instructions,
        row.cycles,
        theirs.map_or_else(String::new, |theirs| format!("{theirs:.2}")),
        verdict(instructions, goal),
        verdict(cycles, cycle_goal),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layers of no more units than this are run by the test.
    const SMALL: u64 = 2_500_000;
    /// How much more than recorded is too much, in thousandths.
    const GROWTH_PERMILLE: u64 = 20;

    #[test]
    fn no_kernel_takes_more_instructions_than_recorded() {
        let record = Record::read().unwrap();
        let mut grown = Vec::new();
        for (core, board) in counted::cores().unwrap() {
            for layer in LAYERS {
                let model = layer.model();
                if layer.units(&model) > SMALL {
                    continue;
                }
                let recorded = record.get(core.id(), layer.name).unwrap_or_else(|| {
                    panic!("{} {} is not in {}", core.id(), layer.name, record::NAME)
                });
                let found = counted::count(&model, &board, layer.packing).unwrap().instructions;
                if found * 1000 > recorded * (1000 + GROWTH_PERMILLE) {
                    grown.push(format!("{} {}: {recorded} to {found}", core.id(), layer.name));
                }
            }
        }
        assert!(
            grown.is_empty(),
            "more than 2 % more instructions than in {}; if that is meant, `cargo xtask bench \
             kernels --record` records them: {grown:#?}",
            record::NAME
        );
    }
}
