//! Names: a network, then its parameters: `mobilenet-v2-w0.35-r96`, `darts-cells-r16-c8-n8`.

use crate::ZooError;
use crate::catalogue::{ENTRIES, Entry, Span, StackSpans};

/// What a name gives besides the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Factor of the numbers of channels; 1 for networks without widths.
    pub width: f64,
    /// Height and width of the input in pixels; 0 for networks of one size.
    pub resolution: usize,
    /// Channels of the first cells; 0 for networks that are not stacked from cells.
    pub channels: usize,
    /// Number of cells; 0 likewise.
    pub cells: usize,
}

impl Parameters {
    /// Those of a name without any.
    fn usual(entry: &Entry) -> Self {
        let of_stack =
            |of: fn(StackSpans) -> Span<usize>| entry.stack.map_or(0, |stack| of(stack).default);
        Self {
            width: entry.width.map_or(1.0, |span| span.default),
            resolution: entry.resolution.map_or(0, |span| span.default),
            channels: of_stack(|stack| stack.channels),
            cells: of_stack(|stack| stack.cells),
        }
    }

    /// Height, width and channels of a square picture.
    pub(crate) const fn picture(&self, channels: usize) -> [usize; 3] {
        [self.resolution, self.resolution, channels]
    }
}

/// Most suggestions for an unknown name.
const SUGGESTIONS: usize = 3;

/// The entry and parameters of a name.
pub(crate) fn parse(name: &str) -> Result<(&'static Entry, Parameters), ZooError> {
    let plain = name.trim().to_ascii_lowercase();
    // The longest name that is all of it, or ends where its parameters begin.
    let known = ENTRIES
        .iter()
        .filter_map(|entry| Some((entry, plain.strip_prefix(entry.name)?)))
        .filter(|(_, rest)| rest.is_empty() || parts(rest).is_some())
        .max_by_key(|(entry, _)| entry.name.len());
    let Some((entry, rest)) = known else {
        return Err(ZooError::Unknown { name: name.to_owned(), nearest: nearest(&plain) });
    };
    let mut parameters = Parameters::usual(entry);
    for part in parts(rest).unwrap_or_default() {
        let parameter = part.letter.parameter();
        let lacks = || ZooError::NoParameter { network: entry.name, parameter };
        let wrong = |range: String| ZooError::OutOfRange {
            network: entry.name,
            parameter,
            given: part.number.to_owned(),
            range,
        };
        let whole = |span: Option<Span<usize>>, unit: &str| {
            let span = span.ok_or_else(lacks)?;
            let number = part.number.parse().unwrap_or(usize::MAX);
            match (span.least..=span.most).contains(&number) {
                true => Ok(number),
                false => Err(wrong(format!("{} to {}{unit}", span.least, span.most))),
            }
        };
        match part.letter {
            Letter::Width => {
                let span = entry.width.ok_or_else(lacks)?;
                let width: f64 = part.number.parse().unwrap_or(f64::NAN);
                if !(span.least..=span.most).contains(&width) {
                    return Err(wrong(format!("{} to {}", span.least, span.most)));
                }
                parameters.width = width;
            }
            Letter::Resolution => parameters.resolution = whole(entry.resolution, " pixels")?,
            Letter::Channels => {
                parameters.channels = whole(entry.stack.map(|stack| stack.channels), "")?;
            }
            Letter::Cells => parameters.cells = whole(entry.stack.map(|stack| stack.cells), "")?,
        }
    }
    Ok((entry, parameters))
}

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Width,
    Resolution,
    Channels,
    Cells,
}

impl Letter {
    const fn of(letter: char) -> Option<Self> {
        match letter {
            'w' => Some(Self::Width),
            'r' => Some(Self::Resolution),
            'c' => Some(Self::Channels),
            'n' => Some(Self::Cells),
            _ => None,
        }
    }

    const fn parameter(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Resolution => "resolution",
            Self::Channels => "number of channels",
            Self::Cells => "number of cells",
        }
    }
}

/// A letter and its number.
#[derive(Clone, Copy, Debug)]
struct Part<'n> {
    letter: Letter,
    number: &'n str,
}

/// `-w0.35-r96` as letters and numbers, each letter once; nothing if it is something else.
fn parts(rest: &str) -> Option<Vec<Part<'_>>> {
    let mut found: Vec<Part<'_>> = Vec::new();
    for part in rest.strip_prefix('-')?.split('-') {
        let letter = part.chars().next().and_then(Letter::of)?;
        let number = &part[1..];
        let has_point = letter == Letter::Width;
        let digits = number.chars().all(|c| c.is_ascii_digit() || (has_point && c == '.'));
        if number.is_empty() || !digits || found.iter().any(|known| known.letter == letter) {
            return None;
        }
        found.push(Part { letter, number });
    }
    Some(found)
}

