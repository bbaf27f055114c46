//! Accesses that lie half in DTCM and half in the SRAM behind it. The core makes such a load or store in two parts, by
//! its own interface and by the AXI bus, and Arm's manual does not say what a device makes of that (DDI 0489F, 5.6;
//! RM0385, 2.1): no plan may count on it.

use tilewright_board::{Board, MemoryKind};
use tilewright_report::FaultKind;
use unicorn_engine::{HookType, MemType, uc_error};

use crate::block;
use crate::registers::Engine;

/// Bytes before the border at which a word may begin that ends behind it.
const BEFORE: u64 = 3;

/// Where DTCM ends, if SRAM begins there.
fn border(board: &Board) -> Option<u64> {
    let coupled = board.memory.iter().find(|memory| memory.kind == MemoryKind::Dtcm)?;
    let end = u64::from(coupled.address?) + coupled.bytes.0;
    let touches = |address: Option<u32>| address.is_some_and(|address| u64::from(address) == end);
    board.memory.iter().any(|memory| touches(memory.address)).then_some(end)
}

/// Watches the last bytes of DTCM, if a job asks for it: all loads and stores take Unicorn's slow way then.
pub fn set_up(uc: &mut Engine<'_>) -> Result<(), uc_error> {
    let Some(end) = border(&uc.get_data().board).filter(|_| uc.get_data().torn_words) else {
        return Ok(());
    };
    let seen = move |uc: &mut Engine<'_>, kind: MemType, address: u64, size: usize, _: i64| {
        if address + size as u64 > end {
            let what = if kind == MemType::WRITE { "write of" } else { "read of" };
            let place = block::place(uc, block::pc(uc));
            let message = format!(
                "{what} {size} bytes at 0x{address:08x}, near {place}: half of them lie in DTCM, the others in the SRAM \
                 behind it, and no manual says what a board's core makes of that; no tensor that is read by words at any \
                 address may lie across 0x{end:08x}"
            );
            uc.get_data_mut().silent_fault(FaultKind::Firmware, message);
            let _ = uc.emu_stop();
        }
        true
    };
    uc.add_mem_hook(HookType::MEM_READ | HookType::MEM_WRITE, end - BEFORE, end - 1, seen)?;
    Ok(())
}
