//! Stores to memory that is cached write-through, which a Cortex-M7 r0p1 loses in some orders of stores and loads
//! (erratum 1259864).

use tilewright_board::MemoryKind;
use tilewright_devices::Caching;
use tilewright_report::FaultKind;

use crate::machine::Machine;

/// Ends the run with what a board would do to stores to a place.
pub fn end(machine: &mut Machine, what: &str) {
    let message = format!(
        "{what}, which the MPU makes write-through while the data cache is on: the Cortex-M7 r0p1 of a board loses \
         such stores in some orders of stores and loads (erratum 1259864); make it write-back"
    );
    machine.silent_fault(FaultKind::Firmware, message);
}

/// Looks at memories whose accesses are not seen: SRAM that is written is not to be cached so.
pub fn check(machine: &mut Machine) {
    if !machine.data_cache_on || !machine.bus.loses_writes_through() {
        return;
    }
    let is_so = |address: u32| {
        let attributes = machine.bus.attributes(address);
        attributes.writable && attributes.caching == Caching::WriteThrough
    };
    let mut inside = machine.board.memory.iter().filter(|it| it.kind == MemoryKind::Sram);
    let found = inside.find(|memory| memory.address.is_some_and(is_so));
    if let Some(name) = found.map(|memory| memory.name.clone()) {
        end(machine, &format!("stores to {name}"));
    }
}
