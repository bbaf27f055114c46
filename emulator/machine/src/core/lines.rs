//! Loops that maintain the data cache line by line, millions of lines for a network that swaps: their turns
//! are made here, each counted and charged as if the core made it. The last turn is the core's, and so is
//! one behind which something is due.

use tilewright_cores::Flags;
use tilewright_devices::Maintenance;

use crate::board::external;
use crate::core::registers::NUMBERED;
use crate::engine::Engine;
use crate::machine::Machine;

/// Registers that such a loop may use: r0 to r12.
const REGISTERS: usize = 13;
type Values = [u32; REGISTERS];

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Register(usize),
    Number(u32),
}

/// An instruction of such a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Stores a register to the address in another and so many bytes on.
    Store {
        value: usize,
        base: usize,
        offset: u32,
    },
    Add {
        to: usize,
        a: usize,
        b: u32,
        sets_flags: bool,
    },
    /// Sets the flags, and the register if there is one.
    Subtract {
        to: Option<usize>,
        a: usize,
        b: From,
    },
    /// Under a condition.
    Move {
        to: usize,
        from: usize,
        when: u16,
    },
}

/// N, Z, C and V.
#[derive(Clone, Copy, Debug, Default)]
struct Status {
    negative: bool,
    zero: bool,
    carry: bool,
    overflow: bool,
}

impl Status {
    /// Of a + b + carry, with the sum (DDI 0403E, A2.2.1).
    const fn of_sum(a: u32, b: u32, carry: bool) -> (u32, Self) {
        let wide = a as u64 + b as u64 + carry as u64;
        let sum = wide as u32;
        let overflow = (!(a ^ b) & (a ^ sum)) >> 31 != 0;
        let negative = sum >> 31 != 0;
        (sum, Self { negative, zero: sum == 0, carry: wide >> 32 != 0, overflow })
    }

    /// Whether a condition holds, of those that a branch may have (DDI 0403E, A7.3).
    const fn meets(self, condition: u16) -> bool {
        let holds = match condition >> 1 {
            0 => self.zero,
            1 => self.carry,
            2 => self.negative,
            3 => self.overflow,
            4 => self.carry && !self.zero,
            5 => self.negative == self.overflow,
            6 => self.negative == self.overflow && !self.zero,
            _ => return true,
        };
        holds != (condition & 1 != 0)
    }
}

/// A block that branches back to its own start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    address: u32,
    acts: Vec<Act>,
    /// Under which it goes on.
    condition: u16,
}

impl Loop {
    /// The block of these bytes, if it is such a loop: stores and what counts them, nothing else. Whether it
    /// maintains lines is seen when it runs.
    pub fn of(address: u32, bytes: &[u8]) -> Option<Self> {
        let mut halves = bytes.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]]));
        let (mut acts, mut under, mut flags) = (Vec::new(), None, false);
        while let Some(first) = halves.next() {
            let low = |shift: u32| usize::from(first >> shift & 7);
            let number = u32::from(first & 0xff);
            let act = match first >> 8 {
                0x60..=0x67 => {
                    let offset = u32::from(first >> 6 & 31) * 4;
                    Act::Store { value: low(0), base: low(3), offset }
                }
                0x30..=0x37 => Act::Add { to: low(8), a: low(8), b: number, sets_flags: true },
                0x28..=0x2f => Act::Subtract { to: None, a: low(8), b: From::Number(number) },
                0x1a | 0x1b => {
                    Act::Subtract { to: Some(low(0)), a: low(3), b: From::Register(low(6)) }
                }
                0x42 if first & 0xc0 == 0x80 => {
                    Act::Subtract { to: None, a: low(0), b: From::Register(low(3)) }
                }
                0x46 if first & 0xc0 == 0 => {
                    Act::Move { to: low(0), from: low(3), when: under.take()? }
                }
                // IT with one instruction, which is a move.
                0xbf if first & 0xf == 8 && first >> 5 & 7 != 7 && flags && under.is_none() => {
                    under = Some(first >> 4 & 0xf);
                    continue;
                }
                0xf1 | 0xf5 => wide_add(first, halves.next()?)?,
                0xd0..=0xdd if flags && under.is_none() => {
                    let back = i32::from(first as u8 as i8) * 2 + 4;
                    let is_last = halves.next().is_none();
                    let is_back = back == 2 - bytes.len() as i32;
                    let condition = first >> 8 & 0xf;
                    let stores = acts.iter().any(|act| matches!(act, Act::Store { .. }));
                    return (is_last && is_back && stores).then_some(Self {
                        address,
                        acts,
                        condition,
                    });
                }
                _ => return None,
            };
            if under.is_some() {
                return None;
            }
            flags |= matches!(act, Act::Subtract { .. } | Act::Add { sets_flags: true, .. });
            acts.push(act);
        }
        None
    }

    /// Makes a turn, but for its stores: whether another follows.
    fn turn(&self, values: &mut Values, stores: &mut Vec<(u32, u32)>) -> bool {
        let mut status = Status::default();
        for act in &self.acts {
            match *act {
                Act::Store { value, base, offset } => {
                    stores.push((values[base].wrapping_add(offset), values[value]));
                }
                Act::Add { to, a, b, sets_flags } => {
                    let (sum, set) = Status::of_sum(values[a], b, false);
                    values[to] = sum;
                    status = if sets_flags { set } else { status };
                }
                Act::Subtract { to, a, b } => {
                    let b = match b {
                        From::Register(register) => values[register],
                        From::Number(number) => number,
                    };
                    let (difference, set) = Status::of_sum(values[a], !b, true);
                    status = set;
                    if let Some(to) = to {
                        values[to] = difference;
                    }
                }
                Act::Move { to, from, when } => {
                    if status.meets(when) {
                        values[to] = values[from];
                    }
                }
            }
        }
        status.meets(self.condition)
    }
}

