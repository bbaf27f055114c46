//! Devices as the core reaches them.

use tilewright_devices::{AccessError, Size};
use tilewright_report::FaultKind;

use crate::board::{card, dma, external};
use crate::fault::status;
use crate::machine::Machine;

/// First address and bytes of what devices answer: the factory bytes of STM32F7 and STM32F4, peripherals (DDI 0403E,
/// B3.1), the registers of external memories, and the core's own.
pub const REGIONS: [(u32, u32); 5] = [
    (0x1ff0_f000, 0x1000),
    (0x1fff_7000, 0x1000),
    (0x4000_0000, 0x2000_0000),
    (0xa000_0000, 0x2000),
    (0xe000_0000, 0x0010_0000),
];

/// Whether devices answer an address.
#[must_use]
pub fn answer(address: u32) -> bool {
    REGIONS.iter().any(|(start, bytes)| address.wrapping_sub(*start) < *bytes)
}

/// The core reads `size` bytes of a device.
pub fn read(machine: &mut Machine, address: u32, size: usize) -> u32 {
    machine.deadline = 0;
    let Some(size) = Size::from_bytes(size) else { return 0 };
    if let Some(until) = machine.bus.polls_until(address)
        && until > machine.now()
    {
        machine.sleep_until(until);
    }
    let exception = machine.handlers.last().map_or(0, |(exception, _)| *exception);
    match machine.bus.read(address, size, machine.now(), exception) {
        Ok(value) => value,
        Err(error) => {
            refused(machine, "read", status::PRECISE, &error);
            0
        }
    }
}

/// The core writes `size` bytes of a device.
pub fn write(machine: &mut Machine, address: u32, size: usize, value: u32) {
    // There are millions of these, which no device but the cache sees.
    if let Some(maintenance) = machine.bus.maintenance(address, value) {
        return external::maintain(machine, maintenance);
    }
    let Some(size) = Size::from_bytes(size) else { return };
    // So are these.
    if let Some(waits) = machine.bus.sum(address, size, value, machine.now()) {
        machine.account.cycles += waits;
        return;
    }
    machine.deadline = 0;
    machine.registers_changed = true;
    if let Err(error) = machine.bus.write(address, size, value, machine.now()) {
        refused(machine, "write", status::IMPRECISE, &error);
    }
    if machine.bus.enables_clocks(address) && machine.block_waits_for_stores() {
        machine.bus.settle();
    }
    dma::serve(machine);
    card::serve(machine);
}

/// A device does not answer an access: the core faults, but where a board's would go on with a write that was
/// lost.
fn refused(machine: &mut Machine, what: &str, status: u32, error: &AccessError) {
    let message = format!("{what}: {error}");
    match error {
        AccessError::Reserved(_) | AccessError::Unaligned(_) => {
            machine.core_fault(FaultKind::UnmappedAccess, status, message);
        }
        _ => machine.silent_fault(FaultKind::UnmappedAccess, message),
    }
}
