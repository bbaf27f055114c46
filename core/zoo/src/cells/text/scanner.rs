//! Words, numbers and symbols of a text, with their places.

use super::{GenotypeError, Place};

/// Most characters of a text that an error repeats.
const MOST_REPEATED: usize = 40;

/// A word and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) place: Place,
}

impl Word<'_> {
    /// The word, or its beginning if it is long.
    pub(super) fn shortened(&self) -> String {
        match self.text.char_indices().nth(MOST_REPEATED) {
            Some((end, _)) => format!("{}…", &self.text[..end]),
            None => self.text.to_owned(),
        }
    }

    /// That something else should stand here.
    pub(super) fn instead_of(&self, expected: &'static str) -> GenotypeError {
        let found = format!("'{}'", self.shortened());
        GenotypeError::Syntax { place: self.place, expected, found }
    }
}

/// What is left of a text.
#[derive(Debug)]
pub(super) struct Scanner<'t> {
    rest: &'t str,
    place: Place,
}

const fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'t> Scanner<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { rest: text, place: Place { line: 1, column: 1 } }
    }

    /// Leaves `bytes` behind, the end of a character.
    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        for c in passed.chars() {
            self.place = match c {
                '\n' => Place { line: self.place.line + 1, column: 1 },
                _ => Place { column: self.place.column + 1, ..self.place },
            };
        }
        self.rest = rest;
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest.len() - self.rest.trim_start().len();
        self.advance(blanks);
    }

    /// Leaves characters behind for as long as they are of a kind.
    fn take_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> Word<'t> {
        let end = self.rest.find(|c| !is_of_kind(c)).unwrap_or(self.rest.len());
        let word = Word { text: &self.rest[..end], place: self.place };
        self.advance(end);
        word
    }

    fn unexpected(&self, expected: &'static str) -> GenotypeError {
        let found =
            self.rest.chars().next().map_or_else(|| "the end".to_owned(), |c| format!("{c:?}"));
        GenotypeError::Syntax { place: self.place, expected, found }
    }

    /// Where the next thing begins.
    pub(super) fn next_place(&mut self) -> Place {
        self.skip_blanks();
        self.place
    }

    /// Whether the next thing is a word.
    pub(super) fn is_at_letter(&mut self) -> bool {
        self.skip_blanks();
        self.rest.starts_with(|c: char| c.is_ascii_alphabetic())
    }

    /// Takes a symbol, if it is the next thing.
    pub(super) fn takes(&mut self, symbol: char) -> bool {
        self.skip_blanks();
        let is_next = self.rest.starts_with(symbol);
        if is_next {
            self.advance(symbol.len_utf8());
        }
        is_next
    }

    /// Takes a symbol.
    pub(super) fn symbol(
        &mut self,
        symbol: char,
        expected: &'static str,
    ) -> Result<(), GenotypeError> {
        if self.takes(symbol) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes letters, digits and underscores.
    pub(super) fn word(&mut self, expected: &'static str) -> Result<Word<'t>, GenotypeError> {
        if !self.is_at_letter() {
            return Err(self.unexpected(expected));
        }
        Ok(self.take_while(is_of_word))
    }

    /// Takes what stands in quotes of either kind.
    pub(super) fn quoted(&mut self, expected: &'static str) -> Result<Word<'t>, GenotypeError> {
        let quote = ['\'', '"'].into_iter().find(|quote| self.takes(*quote));
        let Some(quote) = quote else { return Err(self.unexpected(expected)) };
        let word = self.take_while(|c| c != quote && c != '\n');
        if !self.rest.starts_with(quote) {
            return Err(self.unexpected("a quote"));
        }
        self.advance(quote.len_utf8());
        Ok(word)
    }

    /// Takes a number. One that is too large becomes the largest, which no node has.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<usize, GenotypeError> {
        self.skip_blanks();
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unexpected(expected));
        }
        let word = self.take_while(is_of_word);
        if !word.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(word.instead_of(expected));
        }
        Ok(word.text.parse().unwrap_or(usize::MAX))
    }

    /// That something is left.
    pub(super) fn more(&mut self, expected: &'static str) -> Result<(), GenotypeError> {
        self.skip_blanks();
        if self.rest.is_empty() { Err(self.unexpected(expected)) } else { Ok(()) }
    }

    /// That nothing is left.
    pub(super) fn end(&mut self, expected: &'static str) -> Result<(), GenotypeError> {
        self.skip_blanks();
        if self.rest.is_empty() { Ok(()) } else { Err(self.unexpected(expected)) }
    }
}
