//! Rows of comma-separated values (RFC 4180) that spreadsheets take for nothing but text and numbers.

use crate::name::plain;

/// A row, its fields quoted if they must be.
#[must_use]
pub fn csv_row(fields: &[String]) -> String {
    let mut row = fields.iter().map(|text| field(text)).collect::<Vec<_>>().join(",");
    row.push_str("\r\n");
    row
}

/// A column of a table.
#[derive(Debug)]
pub struct CsvColumn<R> {
    /// What stands above it.
    pub head: &'static str,
    /// What a row has in it.
    pub field: fn(&R) -> String,
}

/// A table with a row for each of `rows`, below the heads of its columns.
#[must_use]
pub fn csv_table<R>(columns: &[CsvColumn<R>], rows: &[R]) -> String {
    let row = |field: &dyn Fn(&CsvColumn<R>) -> String| {
        csv_row(&columns.iter().map(field).collect::<Vec<_>>())
    };
    let mut text = row(&|column| column.head.to_owned());
    text.extend(rows.iter().map(|of| row(&|column| (column.field)(of))));
    text
}

/// A field on one line. Spreadsheets compute what begins like a formula, unless an apostrophe comes first.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = format!("{}{}", if is_formula { "'" } else { "" }, plain(text));
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_text_and_numbers_on_one_line() {
        for (text, said) in [
            ("a,b", "\"a,b\""),
            ("c\"d", "\"c\"\"d\""),
            ("a\r\nb", "a\\u000d\\u000ab"),
            ("\u{1b}[31m", "\\u001b[31m"),
            ("-1.5e-3", "-1.5e-3"),
            ("-inf", "-inf"),
            ("=1+1", "'=1+1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("-cmd", "'-cmd"),
            ("\t=1", "\\u0009=1"),
        ] {
            assert_eq!(csv_row(&[text.to_owned(), "e".to_owned()]), format!("{said},e\r\n"));
        }
    }
}
