//! A new beginning for a finished flat buffer.
//!
//! References in flat buffers are distances forwards, except from a table to its list of fields. So
//! a new root with new lists can be put before old bytes and point into them, while nothing in them
//! needs to change: the old root is left, unreachable.

use crate::numbers::word;

/// Every table and vector of the old bytes keeps its alignment up to this.
const ALIGNMENT: usize = 64;

/// Bytes under construction that stand before old ones.
#[derive(Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
    /// Places of references, and what they point to in the old bytes.
    old: Vec<(usize, usize)>,
}

/// What a field refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    /// Nothing: it is left out.
    Absent,
    /// A number in the table itself.
    Number(u32),
    /// Something in the old bytes.
    Old(usize),
    /// Something that is written later.
    Later,
}

impl Head {
    /// Bytes so far.
    fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Zeros until what comes after `distance` more bytes is aligned.
    pub(super) fn align(&mut self, alignment: usize, distance: usize) {
        while !(self.position() + distance).is_multiple_of(alignment) {
            self.bytes.push(0);
        }
    }

    /// A number; where it stands.
    pub(super) fn number(&mut self, value: u32) -> usize {
        let at = self.position();
        self.bytes.extend_from_slice(&value.to_le_bytes());
        at
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A reference to something in the old bytes.
    pub(super) fn reference(&mut self, to: usize) {
        let at = self.number(0);
        self.old.push((at, to));
    }

    /// Makes the reference at `at` point to what is written next.
    pub(super) fn point(&mut self, at: usize) {
        let distance = word(self.position() - at);
        self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// A table, with its list of fields before it; where each field stands. References that point
    /// here are made to do so by `before`, which is called between the two.
    pub(super) fn table(&mut self, fields: &[Field], before: impl FnOnce(&mut Self)) -> Vec<usize> {
        let list = 4 + 2 * fields.len();
        // The list of fields ends where the table begins, at a multiple of 4.
        self.align(4, list);
        let present = fields.iter().filter(|field| !matches!(field, Field::Absent)).count();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only the root has more than two fields: as many as the old root's list, which \
                      counts its bytes in 16 bits too, and ten of them at most take room"
        )]
        let mut half = |value: usize| self.bytes.extend_from_slice(&(value as u16).to_le_bytes());
        half(list);
        half(4 + 4 * present);
        let mut offset = 4;
        for field in fields {
            match field {
                Field::Absent => half(0),
                _ => {
                    half(offset);
                    offset += 4;
                }
            }
        }
        before(self);
        self.number(word(list));
        let mut places = Vec::with_capacity(fields.len());
        for field in fields {
            places.push(self.position());
            match *field {
                Field::Absent => {}
                Field::Number(value) => {
                    self.number(value);
                }
                Field::Old(to) => self.reference(to),
                Field::Later => {
                    self.number(0);
                }
            }
        }
        places
    }

    /// The head followed by `old`; nothing if that is more than references can span.
    pub(super) fn before(mut self, old: &[u8]) -> Option<Vec<u8>> {
        self.align(ALIGNMENT, 0);
        let start = self.position();
        if start.checked_add(old.len()).is_none_or(|total| total > i32::MAX as usize) {
            return None;
        }
        for (at, to) in self.old {
            let distance = start.checked_add(to)?.checked_sub(at)?;
            let distance = u32::try_from(distance).ok()?;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.bytes.reserve_exact(old.len());
        self.bytes.extend_from_slice(old);
        Some(self.bytes)
    }
}