/// ADD of a constant, flags left as they are (DDI 0403E, A7.7.3, encoding T3).
fn wide_add(first: u16, second: u16) -> Option<Act> {
    let (a, to) = (usize::from(first & 0xf), usize::from(second >> 8 & 0xf));
    let is_add = first & 0xfbf0 == 0xf100 && second & 0x8000 == 0;
    let known = a < REGISTERS && to < REGISTERS;
    // A5.3.2: a byte, at one place or turned to another.
    let byte = u32::from(second & 0xff);
    let code = u32::from(first >> 10 & 1) << 4 | u32::from(second >> 12 & 7) << 1 | byte >> 7;
    let b = match code >> 1 {
        0 => byte,
        1..=3 => return None,
        _ => (byte | 0x80).rotate_right(code),
    };
    (is_add && known).then_some(Act::Add { to, a, b, sets_flags: false })
}

/// The block at `address` is about to run, and is a loop that was found: makes its turns until the last, or
/// until something is due. True if it is, behind one turn at least.
#[inline(never)]
pub fn turns(
    engine: &mut impl Engine,
    index: usize,
    address: u32,
    size: u32,
    flags: Flags,
) -> bool {
    let loops = &engine.machine().loops;
    let Some(this) = loops.iter().find(|known| known.address == address).cloned() else {
        return false;
    };
    let before: Values = std::array::from_fn(|number| engine.read(NUMBERED[number]));
    let (mut values, mut stores, mut lines) = (before, Vec::new(), Vec::new());
    let machine = engine.machine_mut();
    let is_due = loop {
        if machine.account.cycles >= machine.deadline {
            break values != before;
        }
        let mut after = values;
        stores.clear();
        let goes_on = this.turn(&mut after, &mut stores);
        if !maintains(machine, &stores, &mut lines) {
            // What it is for instead it will be for again: it is none of these.
            machine.loops.retain(|known| known.address != address);
            machine.table.unmark(index);
            break false;
        }
        if !goes_on {
            break false;
        }
        machine.enter(index, address, size, flags);
        for line in &lines {
            external::maintain(machine, *line);
        }
        values = after;
    };
    for ((register, value), before) in NUMBERED.into_iter().zip(values).zip(before) {
        if value != before {
            engine.write(register, value);
        }
    }
    is_due
}

