//! Weights of a depthwise window as the loops over planes read them.

use super::CHANNELS;
#[cfg(armv7e_m)]
use crate::channels::CHANNEL_BYTES;
use crate::channels::Channels;
use crate::dsp::{
    EMPTY, Fast, Word, activations, add_halves, even_bytes, high_halves, low_halves, odd_bytes,
    word,
};

/// Square windows that the loops are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 3x3, stride 1.
    Three,
    /// 3x3, stride 2.
    ThreeStrided,
    /// 5x5, stride 1.
    Five,
    /// 5x5, stride 2.
    FiveStrided,
    /// 7x7, stride 1.
    Seven,
    /// 7x7, stride 2.
    SevenStrided,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Three,
        Self::ThreeStrided,
        Self::Five,
        Self::FiveStrided,
        Self::Seven,
        Self::SevenStrided,
    ];

    /// The kind with these taps and this stride along both axes, if there is one.
    #[must_use]
    pub const fn of(taps: usize, stride: i32) -> Option<Self> {
        match (taps, stride) {
            (3, 1) => Some(Self::Three),
            (3, 2) => Some(Self::ThreeStrided),
            (5, 1) => Some(Self::Five),
            (5, 2) => Some(Self::FiveStrided),
            (7, 1) => Some(Self::Seven),
            (7, 2) => Some(Self::SevenStrided),
            _ => None,
        }
    }

    /// Taps along an axis.
    #[must_use]
    #[inline(always)]
    pub const fn taps(self) -> usize {
        match self {
            Self::Three | Self::ThreeStrided => 3,
            Self::Five | Self::FiveStrided => 5,
            Self::Seven | Self::SevenStrided => 7,
        }
    }

    /// Pixels from one output to the next along an axis.
    #[must_use]
    #[inline(always)]
    pub const fn stride(self) -> usize {
        match self {
            Self::Three | Self::Five | Self::Seven => 1,
            Self::ThreeStrided | Self::FiveStrided | Self::SevenStrided => 2,
        }
    }

    /// Column of the planes at which the first output's window starts: the usual padding of stride
    /// 1 leaves the input's first pixel in a low half.
    #[must_use]
    #[inline(always)]
    pub const fn lead(self) -> usize {
        match self {
            Self::Three | Self::Seven => 1,
            _ => 0,
        }
    }

    /// The taps in each word of a row of weights, low and high; a tap past the last is zero.
    pub(super) const fn pairs(self) -> &'static [[usize; 2]] {
        match self {
            Self::Three | Self::ThreeStrided => &[[0, 1], [1, 2]],
            Self::Five | Self::FiveStrided => &[[0, 1], [2, 3], [1, 2], [3, 4]],
            Self::Seven => &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]],
            Self::SevenStrided => &[[0, 1], [2, 3], [4, 5], [6, 7]],
        }
    }
}

/// Words of the longest filter.
const LONGEST: usize = 7 * 6;

/// The filter of one channel, and how its sums are requantised.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Filter {
    /// Multiplier, rounding and right shift of [`Fast`], and where sums start: twice the bias less zero
    /// point times weights.
    pub(super) constants: [Word; 4],
    /// Twice the weights, row by row, of three the middle row last; in each [`Kind::pairs`].
    pub(super) words: [Word; LONGEST],
}

impl Filter {
    /// A filter before it is prepared.
    pub const NONE: Self = Self { constants: EMPTY[0], words: [EMPTY[0][0]; LONGEST] };

    /// Biases must be nearer to zero: what is added to them stays far below 2^30 then.
    pub const BIAS_LIMIT: u32 = 1 << 29;
}

/// What filters are made of.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// Of each tap as many channels as there are.
    pub bytes: &'a [u8],
    /// Bytes from a row of taps to the next, and from a tap to the next.
    pub pitch: [usize; 2],
    /// The channels' constants.
    pub channels: Channels<'a>,
    /// Zero points of the input and of the output.
    pub zeros: [i8; 2],
}

