//! Loads and stores that operations share: what no plain memory answers goes to the host.

use crate::core::Exclusive;
use crate::host::Host;
use crate::operation::{Operation, R};

macro_rules! access {
    ($load:ident, $store:ident, $type:ty) => {
        #[inline(always)]
        pub fn $load<H: Host>(h: &mut H, address: u32) -> Option<u32> {
            match h.parts().1.$load(address) {
                Some(value) => Some(u32::from(value)),
                None => h.load(address, size_of::<$type>() as u32),
            }
        }

        #[inline(always)]
        pub fn $store<H: Host>(h: &mut H, address: u32, value: u32) -> Option<()> {
            match h.parts().1.$store(address, value as $type) {
                Some(()) => Some(()),
                None => h.store(address, size_of::<$type>() as u32, value),
            }
        }
    };
}

access!(load32, store32, u32);
access!(load16, store16, u16);
access!(load8, store8, u8);

/// Sets a register that was loaded, if it was.
#[inline(always)]
pub fn set<H: Host>(h: &mut H, register: R, value: Option<u32>) -> Option<()> {
    h.core().r[register] = value?;
    Some(())
}

#[inline(always)]
pub fn get<H: Host>(h: &mut H, register: R) -> u32 {
    h.core().r[register]
}

/// LDM from an address: the registers of a mask in rising order.
pub fn load_many<H: Host>(h: &mut H, mut address: u32, mut mask: u32) -> Option<()> {
    while mask != 0 {
        let value = load32(h, address)?;
        h.core().r[R::number(mask.trailing_zeros())] = value;
        address = address.wrapping_add(4);
        mask &= mask - 1;
    }
    Some(())
}

pub fn store_many<H: Host>(h: &mut H, mut address: u32, mut mask: u32) -> Option<()> {
    while mask != 0 {
        let value = get(h, R::number(mask.trailing_zeros()));
        store32(h, address, value)?;
        address = address.wrapping_add(4);
        mask &= mask - 1;
    }
    Some(())
}

/// VLDM from an address: as many singles from one on as bits 8 and up say.
pub fn load_floats<H: Host>(h: &mut H, mut address: u32, singles: u32) -> Option<()> {
    for number in singles as u8..(singles as u8 + (singles >> 8) as u8) {
        let value = load32(h, address)?;
        h.core().set_single(number, value);
        address = address.wrapping_add(4);
    }
    Some(())
}

pub fn store_floats<H: Host>(h: &mut H, mut address: u32, singles: u32) -> Option<()> {
    for number in singles as u8..(singles as u8 + (singles >> 8) as u8) {
        let value = h.core().single(number);
        store32(h, address, value)?;
        address = address.wrapping_add(4);
    }
    Some(())
}

/// An access that takes words at their borders alone.
#[inline(always)]
pub const fn is_word(address: u32) -> Option<()> {
    if address & 3 == 0 { Some(()) } else { None }
}

pub fn load_by_size<H: Host>(h: &mut H, address: u32, bytes: u32) -> Option<u32> {
    match bytes {
        1 => load8(h, address),
        2 => load16(h, address),
        _ => load32(h, address),
    }
}

pub fn store_by_size<H: Host>(h: &mut H, address: u32, bytes: u32, value: u32) -> Option<()> {
    match bytes {
        1 => store8(h, address, value),
        2 => store16(h, address, value),
        _ => store32(h, address, value),
    }
}

/// STREX: stores and gives 0 if nothing else has changed what was loaded exclusively from there.
pub fn store_exclusive<H: Host>(h: &mut H, o: &Operation) -> Option<()> {
    let (address, bytes) = (get(h, o.n).wrapping_add(o.immediate & !7), o.immediate & 7);
    if address & (bytes - 1) != 0 {
        return None;
    }
    let known = h.core().exclusive.take().filter(|exclusive| exclusive.address == address);
    let holds = match known {
        Some(exclusive) => load_by_size(h, address, bytes)? == exclusive.value,
        None => false,
    };
    if holds {
        let value = get(h, o.m);
        store_by_size(h, address, bytes, value)?;
    }
    h.core().r[o.d] = u32::from(!holds);
    Some(())
}

/// LDREX.
pub fn load_exclusive<H: Host>(h: &mut H, o: &Operation) -> Option<()> {
    let (address, bytes) = (get(h, o.n).wrapping_add(o.immediate & !7), o.immediate & 7);
    if address & (bytes - 1) != 0 {
        return None;
    }
    let value = load_by_size(h, address, bytes)?;
    let c = h.core();
    c.r[o.d] = value;
    c.exclusive = Some(Exclusive { address, value });
    Some(())
}
