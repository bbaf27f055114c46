//! Outputs that lie over the input's picture: heat maps, masks, grids of cells.

use crate::message::OutputFacts;
use crate::view_model::figures;

/// Red, green, blue.
type Colour = [u8; 3];

/// Fewest rows and columns of a map.
const LEAST: u32 = 4;
/// Most channels that are offered one by one.
const MOST_CHANNELS: u32 = 256;

/// The colours of the first channels where each place shows its strongest (Okabe and Ito's, which most people can tell apart);
/// further ones take them again.
const CHANNELS: [Colour; 8] = [
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xf0, 0xe4, 0x42],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x72, 0xb2],
    [0x99, 0x99, 0x99],
];

/// What of a map is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// One channel, dark to light.
    Channel(u32),
    /// At each place the channel with the largest value.
    Strongest,
}

impl Shown {
    /// What a choice may be: all channels at once, or one.
    #[must_use]
    pub fn all(shape: [u32; 3]) -> Vec<Self> {
        let channels = (0..shape[2].min(MOST_CHANNELS)).map(Self::Channel);
        (shape[2] > 1).then_some(Self::Strongest).into_iter().chain(channels).collect()
    }

    /// The word of a choice.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Strongest => "strongest".to_owned(),
            Self::Channel(channel) => channel.to_string(),
        }
    }

    /// The choice of a word; the first choice for any other.
    #[must_use]
    pub fn from_word(word: &str, shape: [u32; 3]) -> Self {
        let all = Self::all(shape);
        let known = all.iter().find(|shown| shown.word() == word);
        known.or(all.first()).copied().unwrap_or(Self::Channel(0))
    }

    /// For people.
    #[must_use]
    pub fn title(self, output: &OutputFacts) -> String {
        match self {
            Self::Strongest => "the strongest channel of each place".to_owned(),
            Self::Channel(channel) => named(channel as usize, output),
        }
    }
}

/// A channel, with its class name if it has one.
fn named(channel: usize, output: &OutputFacts) -> String {
    output
        .channel_name(channel)
        .map_or_else(|| format!("channel {channel}"), |label| format!("channel {channel}, {label}"))
}

/// Whether an output lies over a picture. Shape: rows, columns, channels.
#[must_use]
pub const fn is_map([rows, columns, _]: [u32; 3]) -> bool {
    rows >= LEAST && columns >= LEAST
}

/// A map's pixels, four bytes each, row by row; empty if the values are not those of the shape (NHWC).
#[must_use]
pub fn pixels(shape: [u32; 3], values: &[i8], shown: Shown) -> Vec<u8> {
    let channels = shape[2] as usize;
    if channels == 0 || values.len() != shape.iter().map(|size| *size as usize).product::<usize>() {
        return Vec::new();
    }
    let places = values.chunks_exact(channels);
    match shown {
        Shown::Strongest => places
            .flat_map(|place| {
                let [red, green, blue] = CHANNELS[strongest(place) % CHANNELS.len()];
                [red, green, blue, u8::MAX]
            })
            .collect(),
        Shown::Channel(channel) => {
            let of = |place: &[i8]| place.get(channel as usize).copied().unwrap_or(i8::MIN);
            let least = places.clone().map(of).min().unwrap_or(0);
            let most = places.clone().map(of).max().unwrap_or(0);
            let span = (i32::from(most) - i32::from(least)).max(1);
            let shade = |place: &[i8]| {
                let share = (i32::from(of(place)) - i32::from(least)) * 255 / span;
                // From dark over blue to white: lightness alone tells the order.
                let [red, green, blue] = [share * share / 255, share, (share * 2).min(255)];
                [red as u8, green as u8, blue as u8, u8::MAX]
            };
            places.flat_map(shade).collect()
        }
    }
}

/// The colour of a channel, for styles.
#[must_use]
pub fn channel_colour(channel: usize) -> String {
    let [red, green, blue] = CHANNELS[channel % CHANNELS.len()];
    format!("rgb({red} {green} {blue})")
}

/// A channel that is strongest somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegendRow {
    pub colour: String,
    pub name: String,
    /// Its share of all places, in percent.
    pub share: String,
}

/// Most rows of a legend.
const MOST_ROWS: usize = 16;

/// The channels that are strongest somewhere, those of most places first; how many more there are.
#[must_use]
pub fn legend(output: &OutputFacts, values: &[i8]) -> (Vec<LegendRow>, usize) {
    let channels = output.shape[2].max(1) as usize;
    let counts = strongest_counts(channels, values);
    let places = values.len() / channels;
    let row = |(channel, count): &(usize, usize)| LegendRow {
        colour: channel_colour(*channel),
        name: named(*channel, output),
        share: figures::percent(*count as f64, places as f64),
    };
    let rows = counts.iter().take(MOST_ROWS).map(row).collect();
    (rows, counts.len().saturating_sub(MOST_ROWS))
}

