//! A genotype with the size of its stack, as a text:
//!
//! ```text
//! # Anything behind a '#' is not read.
//! cells 8
//! channels 16
//! resolution 32
//! Genotype(normal=[…], reduce=[…])
//! ```
//!
//! Each size stands on a line of its own, before or behind the genotype; those that are missing are as in
//! [`Stack::USUAL`].

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::genotype::Genotype;
use super::text::{GenotypeError, MOST_BYTES};
use crate::networks::cells::Stack;

/// Cells and how they are stacked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stacked {
    /// The cells.
    pub genotype: Genotype,
    /// The size.
    pub stack: Stack,
}

/// Why a text holds no cells.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StackedError {
    /// The genotype is none.
    #[error(transparent)]
    Genotype(#[from] GenotypeError),
    /// A size is no number.
    #[error("line {line}: '{given}' is no number of {size}: give one, as {size} 8")]
    NoNumber {
        /// From 1.
        line: usize,
        /// The size.
        size: &'static str,
        /// What stands there.
        given: String,
    },
    /// A size stands twice.
    #[error("line {line}: '{size}' stands a second time: leave one of them out")]
    Repeated {
        /// From 1.
        line: usize,
        /// The size.
        size: &'static str,
    },
}

/// Most characters of a word that an error repeats.
const MOST_REPEATED: usize = 40;

/// Names of sizes, and where they belong.
fn sizes(stack: &mut Stack) -> [(&'static str, &mut usize); 4] {
    let Stack { cells, channels, resolution, colours } = stack;
    [("cells", cells), ("channels", channels), ("resolution", resolution), ("colours", colours)]
}

/// What a line says of a size: its name, and the word behind it.
fn size_of(line: &str) -> Option<(&'static str, &str)> {
    let mut words = line.split_whitespace();
    let (name, given) = (words.next()?, words.next()?);
    let mut names = Stack::USUAL;
    let known = sizes(&mut names).into_iter().find(|(known, _)| *known == name)?;
    // `cells = Genotype(…)` is a name before a genotype.
    (words.next().is_none() && !given.starts_with('=')).then_some((known.0, given))
}

impl FromStr for Stacked {
    type Err = StackedError;

    fn from_str(text: &str) -> Result<Self, StackedError> {
        if text.len() > MOST_BYTES {
            return Err(GenotypeError::TooLong { bytes: text.len() }.into());
        }
        let mut stack = Stack::USUAL;
        let mut seen = Vec::new();
        // What belongs to no genotype becomes blanks, so that places in it stay.
        let mut rest = String::new();
        for (index, line) in text.split('\n').enumerate() {
            let number = index + 1;
            if index > 0 {
                rest.push('\n');
            }
            let code = line.split_once('#').map_or(line, |(before, _)| before);
            let Some((size, given)) = size_of(code) else {
                rest.push_str(code);
                continue;
            };
            if seen.contains(&size) {
                return Err(StackedError::Repeated { line: number, size });
            }
            let Ok(value) = given.parse() else {
                let given = given.chars().take(MOST_REPEATED).collect();
                return Err(StackedError::NoNumber { line: number, size, given });
            };
            seen.push(size);
            sizes(&mut stack)
                .into_iter()
                .filter(|(known, _)| *known == size)
                .for_each(|(_, slot)| *slot = value);
        }
        Ok(Self { genotype: rest.parse()?, stack })
    }
}

impl fmt::Display for Stacked {
    /// Reads back as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = self.stack;
        for (name, value) in sizes(&mut stack) {
            writeln!(f, "{name} {value}")?;
        }
        writeln!(f, "{}", self.genotype)
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::Published;
    use super::*;

    fn read(text: &str) -> Result<Stacked, StackedError> {
        text.parse()
    }

    #[test]
    fn a_genotype_alone_has_the_usual_size() {
        let stacked = read(Published::Darts.text()).unwrap();
        assert_eq!(stacked.genotype, Published::Darts.genotype());
        assert_eq!(stacked.stack, Stack::USUAL);
    }

    #[test]
    fn sizes_stand_on_lines_of_their_own_and_comments_are_not_read() {
        let text = format!(
            "# my cells\r\n cells 5 # few\r\nmine = {}\nresolution  64\n# cells 9\n",
            Published::DeffArts001.text()
        );
        let stacked = read(&text).unwrap();
        assert_eq!(stacked.stack, Stack { cells: 5, resolution: 64, ..Stack::USUAL });
        assert_eq!(read(&stacked.to_string()), Ok(stacked));
        let named = format!("cells = {}", Published::Darts.text());
        assert_eq!(read(&named).unwrap().stack, Stack::USUAL);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |text: &str| read(text).unwrap_err().to_string();
        assert!(wrong("\ncells many\nGenotype()").starts_with("line 2: 'many' is no number"));
        assert!(wrong("cells 3\n\ncells 3").starts_with("line 3: 'cells' stands a second"));
        let said = wrong("cells 3\n# é\nGenotype(normal=[('conv', 0)])");
        assert!(said.starts_with("line 3, column 20: there is no operation 'conv'"), "{said}");
        assert!(wrong("Dear diary").starts_with("line 1, column"), "{}", wrong("Dear diary"));
        assert!(wrong("").contains("the end"), "{}", wrong(""));
        assert!(wrong(&"#".repeat(MOST_BYTES + 1)).contains("at most"));
    }
}
