//! Choices that make a plan.

use serde::{Deserialize, Serialize};
use tilewright_board::{Board, Card};

/// What is done about wrong bytes from a card, and about those who read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrity {
    /// The card's own correction is trusted.
    #[default]
    Trusted,
    /// What comes from the card is compared with checksums.
    Checked,
    /// What lies on the card is encrypted, and compared with tags.
    Sealed,
}

impl Integrity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Trusted, Self::Checked, Self::Sealed];

    /// The word for it, in links too.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Checked => "checked",
            Self::Sealed => "encrypted",
        }
    }

    /// The one of this word; what is no such word is trusted.
    #[must_use]
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|one| one.word() == word).unwrap_or_default()
    }
}

/// Choices that make a plan. What is not given is the board's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Largest tensor arena; the board's if nothing is given.
    pub sram_bytes: Option<u64>,
    /// Bytes of a buffer for tiles, of strategies with buffers of one size.
    pub buffer_bytes: Option<u64>,
    /// Frames that are computed one after the other; one if nothing is given.
    pub frames: Option<u32>,
    /// Whether strategy `auto` makes the arena least, not the latency.
    pub is_memory_least: bool,
    /// Whether no weights lie in a wider and faster packing.
    pub is_packing_plain: bool,
    /// Whether strategy `overlay` makes outputs in SRAM, from where DMA moves them.
    pub is_staged: bool,
    /// In which tiles layers of the most active memory are made, rows by columns such as `2x2`; nothing: whole.
    pub tiles: Option<String>,
    /// Whether the input may arrive in rows while others are used.
    pub streams_input: bool,
    /// Another clock than the board's: what if.
    pub clock_hz: Option<u64>,
    /// Bytes a second that the card reads at, if other than its class; writing changes in
    /// proportion.
    pub card_bytes_per_second: Option<u64>,
    /// What is done about wrong bytes from the card.
    pub integrity: Integrity,
}

impl PlanSettings {
    /// The same on another board, whose memories and rates are others: what was chosen in bytes or
    /// hertz would mean something else.
    #[must_use]
    pub fn on_board(&self, board: &str) -> Self {
        let mut settings = Self { board: board.to_owned(), ..self.clone() };
        (settings.sram_bytes, settings.buffer_bytes) = (None, None);
        (settings.clock_hz, settings.card_bytes_per_second) = (None, None);
        settings
    }

    /// How many frames.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.unwrap_or(1).max(1)
    }

    /// Whether its times are those of a board that there is: nothing is imagined.
    #[must_use]
    pub const fn is_of_the_board(&self) -> bool {
        self.clock_hz.is_none() && self.card_bytes_per_second.is_none()
    }

    /// The card in the board's slot, at the chosen speed; nothing if it has no slot.
    #[must_use]
    pub fn card(&self, board: &Board) -> Option<Card> {
        let slot = board.slot.as_ref()?;
        let mut card = tilewright_board::find_card(&slot.card).ok()?;
        if let Some(rate) = self.card_bytes_per_second {
            let of_class = u128::from(card.read.bytes_per_second.max(1));
            let written = u128::from(card.write.bytes_per_second) * u128::from(rate) / of_class;
            card.read.bytes_per_second = rate.max(1);
            card.write.bytes_per_second = u64::try_from(written).unwrap_or(u64::MAX).max(1);
        }
        Some(card)
    }
}

/// A file that shows a schedule elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleFile {
    /// A trace that Perfetto opens.
    Perfetto,
    /// A row for each stretch of a lane.
    Csv,
    /// Everything.
    Json,
}

impl ScheduleFile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Perfetto, Self::Csv, Self::Json];

    /// The word on its button.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Perfetto => "Perfetto",
            Self::Csv => "CSV",
            Self::Json => "JSON",
        }
    }

    /// How the file's name ends.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Perfetto => "schedule.perfetto.json",
            Self::Csv => "schedule.csv",
            Self::Json => "schedule.json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_card_writes_faster_too() {
        let board = tilewright_board::find("paper-swapnn-512k").unwrap();
        let class = PlanSettings::default().card(&board).unwrap();
        let rate = class.read.bytes_per_second * 2;
        let settings = PlanSettings { card_bytes_per_second: Some(rate), ..Default::default() };
        let card = settings.card(&board).unwrap();
        assert_eq!(card.read.bytes_per_second, rate);
        assert_eq!(card.write.bytes_per_second, class.write.bytes_per_second * 2);
        assert!(!settings.is_of_the_board());
    }
}
