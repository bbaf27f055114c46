//! Lines that the data cache read ahead while DMA wrote them (AN4839, 4.3.2): until firmware invalidates such a line,
//! the core reads what memory held before. Which lines these are is up to chance.

use std::collections::BTreeMap;

use tilewright_devices::Caching;

use crate::board::dma::POISON;
use crate::machine::Machine;

/// Lines that were read ahead.
#[derive(Debug)]
pub struct Ahead {
    /// What memory holds, by the line's address; the core's view of it holds [`POISON`].
    lines: BTreeMap<u32, Vec<u8>>,
    state: u64,
}

impl Ahead {
    /// None yet; runs with the same seed repeat.
    pub const fn new(seed: u64) -> Self {
        Self { lines: BTreeMap::new(), state: seed }
    }

    /// Whether the next line is read ahead: every second is (SplitMix64).
    fn next(&mut self) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27) >> 33 & 1 == 1
    }

    /// What memory holds where lines were read ahead, in place of what the core sees.
    pub fn look_behind(&self, address: u32, bytes: &mut [u8]) {
        for (line, held) in &self.lines {
            let from = line.checked_sub(address).map(|offset| offset as usize);
            let to = from.and_then(|from| bytes.get_mut(from..from + held.len()));
            if let Some(to) = to {
                to.copy_from_slice(held);
            }
        }
    }
}

/// DMA has written bytes: the core sees them, but for those of lines that were read ahead.
pub fn arrive(machine: &mut Machine, address: u32, bytes: &[u8]) {
    machine.memories.write(address, bytes);
    let line_bytes = machine.transfers.line_bytes();
    let Some(mut ahead) = machine.ahead.take_if(|_| machine.data_cache_on) else { return };
    let end = address.saturating_add(bytes.len() as u32) / line_bytes * line_bytes;
    for line in (address.next_multiple_of(line_bytes)..end).step_by(line_bytes as usize) {
        let is_cached = machine.transfers.may_hold(line)
            && matches!(
                machine.bus.attributes(line).caching,
                Caching::WriteBack | Caching::WriteThrough
            );
        if is_cached && ahead.next() {
            let offset = (line - address) as usize;
            let held = bytes[offset..offset + line_bytes as usize].to_vec();
            machine.memories.write(line, &vec![POISON; held.len()]);
            ahead.lines.insert(line, held);
        }
    }
    machine.ahead = Some(ahead);
}

/// Firmware forgets a line: the core sees what memory holds.
pub fn forget(machine: &mut Machine, address: u32) {
    let line = address & !(machine.transfers.line_bytes() - 1);
    let held = machine.ahead.as_mut().and_then(|ahead| ahead.lines.remove(&line));
    if let Some(held) = held {
        machine.memories.write(line, &held);
    }
}

/// What DMA reads of memory.
pub fn read(machine: &Machine, address: u32, bytes: &mut [u8]) -> bool {
    let is_there = machine.memories.read(address, bytes);
    if let Some(ahead) = &machine.ahead {
        ahead.look_behind(address, bytes);
    }
    is_there
}
