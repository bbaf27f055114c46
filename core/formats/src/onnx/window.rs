//! Protobuf's fields, read from a file through a window, so that what is passed over is not read.

use tilewright_model::Store;

use crate::FormatError;

/// Bytes that are read at once.
const WINDOW: usize = 1 << 14;

/// Where and why a file does not go on as it must.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) reason: &'static str,
    /// Number of the field that is cut off; 0 if it is not known.
    pub(super) field: u64,
}

impl Wrong {
    /// As an error of a file of this length.
    pub(super) fn damaged(self, length: usize) -> FormatError {
        let reason = format!("{} at byte {} of {length}", self.reason, self.at);
        FormatError::Damaged { reason }
    }
}

/// Where a field's value stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// A number; where it ends.
    Number(usize),
    /// Bytes or a message, from and to.
    Bytes(usize, usize),
}

impl Inside {
    pub(super) const fn bytes(self) -> Option<(usize, usize)> {
        if let Self::Bytes(from, to) = self { Some((from, to)) } else { None }
    }

    pub(super) const fn end(self) -> usize {
        match self {
            Self::Number(end) | Self::Bytes(_, end) => end,
        }
    }
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) inside: Inside,
}

/// A file of which a part is in memory.
pub(super) struct Window<'s> {
    store: &'s dyn Store,
    length: usize,
    start: usize,
    part: Vec<u8>,
}

impl<'s> Window<'s> {
    /// Over a file that the address space can count.
    pub(super) fn new(store: &'s dyn Store) -> Self {
        let length = usize::try_from(store.size()).unwrap_or(usize::MAX);
        Self { store, length, start: 0, part: Vec::new() }
    }

    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Bytes from one place to another.
    pub(super) fn bytes(&self, from: usize, to: usize) -> Result<Vec<u8>, Wrong> {
        let length = to.saturating_sub(from);
        let within = from.checked_sub(self.start).and_then(|at| self.part.get(at..at + length));
        if let Some(part) = within {
            return Ok(part.to_vec());
        }
        let bytes = self.store.read(from as u64, length).filter(|bytes| bytes.len() == length);
        bytes.ok_or(Wrong { at: from, reason: "the file cannot be read", field: 0 })
    }

    fn byte(&mut self, at: usize) -> Result<u8, Wrong> {
        let known = |window: &Self| {
            at.checked_sub(window.start).and_then(|at| window.part.get(at)).copied()
        };
        if let Some(byte) = known(self) {
            return Ok(byte);
        }
        self.part = self.bytes(at, self.length.min(at.saturating_add(WINDOW)))?;
        self.start = at;
        known(self).ok_or(Wrong { at, reason: "a number is cut off", field: 0 })
    }

    /// The field at a place of a message that ends at `end`.
    pub(super) fn field(&mut self, start: usize, end: usize) -> Result<Field, Wrong> {
        let mut at = start;
        let key = self.varint(&mut at, end)?;
        let number = key >> 3;
        let damaged = |reason: &'static str| Err(Wrong { at: start, reason, field: number });
        let inside = match key & 7 {
            0 => {
                self.varint(&mut at, end)?;
                Inside::Number(at)
            }
            1 => Inside::Number(at.saturating_add(8)),
            5 => Inside::Number(at.saturating_add(4)),
            2 => {
                let length = self.varint(&mut at, end)?;
                let stop = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                match stop {
                    Some(stop) => Inside::Bytes(at, stop),
                    None => return damaged("a length is impossible"),
                }
            }
            _ => return damaged("a field has no valid type"),
        };
        if inside.end() > end {
            return damaged("a field reaches beyond the end");
        }
        Ok(Field { number, inside })
    }

    fn varint(&mut self, at: &mut usize, end: usize) -> Result<u64, Wrong> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            if *at >= end {
                return Err(Wrong { at: *at, reason: "a number is cut off", field: 0 });
            }
            let byte = self.byte(*at)?;
            *at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Wrong { at: *at, reason: "a number is too long", field: 0 })
    }
}
