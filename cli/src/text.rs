//! Figures and tables for people.

use std::fmt::Write;

pub use tilewright_plan::grouped as number;
use tilewright_report::Kind;

/// Which side a column's words stand at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

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
        self.rows.push(words.into_iter().collect());
    }

    /// The table, its head emphasised, each line indented by two.
    #[must_use]
    pub fn print(&self) -> String {
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|w| w.chars().count()).max()
        };
        let widths: Vec<usize> = (0..self.sides.len()).map(|c| width(c).unwrap_or(0)).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((word, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let _ = match side {
                    Side::Left => write!(line, "  {word:<width$}"),
                    Side::Right => write!(line, "  {word:>width$}"),
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

/// A shape: 28×28×1.
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
        self.0.push((name.to_owned(), value.into(), kind));
    }

    /// The lines, aligned.
    #[must_use]
    pub fn print(&self) -> String {
        let names = self.0.iter().map(|(name, _, _)| name.chars().count()).max().unwrap_or(0);
        // Values without a kind end their line, so that long sentences widen nothing.
        let marked = self.0.iter().filter(|(_, _, kind)| kind.is_some());
        let values = marked.map(|(_, value, _)| value.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value, kind) in &self.0 {
            let _ = match kind {
                Some(kind) => {
                    let word = kind.word();
                    writeln!(text, "  {name:<names$}  {value:<values$}  {DIM}{word}{DIM:#}")
                }
                None => writeln!(text, "  {name:<names$}  {value}"),
            };
        }
        text
    }
}

/// A field of comma-separated values, quoted if it must be (RFC 4180).
#[must_use]
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A row of comma-separated values.
#[must_use]
pub fn csv_row(fields: &[String]) -> String {
    let mut row = fields.iter().map(|field| csv_field(field)).collect::<Vec<_>>().join(",");
    row.push_str("\r\n");
    row
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
    fn tables_are_aligned_whatever_the_letters() {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right)]);
        table.row(["größe".into(), "7".into()]);
        table.row(["a".into(), "1,000".into()]);
        let lines: Vec<String> = table.print().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(lines, ["  größe      7", "  a      1,000"]);
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(csv_row(&["a,b".into(), "c\"d".into(), "e".into()]), "\"a,b\",\"c\"\"d\",e\r\n");
    }
}
