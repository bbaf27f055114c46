//! Loads and stores of the core, by address: to whom they go, and what happens where nobody answers.
//!
//! A device or a memory whose accesses are seen gets them aligned. So a load that is not becomes the two aligned loads
//! around it, and a store becomes stores of bytes.

use tilewright_cpu::Reach;

use crate::board::{constants, devices, external};
use crate::machine::Machine;

/// [`BadAccess::what`] of loads.
pub const READ: &str = "read of";
/// [`BadAccess::what`] of stores.
pub const WRITE: &str = "write to";
/// [`BadAccess::what`] of instructions.
pub const FETCH: &str = "fetch from";

/// An access that nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// [`READ`], [`WRITE`] or [`FETCH`].
    pub what: &'static str,
    /// Where.
    pub address: u32,
    /// Whether memory is there, but does not allow this.
    pub forbidden: bool,
}

/// Notes an access that nobody answers, or not to this. The first one counts; the engine ends with
/// [`Trap::Access`](crate::Trap::Access).
pub fn refuse(machine: &mut Machine, what: &'static str, address: u32, forbidden: bool) {
    machine.bad_access.get_or_insert(BadAccess { what, address, forbidden });
}

/// Who answers an address.
#[derive(Clone, Copy)]
enum Who {
    External(usize),
    Constants,
    Device,
    Memory { writable: bool },
    Nobody,
}

impl Who {
    #[inline]
    fn at(machine: &Machine, address: u32) -> Self {
        if machine.constants.as_ref().is_some_and(|constants| constants.holds(address)) {
            return Self::Constants;
        }
        if let Some(index) = machine.external.iter().position(|it| it.holds(address)) {
            return Self::External(index);
        }
        match machine.memories.reach(address) {
            Some(reach) => Self::Memory { writable: reach == Reach::Plain },
            None if devices::answer(address) => Self::Device,
            None => Self::Nobody,
        }
    }

    /// Whether it gets an access of so many bytes as the core makes it.
    const fn takes(self, address: u32, bytes: u32) -> bool {
        matches!(self, Self::Memory { .. } | Self::Nobody) || address & (bytes - 1) == 0
    }
}

/// The core loads 1, 2 or 4 bytes. Nothing if nobody answers, which is noted ([`refuse`]); a fault of who answers ends
/// the run at the next block, and gives zeros.
pub fn load(machine: &mut Machine, address: u32, bytes: u32) -> Option<u32> {
    let who = Who::at(machine, address);
    if !who.takes(address, bytes) {
        let first = address & !(bytes - 1);
        let low = u64::from(load(machine, first, bytes)?);
        let high = u64::from(load(machine, first.wrapping_add(bytes), bytes)?);
        let both = high << (8 * bytes) | low;
        return Some((both >> (8 * (address - first))) as u32 & (u32::MAX >> (32 - 8 * bytes)));
    }
    let size = bytes as usize;
    match who {
        Who::External(index) => {
            let offset = address.wrapping_sub(machine.external[index].address);
            Some(external::read(machine, index, offset.into(), size) as u32)
        }
        Who::Constants => {
            let offset = address.wrapping_sub(machine.constants.as_ref()?.address);
            Some(constants::read(machine, offset.into(), size) as u32)
        }
        Who::Device => Some(devices::read(machine, address, size)),
        Who::Memory { .. } | Who::Nobody => {
            let mut value = [0; 4];
            if !machine.memories.read(address, value.get_mut(..size)?) {
                refuse(machine, READ, address, false);
                return None;
            }
            Some(u32::from_le_bytes(value))
        }
    }
}

/// The core stores 1, 2 or 4 bytes. Nothing if nobody answers or it is forbidden, which is noted ([`refuse`]); a fault
/// of who answers ends the run at the next block.
pub fn store(machine: &mut Machine, address: u32, bytes: u32, value: u32) -> Option<()> {
    let who = Who::at(machine, address);
    if !who.takes(address, bytes) {
        return (0..bytes)
            .try_for_each(|at| store(machine, address.wrapping_add(at), 1, value >> (8 * at)));
    }
    let size = bytes as usize;
    match who {
        Who::External(index) => {
            let offset = address.wrapping_sub(machine.external[index].address);
            external::write(machine, index, offset.into(), size, value.into());
        }
        Who::Constants => {
            let offset = address.wrapping_sub(machine.constants.as_ref()?.address);
            constants::write(machine, offset.into());
        }
        Who::Device => devices::write(machine, address, size, value),
        Who::Memory { writable: false } => {
            refuse(machine, WRITE, address, true);
            return None;
        }
        Who::Memory { writable: true } | Who::Nobody => {
            if !machine.memories.write(address, value.to_le_bytes().get(..size)?) {
                refuse(machine, WRITE, address, false);
                return None;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::machine;

    const RAM: u32 = 0x2000_0000;

    #[test]
    fn plain_memory_answers_wherever_words_lie() {
        let mut machine = machine();
        assert_eq!(store(&mut machine, RAM + 1, 4, 0x0403_0201), Some(()));
        assert_eq!(load(&mut machine, RAM + 1, 4), Some(0x0403_0201));
        assert_eq!(load(&mut machine, RAM + 2, 2), Some(0x0302));
        assert_eq!(load(&mut machine, RAM + 4, 1), Some(4));
        assert_eq!(machine.bad_access, None);
    }

    #[test]
    fn what_nobody_answers_is_noted_once() {
        let mut machine = machine();
        assert_eq!(load(&mut machine, 0x1000_0000, 4), None);
        assert_eq!(store(&mut machine, 0x0800_0000, 4, 0), None);
        let first = BadAccess { what: READ, address: 0x1000_0000, forbidden: false };
        assert_eq!(machine.bad_access.take(), Some(first));
        assert_eq!(store(&mut machine, 0x0800_0000, 4, 0), None);
        let first = BadAccess { what: WRITE, address: 0x0800_0000, forbidden: true };
        assert_eq!(machine.bad_access, Some(first));
        assert!(machine.end.is_none());
    }

    #[test]
    fn constants_answer_and_make_the_core_wait() {
        let mut machine = machine();
        let address = machine.board.plan_address().unwrap();
        assert!(machine.memories.write(address, &[1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(load(&mut machine, address + 2, 4), Some(0x0605_0403));
        assert!(machine.account.cycles > 0);
        let before = machine.account.cycles;
        assert_eq!(load(&mut machine, address + 6, 1), Some(7));
        assert_eq!(machine.account.cycles, before, "its line is there");
        assert_eq!(store(&mut machine, address, 4, 0), Some(()));
        assert!(machine.end.is_some() && machine.bad_access.is_none());
    }

    #[test]
    fn devices_answer_by_address() {
        let mut machine = machine();
        // VTOR; SRAM is a place for vectors.
        assert_eq!(store(&mut machine, 0xe000_ed08, 4, RAM), Some(()));
        assert_eq!(load(&mut machine, 0xe000_ed08, 4), Some(RAM));
        assert!(machine.end.is_none() && machine.deadline == 0);
    }

    #[test]
    fn external_memory_that_is_not_set_up_ends_the_run() {
        let mut machine = machine();
        assert_eq!(load(&mut machine, 0xc000_0000, 4), Some(0));
        assert!(machine.end.is_some() && machine.bad_access.is_none());
    }
}
