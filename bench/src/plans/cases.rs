//! The plans that are compared: all networks of the zoo under all strategies, and a list of options, boards of
//! all kinds and refusals.

use std::num::NonZeroU32;

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_planner::{
    Integrity, Objective, Options, Overlaid, Packing, Planned, Strategy, plan,
};

/// One case a line: network, board, strategy, then options.
const CASES: &str = include_str!("cases.txt");
/// Boards of every network and strategy.
const BOARDS: [&str; 2] = ["stm32f746g-disco", "stm32f469i-disco"];

/// A plan to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its line, which is its name.
    pub name: String,
    network: String,
    board: String,
    strategy: Strategy,
    options: Options,
}

/// What came of a case.
pub struct Made {
    /// The network.
    pub model: Model,
    pub board: Board,
    /// Its plan, or why there is none.
    pub planned: Result<Planned, String>,
}

/// All cases whose names contain this.
///
/// # Errors
/// If a line is none.
pub fn all(only: &str) -> Result<Vec<Case>, String> {
    let mut lines: Vec<String> = CASES.lines().map(str::to_owned).collect();
    for network in tilewright_zoo::entries() {
        for board in BOARDS {
            let line = |strategy: Strategy| format!("{} {board} {strategy}", network.name);
            lines.extend(Strategy::ALL.map(line));
            lines.push(format!("{} {board} overlay outputs=staged", network.name));
        }
    }
    lines.sort();
    lines.dedup();
    lines.iter().filter(|line| line.contains(only)).map(|line| Case::read(line)).collect()
}

impl Case {
    fn read(line: &str) -> Result<Self, String> {
        let told = |what: &str| format!("cases.txt: '{line}': {what}");
        let mut words = line.split_whitespace();
        let mut next = |what: &str| words.next().map(str::to_owned).ok_or_else(|| told(what));
        let (network, board) = (next("no network")?, next("no board")?);
        let strategy = next("no strategy")?.parse().map_err(|_| told("no such strategy"))?;
        let mut options = Options::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number = || value.parse::<u64>().map_err(|_| told("no such number"));
            match (key, value) {
                ("sram", _) => options.sram = Some(Bytes(number()?)),
                ("buffer", _) => options.buffer = Some(Bytes(number()?)),
                ("frames", _) => {
                    let frames = value.parse::<NonZeroU32>();
                    options.frames = frames.map_err(|_| told("no such number"))?;
                }
                ("objective", "memory") => options.objective = Objective::Memory,
                ("outputs", "staged") => options.overlaid = Overlaid::ALL,
                ("packing", "plain") => options.packing = Packing::Plain,
                ("packing", "fast") => options.packing = Packing::Fast,
                ("checked", "") => options.integrity = Integrity::Checked,
                ("sealed", "") => options.integrity = Integrity::Sealed,
                _ => return Err(told("no such option")),
            }
        }
        Ok(Self { name: line.to_owned(), network, board, strategy, options })
    }

    /// Plans it.
    ///
    /// # Errors
    /// If network or board do not exist.
    pub fn make(&self) -> Result<Made, String> {
        let board: Board = tilewright_board::find(&self.board).map_err(|e| e.to_string())?;
        let network = tilewright_zoo::network(&self.network).map_err(|e| e.to_string())?;
        let model = network.int8().map_err(|e| e.to_string())?;
        let planned = plan(&model, &board, self.strategy, &self.options);
        Ok(Made { model, board, planned: planned.map_err(|e| e.to_string()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_case_of_a_network_and_a_board_that_exist() {
        let cases = all("").unwrap();
        assert!(cases.len() >= 700, "{}", cases.len());
        for case in &cases {
            assert!(tilewright_board::find(&case.board).is_ok(), "{}", case.name);
            assert!(tilewright_zoo::network(&case.network).is_ok(), "{}", case.name);
        }
        for strategy in Strategy::ALL {
            assert!(cases.iter().any(|case| case.strategy == strategy), "{strategy}");
        }
    }
}
