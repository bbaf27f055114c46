//! Outputs of four channels from their planes.

use super::{CHANNEL_WORDS, CHANNELS, Filter, Kind, Planes, ROW_WORDS, ROWS};

/// Where the outputs of a strip come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    kind: Kind,
    /// Word of the first output's window, without what the channel adds.
    first: usize,
    rows: usize,
    columns: usize,
    /// Bytes from an output row to the next, and from an output pixel to the next.
    pitch: [usize; 2],
    /// Bytes from the first output to behind the last.
    bytes: usize,
}

impl Strip {
    /// Output columns that a strip can have at most.
    #[must_use]
    pub const fn most_columns(kind: Kind) -> usize {
        // Outputs come in pairs: one past the last is computed too.
        let free = 2 * CHANNEL_WORDS - kind.lead() - kind.taps();
        (free / kind.stride() + 1) & !1
    }

    /// Output rows that a strip can have at most.
    #[must_use]
    pub const fn most_rows(kind: Kind) -> usize {
        (ROWS - kind.taps()) / kind.stride() + 1
    }

    /// The outputs of `size` rows and columns whose first window starts in the planes at `row`, and
    /// at the column [`Kind::lead`].
    ///
    /// Nothing if the planes or addresses have no room for them.
    #[must_use]
    pub fn new(kind: Kind, row: usize, size: [usize; 2], pitch: [usize; 2]) -> Option<Self> {
        let [rows, columns] = size;
        let seen = rows.checked_sub(1)?.checked_mul(kind.stride())?.checked_add(kind.taps())?;
        let inside = row <= ROWS && seen <= ROWS - row;
        if columns == 0 || columns > Self::most_columns(kind) || !inside {
            return None;
        }
        let last_row = (rows - 1).checked_mul(pitch[0])?;
        let last_column = (columns - 1).checked_mul(pitch[1])?;
        let bytes = last_row.checked_add(last_column)?.checked_add(1)?;
        Some(Self { kind, first: row * ROW_WORDS, rows, columns, pitch, bytes })
    }
}

impl Planes {
    /// Convolves the planes of all channels. `output`: from the first channel's first output on, the
    /// other channels' each a byte behind; what is no output stays as it is.
    ///
    /// Nothing is written if the output is too short.
    #[must_use]
    pub fn convolve(
        &self,
        strip: &Strip,
        filters: &[Filter; CHANNELS],
        output: &mut [u8],
    ) -> Option<()> {
        let needed = strip.bytes.checked_add(CHANNELS - 1)?;
        (needed <= output.len()).then(|| run(self, strip, filters, output))
    }
}

/// What the loops know; `wrapping` pointers, as all are checked before.
#[cfg(armv7e_m)]
#[repr(C)]
struct Run {
    /// Bytes from an output to the next, and three times as many.
    column_pitch: usize,
    three_columns: usize,
    /// Bytes from behind a row to the next, in the planes and in the output.
    next_from: usize,
    next_to: usize,
    /// The middle row of the first channel's first window.
    from: *const u32,
    to: *mut u8,
    filters: *const Filter,
    /// Bytes of what whole blocks of four outputs see of a row.
    blocks: usize,
    /// Bytes from the first window to where the loop is behind the last row.
    rows: usize,
    /// Outputs behind the blocks: 0..=3.
    tail: usize,
    /// For windows of five and seven taps: bytes from a row of outputs to the next in the planes, bytes
    /// of a filter from where sums start on, and which windows.
    row: usize,
    filter: usize,
    windows: usize,
}

#[cfg(armv7e_m)]
fn run(planes: &Planes, strip: &Strip, filters: &[Filter; CHANNELS], output: &mut [u8]) {
    let Strip { kind, first, rows, columns, pitch: [row_pitch, column_pitch], .. } = *strip;
    let stride = kind.stride();
    let (blocks, tail) = (columns / 4, columns % 4);
    let pairs = columns.div_ceil(2);
    // A half for each pixel.
    let (ahead, row) = (pairs * 2 * stride * 2, stride * ROW_WORDS * 4);
    let middle = first + kind.taps() / 2 * ROW_WORDS;
    let run = Run {
        column_pitch,
        three_columns: column_pitch.wrapping_mul(3),
        next_from: row - ahead,
        next_to: row_pitch.wrapping_sub(pairs.wrapping_mul(2).wrapping_mul(column_pitch)),
        from: planes.words.as_ptr().wrapping_add(middle).cast(),
        to: output.as_mut_ptr(),
        filters: filters.as_ptr(),
        blocks: blocks * 4 * stride * 2,
        rows: (rows - 1) * row + ahead,
        tail,
        row,
        filter: (1 + kind.taps() * kind.pairs().len()) * 4,
        windows: (kind as usize).wrapping_sub(Kind::Five as usize),
    };
    // SAFETY: `Strip::new` has checked that the windows lie in the planes, an output more than a
    // row has where their number is odd, and `Planes::convolve` that all channels' outputs lie in the
    // slice.
    #[expect(unsafe_code, reason = "loops whose values fill the registers")]
    unsafe {
        match kind {
            Kind::Three => three(&run),
            Kind::ThreeStrided => three_strided(&run),
            _ => large(&run),
        }
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "loops whose values fill the registers")]
mod loops;
#[cfg(armv7e_m)]
use loops::{large, three, three_strided};

#[cfg(not(armv7e_m))]
fn run(planes: &Planes, strip: &Strip, filters: &[Filter; CHANNELS], output: &mut [u8]) {
    use super::filter::place_of;
    use crate::dsp::{high_product_sum, product_high_high, saturate, shift_right};
    let Strip { kind, first, rows, columns, pitch, .. } = *strip;
    let pairs = kind.pairs();
    for (channel, filter) in filters.iter().enumerate() {
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let [multiplier, rounding, right, start] = filter.constants.map(u32::cast_signed);
            let mut sum = start;
            for tap in 0..kind.taps() * kind.taps() {
                let (row, tap) = (tap / kind.taps(), tap % kind.taps());
                // Where a tap stands twice, both are the same.
                let place = pairs.iter().position(|pair| pair.contains(&tap)).unwrap_or(0);
                let weights = filter.words[place_of(row, kind.taps()) * pairs.len() + place];
                let at = kind.lead() + x * kind.stride() + tap;
                let line = first + (y * kind.stride() + row) * ROW_WORDS + channel * CHANNEL_WORDS;
                let pixels = planes.words[line + at / 2];
                // Both into their high halves.
                let pixel = if at % 2 == 0 { pixels << 16 } else { pixels };
                let weight = if pairs[place][0] == tap { weights << 16 } else { weights };
                sum = product_high_high(pixel, weight, sum);
            }
            let rounding = rounding.wrapping_add(sum >> 31);
            let value = high_product_sum(sum, multiplier, rounding);
            let value = saturate(shift_right(value, right));
            output[y * pitch[0] + x * pitch[1] + channel] = value as u8;
        }
    }
}
