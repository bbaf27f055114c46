//! Fast buffers that tiles have by turns: the thesis' table 4.4.

use std::ops::Range;

use crate::schedule::work::{Class, Work};
use crate::strategy::external::LINE;
use serde::{Deserialize, Serialize};

/// Where the fast buffers lie in the arena. B0 to B3 hold tiles of inputs, two of an operator with
/// two inputs by turns; B2 and B3 filters of operators with one input; B4 to B6 biases and
/// quantisation parameters, which are one block here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// What lies below.
    pub base: u64,
    /// Bytes of a buffer for tiles of inputs.
    pub tiny: u64,
    /// Bytes of B2.
    pub third: u64,
    /// Bytes of B3.
    pub fourth: u64,
    /// Bytes of B4 to B6.
    pub parameters: u64,
    /// Bytes of a buffer for tiles of outputs.
    pub output: u64,
}

/// Tiles whose buffers lie at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The number of the first.
    pub first: u32,
    /// The buffers.
    pub slots: Slots,
}

impl Slots {
    /// Where all buffers end; 0 if there are none.
    pub const fn end(&self) -> u64 {
        let end = self.filters_end() + self.parameters + 2 * self.output;
        if end == self.base { 0 } else { end }
    }

    /// Bytes of B2 and B3.
    pub const fn filters(&self) -> u64 {
        self.third + self.fourth
    }

    /// Where B3 ends.
    const fn filters_end(&self) -> u64 {
        self.base + 2 * self.tiny + self.filters()
    }

    /// The buffer of a class, in every second turn.
    const fn of(&self, class: Class, odd: bool) -> Range<u64> {
        let start = self.base
            + match (class, odd) {
                (Class::Input, false) => 0,
                (Class::Input, true) => self.tiny,
                (Class::Second, false) | (Class::Weights, _) => 2 * self.tiny,
                (Class::Second, true) => 2 * self.tiny + self.third,
                (Class::Parameters, _) => 2 * self.tiny + self.filters(),
                (Class::Output, false) => 2 * self.tiny + self.filters() + self.parameters,
                (Class::Output, true) => {
                    2 * self.tiny + self.filters() + self.parameters + self.output
                }
            };
        let bytes = match class {
            Class::Input | Class::Second => self.tiny,
            Class::Weights => self.filters(),
            Class::Parameters => self.parameters,
            Class::Output => self.output,
        };
        start..start + bytes
    }
}

/// Where residences lie in the buffers: tiles by turns, filters and parameters at one end of theirs and then at the
/// other; nothing if one is larger than its buffer.
pub fn slots(work: &Work, phases: &[Phase]) -> Option<Vec<u64>> {
    let Work { tasks, residences, .. } = work;
    let tile = |task: u32| tasks.get(task as usize).map_or(0, |task| task.tile);
    let mut offsets: Vec<u64> = Vec::with_capacity(residences.len());
    let mut turned = false;
    for (index, Phase { first, slots }) in phases.iter().enumerate() {
        let end = phases.get(index + 1).map_or(u32::MAX, |next| next.first);
        // Buffers of the phase may lie over what is yet to go: else that can wait for what comes.
        if let Some((store, offset)) = residences[..offsets.len()].last().zip(offsets.last()) {
            let input = slots.of(Class::Input, (first % 2 == 1) ^ turned);
            let is_last = store.goes() && tile(store.uses[1]) + 1 == *first;
            let store_end = (offset + store.bytes).next_multiple_of(LINE);
            turned ^= is_last && input.start < store_end && *offset < input.end;
        }
        let mut at_end = [false; 2];
        for residence in &residences[offsets.len()..] {
            let tile = tile(residence.uses[0]);
            if tile >= end {
                break;
            }
            let room = slots.of(residence.class, (tile % 2 == 1) ^ turned);
            let at_end = match residence.class {
                Class::Weights => Some(&mut at_end[0]),
                Class::Parameters => Some(&mut at_end[1]),
                _ => None,
            };
            let bytes = residence.bytes.next_multiple_of(LINE);
            let last = room.end.checked_sub(bytes).filter(|last| *last >= room.start)?;
            offsets.push(match at_end {
                Some(true) => last / LINE * LINE,
                _ => room.start,
            });
            at_end.into_iter().for_each(|at_end| *at_end = !*at_end);
        }
    }
    Some(offsets)
}
