//! Convolutions of 3x3 windows by Winograd's F(2x2, 3x3), in integers: four tiles of 2x2 outputs with two
//! output channels at a time, sixteen products for each tile and value of a filter instead of 36.
//!
//! Of a tile's 4x4 inputs d stand the values V = Bᵀ·d·B, of a filter g the weights U = 4·G·g·Gᵀ, both as
//! halves: |V| ≤ 4 · 128, |U| ≤ 9 · 128. Four times the outputs are Aᵀ·Σ(U ∘ V)·A; all sums wrap, so that they
//! are exact where the results have 32 bits (Lavin and Gray, "Fast Algorithms for Convolutional Neural
//! Networks", section 4.1).
//!
//! The sixteen positions of U and V follow each other by columns, in each the rows 1, 0, 2, 3, so that a sum
//! goes on from row 1 to row 0 and from row 2 to row 3; where one but not both of row and column are
//! behind the second, weights have the other sign.

use super::four::Constants;
use super::{Word, are_at_words};
#[cfg(not(armv7e_m))]
use super::{even_bytes, high_product_sum, odd_bytes, products, saturate, shift_right, word};

/// Tiles that are computed together.
pub const TILES: usize = 4;

/// Values that stand for a tile's inputs, and weights for a filter's nine.
pub const POSITIONS: usize = 16;

/// Rows and columns of a tile's inputs.
pub const SIDE: usize = 4;

/// The row of each position of a column.
#[cfg(any(feature = "pack", not(armv7e_m)))]
pub(crate) const ROWS: [usize; SIDE] = [1, 0, 2, 3];

/// Values of two input channels for four tiles.
pub type Tiles = [Word; TILES];

/// Weights of two output channels for two input channels: of the first, then of the second.
pub type TileWeights = [u8; 8];

/// Four times the outputs of four tiles for two channels. Of each channel, of each two tiles, row by row,
/// column by column, those of both.
pub type TileSums = [i32; 2 * 4 * TILES];

/// Pixels that four tiles make.
pub const TILE_PIXELS: usize = 4 * TILES;

/// Makes all of a channel's sums the same.
pub fn start_sums(sums: &mut [i32; TILE_PIXELS], value: i32) {
    #[cfg(armv7e_m)]
    {
        let words = sums.as_mut_ptr_range();
        // SAFETY: the sums are a multiple of eight words, all of which may be written.
        #[expect(unsafe_code, reason = "eight words in a turn")]
        unsafe {
            super::planes::arm::fill_eights(words.start.cast(), words.end.cast(), value as u32);
        }
    }
    #[cfg(not(armv7e_m))]
    sums.fill(value);
}

/// Makes the values of a tile whose 4x4 inputs begin with `bytes`, rows and columns so many bytes apart: of
/// as many channels as there are in values, which are those of a chunk, sixteen positions one behind the
/// other. Gives whether there were as many bytes, whole words of channels and such a tile; makes nothing if
/// not.
#[must_use]
pub fn transform(
    bytes: &[u8],
    [down, across]: [usize; 2],
    values: &mut [Tiles],
    tile: usize,
) -> bool {
    let pairs = values.len() / POSITIONS;
    let last = down.checked_add(across).and_then(|last| last.checked_mul(SIDE - 1));
    let end = last.and_then(|last| last.checked_add(pairs * 2));
    let fits = end.is_some_and(|end| end <= bytes.len());
    if !fits || pairs == 0 || pairs % 2 == 1 || pairs * POSITIONS != values.len() || tile >= TILES {
        return false;
    }
    #[cfg(armv7e_m)]
    {
        let position = pairs * size_of::<Tiles>();
        let run = arm::Run {
            down,
            three_down: down * 3,
            across,
            quads: pairs / 2,
            position,
            four_positions: position * 4,
            twelve_positions: position * 12,
        };
        let to = values.as_mut_ptr().cast::<Word>().wrapping_add(tile);
        // SAFETY: checked above: all words of the inputs lie in the bytes, and sixteen times as many values
        // as there are pairs of channels are written to a tile that exists.
        #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
        unsafe {
            arm::transform(bytes.as_ptr(), to, &run);
        }
    }
    #[cfg(not(armv7e_m))]
    for quad in 0..pairs / 2 {
        let words: [[u32; SIDE]; SIDE] = core::array::from_fn(|row| {
            core::array::from_fn(|column| {
                let from = &bytes[row * down + column * across + quad * 4..];
                from.first_chunk().map_or(0, word)
            })
        });
        for (half, of) in [even_bytes, odd_bytes].into_iter().enumerate() {
            let values_of = transformed(words.map(|row| row.map(of)));
            for (position, value) in values_of.into_iter().enumerate() {
                values[position * pairs + quad * 2 + half][tile] = value;
            }
        }
    }
    true
}

