//! Figures and tables for people.

use std::fmt::Write;

pub use tilewright_plan::grouped as number;
use tilewright_report::{Kind, plain};

/// Which side a column's words stand at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Widest column: what is wider stands out to the right, and the rest of its line with it.
const WIDEST: usize = 200;

/// A table whose columns are as wide as their widest word.
#[derive(Debug)]
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    #[must_use]
    pub fn new(columns: &[(&str, Side)]) -> Self {
        Self {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![columns.iter().map(|(name, _)| (*name).to_owned()).collect()],
        }
    }

    /// Adds a row.
    pub fn row(&mut self, words: impl IntoIterator<Item = String>) {
        self.rows.push(words.into_iter().map(|word| plain(&word).into_owned()).collect());
    }

    /// The table, its head emphasised, each line indented by two.
    #[must_use]
    pub fn print(&self) -> String {
        let width = |column| widest(self.rows.iter().filter_map(|row| row.get(column)));
        let widths: Vec<usize> = (0..self.sides.len()).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((word, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let padding = padding(word, *width);
                let _ = match side {
                    Side::Left => write!(line, "  {word}{padding}"),
                    Side::Right => write!(line, "  {padding}{word}"),
                };
            }
            let line = line.trim_end();
            let _ = if number == 0 {
                writeln!(text, "{DIM}{line}{DIM:#}")
            } else {
                writeln!(text, "{line}")
            };
        }
        text
    }
}

/// Text as a terminal may have it: it obeys line breaks and our own styles; what else would move or
/// command it stands as in JSON.
#[must_use]
pub fn obeyed(text: &str) -> String {
    let styles = [DIM, BOLD].map(|style| style.render().to_string());
    let reset = DIM.render_reset().to_string();
    let ours = |rest: &str| {
        let mut known = styles.iter().chain([&reset]).map(String::as_str).chain(["\n", "\r\n"]);
        known.find(|known| rest.starts_with(*known)).map(str::len)
    };
    let mut obeyed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(char::is_control) {
        let (before, control) = rest.split_at(at);
        let length = ours(control);
        let (control, after) = control
            .split_at(length.unwrap_or_else(|| control.chars().next().map_or(0, char::len_utf8)));
        obeyed.push_str(before);
        obeyed.push_str(&if length.is_some() { control.into() } else { plain(control) });
        rest = after;
    }
    obeyed.push_str(rest);
    obeyed
}

/// Letters of the widest word, or of the widest column.
fn widest<'w>(words: impl Iterator<Item = &'w String>) -> usize {
    words.map(|word| word.chars().count()).max().unwrap_or(0).min(WIDEST)
}

/// What makes a word this wide. Widths of formats end at 65,535, and panic beyond.
fn padding(word: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(word.chars().count()))
}

/// For what matters less; printed as nothing where there are no colours.
pub const DIM: anstyle::Style = anstyle::Style::new().dimmed();
/// For what matters most.
pub const BOLD: anstyle::Style = anstyle::Style::new().bold();

/// Bytes, exact, with KiB beside them.
#[must_use]
pub fn bytes(value: u64) -> String {
    if value < 1024 {
        return format!("{} B", number(value));
    }
    format!("{} B ({:.1} KiB)", number(value), value as f64 / 1024.0)
}

/// A time in a sensible unit.
#[must_use]
pub fn micros(value: f64) -> String {
    if value < 1000.0 {
        format!("{value:.1} µs")
    } else if value < 1e6 {
        format!("{:.2} ms", value / 1e3)
    } else {
        format!("{:.2} s", value / 1e6)
    }
}

/// Bytes in powers of 1000, as cards are sold.
#[must_use]
pub fn decimal_bytes(value: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", value / unit),
        None => format!("{value:.0} B"),
    }
}

/// Microjoules in a sensible unit.
#[must_use]
pub fn joules(value: f64) -> String {
    if value < 1e3 {
        format!("{value:.1} µJ")
    } else if value < 1e6 {
        format!("{:.2} mJ", value / 1e3)
    } else {
        format!("{:.2} J", value / 1e6)
    }
}

/// Years, as days where they are few.
#[must_use]
pub fn years(value: f64) -> String {
    match value {
        years if years < 1.0 => format!("{:.1} days", years * 365.0),
        years if years < 10.0 => format!("{years:.1} years"),
        years => format!("{} years", number(years as u64)),
    }
}

#[must_use]
pub fn shape(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join("×")
}

/// Lines of a name, a value and how the value came to be.
#[derive(Debug, Default)]
pub struct Facts(Vec<(String, String, Option<Kind>)>);

impl Facts {
    /// Adds a line.
    pub fn add(&mut self, name: &str, value: impl Into<String>, kind: Option<Kind>) {
        let [name, value] = [name, &value.into()].map(|text| plain(text).into_owned());
        self.0.push((name, value, kind));
    }

    /// The lines, aligned.
    #[must_use]
    pub fn print(&self) -> String {
        let names = widest(self.0.iter().map(|(name, _, _)| name));
        // Values without a kind end their line, so that long sentences widen nothing.
        let marked = self.0.iter().filter(|(_, _, kind)| kind.is_some());
        let values = widest(marked.map(|(_, value, _)| value));
        let mut text = String::new();
        for (name, value, kind) in &self.0 {
            let _ = write!(text, "  {name}{}  {value}", padding(name, names));
            let _ = match kind {
                Some(kind) => {
                    let word = kind.word();
                    writeln!(text, "{}  {DIM}{word}{DIM:#}", padding(value, values))
                }
                None => writeln!(text),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(2048), "2,048 B (2.0 KiB)");
        assert_eq!(micros(3.21), "3.2 µs");
        assert_eq!(micros(12_345.0), "12.35 ms");
        assert_eq!(shape(&[5, 5, 1]), "5×5×1");
    }

    #[test]
    fn words_of_any_length_are_said_whole() {
        let long = "x".repeat(70_000);
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right)]);
        table.row([long.clone(), "7".into()]);
        table.row(["a\nb".into(), long.clone()]);
        let mut facts = Facts::default();
        facts.add(&long, long.clone(), Some(Kind::Counted));
        facts.add("short", "one", Some(Kind::Counted));
        for text in [table.print(), facts.print()] {
            assert!(text.contains(&long), "whole");
            assert!(text.len() < 4 * long.len(), "not padded to the widest");
            assert!(!text.contains("a\nb"), "a word keeps to its line");
        }
    }

    #[test]
    fn terminals_obey_our_styles_only() {
        let ours = format!("{BOLD}a{BOLD:#}\n{DIM}b{DIM:#}\r\n");
        assert_eq!(obeyed(&ours), ours);
        assert_eq!(obeyed("\u{1b}[31m\u{9b}2J\t\r!"), "\\u001b[31m\\u009b2J\\u0009\\u000d!");
    }

    #[test]
    fn tables_are_aligned_whatever_the_letters() {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right)]);
        table.row(["größe".into(), "7".into()]);
        table.row(["a".into(), "1,000".into()]);
        let lines: Vec<String> = table.print().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(lines, ["  größe      7", "  a      1,000"]);
    }
}
