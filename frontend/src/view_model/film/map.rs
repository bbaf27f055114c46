//! A memory as a picture: its bytes in rows one below the other, coloured by what they hold.

use tilewright_report::Held;

use super::{Area, Phase};

/// Red, green, blue.
pub type Colour = [u8; 3];

/// The colours of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    pub surface: Colour,
    pub activations: Colour,
    pub weights: Colour,
    pub written: Colour,
    pub arrives: Colour,
    pub results: Colour,
    pub free: Colour,
}

impl Colours {
    const fn of(&self, area: &Area) -> Colour {
        match (area.phase, area.held) {
            (Phase::Arrives, _) => self.arrives,
            (Phase::Written, _) => self.written,
            (Phase::Kept, Held::Inputs) => self.activations,
            (Phase::Kept, Held::Weights) => self.weights,
            (Phase::Kept, Held::Results) => self.results,
        }
    }
}

/// A map of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub columns: u32,
    pub rows: u32,
    /// Bytes that a pixel stands for.
    pub each: u64,
}

impl Grid {
    /// For so many bytes, about `wide` times as wide as it is high, in at most so many pixels.
    #[must_use]
    pub fn of(bytes: u64, wide: f64, most: u64) -> Self {
        let mut each = 1u64;
        while bytes.div_ceil(each) > most {
            each *= 2;
        }
        let pixels = bytes.div_ceil(each).max(1);
        let columns = ((pixels as f64 * wide).sqrt().ceil() as u64).clamp(1, 1 << 12);
        let rows = pixels.div_ceil(columns).clamp(1, 1 << 14);
        Self { columns: columns as u32, rows: rows as u32, each }
    }

    /// The byte at a place, in shares of width and height.
    #[must_use]
    pub fn byte_at(self, [x, y]: [f64; 2]) -> u64 {
        let within = |share: f64, count: u32| {
            ((share.clamp(0.0, 1.0) * f64::from(count)) as u32).min(count.saturating_sub(1))
        };
        let row = u64::from(within(y, self.rows)) * u64::from(self.columns);
        (row + u64::from(within(x, self.columns))) * self.each
    }

    /// Left, top, width and height of the rows that hold some bytes, as shares of the map's; of the bytes alone where they
    /// are part of one row.
    #[must_use]
    pub fn band(self, bytes: [u64; 2]) -> [f64; 4] {
        let (columns, rows) = (f64::from(self.columns), f64::from(self.rows));
        let first = bytes[0] / self.each;
        let end = bytes[1].div_ceil(self.each).max(first + 1);
        let row = |pixel: u64| pixel / u64::from(self.columns);
        let column = |pixel: u64| (pixel % u64::from(self.columns)) as f64;
        let [top, last] = [row(first), row(end - 1)];
        let height = (last - top + 1) as f64 / rows;
        let (left, width) = match top == last {
            true => (column(first) / columns, (end - first) as f64 / columns),
            false => (0.0, 1.0),
        };
        [left, top as f64 / rows, width, height]
    }

    /// The areas with a name that need at least this share of a map's height, and how far down the map each begins, as a share of
    /// its height.
    pub fn named(self, areas: &[Area], least: f64) -> impl Iterator<Item = (f64, &Area)> {
        let bytes = (u64::from(self.columns) * u64::from(self.rows) * self.each) as f64;
        let share = move |area: &&Area| (area.bytes[1] - area.bytes[0]) as f64 / bytes;
        let high = areas.iter().filter(move |area| share(area) >= least);
        // A name stands in the first row that is its area's from the left on.
        let row = move |area: &Area| area.bytes[0].div_ceil(u64::from(self.columns) * self.each);
        high.map(move |area| (row(area) as f64 / f64::from(self.rows), area))
    }

    /// The map's pixels, four bytes each. Where the content is known, larger values are stronger.
    #[must_use]
    pub fn pixels(self, areas: &[Area], content: Option<&[u8]>, colours: &Colours) -> Vec<u8> {
        let count = u64::from(self.columns) * u64::from(self.rows);
        let mut pixels = Vec::with_capacity(4 * count as usize);
        let mut areas = areas.iter().peekable();
        for at in (0..count).map(|pixel| pixel * self.each) {
            while areas.next_if(|area| area.bytes[1] <= at).is_some() {}
            let area = areas.peek().filter(|area| area.bytes[0] < at + self.each);
            let value = content.and_then(|bytes| bytes.get(at as usize)).copied();
            // As an int8: -128 is weakest.
            let strength = value.map(|value| u32::from(value ^ 0x80));
            let (colour, share) = match area {
                Some(area) => (colours.of(area), strength.map_or(200, |s| 90 + s * 165 / 255)),
                None => (colours.free, strength.map_or(20, |s| 12 + s * 40 / 255)),
            };
            pixels.extend(mixed(colours.surface, colour, share));
            pixels.push(u8::MAX);
        }
        pixels
    }
}