/// The name that [`parse`] gives these parameters for; those that are as usual are left out.
pub(crate) fn canonical(entry: &Entry, parameters: &Parameters) -> String {
    let mut name = entry.name.to_owned();
    let usual = Parameters::usual(entry);
    if usual.width != parameters.width {
        name.push_str(&format!("-w{}", parameters.width));
    }
    for (letter, usual, number) in [
        ('r', usual.resolution, parameters.resolution),
        ('c', usual.channels, parameters.channels),
        ('n', usual.cells, parameters.cells),
    ] {
        if number != usual {
            name.push_str(&format!("-{letter}{number}"));
        }
    }
    name
}

/// Names like this one, the most alike first.
fn nearest(name: &str) -> Vec<&'static str> {
    let base = name.split("-w0").next().unwrap_or(name);
    let mut all: Vec<(usize, &'static str)> = ENTRIES
        .iter()
        .map(|entry| {
            let begins = entry.name.starts_with(base) || base.starts_with(entry.name);
            let steps = distance(base, entry.name);
            (if begins && !base.is_empty() { steps.min(1) } else { steps }, entry.name)
        })
        .filter(|(steps, _)| *steps <= (base.chars().count() / 2).clamp(2, 6))
        .collect();
    all.sort_unstable();
    let far = all.first().map_or(0, |(steps, _)| steps + 2);
    all.into_iter()
        .take_while(|(steps, _)| *steps <= far)
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect()
}

/// Longest name that is compared with others; what is longer is like none of them.
const LONGEST: usize = 64;

/// Letters to insert, delete or replace: Levenshtein 1966.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = before + usize::from(left != right);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(name: &str) -> String {
        let (entry, parameters) = parse(name).unwrap();
        canonical(entry, &parameters)
    }

    #[test]
    fn names_carry_width_and_resolution_in_any_order() {
        assert_eq!(name_of("mobilenet-v2-w0.35-r96"), "mobilenet-v2-w0.35-r96");
        assert_eq!(name_of("mobilenet-v2-r96-w0.350"), "mobilenet-v2-w0.35-r96");
        assert_eq!(name_of("MobileNet-V2-w1-r224"), "mobilenet-v2");
        assert_eq!(name_of("mobilenet-v3-small-w0.75"), "mobilenet-v3-small-w0.75");
        assert_eq!(name_of("squeezenet-1.1"), "squeezenet-1.1");
        assert_eq!(name_of("darts-cells-n8-c8-r16"), "darts-cells-r16-c8-n8");
        assert_eq!(name_of("darts-cells-n20-c36-r32"), "darts-cells");
    }

    #[test]
    fn unknown_names_answer_with_the_nearest() {
        let suggestions = |name: &str| match parse(name) {
            Err(ZooError::Unknown { nearest, .. }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(suggestions("mobilenet-v4")[..2], ["mobilenet-v1", "mobilenet-v2"]);
        assert_eq!(suggestions("vgg19"), ["vgg16"]);
        assert_eq!(suggestions("resnt50")[0], "resnet50");
        assert!(suggestions("mobilenet").contains(&"mobilenet-v2"));
        assert!(suggestions("mobilenet-v2-x3").contains(&"mobilenet-v2"));
        assert!(suggestions("transformer").is_empty());
        assert!(suggestions(&"x".repeat(1 << 20)).is_empty());
        suggestions("");
    }

    #[test]
    fn impossible_parameters_are_named() {
        for name in [
            "mobilenet-v2-w0",
            "mobilenet-v2-w9",
            "mobilenet-v2-w1.2.3",
            "mobilenet-v2-w.",
            "mobilenet-v2-r0",
            "mobilenet-v2-r1000000000",
            "mobilenet-v2-r99999999999999999999999999",
        ] {
            assert!(matches!(parse(name), Err(ZooError::OutOfRange { .. })), "{name}");
        }
        for name in ["darts-cells-n2", "darts-cells-c9999", "darts-cells-n8-r3"] {
            assert!(matches!(parse(name), Err(ZooError::OutOfRange { .. })), "{name}");
        }
        let lacks = parse("mobilenet-v2-n8");
        assert!(matches!(lacks, Err(ZooError::NoParameter { parameter: "number of cells", .. })));
        let lacks = parse("lenet5-w0.5");
        assert!(matches!(lacks, Err(ZooError::NoParameter { parameter: "width", .. })));
        for name in
            ["mobilenet-v2-w", "mobilenet-v2-w1-w1", "mobilenet-v2-r-1", "mobilenet-v2-w1e9"]
        {
            assert!(matches!(parse(name), Err(ZooError::Unknown { .. })), "{name}");
        }
    }
}
