//! Genotypes as text, in the notation that DARTS prints:
//!
//! ```text
//! Genotype(normal=[('sep_conv_3x3', 0), ('skip_connect', 1), …], normal_concat=range(2, 6),
//!          reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), …], reduce_concat=[2, 3, 4, 5])
//! ```
//!
//! A cell's pairs are its steps' summands, two for each step. Without `…_concat` all steps are joined. Blanks,
//! line ends, commas at a list's end and `NAME =` before the whole may stand, as in a Python file.

mod scanner;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::genotype::{Cell, CellFault, CellKind, Edge, Genotype, MOST_STEPS, Operation, Step};
use scanner::Scanner;

/// Longest text that is read. Eight steps of two cells need less than a tenth of it.
pub const MOST_BYTES: usize = 16 * 1024;

/// Most pairs of a list that are read.
const MOST_PAIRS: usize = 2 * MOST_STEPS;

/// Where in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is no genotype.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GenotypeError {
    /// The text is too long.
    #[error("the text has {bytes} bytes: give a genotype of at most {MOST_BYTES}")]
    TooLong {
        /// How long.
        bytes: usize,
    },
    /// Something else should stand here.
    #[error("{place}: {found} stands where {expected} should")]
    Syntax {
        /// Where.
        place: Place,
        /// What is possible.
        expected: &'static str,
        /// What there is.
        found: String,
    },
    /// No operation has this name.
    #[error("{place}: there is no operation '{name}': give one of {}", operations())]
    UnknownOperation {
        /// Where.
        place: Place,
        /// The name.
        name: String,
    },
    /// Genotypes have no such part.
    #[error(
        "{place}: there is no part '{name}': give normal, normal_concat, reduce and reduce_concat"
    )]
    UnknownPart {
        /// Where.
        place: Place,
        /// The name.
        name: String,
    },
    /// A part stands twice.
    #[error("{place}: '{name}' stands a second time: leave one of them out")]
    Repeated {
        /// Where.
        place: Place,
        /// The part.
        name: &'static str,
    },
    /// A list goes on for too long.
    #[error(
        "{place}: the list has more than {most} entries, and a cell at most {MOST_STEPS} steps"
    )]
    TooMany {
        /// Where the first one too many begins.
        place: Place,
        /// Most entries.
        most: usize,
    },
    /// A cell has an odd number of pairs.
    #[error("the {cell} cell has {pairs} pairs, an odd number: give two for each step")]
    OddPairs {
        /// The cell.
        cell: CellKind,
        /// How many.
        pairs: usize,
    },
    /// A cell is missing.
    #[error("the {cell} cell is missing: add {cell}=[…]")]
    MissingCell {
        /// The cell.
        cell: CellKind,
    },
    /// What is written is no cell.
    #[error("the {cell} cell: {fault}")]
    Cell {
        /// The cell.
        cell: CellKind,
        /// What is wrong.
        fault: CellFault,
    },
}

fn operations() -> String {
    Operation::ALL.map(Operation::name).join(", ")
}

/// What stands in the brackets, as it comes.
#[derive(Default)]
struct Parts {
    normal: Option<Vec<Edge>>,
    normal_concat: Option<Vec<usize>>,
    reduce: Option<Vec<Edge>>,
    reduce_concat: Option<Vec<usize>>,
}

/// Puts a part into its place, unless there is one.
fn keep<T>(
    slot: &mut Option<T>,
    part: T,
    place: Place,
    name: &'static str,
) -> Result<(), GenotypeError> {
    match slot.replace(part) {
        None => Ok(()),
        Some(_) => Err(GenotypeError::Repeated { place, name }),
    }
}

fn cell(
    kind: CellKind,
    edges: Option<Vec<Edge>>,
    joined: Option<Vec<usize>>,
) -> Result<Cell, GenotypeError> {
    let edges = edges.ok_or(GenotypeError::MissingCell { cell: kind })?;
    if edges.len() % 2 != 0 {
        return Err(GenotypeError::OddPairs { cell: kind, pairs: edges.len() });
    }
    let pairs = edges.chunks_exact(2);
    let steps = pairs.map(|pair| Step { edges: [pair[0], pair[1]] }).collect();
    let cell = match joined {
        Some(joined) => Cell::new(steps, joined),
        None => Cell::joining_all(steps),
    };
    cell.map_err(|fault| GenotypeError::Cell { cell: kind, fault })
}

impl FromStr for Genotype {
    type Err = GenotypeError;