/// At how many places each channel is the strongest; those of most places first, none without any.
fn strongest_counts(channels: usize, values: &[i8]) -> Vec<(usize, usize)> {
    let mut counts = vec![0usize; channels];
    values.chunks_exact(channels).for_each(|place| counts[strongest(place)] += 1);
    let mut counts: Vec<(usize, usize)> =
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The channel with the largest value; the first of several.
fn strongest(place: &[i8]) -> usize {
    let largest = place.iter().max();
    place.iter().position(|value| Some(value) == largest).unwrap_or(0)
}

/// What a map says in a sentence: where its largest value is, and which it is; or how much of it each channel is strongest
/// at, at most four of them.
#[must_use]
pub fn words(output: &OutputFacts, values: &[i8], shown: Shown) -> String {
    let [_, columns, channels] = output.shape.map(|size| size.max(1) as usize);
    let real = |value: i8| {
        let real = output.scale * (i32::from(value) - output.zero) as f32;
        figures::fixed(f64::from(real), 3)
    };
    let places = values.chunks_exact(channels);
    let all = places.len();
    match shown {
        Shown::Channel(channel) => {
            let of = places
                .enumerate()
                .filter_map(|(at, place)| Some((at, *place.get(channel as usize)?)));
            // The first of several.
            let largest = of.rev().max_by_key(|(_, value)| *value);
            largest.map_or_else(String::new, |(at, value)| {
                let (row, column) = (at / columns, at % columns);
                format!("Largest value {} in row {row}, column {column}.", real(value))
            })
        }
        Shown::Strongest => {
            let order = strongest_counts(channels, values);
            let share = |(channel, count): &(usize, usize)| {
                let share = figures::percent(*count as f64, all as f64);
                format!("{} at {share}", named(*channel, output))
            };
            let told: Vec<String> = order.iter().take(4).map(share).collect();
            let more = order.len().saturating_sub(told.len());
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            format!("Strongest: {}{more}.", told.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(shape: [u32; 3]) -> OutputFacts {
        OutputFacts {
            name: "map".to_owned(),
            shape,
            is_scores: false,
            scale: 0.5,
            zero: -128,
            labels: vec!["nothing".to_owned(), "face".to_owned()],
            labels_of: String::new(),
        }
    }

    #[test]
    fn a_channel_is_dark_to_light_and_says_where_it_is_largest() {
        let shape = [4, 4, 2];
        assert!(is_map(shape) && !is_map([1, 1, 10]) && !is_map([2, 40, 1]));
        let mut values = vec![-128i8; 32];
        values[2 * (4 + 2) + 1] = 127;
        let pixels = pixels(shape, &values, Shown::Channel(1));
        assert_eq!((&pixels[..4], &pixels[24..28]), (&[0, 0, 0, 255][..], &[255; 4][..]));
        let said = words(&output(shape), &values, Shown::Channel(1));
        assert_eq!(said, "Largest value 127.500 in row 1, column 2.");
        assert!(super::pixels(shape, &values[1..], Shown::Channel(1)).is_empty());
        assert_eq!(super::pixels(shape, &[7; 32], Shown::Channel(9)).len(), 64, "no such channel");
    }

    #[test]
    fn the_strongest_channel_of_each_place_has_its_colour() {
        let shape = [4, 4, 2];
        let mut values: Vec<i8> = [1i8, 0].repeat(16);
        values[..8].copy_from_slice(&[0, 1, 0, 1, 0, 1, 0, 1]);
        let pixels = pixels(shape, &values, Shown::Strongest);
        assert_eq!((&pixels[..3], &pixels[16..19]), (&CHANNELS[1][..], &CHANNELS[0][..]));
        let said = words(&output(shape), &values, Shown::Strongest);
        assert_eq!(said, "Strongest: channel 0, nothing at 75 %, channel 1, face at 25 %.");
        let (rows, more) = legend(&output(shape), &values);
        assert_eq!((rows.len(), more, rows[1].share.as_str()), (2, 0, "25 %"));
        assert_eq!(
            (rows[1].name.as_str(), rows[1].colour.as_str()),
            ("channel 1, face", "rgb(230 159 0)")
        );
    }

    #[test]
    fn choices_go_there_and_back() {
        let all = Shown::all([4, 4, 3]);
        assert_eq!(all.len(), 4);
        for shown in all {
            assert_eq!(Shown::from_word(&shown.word(), [4, 4, 3]), shown);
        }
        assert_eq!(Shown::from_word("moon", [4, 4, 1]), Shown::Channel(0));
        let titles = |channels| Shown::Channel(1).title(&output([4, 4, channels]));
        assert_eq!(titles(2), "channel 1, face");
        assert_eq!(titles(3), "channel 1, nothing", "the background has no name");
        assert_eq!(titles(4), "channel 1");
    }
}
