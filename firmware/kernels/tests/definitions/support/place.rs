//! Places boxes of tensors in buffers: pitched, in the middle of others' bytes, rows wrapped.

use super::{Numbers, Tensor};
use tilewright_kernels::Layout;

/// A box of a tensor in a buffer.
#[derive(Clone, Debug)]
pub struct Placed {
    pub bytes: Vec<u8>,
    pub layout: Layout,
}

/// A box: rows, columns and channels of a tensor, half-open.
pub type Area = [std::ops::Range<usize>; 3];

/// A random layout for a box; `dense` asks for a contiguous one.
pub fn layout(numbers: &mut Numbers, area: &Area, dense: bool) -> Layout {
    let [rows, columns, channels] = [0, 1, 2].map(|axis| area[axis].len());
    let first = [area[0].start as i32, area[1].start as i32];
    if dense {
        return Layout { first, ..Layout::whole(rows, columns, channels) };
    }
    let mut more = |end: usize| numbers.below(end);
    let column_pitch = channels + more(3);
    let row_pitch = (columns - 1) * column_pitch + channels + more(5);
    let ring_rows = rows + more(3);
    let ring_first = more(ring_rows);
    Layout { rows, columns, channels, first, row_pitch, column_pitch, ring_rows, ring_first }
}

impl Placed {
    /// A buffer of noise for the layout.
    pub fn empty(numbers: &mut Numbers, layout: Layout) -> Self {
        let length = (layout.ring_rows - 1) * layout.row_pitch
            + (layout.columns - 1) * layout.column_pitch
            + layout.channels;
        Self { bytes: numbers.bytes(length).into_iter().map(|b| b as u8).collect(), layout }
    }

    /// The box of a tensor at `area`, the rest noise.
    pub fn filled(numbers: &mut Numbers, tensor: &Tensor, area: &Area, layout: Layout) -> Self {
        let mut placed = Self::empty(numbers, layout);
        for (offset, [y, x, c]) in placed.elements() {
            let at = (area[0].start + y, area[1].start + x, area[2].start + c);
            let value = tensor.get(at.0 as i64, at.1 as i64, at.2);
            placed.bytes[offset] = value.expect("the area lies in the tensor") as u8;
        }
        placed
    }

    /// Offset and place in the box of each element.
    pub fn elements(&self) -> Vec<(usize, [usize; 3])> {
        let l = &self.layout;
        let mut elements = Vec::new();
        for y in 0..l.rows {
            for x in 0..l.columns {
                for c in 0..l.channels {
                    let row = (y + l.ring_first) % l.ring_rows;
                    elements.push((row * l.row_pitch + x * l.column_pitch + c, [y, x, c]));
                }
            }
        }
        elements
    }

    /// Checks that a kernel wrote the box of `expected` at `area` and nothing beside it.
    pub fn check(&self, before: &[u8], expected: &Tensor, area: &Area) {
        let mut rest = self.bytes.clone();
        for (offset, [y, x, c]) in self.elements() {
            let at = [area[0].start + y, area[1].start + x, area[2].start + c];
            let value = expected.get(at[0] as i64, at[1] as i64, at[2]);
            assert_eq!(Some(self.bytes[offset] as i8), value, "element {at:?}");
            rest[offset] = before[offset];
        }
        assert_eq!(rest, before, "bytes beside the box were written");
    }
}