/// Bᵀ·d·B in the order of positions.
#[cfg(not(armv7e_m))]
fn transformed(inputs: [[u32; SIDE]; SIDE]) -> [u32; POSITIONS] {
    use super::halves::{add_halves, subtract_halves};
    let along = |[a, b, c, d]: [u32; SIDE]| {
        [subtract_halves(a, c), add_halves(b, c), subtract_halves(c, b), subtract_halves(b, d)]
    };
    let down: [[u32; SIDE]; SIDE] =
        core::array::from_fn(|column| along(inputs.map(|row| row[column])));
    let rows: [[u32; SIDE]; SIDE] =
        core::array::from_fn(|row| along(down.map(|column| column[row])));
    core::array::from_fn(|position| rows[ROWS[position % SIDE]][position / SIDE])
}

/// Adds four times the outputs that the values of a chunk of input channels make, to as many pairs of output
/// channels as there are sums. Each pair's weights begin `stride` entries behind the last pair's.
/// Gives whether there were enough weights, whole words of channels, and weights at an address of words where
/// there are such; computes nothing if not.
#[must_use]
pub fn add_tiles(
    weights: &[TileWeights],
    stride: usize,
    values: &[Tiles],
    sums: &mut [TileSums],
) -> bool {
    let Some(last) = sums.len().checked_sub(1) else { return true };
    let needed = last.checked_mul(stride).and_then(|skip| skip.checked_add(values.len()));
    if needed.is_none_or(|needed| needed > weights.len())
        || values.is_empty()
        || !values.len().is_multiple_of(POSITIONS)
        || stride < values.len()
        || !are_at_words(weights)
    {
        return false;
    }
    #[cfg(armv7e_m)]
    {
        let sums = sums.as_mut_ptr_range();
        let position = values.len() / POSITIONS * size_of::<Tiles>();
        let skip = (stride - values.len()) * size_of::<TileWeights>();
        // SAFETY: for each pair of channels as many entries of weights as values are read, `stride`
        // apart: checked above, as is that they are whole words. Values and sums are slices; values may be
        // words that were never written, of which the instructions read whatever memory holds.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            let (values, weights) = (values.as_ptr(), weights.as_ptr());
            arm::add_tiles(weights, values, sums.start, sums.end, position, skip);
        }
    }
    #[cfg(not(armv7e_m))]
    for (weights, sums) in weights.chunks(stride).zip(sums) {
        add_pair(weights, values, sums);
    }
    true
}

