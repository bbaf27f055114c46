//! What every byte of a memory holds: intervals of consecutive elements of a tensor, or of bytes of
//! a constant block.

use std::collections::BTreeMap;

use crate::parts::Place;
use tilewright_model::TensorId;
use tilewright_plan::{Tile, View};

/// What bytes are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Elements of a tensor of one of a run's frames, in their row-major order; constants are those of
    /// frame 0.
    Tensor(TensorId, u8),
    /// Bytes of one of the plan's constant blocks.
    Block(usize),
}

/// What a run of bytes holds, from `element` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    bytes: u64,
    held: Held,
    element: u64,
}

/// Contents of a memory by address; bytes never written are in no run.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    runs: BTreeMap<u64, Run>,
}

impl Contents {
    /// Bytes from `address` on hold nothing that is known.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let end = address + bytes;
        self.split(address);
        self.split(end);
        let covered: Vec<u64> = self.runs.range(address..end).map(|(start, _)| *start).collect();
        for start in covered {
            self.runs.remove(&start);
        }
    }

    /// Bytes from `address` on now hold those of `held` from `element` on.
    pub fn write(&mut self, address: u64, bytes: u64, held: Held, element: u64) {
        if bytes == 0 {
            return;
        }
        self.forget(address, bytes);
        let mut run = Run { bytes, held, element };
        let mut start = address;
        if let Some((before, previous)) = self.runs.range(..address).next_back()
            && before + previous.bytes == address
            && previous.held == held
            && previous.element + previous.bytes == element
        {
            start = *before;
            run = Run { bytes: previous.bytes + bytes, ..*previous };
        }
        self.runs.insert(start, run);
    }

    /// Makes a run end at `address` if one reaches over it.
    fn split(&mut self, address: u64) {
        let Some((start, run)) = self.runs.range_mut(..address).next_back() else { return };
        let head = address - start;
        if run.bytes > head {
            let tail = Run { bytes: run.bytes - head, element: run.element + head, ..*run };
            run.bytes = head;
            self.runs.insert(address, tail);
        }
    }

    /// What the bytes from `address` on hold, as a memory of their own.
    pub fn cut(&mut self, address: u64, bytes: u64) -> Self {
        self.split(address);
        self.split(address + bytes);
        let inside = self.runs.range(address..address + bytes);
        Self { runs: inside.map(|(start, run)| (start - address, *run)).collect() }
    }

    /// Bytes from `address` on now hold what those of `other` from `first` on do.
    pub fn paste(&mut self, address: u64, other: &mut Self, first: u64, bytes: u64) {
        self.forget(address, bytes);
        for (start, run) in other.cut(first, bytes).runs {
            self.write(address + start, run.bytes, run.held, run.element);
        }
    }

    /// Whether the bytes from `address` on hold those of `held` from `element` on.
    pub fn holds(&self, mut address: u64, mut bytes: u64, held: Held, mut element: u64) -> bool {
        while bytes > 0 {
            let Some((start, run)) = self.runs.range(..=address).next_back() else { return false };
            let inside = address - start;
            if inside >= run.bytes || run.held != held || run.element + inside != element {
                return false;
            }
            let step = (run.bytes - inside).min(bytes);
            address += step;
            element += step;
            bytes -= step;
        }
        true
    }

    /// Checks that a view holds the box of a frame's tensor (of shape `shape`, lying at `place`) that starts
    /// at the view's own row and column and at channel `first`; gives the number of bytes.
    ///
    /// # Errors
    /// Names the first element that is not there.
    pub fn read(
        &self,
        view: &View,
        shape: [u64; 3],
        (place, frame): (&Place, u8),
        first: u64,
    ) -> Result<u64, String> {
        let start = origin(view, first)?;
        for_each_run(view, shape, start, [0; 2], size(view), |address, bytes, element| {
            place.pieces(element, bytes, |before, bytes, element| {
                let address = address + before;
                if self.holds(address, bytes, Held::Tensor(place.root, frame), element) {
                    return Ok(());
                }
                Err(format!("reads bytes at offset {address} that do not hold its operand"))
            })
        })
    }

    /// Writes the part of a frame's tensor, lying at `place`, that `tile` makes, starting at element
    /// `start`, through a view.
    ///
    /// # Errors
    /// If the view does not lie inside the tensor.
    pub fn write_view(
        &mut self,
        view: &View,
        tile: &Tile,
        shape: [u64; 3],
        (place, frame): (&Place, u8),
        start: [u64; 3],
    ) -> Result<u64, String> {
        let origin = origin(view, start[2])?;
        let (Some(y), Some(x)) = (start[0].checked_sub(origin[0]), start[1].checked_sub(origin[1]))
        else {
            return Err("writes outside of its view".to_owned());
        };
        let size = [u64::from(tile.output_size[0]), u64::from(tile.output_size[1])];
        for_each_run(view, shape, origin, [y, x], size, |address, bytes, element| {
            place.pieces(element, bytes, |before, bytes, element| {
                self.write(address + before, bytes, Held::Tensor(place.root, frame), element);
                Ok(())
            })
        })
    }
}