/// Whether all of these stores maintain lines, and which.
fn maintains(machine: &Machine, stores: &[(u32, u32)], lines: &mut Vec<Maintenance>) -> bool {
    lines.clear();
    lines.extend(stores.iter().filter_map(|(at, value)| machine.bus.maintenance(*at, *value)));
    lines.len() == stores.len()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn bytes(halves: &[u16]) -> Vec<u8> {
        halves.iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    /// str r2,[r5,#4]; adds r2,#32; cmp r2,r3; blo to the start.
    const SIMPLE: [u16; 4] = [0x606a, 0x3220, 0x429a, 0xd3fb];

    /// The turns of a loop from these values on: values behind them, and what each stored.
    fn all(found: &Loop, mut values: Values) -> (Values, Vec<Vec<(u32, u32)>>) {
        let mut turns = Vec::new();
        loop {
            let mut stores = Vec::new();
            let goes_on = found.turn(&mut values, &mut stores);
            turns.push(stores);
            if !goes_on {
                return (values, turns);
            }
        }
    }

    #[test]
    fn a_loop_line_by_line_ends_where_it_should() {
        let found = Loop::of(0x100, &bytes(&SIMPLE)).unwrap();
        let mut values = [0; 13];
        (values[2], values[3], values[5]) = (0x2000_0000, 0x2000_0041, 0xe000_ef5c);
        let (values, turns) = all(&found, values);
        let stores = [0, 0x20, 0x40].map(|line| vec![(0xe000_ef60, 0x2000_0000 + line)]);
        assert_eq!((values[2], turns), (0x2000_0060, stores.to_vec()));
    }

    #[test]
    fn a_loop_of_several_lines_a_turn_counts_what_is_left() {
        // add.w r6,r2,#32; str r2,[r5]; str r6,[r5]; add.w r2,r2,#256; subs r6,r3,r2; it lo; movlo r6,r4;
        // cmp r6,#255; bhi to the start.
        let code = [
            0xf102, 0x0620, 0x602a, 0x602e, 0xf502, 0x7280, 0x1a9e, 0xbf38, 0x4626, 0x2eff, 0xd8f4,
        ];
        let found = Loop::of(0x100, &bytes(&code)).unwrap();
        for (left, turns) in [(256, 1), (511, 1), (512, 2), (300, 1), (1 << 20, 1 << 12)] {
            let mut values = [0; 13];
            (values[2], values[3], values[5]) = (0x2000_0000, 0x2000_0000 + left, 0xe000_ef5c);
            let (values, found) = all(&found, values);
            assert_eq!((found.len(), values[6]), (turns, left % 256), "{left}");
            assert_eq!(found[0], [(0xe000_ef5c, 0x2000_0000), (0xe000_ef5c, 0x2000_0020)]);
        }
    }

    #[test]
    fn other_blocks_are_none() {
        // A load; a branch elsewhere; one that always goes back; flags of a turn before; nothing stored.
        let loads = [0x686a, 0x3220, 0x429a, 0xd3fb];
        let elsewhere = [0x606a, 0x3220, 0x429a, 0xd3fa];
        let always = [0x606a, 0x3220, 0x429a, 0xe7fb];
        let before = [0x606a, 0xf102, 0x0220, 0xd3fb];
        let nothing = [0x3220, 0x429a, 0xd3fc];
        for code in [&loads[..], &elsewhere, &always, &before, &nothing, &SIMPLE[..3]] {
            assert_eq!(Loop::of(0x100, &bytes(code)), None, "{code:x?}");
        }
    }

    #[test]
    fn sums_and_conditions_are_those_of_the_core() {
        // Subtractions: n, z, c and v of 1 - 2, 2 - 2, 2 - 1 and the least - 1.
        let least = 1u32 << 31;
        let of = |a: u32, b: u32| Status::of_sum(a, !b, true).1;
        let bits = |s: Status| [s.negative, s.zero, s.carry, s.overflow].map(u8::from);
        assert_eq!(bits(of(1, 2)), [1, 0, 0, 0]);
        assert_eq!(bits(of(2, 2)), [0, 1, 1, 0]);
        assert_eq!(bits(of(2, 1)), [0, 0, 1, 0]);
        assert_eq!(bits(of(least, 1)), [0, 0, 1, 1]);
        // eq, ne, hs, lo, mi, pl, vs, vc, hi, ls, ge, lt, gt, le.
        let holds = |status: Status| (0..14).map(|c| u8::from(status.meets(c))).collect::<Vec<_>>();
        assert_eq!(holds(of(1, 2)), [0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(holds(of(2, 2)), [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1]);
        assert_eq!(holds(of(least, 1)), [0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1]);
    }
}