    fn from_str(text: &str) -> Result<Self, GenotypeError> {
        if text.len() > MOST_BYTES {
            return Err(GenotypeError::TooLong { bytes: text.len() });
        }
        let mut scanner = Scanner::new(text);
        let first = scanner.word("'Genotype('")?;
        if first.text != "Genotype" {
            scanner.symbol('=', "'Genotype(', or '=' behind a name")?;
            let name = scanner.word("'Genotype('")?;
            if name.text != "Genotype" {
                return Err(name.instead_of("'Genotype('"));
            }
        }
        scanner.symbol('(', "'('")?;
        let mut parts = Parts::default();
        while !scanner.takes(')') {
            let name = scanner.word("a part, as normal=[…], or ')'")?;
            scanner.symbol('=', "'='")?;
            let place = name.place;
            match name.text {
                "normal" => keep(&mut parts.normal, pairs(&mut scanner)?, place, "normal")?,
                "reduce" => keep(&mut parts.reduce, pairs(&mut scanner)?, place, "reduce")?,
                "normal_concat" => {
                    keep(&mut parts.normal_concat, nodes(&mut scanner)?, place, "normal_concat")?;
                }
                "reduce_concat" => {
                    keep(&mut parts.reduce_concat, nodes(&mut scanner)?, place, "reduce_concat")?;
                }
                _ => {
                    return Err(GenotypeError::UnknownPart { place, name: name.shortened() });
                }
            }
            if !scanner.takes(',') {
                scanner.symbol(')', "',' or ')'")?;
                break;
            }
        }
        scanner.end("the end")?;
        Ok(Self {
            normal: cell(CellKind::Normal, parts.normal, parts.normal_concat)?,
            reduction: cell(CellKind::Reduction, parts.reduce, parts.reduce_concat)?,
        })
    }
}

/// `[('skip_connect', 0), …]`
fn pairs(scanner: &mut Scanner<'_>) -> Result<Vec<Edge>, GenotypeError> {
    list(scanner, MOST_PAIRS, "a pair, as ('skip_connect', 0), or ']'", |scanner| {
        scanner.symbol('(', "a pair, as ('skip_connect', 0), or ']'")?;
        let name = scanner.quoted("an operation, as 'skip_connect'")?;
        let operation = Operation::of_name(name.text).ok_or_else(|| {
            GenotypeError::UnknownOperation { place: name.place, name: name.shortened() }
        })?;
        scanner.symbol(',', "',' and a node")?;
        let input = scanner.number("a node, as 0")?;
        scanner.takes(',');
        scanner.symbol(')', "')'")?;
        Ok(Edge { operation, input })
    })
}

/// `[2, 3, 4, 5]` or `range(2, 6)`.
fn nodes(scanner: &mut Scanner<'_>) -> Result<Vec<usize>, GenotypeError> {
    if !scanner.is_at_letter() {
        return list(scanner, MOST_STEPS, "a node, as 2, or ']'", |scanner| {
            scanner.number("a node, as 2, or ']'")
        });
    }
    let word = scanner.word("a list of nodes, as [2, 3, 4, 5]")?;
    if word.text != "range" {
        return Err(word.instead_of("a list of nodes, as [2, 3, 4, 5] or range(2, 6),"));
    }
    scanner.symbol('(', "'('")?;
    let first = scanner.number("the first node")?;
    scanner.symbol(',', "','")?;
    let place = scanner.next_place();
    let end = scanner.number("the node behind the last")?;
    scanner.symbol(')', "')'")?;
    if end.saturating_sub(first) > MOST_STEPS {
        return Err(GenotypeError::TooMany { place, most: MOST_STEPS });
    }
    Ok((first..end).collect())
}

/// A list in square brackets.
fn list<'t, T>(
    scanner: &mut Scanner<'t>,
    most: usize,
    expected: &'static str,
    entry: impl Fn(&mut Scanner<'t>) -> Result<T, GenotypeError>,
) -> Result<Vec<T>, GenotypeError> {
    scanner.symbol('[', "a list, from '[' on,")?;
    let mut entries = Vec::new();
    while !scanner.takes(']') {
        if entries.len() == most {
            scanner.more(expected)?;
            return Err(GenotypeError::TooMany { place: scanner.next_place(), most });
        }
        entries.push(entry(scanner)?);
        if !scanner.takes(',') {
            scanner.symbol(']', "',' or ']'")?;
            break;
        }
    }
    Ok(entries)
}

impl fmt::Display for Genotype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Genotype(")?;
        for (index, (kind, cell)) in self.cells().into_iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{kind}=[")?;
            for (index, edge) in cell.edges().enumerate() {
                let before = if index == 0 { "" } else { ", " };
                write!(f, "{before}('{}', {})", edge.operation.name(), edge.input)?;
            }
            write!(f, "], {kind}_concat={:?}", cell.joined())?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests;
