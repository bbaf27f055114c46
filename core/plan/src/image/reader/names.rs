//! The section of names: a count, then where each begins and how long it is, then letters.

use core::str;

use zerocopy::FromBytes;

#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) table: &'a [[u32; 2]],
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (count, _) = u32::read_from_prefix(bytes).ok()?;
        let table_end = 4usize.checked_add((count as usize).checked_mul(8)?)?;
        let table = <[[u32; 2]]>::ref_from_bytes(bytes.get(4..table_end)?).ok()?;
        let names = Self { table, bytes };
        let mut end = table_end;
        for (index, [offset, length]) in table.iter().enumerate() {
            // One behind the other, so that reading all is linear in the section's length.
            if *offset as usize != end || names.get(index).is_none() {
                return None;
            }
            end += *length as usize;
        }
        Some(names)
    }

    pub(super) fn get(&self, index: usize) -> Option<&'a str> {
        let [offset, length] = *self.table.get(index)?;
        let end = (offset as usize).checked_add(length as usize)?;
        str::from_utf8(self.bytes.get(offset as usize..end)?).ok()
    }
}
