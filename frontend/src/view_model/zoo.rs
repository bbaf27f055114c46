//! Choosing a network of the zoo: its name from family, width and resolution, and back.

use super::figures::fixed;
use tilewright_report::{Slider, ZooView};

/// A family with the networks that belong to it.
#[must_use]
pub fn families(entries: &[ZooView]) -> Vec<(&str, Vec<&ZooView>)> {
    let mut families: Vec<(&str, Vec<&ZooView>)> = Vec::new();
    for entry in entries {
        match families.iter_mut().find(|(family, _)| *family == entry.family) {
            Some((_, members)) => members.push(entry),
            None => families.push((&entry.family, vec![entry])),
        }
    }
    families
}

/// The size of a network, as chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Factor of the numbers of channels, if the network has widths.
    pub width: Option<f64>,
    /// Pixels of height and width, if it has resolutions.
    pub resolution: Option<f64>,
    /// Channels of the first cells, if it is stacked from cells.
    pub channels: Option<f64>,
    /// Number of cells, likewise.
    pub cells: Option<f64>,
}

impl Chosen {
    /// The usual size of a network.
    #[must_use]
    pub fn usual(entry: &ZooView) -> Self {
        let usual = |span: Option<Slider>| span.map(|span| span.default);
        Self {
            width: usual(entry.width),
            resolution: usual(entry.resolution),
            channels: usual(entry.channels),
            cells: usual(entry.cells),
        }
    }

    /// The name of a network in this size; what is as usual is left out.
    #[must_use]
    pub fn name(&self, entry: &ZooView) -> String {
        let mut name = entry.name.clone();
        let other = |value: Option<f64>, span: Option<Slider>| {
            value.zip(span).filter(|(value, span)| value != &span.default).map(|(value, _)| value)
        };
        if let Some(width) = other(self.width, entry.width) {
            name.push_str(&format!("-w{}", plain(width)));
        }
        for (letter, value, span) in [
            ('r', self.resolution, entry.resolution),
            ('c', self.channels, entry.channels),
            ('n', self.cells, entry.cells),
        ] {
            if let Some(value) = other(value, span) {
                name.push_str(&format!("-{letter}{}", fixed(value, 0)));
            }
        }
        name
    }
}

/// A factor without zeros at its end: `0.35`, `1.4`, `1`.
#[must_use]
pub fn plain(value: f64) -> String {
    fixed(value, 3).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a number follows the letter that a name's rest begins with: `-c8`, not `-cells`.
fn has_size(rest: &str, letter: &str) -> bool {
    rest.strip_prefix(letter).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The network that a name is of, with the size that it says.
#[must_use]
pub fn of_name<'e>(entries: &'e [ZooView], name: &str) -> Option<(&'e ZooView, Chosen)> {
    let fits = |entry: &&ZooView| {
        let rest = name.strip_prefix(entry.name.as_str());
        rest.is_some_and(|rest| {
            rest.is_empty() || ["-w", "-r", "-c", "-n"].iter().any(|part| has_size(rest, part))
        })
    };
    let entry = entries.iter().filter(fits).max_by_key(|entry| entry.name.len())?;
    let mut chosen = Chosen::usual(entry);
    for part in name[entry.name.len()..].split('-') {
        let number = part.get(1..).and_then(number);
        match part.chars().next() {
            Some('w') => chosen.width = number.or(chosen.width),
            Some('r') => chosen.resolution = number.or(chosen.resolution),
            Some('c') => chosen.channels = number.or(chosen.channels),
            Some('n') => chosen.cells = number.or(chosen.cells),
            _ => {}
        }
    }
    Some((entry, chosen))
}

/// A number with at most three digits behind its point. (The standard library's way would be a
/// noticeable part of the page's code.)
fn number(text: &str) -> Option<f64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let whole: u32 = whole.parse().ok()?;
    let digits = rest.get(..3).unwrap_or(rest);
    let rest: u32 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(f64::from(whole) + f64::from(rest) / 10f64.powi(digits.len() as i32))
}

/// How far ours is from what a publication states, in percent: `+0.3 %`.
#[must_use]
pub fn away([stated, ours]: [u64; 2]) -> String {
    if stated == 0 {
        return "–".to_owned();
    }
    let percent = (ours as f64 - stated as f64) / stated as f64 * 100.0;
    let text = fixed(percent.abs(), 1);
    match text.as_str() {
        "0.0" => "within 0.1 %".to_owned(),
        _ if percent > 0.0 => format!("+{text} %"),
        _ => format!("−{text} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<ZooView> {
        let span = |least, most, step, default| Some(Slider { least, most, step, default });
        let entry = |name: &str, family: &str| ZooView {
            name: name.to_owned(),
            family: family.to_owned(),
            ..ZooView::default()
        };
        vec![
            ZooView {
                width: span(0.05, 2.0, 0.05, 1.0),
                resolution: span(32.0, 1024.0, 16.0, 224.0),
                ..entry("mobilenet-v2", "MobileNet")
            },
            ZooView {
                resolution: span(8.0, 224.0, 8.0, 32.0),
                channels: span(4.0, 128.0, 4.0, 36.0),
                cells: span(3.0, 40.0, 1.0, 20.0),
                ..entry("darts-cells", "Cells")
            },
            entry("lenet5", "small"),
            entry("mobilenet-v1", "MobileNet"),
        ]
    }

    #[test]
    fn names_lead_to_sizes_and_back() {
        let entries = entries();
        for name in [
            "mobilenet-v2",
            "mobilenet-v2-w0.35-r96",
            "mobilenet-v2-w1.4",
            "lenet5",
            "darts-cells-r16-c8-n8",
        ] {
            let (entry, chosen) = of_name(&entries, name).unwrap();
            assert_eq!(chosen.name(entry), name);
        }
        let (entry, chosen) = of_name(&entries, "mobilenet-v2-r224-w1").unwrap();
        assert_eq!(chosen.name(entry), "mobilenet-v2");
        assert_eq!(of_name(&entries, "mobilenet-v20"), None);
        assert_eq!(of_name(&entries, ""), None);
    }

    #[test]
    fn families_keep_the_order_of_the_list() {
        let entries = entries();
        let names: Vec<_> =
            families(&entries).into_iter().map(|(name, all)| (name, all.len())).collect();
        assert_eq!(names, [("MobileNet", 2), ("Cells", 1), ("small", 1)]);
    }

    #[test]
    fn distances_from_publications_have_a_sign() {
        assert_eq!(away([1000, 1003]), "+0.3 %");
        assert_eq!(away([1000, 990]), "−1.0 %");
        assert_eq!(away([1_000_000, 1_000_100]), "within 0.1 %");
        assert_eq!(away([1_000_000, 999_900]), "within 0.1 %");
        assert_eq!(away([0, 5]), "–");
    }
}