/// So many of 255 parts of a colour on another.
fn mixed(below: Colour, above: Colour, share: u32) -> Colour {
    let mix = |index: usize| {
        let [below, above] = [below[index], above[index]].map(u32::from);
        ((below * (255 - share) + above * share) / 255) as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// A colour as style sheets write it: `#2f8fc4`.
#[must_use]
pub fn colour(text: &str) -> Option<Colour> {
    let digits = text.trim().strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some([(value >> 16) as u8, (value >> 8) as u8, value as u8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(bytes: [u64; 2], held: Held, phase: Phase) -> Area {
        Area { bytes, held, phase, name: String::new() }
    }

    #[test]
    fn bytes_are_pixels_and_pixels_stand_for_more_where_there_are_many() {
        let grid = Grid::of(8 << 10, 2.0, 1 << 20);
        assert_eq!(grid, Grid { columns: 128, rows: 64, each: 1 });
        assert_eq!(grid.byte_at([0.0, 0.0]), 0);
        assert_eq!(grid.byte_at([1.0, 1.0]), 8191);
        assert_eq!(Grid::of(0, 2.0, 16), Grid { columns: 2, rows: 1, each: 1 });
        let large = Grid::of(138 << 20, 1.0, 1 << 16);
        assert_eq!(large.each, 4096);
        assert!(u64::from(large.columns * large.rows) * large.each >= 138 << 20);
        assert_eq!(large.byte_at([0.0, 0.5]) % 4096, 0);
    }

    #[test]
    fn a_band_is_the_rows_that_hold_the_bytes() {
        let grid = Grid { columns: 16, rows: 4, each: 1 };
        assert_eq!(grid.band([4, 12]), [0.25, 0.0, 0.5, 0.25], "part of a row");
        assert_eq!(grid.band([20, 40]), [0.0, 0.25, 1.0, 0.5], "two rows");
        assert_eq!(grid.band([63, 63]), [15.0 / 16.0, 0.75, 1.0 / 16.0, 0.25], "no byte is one");
    }

    #[test]
    fn names_stand_where_their_first_whole_row_is() {
        let areas = [
            area([0, 16], Held::Inputs, Phase::Kept),
            area([16, 48], Held::Inputs, Phase::Written),
        ];
        let tops =
            |grid: Grid| -> Vec<f64> { grid.named(&areas, 0.07).map(|(top, _)| top).collect() };
        assert_eq!(tops(Grid { columns: 16, rows: 4, each: 1 }), [0.0, 0.25]);
        assert_eq!(tops(Grid { columns: 15, rows: 20, each: 1 }), [0.1], "the first is too low");
    }

    #[test]
    fn pixels_show_what_is_held_and_its_values() {
        let areas = [
            area([0, 16], Held::Inputs, Phase::Kept),
            area([16, 48], Held::Inputs, Phase::Written),
        ];
        let black = [0; 3];
        let colours = Colours {
            surface: black,
            activations: [255, 0, 0],
            weights: black,
            written: [0, 255, 0],
            arrives: black,
            results: black,
            free: [0, 0, 255],
        };
        let grid = Grid { columns: 16, rows: 4, each: 1 };
        let of = |pixels: &[u8], at: usize| pixels[4 * at..4 * at + 4].to_vec();
        let flat = grid.pixels(&areas, None, &colours);
        assert_eq!(of(&flat, 0), [200, 0, 0, 255]);
        assert_eq!(of(&flat, 47), [0, 200, 0, 255]);
        assert_eq!(of(&flat, 48), [0, 0, 20, 255]);
        let mut content = vec![0x80u8; 64];
        (content[0], content[47]) = (0x7f, 0x7f);
        let shown = grid.pixels(&areas, Some(&content), &colours);
        assert_eq!((of(&shown, 0)[0], of(&shown, 1)[0], of(&shown, 47)[1]), (255, 90, 255));
        let coarse = Grid { columns: 2, rows: 2, each: 32 }.pixels(&areas, None, &colours);
        assert_eq!((of(&coarse, 0)[0], of(&coarse, 1)[1], of(&coarse, 2)[2]), (200, 200, 20));
        assert_eq!(colour(" #2f8fc4"), Some([0x2f, 0x8f, 0xc4]));
        assert_eq!(colour("rgb(0 0 0)"), None);
    }
}
