//! Problems and solutions as comma-separated values, in the manner of MiniMalloc: a row a buffer,
//! columns `id`, `lower`, `upper`, `size` and, if wanted, `alignment`, `hint`, `gaps`, `offset`.
//!
//! `start` and `begin` are other names of `lower`; `end` is the last point in time of use, so one
//! less than `upper`. Gaps are pairs `first-end`, separated by blanks; `end` is inclusive where
//! the column of that name is. On reading, an offset is where the buffer must lie; hints are read
//! over.

use std::collections::BTreeMap;
use std::fmt::Write;

use thiserror::Error;

use super::problem::{self, Buffer, Gap, ProblemError, Region, Solution};
use tilewright_plan::Bytes;

/// Buffers with the names that the file gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Name of each buffer.
    pub ids: Vec<String>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
}

/// What is wrong with a file, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct CsvError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Most buffers that a file may have: far more than any network, far less than memory.
pub const MOST_BUFFERS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Id,
    Lower,
    Upper,
    LastUse,
    Size,
    Alignment,
    Hint,
    Gaps,
    Offset,
}

fn column(name: &str) -> Option<Column> {
    Some(match name {
        "id" | "buffer" | "buffer_id" => Column::Id,
        "lower" | "start" | "begin" => Column::Lower,
        "upper" => Column::Upper,
        "end" => Column::LastUse,
        "size" => Column::Size,
        "alignment" => Column::Alignment,
        "hint" => Column::Hint,
        "gaps" => Column::Gaps,
        "offset" => Column::Offset,
        _ => return None,
    })
}

/// Reads a file.
///
/// # Errors
/// [`CsvError`] names the first line at fault.
pub fn read(text: &str) -> Result<Table, CsvError> {
    let mut rows = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let fault = |line, reason: &str| CsvError { line, reason: reason.to_owned() };
    let (line, head) = rows.next().ok_or_else(|| {
        fault(1, "the file is empty; its first line names the columns: id,lower,upper,size")
    })?;
    let columns = columns(head).map_err(|reason| CsvError { line, reason })?;
    let mut table = Table::default();
    let mut lines: Vec<usize> = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, row) in rows {
        if lines.len() >= MOST_BUFFERS {
            return Err(CsvError { line, reason: format!("more than {MOST_BUFFERS} buffers") });
        }
        let fields: Vec<&str> = row.split(',').map(str::trim).collect();
        if fields.len() != columns.len() {
            let (had, wanted) = (fields.len(), columns.len());
            let reason = format!("{had} fields where the first line names {wanted} columns");
            return Err(CsvError { line, reason });
        }
        let field = |wanted| {
            columns.iter().zip(&fields).find(|(column, _)| **column == wanted).map(|(_, f)| *f)
        };
        let id = field(Column::Id).unwrap_or_default();
        if let Some(before) = seen.insert(id, line) {
            return Err(CsvError { line, reason: format!("id '{id}' is that of line {before}") });
        }
        table.buffers.push(buffer(&field).map_err(|reason| CsvError { line, reason })?);
        table.ids.push(id.to_owned());
        lines.push(line);
    }
    problem::check(&table.buffers).map_err(|error| CsvError {
        line: error.buffer().and_then(|b| lines.get(b)).copied().unwrap_or(line),
        reason: explain(&error, &table),
    })?;
    Ok(table)
}

fn explain(error: &ProblemError, table: &Table) -> String {
    match error.buffer().and_then(|buffer| table.ids.get(buffer)) {
        Some(id) => format!("buffer '{id}': {error}"),
        None => error.to_string(),
    }
}

fn columns(head: &str) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    for name in head.split(',').map(str::trim) {
        let found = column(name).ok_or_else(|| {
            format!("unknown column '{name}'; known are id, lower, upper, size, alignment, gaps, hint, offset")
        })?;
        if columns.contains(&found) {
            return Err(format!("column '{name}' is there twice"));
        }
        columns.push(found);
    }
    for (needed, name) in [(Column::Id, "id"), (Column::Lower, "lower"), (Column::Size, "size")] {
        if !columns.contains(&needed) {
            return Err(format!("column '{name}' is missing"));
        }
    }
    match (columns.contains(&Column::Upper), columns.contains(&Column::LastUse)) {
        (false, false) => Err("column 'upper' is missing".to_owned()),
        (true, true) => Err("columns 'upper' and 'end' say the same: keep one".to_owned()),
        _ => Ok(columns),
    }
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let digits = text.trim_start_matches('-');
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            format!("{name} '{text}' is no whole number")
        } else if digits.len() < text.len() {
            format!("{name} {text} is negative")
        } else {
            format!("{name} {text} is too large")
        }
    })
}

fn buffer<'t>(field: &impl Fn(Column) -> Option<&'t str>) -> Result<Buffer, String> {
    let needed = |column, name| number(name, field(column).unwrap_or_default());
    let inclusive = field(Column::LastUse).is_some();
    let after = |end: u64| if inclusive { end.saturating_add(1) } else { end };
    let upper = if inclusive { Column::LastUse } else { Column::Upper };
    let mut buffer = Buffer::new(
        needed(Column::Lower, "lower")?,
        after(needed(upper, if inclusive { "end" } else { "upper" })?),
        Bytes(needed(Column::Size, "size")?),
    );
    if let Some(text) = field(Column::Alignment) {
        buffer.alignment = number("alignment", text)?;
    }
    if let Some(text) = field(Column::Offset).filter(|text| !text.is_empty()) {
        let start = number("offset", text)?;
        let end = start.checked_add(buffer.bytes.0).ok_or("offset and size are too large")?;
        buffer.region = Some(Region { start, end });
    }
    for text in field(Column::Gaps).unwrap_or_default().split_whitespace() {
        if text.contains('@') {
            return Err(format!("gap '{text}' keeps a part of the buffer, which is not supported"));
        }
        let (first, end) =
            text.split_once('-').ok_or_else(|| format!("gap '{text}' is no pair first-end"))?;
        let (first, end) = (number("gap", first)?, after(number("gap", end)?));
        buffer.gaps.push(Gap { first, end });
    }
    Ok(buffer)
}

/// Writes buffers, with their offsets if there is a solution.
#[must_use]
pub fn write(table: &Table, solution: Option<&Solution>) -> String {
    let aligned = table.buffers.iter().any(|buffer| buffer.alignment != 1);
    let gaps = table.buffers.iter().any(|buffer| !buffer.gaps.is_empty());
    let mut text = String::from("id,lower,upper,size");
    let optional = [(aligned, ",alignment"), (gaps, ",gaps"), (solution.is_some(), ",offset")];
    for (_, name) in optional.iter().filter(|(wanted, _)| *wanted) {
        text.push_str(name);
    }
    text.push('\n');
    for (index, (id, buffer)) in table.ids.iter().zip(&table.buffers).enumerate() {
        let _ = write!(text, "{id},{},{},{}", buffer.first, buffer.end, buffer.bytes.0);
        if aligned {
            let _ = write!(text, ",{}", buffer.alignment);
        }
        if gaps {
            let pairs = buffer.gaps.iter().map(|gap| format!("{}-{}", gap.first, gap.end));
            let _ = write!(text, ",{}", pairs.collect::<Vec<_>>().join(" "));
        }
        if let Some(offset) = solution.and_then(|solution| solution.offsets.get(index)) {
            let _ = write!(text, ",{offset}");
        }
        text.push('\n');
    }
    text
}
