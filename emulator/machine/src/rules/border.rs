//! Accesses that lie half in DTCM and half in the SRAM behind it. The core makes such a load or store in two parts, by
//! its own interface and by the AXI bus, and Arm's manual does not say what a device makes of that (DDI 0489F, 5.6;
//! RM0385, 2.1): no plan may count on it.

use tilewright_board::{Board, MemoryKind};
use tilewright_report::FaultKind;

use crate::core::block;
use crate::engine::Engine;
use crate::machine::Machine;

/// Bytes before the border at which a word may begin that ends behind it.
const BEFORE: u32 = 3;

/// Where DTCM ends, if SRAM begins there.
fn border(board: &Board) -> Option<u32> {
    let coupled = board.memory.iter().find(|memory| memory.kind == MemoryKind::Dtcm)?;
    let end = coupled.address?.checked_add(u32::try_from(coupled.bytes.0).ok()?)?;
    board.memory.iter().any(|memory| memory.address == Some(end)).then_some(end)
}

/// First and last address of accesses to show to [`check`]; nothing unless a job asks for it and the board has such a
/// border.
#[must_use]
pub fn watched(machine: &Machine) -> Option<(u32, u32)> {
    let end = border(&machine.board).filter(|_| machine.torn_words)?;
    Some((end - BEFORE, end - 1))
}

/// Ends the run if an access of so many bytes goes across the border.
pub fn check(engine: &mut impl Engine, write: bool, address: u32, bytes: u32) {
    let Some((_, last)) = watched(engine.machine()) else { return };
    if u64::from(address) + u64::from(bytes) <= u64::from(last) + 1 {
        return;
    }
    let (what, end) = (if write { "write of" } else { "read of" }, last + 1);
    let place = block::place(engine, block::pc(engine));
    let message = format!(
        "{what} {bytes} bytes at 0x{address:08x}, near {place}: half of them lie in DTCM, the others in the SRAM \
         behind it, and no manual says what a board's core makes of that; no tensor that is read by words at any \
         address may lie across 0x{end:08x}"
    );
    engine.machine_mut().silent_fault(FaultKind::Firmware, message);
    engine.stop();
}