fn size(view: &View) -> [u64; 2] {
    [u64::from(view.h), u64::from(view.w)]
}

fn origin(view: &View, channel: u64) -> Result<[u64; 3], String> {
    let start = |first: i16| u64::try_from(first).map_err(|_| "view starts before its tensor");
    Ok([start(view.y0)?, start(view.x0)?, channel])
}

/// Calls `visit` with address, bytes and first element of each run of consecutive elements of the
/// box of `size` rows and columns at row and column `first` of the view, whose own first element
/// is element `origin` of a tensor of shape `shape`.
fn for_each_run(
    view: &View,
    shape: [u64; 3],
    origin: [u64; 3],
    first: [u64; 2],
    size: [u64; 2],
    mut visit: impl FnMut(u64, u64, u64) -> Result<(), String>,
) -> Result<u64, String> {
    let [height, width, channels] = shape;
    let c = u64::from(view.c);
    if origin[0] + first[0] + size[0] > height
        || origin[1] + first[1] + size[1] > width
        || origin[2] + c > channels
    {
        return Err("an operand's box lies outside its tensor".to_owned());
    }
    let dense = u64::from(view.column_pitch) == c && c == channels;
    let mut bytes = 0;
    for y in first[0]..first[0] + size[0] {
        let row = (y + u64::from(view.first_row)) % u64::from(view.ring_rows);
        let line = u64::from(view.offset) + row * u64::from(view.row_pitch);
        let pixels = if dense { 1 } else { size[1] };
        let run = if dense { size[1] * c } else { c };
        for pixel in 0..pixels {
            let x = first[1] + pixel;
            let address = line + x * u64::from(view.column_pitch);
            let element = ((origin[0] + y) * width + origin[1] + x) * channels + origin[2];
            visit(address, run, element)?;
            bytes += run;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    const A: Held = Held::Tensor(TensorId(0), 0);
    const B: Held = Held::Block(0);

    #[test]
    fn overwritten_bytes_no_longer_hold_their_tensor() {
        let mut contents = Contents::default();
        contents.write(0, 100, A, 0);
        assert!(contents.holds(10, 50, A, 10));
        contents.write(40, 10, B, 0);
        assert!(contents.holds(0, 40, A, 0));
        assert!(!contents.holds(0, 41, A, 0));
        assert!(contents.holds(50, 50, A, 50));
        assert!(!contents.holds(100, 1, A, 100));
    }

    #[test]
    fn the_right_bytes_at_the_wrong_place_are_not_held() {
        let mut contents = Contents::default();
        contents.write(0, 100, A, 0);
        assert!(!contents.holds(10, 10, A, 11));
    }

    #[test]
    fn another_frames_tensor_is_another() {
        let mut contents = Contents::default();
        contents.write(0, 50, A, 0);
        contents.write(50, 50, Held::Tensor(TensorId(0), 1), 50);
        assert!(contents.holds(0, 50, A, 0) && !contents.holds(0, 51, A, 0));
    }

    #[test]
    fn copied_bytes_hold_what_their_source_held() {
        let (mut from, mut to) = (Contents::default(), Contents::default());
        from.write(0, 30, A, 0);
        from.write(40, 10, B, 5);
        to.write(0, 100, B, 0);
        let mut taken = from.cut(20, 25);
        to.paste(50, &mut taken, 0, 25);
        assert!(to.holds(50, 10, A, 20) && to.holds(70, 5, B, 5));
        assert!(!to.holds(60, 1, B, 60), "nothing is known of what was between");
        assert!(to.holds(0, 50, B, 0) && to.holds(75, 25, B, 75));
    }

    #[test]
    fn two_channel_parts_make_a_whole() {
        let mut contents = Contents::default();
        let shape = [2, 2, 4];
        let part = |offset: u32| View { offset, c: 2, ..View::whole(Space::Arena, 0, 2, 2, 4) };
        let tile = Tile { output_size: [2, 2], channels: 2, ..Tile::default() };
        let place = Place::alone(TensorId(0));
        contents.write_view(&part(0), &tile, shape, (&place, 0), [0, 0, 0]).unwrap();
        let whole = View::whole(Space::Arena, 0, 2, 2, 4);
        assert!(contents.read(&whole, shape, (&place, 0), 0).is_err());
        contents.write_view(&part(2), &tile, shape, (&place, 0), [0, 0, 2]).unwrap();
        assert_eq!(contents.read(&whole, shape, (&place, 0), 0), Ok(16));
    }
}
