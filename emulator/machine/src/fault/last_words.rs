//! What the firmware says of a fault itself. A fault ends the job, and its report is made first;
//! then the core takes it as hardware does, so that the firmware's handler speaks as on a board.

use tilewright_report::FaultKind;

use crate::core::block;
use crate::core::exception;
use crate::engine::Engine;
use crate::fault::status;
use crate::machine::End;

/// Instructions for the handler: it waits for each byte that it prints.
const INSTRUCTIONS: u64 = 200_000;

/// Lets the HardFault handler run until it has said its line; that line, for the report's message.
/// Nothing if that is no fault of the core, or the firmware has no handler for it.
pub fn hear(engine: &mut impl Engine, kind: FaultKind) -> Option<String> {
    if !matches!(kind, FaultKind::HardFault | FaultKind::UnmappedAccess | FaultKind::StackOverflow)
    {
        return None;
    }
    let pc = block::pc(engine);
    let machine = engine.machine_mut();
    if machine.board_goes_on {
        return None;
    }
    // The core knows the address of a data access only.
    let data = machine.bad_access.filter(|_| machine.fault_status == status::PRECISE);
    machine.bus.record_fault(machine.fault_status, data.map(|access| access.address));
    machine.go_on(INSTRUCTIONS);
    let handler = exception::take_hard_fault(engine, pc)?;
    match engine.execute(handler & !1) {
        End::Fault(FaultKind::Firmware, said) => Some(format!("; {said}")),
        End::Fault(..) | End::Done => None,
    }
}
