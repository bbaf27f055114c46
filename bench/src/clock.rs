//! Rules of the cores' pipelines: what loops take on the emulated boards, and on a real one.

use std::fs;
use std::path::Path;

use serde::Serialize;
use tilewright_tests::clock::{
    CORES, M4_SOURCE, M7_SOURCE, M33_SOURCE, RULES, TURNS, emulate, heard,
};

/// What a loop takes on a core, in cycles of a turn.
#[derive(Serialize)]
struct Row {
    rule: &'static str,
    core: &'static str,
    modelled_cycles: u64,
    emulated_cycles: Option<f64>,
    measured_cycles: Option<f64>,
}

/// Prints what each loop takes: by its rule, emulated, and measured where a board's console was logged.
///
/// # Errors
/// If the firmware is not built or fails, or the log is none of a board that is known.
pub fn clock(log: Option<&Path>, json: bool) -> Result<(), String> {
    let measured = match log {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
            let (board, cycles) = heard(&text).map_err(|e| format!("{}: {e}", path.display()))?;
            if CORES.iter().all(|(_, known)| *known != board) {
                return Err(format!("{}: no firmware measures '{board}'", path.display()));
            }
            Some((board, cycles))
        }
        None => None,
    };
    let per_turn = |cycles: Option<&u64>| cycles.map(|cycles| *cycles as f64 / TURNS as f64);
    let mut rows = Vec::new();
    for (index, (core, board)) in CORES.into_iter().enumerate() {
        let emulated = emulate(&tilewright_board::find(board).map_err(|e| e.to_string())?)?;
        let measured = measured.as_ref().filter(|(known, _)| known == board);
        rows.extend(RULES.iter().map(|rule| Row {
            rule: rule.name,
            core: core.id(),
            modelled_cycles: rule.modelled[index],
            emulated_cycles: per_turn(emulated.get(rule.name)),
            measured_cycles: per_turn(measured.and_then(|(_, cycles)| cycles.get(rule.name))),
        }));
    }
    if json {
        let text = serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?;
        println!("{text}");
        return Ok(());
    }
    println!(
        "cycles of a turn; Cortex-M4: {M4_SOURCE}; Cortex-M7: {M7_SOURCE}; Cortex-M33: {M33_SOURCE}"
    );
    println!("| loop | core | rule | emulated | sources, where not modelled | measured | |");
    println!("|---|---|---|---|---|---|---|");
    let cell = |cycles: Option<f64>| cycles.map_or_else(String::new, |cycles| cycles.to_string());
    for (at, row) in rows.iter().enumerate() {
        let rule = &RULES[at % RULES.len()];
        let expected = rule.expected[at / RULES.len()];
        let expected =
            expected.map_or_else(String::new, |(least, most)| format!("{least} to {most}"));
        let (emulated, measured) = (cell(row.emulated_cycles), cell(row.measured_cycles));
        let Row { rule: name, core, modelled_cycles, .. } = row;
        println!(
            "| {name} | {core} | {modelled_cycles} | {emulated} | {expected} | {measured} | {} |",
            rule.says
        );
    }
    Ok(())
}
