//! Accesses of a block whose addresses are known but for the registers at its start: one look at each register finds
//! out whether all of them are plain.

use alloc::vec::Vec;

use crate::execute::Kind;
use crate::operation::{Operation, R, REGISTERS};
use crate::translate::function::single;

/// An address: a register's value at the start of the block, and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: R,
    pub offset: i32,
}

/// All addresses from a register that a block reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub base: R,
    /// Offset of the first byte, and of the first behind the last.
    pub low: i32,
    pub high: i32,
    /// Whether some are stored to.
    pub stores: bool,
}

/// The accesses of a block.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    pub spans: Vec<Span>,
    /// For each operation, its first address if one of the spans holds it.
    pub addresses: Vec<Option<Address>>,
}

/// What registers hold, as far as that is known.
type Known = [Option<Address>; REGISTERS];

/// Bytes that an access reaches from its first address on, and whether it stores.
struct Reaches {
    base: R,
    offset: i32,
    bytes: i32,
    stores: bool,
}

impl Spans {
    /// Of operations; `plain` has a bit for each register that points into plain memory, as a rule.
    pub fn of(operations: &[Operation], plain: u16) -> Self {
        let start = |number: u32| Address { base: R::number(number), offset: 0 };
        let mut known: Known = [None; REGISTERS];
        for number in (0..15).filter(|number| plain >> number & 1 != 0) {
            known[number as usize] = Some(start(number));
        }
        let mut spans = Self::default();
        let mut passed_over = 0;
        for operation in operations {
            let o = single(operation);
            if o.kind == Kind::Skip {
                passed_over = 1 + (o.immediate >> 4);
            }
            // What is under a condition may not happen.
            let is_sure = passed_over == 0;
            passed_over = passed_over.saturating_sub(1);
            let reached = reaches(&o).filter(|_| is_sure).and_then(|reached| {
                let base = known[reached.base as usize]?;
                let offset = base.offset.checked_add(reached.offset)?;
                Some((Address { offset, ..base }, reached))
            });
            spans.addresses.push(reached.as_ref().map(|(address, _)| *address));
            if let Some((address, reached)) = reached {
                spans.add(address, reached.bytes, reached.stores);
            }
            follow(&mut known, &o, is_sure);
        }
        spans
    }

    fn add(&mut self, Address { base, offset }: Address, bytes: i32, stores: bool) {
        let high = offset.saturating_add(bytes);
        match self.spans.iter_mut().find(|span| span.base == base) {
            Some(span) => {
                span.low = span.low.min(offset);
                span.high = span.high.max(high);
                span.stores |= stores;
            }
            None => self.spans.push(Span { base, low: offset, high, stores }),
        }
    }

    /// The span of a register.
    pub fn span(&self, base: R) -> Option<&Span> {
        self.spans.iter().find(|span| span.base == base)
    }
}

fn reaches(o: &Operation) -> Option<Reaches> {
    let bytes = match o.kind {
        Kind::Ldr | Kind::Str | Kind::LdrPost | Kind::StrPost => 4,
        Kind::Ldrh | Kind::Ldrsh | Kind::Strh => 2,
        Kind::Ldrb | Kind::Ldrsb | Kind::Strb => 1,
        Kind::Ldrd | Kind::Strd => 8,
        Kind::Ldm | Kind::Stm => 4 * (o.immediate & 0xffff).count_ones() as i32,
        _ => return None,
    };
    let offset = match o.kind {
        Kind::LdrPost | Kind::StrPost | Kind::Ldm | Kind::Stm => 0,
        _ => o.immediate as i32,
    };
    let stores = matches!(
        o.kind,
        Kind::Str | Kind::StrPost | Kind::Strh | Kind::Strb | Kind::Strd | Kind::Stm
    );
    Some(Reaches { base: o.n, offset, bytes, stores })
}

/// What registers hold behind an operation.
fn follow(known: &mut Known, o: &Operation, is_sure: bool) {
    let moved = |address: Option<Address>, by: u32| {
        let Address { base, offset } = address.filter(|_| is_sure)?;
        Some(Address { base, offset: offset.checked_add(by as i32)? })
    };
    match o.kind {
        Kind::Skip | Kind::SetC => {}
        Kind::Str | Kind::StrR | Kind::Strh | Kind::StrhR | Kind::Strb | Kind::StrbR => {}
        Kind::Strd | Kind::Stm | Kind::Vstm | Kind::Vldm => {}
        Kind::AddI => known[o.d as usize] = moved(known[o.n as usize], o.immediate),
        Kind::Mov => known[o.d as usize] = moved(known[o.m as usize], 0),
        Kind::LdrPost => {
            known[o.n as usize] = moved(known[o.n as usize], o.immediate);
            known[o.d as usize] = None;
        }
        Kind::StrPost => known[o.n as usize] = moved(known[o.n as usize], o.immediate),
        Kind::Ldrd => {
            known[o.d as usize] = None;
            known[o.m as usize] = None;
        }
        Kind::Ldm => {
            for number in (0..16).filter(|number| o.immediate >> number & 1 != 0) {
                known[number] = None;
            }
        }
        Kind::Umull | Kind::Smull | Kind::Umlal | Kind::Umaal | Kind::Smlal | Kind::Smlalxy => {
            known[o.d as usize] = None;
            known[R::number(o.immediate) as usize] = None;
        }
        Kind::Smlald | Kind::Smlsld => {
            known[o.d as usize] = None;
            known[R::number(o.immediate) as usize] = None;
        }
        Kind::AlignStack => known[R::Sp as usize] = None,
        // They move values to registers, or what they do is the system's.
        Kind::Float | Kind::Msr | Kind::Cps | Kind::See => *known = [None; REGISTERS],
        _ => known[o.d as usize] = None,
    }
}
