//! Firmware sleeps so that nothing happens behind it that was not to: with DBG_SLEEP set and flash that waits, an
//! STM32F4 may execute what follows WFI or WFE wrongly when it wakes (ES0321, debugging of sleep mode), unless three
//! NOPs follow.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use tilewright_tests::emulated;

const NOP: u16 = 0xbf00;
const NOPS: usize = 3;

/// Places where code begins and where data do, in order, as the ARM ELF ABI names them ($t, $d).
fn borders(file: &object::File<'_>) -> Vec<(u64, bool)> {
    let kind = |name: &str| match name.get(..2) {
        Some("$t") => Some(true),
        Some("$d") => Some(false),
        _ => None,
    };
    let symbols =
        file.symbols().filter_map(|symbol| Some((symbol.address(), kind(symbol.name().ok()?)?)));
    let mut borders: Vec<_> = symbols.collect();
    borders.sort_unstable();
    borders
}

/// Addresses of WFI and WFE in code from an address on that are not followed by NOPs, and of all.
fn sleeps(start: u64, code: &[u16]) -> (Vec<u64>, usize) {
    let (mut at, mut found, mut bare) = (0, 0, Vec::new());
    while let Some(half) = code.get(at) {
        let is_wide = half >> 11 >= 0x1d;
        let bytes = 1 + usize::from(is_wide);
        let second = code.get(at + 1).copied().unwrap_or(0);
        let sleeps =
            matches!(half, 0xbf30 | 0xbf20) || *half == 0xf3af && matches!(second, 0x8002 | 0x8003);
        if sleeps {
            found += 1;
            let behind = code.get(at + bytes..at + bytes + NOPS);
            if behind.is_none_or(|halves| halves.iter().any(|half| *half != NOP)) {
                bare.push(start + 2 * at as u64);
            }
        }
        at += bytes;
    }
    (bare, found)
}

/// Of an image: functions with such a place, and how many places there are in all.
fn bare_sleeps(elf: &[u8]) -> (Vec<String>, usize) {
    let file = object::File::parse(elf).unwrap();
    let borders = borders(&file);
    let (mut all, mut bare) = (0, Vec::new());
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let (first, bytes) = (section.address(), section.data().unwrap());
        let end = first + bytes.len() as u64;
        let inside = borders.iter().filter(|(at, _)| (first..end).contains(at));
        let ends = inside.clone().skip(1).map(|(at, _)| *at).chain([end]);
        for ((start, _), end) in inside.clone().zip(ends).filter(|((_, is_code), _)| *is_code) {
            let code = &bytes[(start - first) as usize..(end - first) as usize];
            let halves: Vec<u16> =
                code.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
            let (places, found) = sleeps(*start, &halves);
            all += found;
            bare.extend(places.iter().map(|at| place(&file, *at)));
        }
    }
    (bare, all)
}

/// An address with the function that it is in.
fn place(file: &object::File<'_>, at: u64) -> String {
    let holds = |symbol: &object::Symbol<'_, '_>| {
        let start = symbol.address() & !1;
        (start..start + symbol.size()).contains(&at)
    };
    let function = file.symbols().find(holds);
    let name = function.and_then(|symbol| symbol.name().ok().map(str::to_owned));
    format!("0x{at:08x} in {}", name.unwrap_or_default())
}

#[test]
fn three_nops_follow_each_sleep_of_the_firmware() {
    let mut images = 0;
    for entry in fs::read_dir(emulated::dist().join("firmware")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "elf") {
            let (bare, all) = bare_sleeps(&fs::read(&path).unwrap());
            assert!(all > 0, "{}: no sleep was found", path.display());
            assert!(bare.is_empty(), "{}: {bare:#?}", path.display());
            images += 1;
        }
    }
    assert!(images > 0, "run `cargo xtask build`");
}

#[test]
fn a_sleep_without_nops_is_found() {
    // wfi; nop; nop; nop; wfe; nop; nop; b .
    let code = [0xbf30, NOP, NOP, NOP, 0xbf20, NOP, NOP, 0xe7fe];
    assert_eq!(sleeps(0x100, &code), (vec![0x108], 2));
    // The second half of a longer instruction is none; wfi.w is one.
    assert_eq!(sleeps(0, &[0xf8d0, 0xbf30, 0xf3af, 0x8003, NOP, NOP, NOP]), (vec![], 1));
}
