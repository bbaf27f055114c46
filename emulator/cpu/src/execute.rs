//! What each operation does, said once.

use crate::access::{
    get, is_word, load_exclusive, load_floats, load_many, load8, load16, load32, set,
    store_exclusive, store_floats, store_many, store8, store16, store32,
};
use crate::arithmetic::{half, pair, saturate};
use crate::core::Core;
use crate::host::Host;
use crate::operation::{Condition, Operation, R};

/// Operations: those that work on registers, those that reach memory, and those that are several in a row.
macro_rules! operations {
    ($c:ident, $h:ident, $o:ident;
     registers { $($name:ident => $does:expr;)* }
     memory { $($access:ident => $reaches:expr;)* }
     rows { $($row:ident = $first:ident $($more:ident)*;)* }) => {
        /// What an operation does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            /// Passes over as many operations as `immediate` says above its low four bits, unless the condition
            /// there holds.
            Skip,
            $($name,)*
            $($access,)*
            $($row,)*
        }

        /// Executes one operation that is no row and no [`Kind::Skip`].
        #[inline(always)]
        fn one<H: Host>($h: &mut H, kind: Kind, $o: &Operation) -> Option<()> {
            match kind {
                $(Kind::$name => { let $c = $h.core(); $does; Some(()) })*
                $(Kind::$access => $reaches,)*
                _ => None,
            }
        }

        /// Executes the operation at the front; what is left, or the operations that were not executed.
        #[inline(always)]
        fn step<'a, H: Host>(
            $h: &mut H,
            $o: &Operation,
            rest: &'a [Operation],
        ) -> Result<&'a [Operation], usize> {
            match $o.kind {
                Kind::Skip => Ok(skip($h, $o, rest)),
                $(Kind::$name => { let $c = $h.core(); $does; Ok(rest) })*
                $(Kind::$access => {
                    let mut reach = || -> Option<()> { $reaches };
                    let done = reach();
                    if done.is_some() { Ok(rest) } else { Err(rest.len() + 1) }
                })*
                $(Kind::$row => {
                    if one($h, Kind::$first, $o).is_none() {
                        return Err(rest.len() + 1);
                    }
                    #[allow(unused_mut, reason = "rows of one")]
                    let mut rest = rest;
                    $(if let [next, behind @ ..] = rest {
                        if one($h, Kind::$more, next).is_none() {
                            return Err(rest.len());
                        }
                        rest = behind;
                    })*
                    Ok(rest)
                })*
            }
        }

        /// Kinds that become one when they follow each other; longer rows first.
        pub const ROWS: &[(&[Kind], Kind)] =
            &[$((&[Kind::$first $(, Kind::$more)*], Kind::$row),)*];
    };
}

/// Executes operations; how many were not, if an access failed.
#[inline(always)]
pub fn operations<H: Host>(host: &mut H, operations: &[Operation]) -> Result<(), usize> {
    let mut rest = operations;
    while let [operation, behind @ ..] = rest {
        rest = step(host, operation, behind)?;
    }
    Ok(())
}

#[inline(always)]
fn skip<'a, H: Host>(host: &mut H, o: &Operation, rest: &'a [Operation]) -> &'a [Operation] {
    if host.core().holds(Condition::code(o.immediate)) {
        return rest;
    }
    rest.get((o.immediate >> 4) as usize..).unwrap_or(&[])
}

/// The fourth register.
#[inline(always)]
fn fourth(c: &Core, o: &Operation) -> u32 {
    c.r[R::number(o.immediate)]
}

/// Sets a pair of registers: the low word's is the fourth.
#[inline(always)]
fn set_long(c: &mut Core, o: &Operation, value: u64) {
    c.r[R::number(o.immediate)] = value as u32;
    c.r[o.d] = (value >> 32) as u32;
}

#[inline(always)]
fn long(c: &Core, o: &Operation) -> u64 {
    u64::from(c.r[o.d]) << 32 | u64::from(fourth(c, o))
}

#[inline(always)]
fn product(c: &Core, o: &Operation) -> i64 {
    i64::from(c.r[o.n] as i32) * i64::from(c.r[o.m] as i32)
}

/// Products of the halves, low and high; with X those of the second operand are exchanged.
#[inline(always)]
fn halves(c: &Core, o: &Operation, exchanged: bool) -> (i64, i64) {
    let (a, b) = (c.r[o.n], c.r[o.m]);
    let low = i64::from(half(a, false)) * i64::from(half(b, exchanged));
    let high = i64::from(half(a, true)) * i64::from(half(b, !exchanged));
    (low, high)
}

