//! The firmware that measures a core's pipeline (`firmware/boards/support/src/clock.rs`): run on an
//! emulated board, or heard from a real one.

use std::collections::BTreeMap;
use std::fs;

use tilewright_board::{Board, CoreKind};
use tilewright_protocol::{Job, Limits};

use crate::emulated;

/// The cores whose boards have firmware, in the order of a rule's figures.
pub const CORES: [(CoreKind, &str); 3] = [
    (CoreKind::CortexM4, "stm32f469i-disco"),
    (CoreKind::CortexM7, "stm32f746g-disco"),
    (CoreKind::CortexM33, "bench-cortex-m33"),
];

/// Turns of a loop that a figure stands for.
pub const TURNS: u64 = 1000;

/// What a loop shows.
pub struct Rule {
    /// The loop's name on the console.
    pub name: &'static str,
    /// The rule, as the sources have it.
    pub says: &'static str,
    /// Cycles of a turn with its `subs` and `bne` that the models of `emulator/cores` take, on
    /// Cortex-M4, Cortex-M7 and Cortex-M33.
    pub modelled: [u64; 3],
    /// What the sources let expect of hardware where the models leave something out, least and most: what
    /// depends on operands and addresses, and on the Cortex-M7 what a turn leaves to the next.
    pub expected: [Option<(u64, u64)>; 3],
    /// By how many thousandths an emulated board may differ from `modelled`: victims of caches are drawn.
    pub about_permille: u64,
}

const fn rule(name: &'static str, says: &'static str, modelled: [u64; 3]) -> Rule {
    Rule { name, says, modelled, expected: [None; 3], about_permille: 0 }
}

/// Where the figures of the Cortex-M4 come from.
pub const M4_SOURCE: &str = "Arm 100166, tables 3-1 and 7-1, \"load/store timings\"";
/// Where those of the Cortex-M7 do.
pub const M7_SOURCE: &str = "jnk0le/random, \"pipeline cycle test\"; quinapalus, cm7cycles";

/// Where those of the Cortex-M33 do.
pub const M33_SOURCE: &str = "jnk0le/random, \"pipeline cycle test\", doc/cortex_m33";

/// All loops, in the firmware's order.
pub const RULES: &[Rule] = &[
    Rule {
        // The refill takes 1 to 3 cycles by the target's alignment and width.
        expected: [Some((3, 5)), None, None],
        ..rule(
            "nothing",
            "a taken branch: refill of the M4, foreseen by the M7, 2 on the M33",
            [4, 1, 3],
        )
    },
    rule("alu-independent", "two at once on the M7, not on the M33", [6, 2, 5]),
    rule("alu-chain", "each a cycle behind the other", [6, 3, 5]),
    rule("load", "two cycles on the M4, one slot of two on the M7, one on the M33", [6, 2, 4]),
    rule(
        "loads-independent",
        "N loads take N + 1 on the M4, N on the M33, pair on the M7",
        [7, 2, 5],
    ),
    rule("load-use", "the ALU of M7 and M33 has a word a cycle later", [7, 4, 6]),
    Rule {
        expected: [None, Some((6, 8)), None],
        ..rule(
            "load-address",
            "as an address: not shared on the M4, a cycle more on the M7",
            [8, 5, 6],
        )
    },
    rule("ldrd", "1 + N on the M4, N on the M33, two words a cycle on the M7", [7, 2, 5]),
    rule("ldm-4", "1 + N on the M4, N on the M33, two words a cycle on the M7", [9, 3, 7]),
    Rule {
        expected: [Some((7, 8)), Some((4, 6)), None],
        ..rule("load-unaligned", "not modelled: 1 to 2 more on the M4, 3 to 4 on the M7", [6, 2, 4])
    },
    rule("stores", "a cycle each; the M7 has one store slot", [6, 3, 5]),
    rule("smlad-independent", "a cycle each; the M7 has one multiplier", [6, 3, 5]),
    rule("smlad-chain", "the accumulator is forwarded", [6, 3, 5]),
    rule("smlad-use", "the ALU of M7 and M33 has the sum a cycle later", [6, 4, 6]),
    rule("smlad-beside-load", "they pair on the M7", [7, 2, 5]),
    rule("sxtb16-independent", "DSP instructions do not pair with each other", [6, 3, 5]),
    rule("branch-taken", "refill of the M4, foreseen by the M7, 2 on the M33", [7, 2, 5]),
    Rule {
        expected: [Some((6, 16)), None, Some((5, 14))],
        ..rule(
            "udiv",
            "2 to 12 cycles on the M4 by its operands, 2 to 11 on the M33, about 7 on the M7",
            [11, 8, 9],
        )
    },
    rule("vadd-independent", "a cycle each; the M7 has one slot for floats", [6, 3, 5]),
    Rule {
        expected: [None, Some((6, 6)), None],
        ..rule("vadd-chain", "the next instruction waits: 1 on M4 and M33, 2 on the M7", [7, 5, 6])
    },
    Rule {
        expected: [None, Some((6, 7)), None],
        ..rule(
            "vfma-chain",
            "3 cycles on the M4, then one of waiting; 3 each on M7 and M33",
            [11, 4, 7],
        )
    },
    Rule {
        about_permille: 20,
        expected: [Some((1540, 3500)), Some((1540, 4500)), None],
        ..rule(
            "code-6k",
            "longer than what is kept of code: 2 cycles behind 4 instructions on the F469; of 3 lines that \
             share two places two wait, 15 cycles each, on the F746",
            [2313, 3480, 1539],
        )
    },
    Rule {
        expected: [Some((11, 12)), Some((12, 25)), None],
        ..rule(
            "flash-stream",
            "each line of constants that is not kept: 5 wait states on the F469, 7 and the way on the F746",
            [11, 17, 4],
        )
    },
];

/// Cycles of [`TURNS`] turns of each loop, as a console said them.
///
/// # Errors
/// If these are not the lines of this firmware, or not all of them.
pub fn heard(console: &str) -> Result<(String, BTreeMap<String, u64>), String> {
    let mut lines = console.lines().map(str::trim);
    let board = lines.find_map(|line| line.strip_prefix("clock "));
    let board = board.ok_or("there is no line `clock <board>`: it is said after a reset")?;
    let mut cycles = BTreeMap::new();
    for line in lines {
        if line == "done" {
            return Ok((board.to_owned(), cycles));
        }
        let rule = line.strip_prefix("rule ").and_then(|rest| rest.split_once(' '));
        let (name, count) =
            rule.ok_or_else(|| format!("'{line}' is not `rule <name> <cycles>`"))?;
        let count = count.parse().map_err(|_| format!("'{line}' has no number of cycles"))?;
        cycles.insert(name.to_owned(), count);
    }
    Err("there is no line `done`: the log ends too early".to_owned())
}

/// Runs the firmware on an emulated board; cycles of [`TURNS`] turns of each loop.
///
/// # Errors
/// If it is not built or fails.
pub fn emulate(board: &Board) -> Result<BTreeMap<String, u64>, String> {
    let path = emulated::dist().join("clock").join(&board.id).with_extension("elf");
    let elf =
        fs::read(&path).map_err(|e| format!("{}: {e}; run `cargo xtask build`", path.display()))?;
    let outcome = emulated::run_job(Job::new(
        board.id.clone(),
        elf,
        Limits { instructions: 100_000_000, console_bytes: 1 << 16 },
    ))?;
    // The core sleeps for ever once all is said, which the worker tells as a fault.
    let console = String::from_utf8_lossy(&outcome.console);
    heard(&console).map(|(_, cycles)| cycles).map_err(|e| format!("{e}; the board said: {console}"))
}
