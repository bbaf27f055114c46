//! Loops that each show one rule of a pipeline take on the emulated boards what the models say, by the
//! boards' own cycle counter.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tilewright_tests::clock::{CORES, RULES, TURNS, emulate, heard};

/// Cycles by which what surrounds two runs of a loop may differ: lines of code that are not kept once.
const SURROUNDINGS: u64 = 60;

#[test]
fn each_loop_takes_what_its_rule_says() {
    for (index, (core, board)) in CORES.into_iter().enumerate() {
        let board = tilewright_board::find(board).unwrap();
        assert_eq!(board.core.kind, core);
        let cycles = emulate(&board).unwrap();
        assert_eq!(cycles.len(), RULES.len(), "{}: {cycles:?}", board.id);
        let differ: Vec<_> = RULES
            .iter()
            .filter(|rule| {
                let modelled = rule.modelled[index] * TURNS;
                let apart = cycles.get(rule.name).map(|cycles| cycles.abs_diff(modelled));
                let most = SURROUNDINGS + modelled * rule.about_permille / 1000;
                apart.is_none_or(|apart| apart > most)
            })
            .map(|rule| (rule.name, rule.modelled[index] * TURNS, cycles.get(rule.name)))
            .collect();
        assert!(differ.is_empty(), "{}: {differ:?}", board.id);
    }
}

/// The same core with a cache that holds the longest loop: all else takes what it does on the smaller one.
#[test]
fn a_larger_cache_keeps_the_longest_loop() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let index = CORES.iter().position(|(core, _)| *core == board.core.kind).unwrap();
    let cycles = emulate(&board).unwrap();
    assert_eq!(cycles.len(), RULES.len(), "{cycles:?}");
    for rule in RULES {
        let turn = if rule.name == "code-6k" { 1536 } else { rule.modelled[index] };
        let apart = cycles[rule.name].abs_diff(turn * TURNS);
        assert!(apart <= SURROUNDINGS + turn * TURNS / 100, "{}: {apart} apart", rule.name);
    }
}

#[test]
fn logs_of_boards_are_read_or_refused() {
    let log = "garbage\r\nclock a-board\r\nrule load 6001\r\nrule ldrd 7000\r\ndone\r\nclock";
    let (board, cycles) = heard(log).unwrap();
    assert_eq!((board.as_str(), cycles["load"], cycles["ldrd"]), ("a-board", 6001, 7000));
    for broken in ["", "clock a", "clock a\nrule load\ndone", "clock a\nrule load x\ndone"] {
        assert!(heard(broken).is_err(), "{broken}");
    }
}
