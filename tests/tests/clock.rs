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

/// Other boards wait for flash in their own way, for code and for constants: all else takes what it does on the core's
/// first.
#[test]
fn boards_of_a_core_differ_by_their_flash() {
    // A line of code holds two instructions on the first board and four on the second, and the cache of the third holds
    // the loop.
    let boards = [
        ("nucleo-l4r5zi", 768 * (2 + 4), 6 + 5),
        ("nrf52840-dk", 384 * (4 + 2), 6 + 2),
        ("pico-2", 1536 + 3, 4 + 48),
    ];
    for (id, code, stream) in boards {
        let board = tilewright_board::find(id).unwrap();
        let index = CORES.iter().position(|(core, _)| *core == board.core.kind).unwrap();
        let cycles = emulate(&board).unwrap();
        assert_eq!(cycles.len(), RULES.len(), "{id}: {cycles:?}");
        for rule in RULES {
            let turn = match rule.name {
                "code-6k" => code,
                "flash-stream" => stream,
                _ => rule.modelled[index],
            };
            let apart = cycles[rule.name].abs_diff(turn * TURNS);
            // Victims of the third board's cache are drawn.
            let most = SURROUNDINGS + turn * TURNS / 50;
            assert!(apart <= most, "{id}: {} of {turn} is {apart} apart", rule.name);
        }
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