impl Weights<'_> {
    /// Prepares the filters of the four channels from `first` on.
    ///
    /// Nothing if there are not as many weights and constants, a bias is not within
    /// [`Filter::BIAS_LIMIT`], or [`Fast`] does not serve for a factor.
    #[must_use]
    #[inline(never)]
    pub fn prepare(
        &self,
        kind: Kind,
        first: usize,
        filters: &mut [Filter; CHANNELS],
    ) -> Option<()> {
        let channels = self.channels.from(first);
        #[cfg(armv7e_m)]
        if kind.taps() == 3 {
            return self.three(first, channels.entries().first_chunk()?, filters);
        }
        if channels.len() < CHANNELS {
            return None;
        }
        let sums = rows(filters, kind.taps(), kind.pairs(), self.bytes, first, self.pitch)?;
        let [zero, output_zero] = self.zeros;
        for ((filter, channel), sum) in filters.iter_mut().zip(channels.iter()).zip(&sums) {
            let Fast { multiplier, right, rounding } = Fast::of(channel.factor, output_zero)?;
            if channel.bias.unsigned_abs() >= Filter::BIAS_LIMIT {
                return None;
            }
            let start = 2 * channel.bias - i32::from(zero) * sum;
            filter.constants =
                [multiplier, rounding, right, start].map(|word| activations(word.cast_unsigned()));
        }
        Some(())
    }

    /// The window that comes most.
    #[cfg(armv7e_m)]
    fn three(
        &self,
        first: usize,
        constants: &[[u8; CHANNEL_BYTES]; CHANNELS],
        filters: &mut [Filter; CHANNELS],
    ) -> Option<()> {
        let [row, tap] = self.pitch;
        let last = row.checked_add(tap)?.checked_mul(2)?;
        let weights = self.bytes.get(first..)?;
        if last.checked_add(CHANNELS)? > weights.len() {
            return None;
        }
        let [zero, output_zero] = self.zeros;
        let (zero, output_zero) = (i32::from(zero), 2 * i32::from(output_zero) + 1);
        let run = three::Run { tap, row, zero, output_zero };
        // SAFETY: four weights of the last tap lie in the slice: checked above.
        #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
        let fast = unsafe { three::prepare(filters, weights.as_ptr(), constants, &run) };
        fast.then_some(())
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "a loop whose values fill the registers")]
mod three;

/// Which row of words holds a row of taps: of three the middle one is last.
#[inline(always)]
pub(super) const fn place_of(row: usize, taps: usize) -> usize {
    match row {
        1 if taps == 3 => 2,
        2 if taps == 3 => 1,
        _ => row,
    }
}

/// Writes the words of four channels' weights; gives the sums of their doubled weights.
fn rows(
    filters: &mut [Filter; CHANNELS],
    taps: usize,
    pairs: &[[usize; 2]],
    weights: &[u8],
    first: usize,
    [row_pitch, tap_pitch]: [usize; 2],
) -> Option<[i32; CHANNELS]> {
    // Twice 49 weights stay within a half.
    let (mut even_sum, mut odd_sum) = (0, 0);
    // The taps' weights of channels 0 and 2, and of 1 and 3; zero behind the last tap.
    let mut halves = [[0; 2]; 8];
    let mut line = first;
    for row in 0..taps {
        let mut at = line;
        for [even, odd] in halves.iter_mut().take(taps) {
            let bytes = word(weights.get(at..)?.first_chunk()?);
            let doubled = |halves: u32| add_halves(halves, halves);
            (*even, *odd) = (doubled(even_bytes(bytes)), doubled(odd_bytes(bytes)));
            even_sum = add_halves(even_sum, *even);
            odd_sum = add_halves(odd_sum, *odd);
            at = at.wrapping_add(tap_pitch);
        }
        line = line.wrapping_add(row_pitch);
        let place = place_of(row, taps) * pairs.len();
        let [a, b, c, d] = filters;
        let [a, b, c, d] =
            [a, b, c, d].map(|filter| filter.words.get_mut(place..).unwrap_or(&mut []));
        for (((([low, high], a), b), c), d) in pairs.iter().zip(a).zip(b).zip(c).zip(d) {
            let ([even, odd], [next_even, next_odd]) = (halves[low & 7], halves[high & 7]);
            *a = activations(low_halves(even, next_even));
            *b = activations(low_halves(odd, next_odd));
            *c = activations(high_halves(even, next_even));
            *d = activations(high_halves(odd, next_odd));
        }
    }
    let [low, high] = [|sum: u32| i32::from(sum as i16), |sum: u32| sum as i32 >> 16];
    Some([low(even_sum), low(odd_sum), high(even_sum), high(odd_sum)])
}