/// The product of two halves, of which `which` says the first's in bit 1 and the second's in bit 0.
#[inline(always)]
fn half_product(c: &Core, o: &Operation, which: u32) -> i64 {
    i64::from(half(c.r[o.n], which & 2 != 0) * half(c.r[o.m], which & 1 != 0))
}

/// The address in a register and a constant on.
#[inline(always)]
fn at<H: Host>(h: &mut H, o: &Operation) -> u32 {
    h.core().r[o.n].wrapping_add(o.immediate)
}

/// The address in a register and another on, which is shifted.
#[inline(always)]
fn indexed<H: Host>(h: &mut H, o: &Operation) -> u32 {
    let c = h.core();
    c.r[o.n].wrapping_add(c.r[o.m] << (o.immediate & 3))
}

operations! { c, h, o;
    registers {
        MovI => c.r[o.d] = o.immediate;
        MovIs => c.r[o.d] = c.logic_flags(o.immediate);
        Mov => c.r[o.d] = c.r[o.m];
        Movs => c.r[o.d] = c.logic_flags(c.r[o.m]);
        Mvn => c.r[o.d] = !c.r[o.m];
        Mvns => c.r[o.d] = c.logic_flags(!c.r[o.m]);
        MovT => c.r[o.d] = c.r[o.d] & 0xffff | o.immediate << 16;
        SetC => c.c = o.immediate;
        And => c.r[o.d] = c.r[o.n] & c.r[o.m];
        AndI => c.r[o.d] = c.r[o.n] & o.immediate;
        Ands => c.r[o.d] = c.logic_flags(c.r[o.n] & c.r[o.m]);
        AndIs => c.r[o.d] = c.logic_flags(c.r[o.n] & o.immediate);
        Orr => c.r[o.d] = c.r[o.n] | c.r[o.m];
        OrrI => c.r[o.d] = c.r[o.n] | o.immediate;
        Orrs => c.r[o.d] = c.logic_flags(c.r[o.n] | c.r[o.m]);
        Eor => c.r[o.d] = c.r[o.n] ^ c.r[o.m];
        EorI => c.r[o.d] = c.r[o.n] ^ o.immediate;
        Eors => c.r[o.d] = c.logic_flags(c.r[o.n] ^ c.r[o.m]);
        EorIs => c.r[o.d] = c.logic_flags(c.r[o.n] ^ o.immediate);
        Bic => c.r[o.d] = c.r[o.n] & !c.r[o.m];
        Bics => c.r[o.d] = c.logic_flags(c.r[o.n] & !c.r[o.m]);
        Orn => c.r[o.d] = c.r[o.n] | !c.r[o.m];
        Orns => c.r[o.d] = c.logic_flags(c.r[o.n] | !c.r[o.m]);
        Add => c.r[o.d] = c.r[o.n].wrapping_add(c.r[o.m]);
        AddI => c.r[o.d] = c.r[o.n].wrapping_add(o.immediate);
        Adds => c.r[o.d] = c.add_flags(c.r[o.n], c.r[o.m]);
        AddIs => c.r[o.d] = c.add_flags(c.r[o.n], o.immediate);
        Sub => c.r[o.d] = c.r[o.n].wrapping_sub(c.r[o.m]);
        Subs => c.r[o.d] = c.subtract_flags(c.r[o.n], c.r[o.m]);
        SubIs => c.r[o.d] = c.subtract_flags(c.r[o.n], o.immediate);
        Rsb => c.r[o.d] = c.r[o.m].wrapping_sub(c.r[o.n]);
        RsbI => c.r[o.d] = o.immediate.wrapping_sub(c.r[o.n]);
        Rsbs => c.r[o.d] = c.subtract_flags(c.r[o.m], c.r[o.n]);
        RsbIs => c.r[o.d] = c.subtract_flags(o.immediate, c.r[o.n]);
        Adc => c.r[o.d] = c.r[o.n].wrapping_add(c.r[o.m]).wrapping_add(c.c);
        Adcs => c.r[o.d] = c.carry_flags(c.r[o.n], c.r[o.m]);
        Sbc => c.r[o.d] = c.r[o.n].wrapping_add(!c.r[o.m]).wrapping_add(c.c);
        Sbcs => c.r[o.d] = c.carry_flags(c.r[o.n], !c.r[o.m]);
        LslI => c.r[o.d] = c.r[o.m] << (o.immediate & 31);
        LsrI => c.r[o.d] = (u64::from(c.r[o.m]) >> (o.immediate & 63)) as u32;
        AsrI => c.r[o.d] = (c.r[o.m] as i32 >> (o.immediate & 63).min(31)) as u32;
        RorI => c.r[o.d] = c.r[o.m].rotate_right(o.immediate);
        Rrx => c.r[o.d] = c.r[o.m] >> 1 | c.c << 31;
        // The kind of shift is above the amount's byte.
        ShiftIs => {
            let (value, carry) = Core::shift(c.r[o.m], o.immediate >> 8, o.immediate, c.c);
            (c.r[o.d], c.n, c.z, c.c) = (value, value, value, carry);
        };
        ShiftR => c.r[o.d] = Core::shift(c.r[o.m], o.immediate, c.r[o.n], 0).0;
        ShiftRs => {
            let (value, carry) = Core::shift(c.r[o.m], o.immediate, c.r[o.n], c.c);
            (c.r[o.d], c.n, c.z, c.c) = (value, value, value, carry);
        };
        Rrxs => {
            let value = c.r[o.m] >> 1 | c.c << 31;
            (c.r[o.d], c.n, c.z, c.c) = (value, value, value, c.r[o.m] & 1);
        };
        AddLsl => c.r[o.d] = c.r[o.n].wrapping_add(c.r[o.m] << (o.immediate & 31));
        AddAsr => c.r[o.d] = c.r[o.n].wrapping_add((c.r[o.m] as i32 >> (o.immediate & 31)) as u32);
        Sxtb => c.r[o.d] = c.r[o.m].rotate_right(o.immediate) as i8 as u32;
        Sxth => c.r[o.d] = c.r[o.m].rotate_right(o.immediate) as i16 as u32;
        Uxtb => c.r[o.d] = c.r[o.m].rotate_right(o.immediate) & 0xff;
        Uxth => c.r[o.d] = c.r[o.m].rotate_right(o.immediate) & 0xffff;
        Sxtb16 => {
            let value = c.r[o.m].rotate_right(o.immediate);
            c.r[o.d] = pair(value as i8 as u32, (value >> 16) as i8 as u32);
        };
        Uxtb16 => c.r[o.d] = c.r[o.m].rotate_right(o.immediate) & 0x00ff_00ff;
        AddHalves => {
            let (a, b) = (c.r[o.n], c.r[R::T]);
            c.r[o.d] = pair(a.wrapping_add(b), (a >> 16).wrapping_add(b >> 16));
        };
        Pkhbt => c.r[o.d] = pair(c.r[o.n], c.r[o.m] << (o.immediate & 31) >> 16);
        Pkhtb => {
            let low = (c.r[o.m] as i32 >> (o.immediate & 31)) as u32;
            c.r[o.d] = c.r[o.n] & 0xffff_0000 | low & 0xffff;
        };
        Bfi => {
            let mask = o.immediate;
            let moved = c.r[o.n].checked_shl(mask.trailing_zeros()).unwrap_or(0);
            c.r[o.d] = c.r[o.d] & !mask | moved & mask;
        };
        Bfc => c.r[o.d] &= !o.immediate;
        Ubfx => c.r[o.d] = c.r[o.n] << (o.immediate & 31) >> (o.immediate >> 8 & 31);
        Sbfx => c.r[o.d] = ((c.r[o.n] << (o.immediate & 31)) as i32 >> (o.immediate >> 8 & 31)) as u32;
        Clz => c.r[o.d] = c.r[o.m].leading_zeros();
        Rbit => c.r[o.d] = c.r[o.m].reverse_bits();
        Rev => c.r[o.d] = c.r[o.m].swap_bytes();
        Rev16 => c.r[o.d] = c.r[o.m].swap_bytes().rotate_right(16);
        Revsh => c.r[o.d] = (c.r[o.m] as u16).swap_bytes() as i16 as u32;
        AlignStack => c.r[R::Sp] &= !3;
        Sel => c.r[o.d] = c.r[o.n] & c.ge | c.r[o.m] & !c.ge;
        Parallel => c.r[o.d] = c.parallel(c.r[o.n], c.r[o.m], o.immediate);
        Qadd => {
            let sum = i64::from(c.r[o.m] as i32) + i64::from(c.r[o.n] as i32);
            c.r[o.d] = c.note_saturation(saturate(sum, 32));
        };
        Qsub => {
            let rest = i64::from(c.r[o.m] as i32) - i64::from(c.r[o.n] as i32);
            c.r[o.d] = c.note_saturation(saturate(rest, 32));
        };
        Qdadd => {
            let twice = c.note_saturation(saturate(2 * i64::from(c.r[o.n] as i32), 32));
            let sum = i64::from(c.r[o.m] as i32) + i64::from(twice as i32);
            c.r[o.d] = c.note_saturation(saturate(sum, 32));
        };
        Qdsub => {
            let twice = c.note_saturation(saturate(2 * i64::from(c.r[o.n] as i32), 32));
            let rest = i64::from(c.r[o.m] as i32) - i64::from(twice as i32);
            c.r[o.d] = c.note_saturation(saturate(rest, 32));
        };
        // `immediate`: the most that fits; the least is its complement.
        Ssat => {
            let (value, most) = (c.r[o.n] as i32, o.immediate as i32);
            let clamped = value.clamp(!most, most);
            if clamped != value {
                c.q = true;
            }
            c.r[o.d] = clamped as u32;
        };
        Usat => {
            let (value, most) = (c.r[o.n] as i32, o.immediate as i32);
            let clamped = value.clamp(0, most);
            if clamped != value {
                c.q = true;
            }
            c.r[o.d] = clamped as u32;
        };
        Ssat16 => {
            let [low, high] = [false, true].map(|it| saturate(half(c.r[o.n], it).into(), o.immediate));
            c.r[o.d] = pair(c.note_saturation(low), c.note_saturation(high));
        };
        Usat16 => {
            let most = (1 << o.immediate) - 1;
            let [low, high] = [false, true].map(|it| {
                let value = half(c.r[o.n], it);
                let clamped = value.clamp(0, most);
                (clamped as u32, clamped != value)
            });
            c.r[o.d] = pair(c.note_saturation(low), c.note_saturation(high));
        };
        Mul => c.r[o.d] = c.r[o.n].wrapping_mul(c.r[o.m]);
        Muls => c.r[o.d] = c.logic_flags(c.r[o.n].wrapping_mul(c.r[o.m]));
        Mla => c.r[o.d] = fourth(c, o).wrapping_add(c.r[o.n].wrapping_mul(c.r[o.m]));
        Mls => c.r[o.d] = fourth(c, o).wrapping_sub(c.r[o.n].wrapping_mul(c.r[o.m]));
        Smlad => {
            let (low, high) = halves(c, o, false);
            let sum = i64::from(fourth(c, o) as i32) + low + high;
            c.r[o.d] = c.accumulate(sum);
        };
        Smladx => {
            let (low, high) = halves(c, o, true);
            let sum = i64::from(fourth(c, o) as i32) + low + high;
            c.r[o.d] = c.accumulate(sum);
        };
        Smuad => {
            let (low, high) = halves(c, o, o.immediate != 0);
            c.r[o.d] = c.accumulate(low + high);
        };
        Smlsd => {
            let (low, high) = halves(c, o, o.immediate >> 4 != 0);
            let sum = i64::from(fourth(c, o) as i32) + (low - high);
            c.r[o.d] = c.accumulate(sum);
        };
        Smusd => {
            let (low, high) = halves(c, o, o.immediate != 0);
            c.r[o.d] = (low - high) as u32;
        };
        Smlabb => {
            let sum = i64::from(fourth(c, o) as i32) + half_product(c, o, 0);
            c.r[o.d] = c.accumulate(sum);
        };
        Smlabt => {
            let sum = i64::from(fourth(c, o) as i32) + half_product(c, o, 1);
            c.r[o.d] = c.accumulate(sum);
        };
        Smlatb => {
            let sum = i64::from(fourth(c, o) as i32) + half_product(c, o, 2);
            c.r[o.d] = c.accumulate(sum);
        };
        Smlatt => {
            let sum = i64::from(fourth(c, o) as i32) + half_product(c, o, 3);
            c.r[o.d] = c.accumulate(sum);
        };
        Smulxy => c.r[o.d] = half_product(c, o, o.immediate) as u32;
        Smlaw => {
            let product = i64::from(c.r[o.n] as i32) * i64::from(half(c.r[o.m], o.immediate >> 4 != 0));
            let sum = i64::from(fourth(c, o) as i32) + (product >> 16);
            c.r[o.d] = c.accumulate(sum);
        };
        Smulw => {
            let product = i64::from(c.r[o.n] as i32) * i64::from(half(c.r[o.m], o.immediate != 0));
            c.r[o.d] = (product >> 16) as u32;
        };
        Smmla => {
            let sum = ((u64::from(fourth(c, o)) << 32) as i64).wrapping_add(product(c, o));
            c.r[o.d] = (sum >> 32) as u32;
        };
        Smmlar => {
            let sum = ((u64::from(fourth(c, o)) << 32) as i64).wrapping_add(product(c, o));
            c.r[o.d] = (sum.wrapping_add(1 << 31) >> 32) as u32;
        };
        Smmls => {
            let rest = ((u64::from(fourth(c, o)) << 32) as i64).wrapping_sub(product(c, o));
            let rounding = i64::from(o.immediate >> 4) << 31;
            c.r[o.d] = (rest.wrapping_add(rounding) >> 32) as u32;
        };
        Smmul => c.r[o.d] = (product(c, o).wrapping_add(i64::from(o.immediate) << 31) >> 32) as u32;
        Usad8 => {
            let (a, b) = (c.r[o.n].to_le_bytes(), c.r[o.m].to_le_bytes());
            let sum: u32 = a.into_iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
            c.r[o.d] = sum;
        };
        Umull => {
            let value = u64::from(c.r[o.n]) * u64::from(c.r[o.m]);
            set_long(c, o, value);
        };
        Smull => {
            let value = product(c, o) as u64;
            set_long(c, o, value);
        };
        Umlal => {
            let value = long(c, o).wrapping_add(u64::from(c.r[o.n]) * u64::from(c.r[o.m]));
            set_long(c, o, value);
        };
        Umaal => {
            let value = u64::from(c.r[o.n]) * u64::from(c.r[o.m]);
            let value = value + u64::from(c.r[o.d]) + u64::from(fourth(c, o));
            set_long(c, o, value);
        };
        Smlal => {
            let value = long(c, o).wrapping_add(product(c, o) as u64);
            set_long(c, o, value);
        };
        // Which halves: above the fourth register.
        Smlalxy => {
            let value = long(c, o).wrapping_add(half_product(c, o, o.immediate >> 4) as u64);
            set_long(c, o, value);
        };
        Smlald => {
            let (low, high) = halves(c, o, o.immediate >> 4 != 0);
            let value = long(c, o).wrapping_add((low + high) as u64);
            set_long(c, o, value);
        };
        Smlsld => {
            let (low, high) = halves(c, o, o.immediate >> 4 != 0);
            let value = long(c, o).wrapping_add((low - high) as u64);
            set_long(c, o, value);
        };
        Udiv => c.r[o.d] = c.r[o.n].checked_div(c.r[o.m]).unwrap_or(0);
        Sdiv => {
            let (a, b) = (c.r[o.n] as i32, c.r[o.m] as i32);
            c.r[o.d] = if b == 0 { 0 } else { a.wrapping_div(b) as u32 };
        };
        Mrs => c.r[o.d] = c.special(o.immediate);
        Msr => {
            let value = c.r[o.n];
            c.set_special(o.immediate & 0xff, o.immediate >> 8, value);
        };
        // Bit 4: disables; bits 1 and 0: PRIMASK, FAULTMASK.
        Cps => if c.is_privileged() {
            let disables = o.immediate & 16 != 0;
            if o.immediate & 2 != 0 {
                c.primask = disables;
            }
            if o.immediate & 1 != 0 {
                c.faultmask = disables;
            }
        };
        Clrex => c.exclusive = None;
        SetIt => c.it = o.immediate;
        Float => c.float(o.immediate);
    }
    memory {
        Ldr => { let value = { let a = at(h, o); load32(h, a) }; set(h, o.d, value) };
        LdrR => { let value = { let a = indexed(h, o); load32(h, a) }; set(h, o.d, value) };
        LdrPost => {
            let from = get(h, o.n);
            let value = load32(h, from)?;
            let c = h.core();
            c.r[o.n] = from.wrapping_add(o.immediate);
            c.r[o.d] = value;
            Some(())
        };
        Ldrh => { let value = { let a = at(h, o); load16(h, a) }; set(h, o.d, value) };
        LdrhR => { let value = { let a = indexed(h, o); load16(h, a) }; set(h, o.d, value) };
        Ldrsh => {
            let value = { let a = at(h, o); load16(h, a) }.map(|value| value as i16 as u32);
            set(h, o.d, value)
        };
        LdrshR => {
            let value = { let a = indexed(h, o); load16(h, a) }.map(|value| value as i16 as u32);
            set(h, o.d, value)
        };
        Ldrb => { let value = { let a = at(h, o); load8(h, a) }; set(h, o.d, value) };
        LdrbR => { let value = { let a = indexed(h, o); load8(h, a) }; set(h, o.d, value) };
        Ldrsb => {
            let value = { let a = at(h, o); load8(h, a) }.map(|value| value as i8 as u32);
            set(h, o.d, value)
        };
        LdrsbR => {
            let value = { let a = indexed(h, o); load8(h, a) }.map(|value| value as i8 as u32);
            set(h, o.d, value)
        };
        Str => { let (a, value) = (at(h, o), get(h, o.d)); store32(h, a, value) };
        StrR => { let (a, value) = (indexed(h, o), get(h, o.d)); store32(h, a, value) };
        StrPost => {
            let (to, value) = (get(h, o.n), get(h, o.d));
            store32(h, to, value)?;
            h.core().r[o.n] = to.wrapping_add(o.immediate);
            Some(())
        };
        Strh => { let (a, value) = (at(h, o), get(h, o.d)); store16(h, a, value) };
        StrhR => { let (a, value) = (indexed(h, o), get(h, o.d)); store16(h, a, value) };
        Strb => { let (a, value) = (at(h, o), get(h, o.d)); store8(h, a, value) };
        StrbR => { let (a, value) = (indexed(h, o), get(h, o.d)); store8(h, a, value) };
        Ldrd => {
            let from = at(h, o);
            is_word(from)?;
            let (first, second) = (load32(h, from)?, load32(h, from.wrapping_add(4))?);
            let c = h.core();
            (c.r[o.d], c.r[o.m]) = (first, second);
            Some(())
        };
        Strd => {
            let to = at(h, o);
            is_word(to)?;
            let (first, second) = (get(h, o.d), get(h, o.m));
            store32(h, to, first)?;
            store32(h, to.wrapping_add(4), second)
        };
        Ldm => { let from = get(h, o.n); is_word(from)?; load_many(h, from, o.immediate) };
        Stm => { let to = get(h, o.n); is_word(to)?; store_many(h, to, o.immediate) };
        Vldm => { let from = get(h, o.n); is_word(from)?; load_floats(h, from, o.immediate) };
        Vstm => { let to = get(h, o.n); is_word(to)?; store_floats(h, to, o.immediate) };
        Tbb => {
            let c = h.core();
            let a = c.r[o.n].wrapping_add(c.r[o.m]);
            let offset = load8(h, a)?;
            h.core().r[R::Pc] = o.immediate.wrapping_add(2 * offset) | 1;
            Some(())
        };
        Tbh => {
            let c = h.core();
            let a = c.r[o.n].wrapping_add(c.r[o.m] << 1);
            let offset = load16(h, a)?;
            h.core().r[R::Pc] = o.immediate.wrapping_add(2 * offset) | 1;
            Some(())
        };
        Ldrex => load_exclusive(h, o);
        Strex => store_exclusive(h, o);
        See => h.sees(o.immediate);
    }
    rows {
        Sxtb16Sxtb16SmladSmlad = Sxtb16 Sxtb16 Smlad Smlad;
        LdrSmladSmladLdr = Ldr Smlad Smlad Ldr;
        SmladSmladLdrPostSmlad = Smlad Smlad LdrPost Smlad;
        LdrSmladAddILdr = Ldr Smlad AddI Ldr;
        SmladSmladSmladSmlad = Smlad Smlad Smlad Smlad;
        LdrSmlabtLdrSmlatb = Ldr Smlabt Ldr Smlatb;
        LdrSmladSmladSmlatb = Ldr Smlad Smlad Smlatb;
        LdrSmlabtSmladSmlad = Ldr Smlabt Smlad Smlad;
        MulLdrbAddISubIs = Mul Ldrb AddI SubIs;
        SmmlarAddAsrSmmlarAddAsr = Smmlar AddAsr Smmlar AddAsr;
        SsatSsatSsatStrb = Ssat Ssat Ssat Strb;
        ShiftRShiftRShiftRSsat = ShiftR ShiftR ShiftR Ssat;
        StrbRStrbRStrbR = StrbR StrbR StrbR;
        SmladSmlad = Smlad Smlad;
        LdrLdr = Ldr Ldr;
        LdrSmlad = Ldr Smlad;
        SmladLdr = Smlad Ldr;
        LdrdSmlad = Ldrd Smlad;
        LdrPostSmlad = LdrPost Smlad;
        SmladLdrPost = Smlad LdrPost;
        AddILdr = AddI Ldr;
        StrStr = Str Str;
        Sxtb16Sxtb16 = Sxtb16 Sxtb16;
    }
}
