//! The machine's memories and devices as Unicorn reaches them.
//!
//! Unicorn shows each access to memory that is mapped as registers, and to no other without slowing everything down: so
//! all whose accesses the machine wants to see are mapped that way.
//!
//! Memories come in the machine's order, from the largest on: Unicorn counts bytes on from the memory that it holds for
//! the last, which is a smaller one than those mapped behind it. They would share its notes of pages that hold code, and
//! stores to the one would undo what is translated of the other.

use tilewright_machine::memories::{Holds, Range};
use tilewright_machine::{constants, devices, external};
use unicorn_engine::{Prot, uc_error};

use crate::engine::Uc;

/// Maps memories and devices.
pub fn set_up(uc: &mut Uc<'_>) -> Result<(), uc_error> {
    for range in uc.get_data().ranges.clone() {
        match range.holds {
            Holds::Flash => map_bytes(uc, range, Prot::READ | Prot::EXEC)?,
            Holds::Ram => map_bytes(uc, range, Prot::ALL)?,
            Holds::Constants => {
                let read = |uc: &mut Uc<'_>, offset: u64, size: usize| {
                    constants::read(uc.get_data_mut(), offset, size)
                };
                let write = |uc: &mut Uc<'_>, offset: u64, _: usize, _: u64| {
                    constants::write(uc.get_data_mut(), offset);
                };
                uc.mmio_map(range.address.into(), range.bytes, Some(read), Some(write))?;
            }
            Holds::External(index) => {
                let read = move |uc: &mut Uc<'_>, offset: u64, size: usize| {
                    external::read(uc.get_data_mut(), index, offset, size)
                };
                let write = move |uc: &mut Uc<'_>, offset: u64, size: usize, value: u64| {
                    external::write(uc.get_data_mut(), index, offset, size, value);
                };
                uc.mmio_map(range.address.into(), range.bytes, Some(read), Some(write))?;
            }
        }
    }
    for (start, bytes) in devices::REGIONS {
        let read = move |uc: &mut Uc<'_>, offset: u64, size: usize| {
            let address = start.wrapping_add(offset as u32);
            u64::from(devices::read(uc.get_data_mut(), address, size))
        };
        let write = move |uc: &mut Uc<'_>, offset: u64, size: usize, value: u64| {
            let address = start.wrapping_add(offset as u32);
            devices::write(uc.get_data_mut(), address, size, value as u32);
        };
        uc.mmio_map(start.into(), bytes.into(), Some(read), Some(write))?;
    }
    Ok(())
}

/// Lets Unicorn reach bytes where the machine has them.
#[allow(unsafe_code)]
fn map_bytes(uc: &mut Uc<'_>, range: Range, allowed: Prot) -> Result<(), uc_error> {
    let bytes = uc.get_data_mut().memories.from_mut(range.address);
    let bytes = bytes.filter(|bytes| bytes.len() as u64 == range.bytes).ok_or(uc_error::MAP)?;
    let start = bytes.as_mut_ptr();
    // SAFETY: as many bytes lie there. They stay there until the machine is dropped, which is after the engine that
    // holds it is closed, for no memory is added or taken away meanwhile. The machine reaches them while Unicorn does
    // not run, or is within one of its callbacks.
    unsafe { uc.mem_map_ptr(range.address.into(), range.bytes, allowed, start.cast()) }
}
