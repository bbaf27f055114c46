//! What Unicorn knows of pages, so that stores to internal memory take its fast way.
//!
//! It has a slow one for each store to a page that may hold code, which all of SRAM may, and to one whose
//! accesses a hook may want to see, be it only those that fail. So pages of SRAM hold no code until the core
//! fetches some there, and the hook for what nobody answers is for all other addresses.
//!
//! Map the largest memory first; otherwise two memories share one list of translated blocks, and stores to one undo the
//! translation of the other. What Unicorn restores of an IT block while it looks up a page inside is taken back.

use tilewright_board::{Board, Memory, MemoryKind};
use tilewright_machine::access::{self, FETCH, READ, WRITE};
use tilewright_machine::exception;
use unicorn_engine::{HookType, MemType, Prot, RegisterARM, TlbEntry, TlbType, uc_error};

use crate::engine::Uc;

/// Sets up how pages are looked up, and who hears of accesses that fail.
///
/// # Errors
/// Unicorn's.
pub fn set_up(uc: &mut Uc<'_>) -> Result<(), uc_error> {
    uc.ctl_set_tlb_type(TlbType::VIRTUAL)?;
    let written = places(&uc.get_data().board);
    let mut runs = false;
    let looked_up = move |uc: &mut Uc<'_>, address: u64, kind: MemType| {
        if kind == MemType::FETCH && exception::never_runs(address as u32) {
            return None;
        }
        let is_written = written.iter().any(|(start, end)| (*start..*end).contains(&address));
        if is_written && kind == MemType::FETCH && !runs {
            runs = true;
            // What was looked up before lets stores pass that change code.
            let _ = uc.ctl_flush_tlb();
        }
        if kind != MemType::FETCH {
            end_if_then(uc);
        }
        let perms = if is_written && !runs { Prot::READ | Prot::WRITE } else { Prot::ALL };
        Some(TlbEntry { paddr: address, perms })
    };
    uc.add_tlb_hook(1, 0, looked_up)?;
    for (first, last) in around(&places(&uc.get_data().board)) {
        uc.add_mem_hook(HookType::MEM_INVALID, first, last, bad_access)?;
    }
    Ok(())
}

/// Clears the state of an IT block, if the core is in one, which Unicorn restored for whoever looks at it here.
/// Code goes on behind the access as it was translated and clears nothing, so that the next block would be
/// taken for one that begins within an IT block, and leave out what it should do.
fn end_if_then(uc: &mut Uc<'_>) {
    /// Bits 0 and 1 of the state, and the others (DDI 0403E, B1.4.2).
    const IF_THEN: u64 = 3 << 25 | 0x3f << 10;
    let status = uc.reg_read(RegisterARM::XPSR).unwrap_or(0);
    // Of this name the flags stay as they are: code may hold them elsewhere.
    let _ = uc.reg_write(RegisterARM::EAPSR_G, status & !IF_THEN);
}

/// First address of each memory of the chip that the core writes, and the one behind, in their order.
fn places(board: &Board) -> Vec<(u64, u64)> {
    let place = |memory: &Memory| {
        let start = u64::from(memory.address?);
        let is_written = matches!(memory.kind, MemoryKind::Dtcm | MemoryKind::Sram);
        is_written.then_some((start, start + memory.bytes.0))
    };
    let mut places: Vec<(u64, u64)> = board.memory.iter().filter_map(place).collect();
    places.sort_unstable();
    places
}

/// First and last addresses of what lies around places.
fn around(places: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut around = Vec::new();
    let mut from = 0;
    for (start, end) in places {
        if *start > from {
            around.push((from, start - 1));
        }
        from = from.max(*end);
    }
    around.push((from, u64::from(u32::MAX)));
    around
}

/// Nothing answers an access, or not to this.
fn bad_access(uc: &mut Uc<'_>, kind: MemType, address: u64, _: usize, _: i64) -> bool {
    let (what, forbidden) = match kind {
        MemType::READ_UNMAPPED => (READ, false),
        MemType::WRITE_UNMAPPED => (WRITE, false),
        MemType::FETCH_UNMAPPED => (FETCH, false),
        MemType::WRITE_PROT => (WRITE, true),
        MemType::READ_PROT => (READ, true),
        _ => (FETCH, true),
    };
    access::refuse(uc.get_data_mut(), what, address as u32, forbidden);
    false
}
