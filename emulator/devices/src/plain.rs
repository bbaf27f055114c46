//! Registers that keep what is written and do nothing else.

use std::collections::BTreeMap;

use crate::access::{Device, Moment, Write};

/// How a register differs from plain storage.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Value at reset.
    Reset(u32),
    /// Value, whatever is written.
    Fixed(u32),
    /// Bits that are 1 whenever bits of another register are: its offset, and pairs of bits.
    Follows(u32, &'static [(u32, u32)]),
    /// Bits that are 1 whenever bits of another register are 0.
    Opposes(u32, &'static [(u32, u32)]),
}

/// A block of registers.
#[derive(Clone, Debug)]
pub struct Plain {
    registers: BTreeMap<u32, u32>,
    rules: &'static [(u32, Rule)],
    end: u32,
}

impl Plain {
    /// Registers at offsets below `end`.
    pub fn new(end: u32, rules: &'static [(u32, Rule)]) -> Self {
        let registers = rules
            .iter()
            .filter_map(|(offset, rule)| match rule {
                Rule::Reset(value) => Some((*offset, *value)),
                _ => None,
            })
            .collect();
        Self { registers, rules, end }
    }

    /// What was written to a register, or its value at reset.
    pub fn kept(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }
}

/// A value with bits that are those of another register.
fn answered(value: u32, other: u32, bits: &[(u32, u32)]) -> u32 {
    bits.iter().fold(value, |value, (request, answer)| {
        value & !(1 << answer) | (other >> request & 1) << answer
    })
}

impl Device for Plain {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        if offset >= self.end {
            return None;
        }
        let mut value = self.kept(offset);
        for (at, rule) in self.rules {
            match *rule {
                _ if *at != offset => {}
                Rule::Reset(_) => {}
                Rule::Fixed(fixed) => return Some(fixed),
                Rule::Follows(other, bits) => value = answered(value, self.kept(other), bits),
                Rule::Opposes(other, bits) => value = answered(value, !self.kept(other), bits),
            }
        }
        Some(value)
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        if offset >= self.end {
            return false;
        }
        let register = self.registers.entry(offset).or_insert(0);
        *register = write.over(*register);
        true
    }
}
