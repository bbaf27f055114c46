//! The constants of a plan in flash, for which the core waits read by read. Accelerators and caches are taken to be on.

use tilewright_board::Board;
use tilewright_cores::Lines;
use tilewright_cpu::Memory;
use tilewright_report::FaultKind;

use crate::fault::status;
use crate::machine::Machine;

/// Constants that come from flash.
#[derive(Debug)]
pub struct Constants {
    lines: Lines,
    miss: u64,
    /// Address of the first byte.
    pub(crate) address: u32,
    /// How many they are.
    pub(crate) bytes: u64,
    /// Number of their memory.
    memory: usize,
}

impl Constants {
    /// What lies from the plan on in a board's flash; nothing if nobody knows what flash makes the core wait.
    pub(crate) fn new(board: &Board) -> Option<Self> {
        let waits = board.flash_waits()?;
        let address = board.plan_address()?;
        let (lines, miss) = (Lines::new(&waits.constants), waits.miss().into());
        Some(Self { lines, miss, address, bytes: board.plan_bytes().0, memory: 0 })
    }

    /// Their memory is among these.
    pub(crate) fn find(&mut self, memories: &Memory) {
        self.memory = memories.number(self.address).unwrap_or(0);
    }

    /// Whether an address is that of one.
    #[inline]
    pub(crate) fn holds(&self, address: u32) -> bool {
        u64::from(address.wrapping_sub(self.address)) < self.bytes
    }
}

/// The core reads `size` bytes at an offset into the constants.
#[inline]
pub fn read(machine: &mut Machine, offset: u64, size: usize) -> u64 {
    let Machine { constants, account, table, memories, .. } = machine;
    let Some(constants) = constants else { return 0 };
    let address = constants.address.wrapping_add(offset as u32);
    if !constants.lines.uses(address) {
        let waits = constants.miss;
        account.wait_for_constants(waits);
        table.waits_for_constants(waits);
    }
    // To load from the same line again changes nothing.
    let line = constants.lines.line_bytes();
    let before = (address & (line - 1)).min(offset as u32);
    memories.pass_unseen(
        constants.memory,
        offset as u32 - before,
        line - (address & (line - 1)) + before,
    );
    memories.word(constants.memory, offset as usize, size)
}

/// The core tries to write at an offset into the constants: it faults.
pub fn write(machine: &mut Machine, offset: u64) {
    let address = machine.constants.as_ref().map_or(0, |constants| constants.address);
    let address = address.wrapping_add(offset as u32);
    let message = format!("write to 0x{address:08x}; flash does not allow it");
    machine.core_fault(FaultKind::UnmappedAccess, status::IMPRECISE, message);
}