#[cfg(not(armv7e_m))]
fn add_pair(weights: &[TileWeights], values: &[Tiles], sums: &mut TileSums) {
    let pairs = values.len() / POSITIONS;
    let mut products_of = [[[0i32; TILES]; 2]; POSITIONS];
    let positions = weights.chunks(pairs).zip(values.chunks(pairs)).zip(&mut products_of);
    for ((weights, values), sums) in positions {
        for (weights, values) in weights.iter().zip(values) {
            for (weights, sums) in weights.as_chunks().0.iter().zip(&mut *sums) {
                for (value, sum) in values.iter().zip(sums) {
                    *sum = products(word(weights), *value, *sum);
                }
            }
        }
    }
    for (at, sum) in sums.iter_mut().enumerate() {
        let (channel, tile) = (at / 16, at / 8 % 2 * 2 + at % 2);
        let (row, column) = (at / 4 % 2, at / 2 % 2);
        let of = |position: usize| products_of[position][channel][tile];
        // Of a column the sums of row 0 and row 1 of the outputs; row 2 and 3 have the other sign.
        let down = |column: usize| {
            let [one, zero, two, three] = [0, 1, 2, 3].map(|at| of(column * SIDE + at));
            match row {
                0 => one.wrapping_add(zero).wrapping_sub(two),
                _ => one.wrapping_add(two).wrapping_add(three),
            }
        };
        let made = match column {
            0 => down(0).wrapping_add(down(1)).wrapping_sub(down(2)),
            _ => down(1).wrapping_add(down(2)).wrapping_add(down(3)),
        };
        *sum = sum.wrapping_add(made);
    }
}

/// The place of a pixel without one.
pub const NOWHERE: usize = usize::MAX;

/// The outputs of four tiles for two channels for each two entries of `constants`: sums, which have four times
/// the bias already, requantised as [`super::Fast::apply`] does, `zero` added. The bytes of a pixel's
/// channels begin at its place; pixels are in the order of [`TileSums`], those that lie [`NOWHERE`] are left out.
/// Gives whether operands were long enough, of at most `LARGEST` channels, and constants at an address of words
/// where there are such; computes nothing if not.
#[must_use]
pub fn outputs_of_tiles<const LARGEST: usize>(
    sums: &[TileSums],
    constants: &[[Constants; 2]],
    zero: i8,
    bytes: &mut [u8],
    places: &[usize; TILE_PIXELS],
) -> bool {
    let channels = constants.len() * 2;
    let fits = |place: &usize| match *place {
        NOWHERE => true,
        place => place.checked_add(channels).is_some_and(|end| end <= bytes.len()),
    };
    if sums.len() < constants.len()
        || channels > LARGEST
        || !places.iter().all(fits)
        || !are_at_words(constants)
    {
        return false;
    }
    let rounding = 2 * i32::from(zero) + 1;
    #[cfg(armv7e_m)]
    if channels > 0 {
        let mut nowhere = [0u8; LARGEST];
        let (base, beside) = (bytes.as_mut_ptr(), nowhere.as_mut_ptr());
        let mut ends = [beside; TILE_PIXELS];
        for (end, place) in ends.iter_mut().zip(places) {
            let start = if *place == NOWHERE { beside } else { base.wrapping_add(*place) };
            *end = start.wrapping_add(channels);
        }
        // SAFETY: `channels` bytes of each place are written, of pixels without one to a buffer of as many:
        // checked above, as is that constants are whole words and that there are sums for them.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            arm::outputs(
                sums.as_ptr(),
                constants.as_ptr(),
                (channels as isize).wrapping_neg(),
                rounding,
                ends.as_ptr(),
            );
        }
    }
    #[cfg(not(armv7e_m))]
    for (pair, (sums, constants)) in sums.iter().zip(constants).enumerate() {
        for (channel, (sums, constants)) in sums.chunks(TILE_PIXELS).zip(constants).enumerate() {
            let [multiplier, right] = [1, 2].map(|at| {
                constants.as_chunks().0.get(at).map_or(0, |word| i32::from_le_bytes(*word))
            });
            let rounding = rounding.wrapping_shl(right as u32);
            for (sum, place) in sums.iter().zip(places) {
                let rounding = rounding.wrapping_add(sum >> 31);
                let high = high_product_sum(sum >> 1, multiplier, rounding);
                let value = saturate(shift_right(high, right & 31) >> 1);
                if *place != NOWHERE {
                    bytes[place + 2 * pair + channel] = value as u8;
                }
            }
        }
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm;
