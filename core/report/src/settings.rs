//! What a plan is asked for, in words and numbers that page, command line and scripts share.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tilewright_board::{Board, Card};

/// Most frames that are simulated: timelines of more would fill memory.
pub const MOST_FRAMES: u32 = 1000;

/// Kernels of a board's firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernels {
    /// Loops written out, for speed.
    #[default]
    Fast,
    /// As little code as there can be: less than half the flash, and longer.
    Small,
}

/// What a plan is asked for. What is not given is the board's own, or the usual.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanSettings {
    /// Board id, in upper or lower case.
    pub board: String,
    /// Kernels of its firmware.
    pub kernels: Kernels,
    /// Strategy; empty: `resident`.
    pub strategy: String,
    /// Largest tensor arena, in bytes.
    pub sram_bytes: Option<u64>,
    /// Bytes of a buffer for tiles, of strategies with buffers of one size.
    pub buffer_bytes: Option<u64>,
    /// Frames that are computed one after the other, 1 to [`MOST_FRAMES`]; else one.
    pub frames: Option<u32>,
    /// What strategy `auto` makes least.
    pub objective: Objective,
    /// Whether strategy `auto` uses no memory outside of the chip.
    pub inside: bool,
    /// How weights lie.
    pub packing: Packing,
    /// How strategy `overlay` makes outputs.
    pub outputs: Outputs,
    /// In which tiles layers of the most active memory are made, rows by columns such as `2x2`; else whole.
    pub tiles: Option<String>,
    /// Layers are made in tiles whose active memory is more than this part of the peak, 0 to 1.
    pub threshold: Option<f64>,
    /// Whether the input may arrive in rows while others are used.
    pub stream_input: bool,
    /// Whether there is a program for each output, which a limit of latency chooses from.
    pub exits: bool,
    /// The probability from which an output before the last ends the run, above 0, up to 1; else none does.
    pub exit_confidence: Option<f64>,
    /// Another clock than the board's: what if.
    pub clock_hz: Option<u64>,
    /// Class of the card in the board's slot; else the one that goes with the board.
    pub card: Option<String>,
    /// Bytes a second that the card reads at, if other than its class; writing changes in proportion.
    pub card_bytes_per_second: Option<u64>,
    /// What is done about wrong bytes from the card, and about those who read it.
    pub integrity: Integrity,
}

/// What strategy `auto` makes least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The predicted latency of plans that fit; of equally fast ones the tensor arena.
    #[default]
    Latency,
    /// The tensor arena, as long as SRAM and flash of the chip hold all; else the least arena beside memories outside
    /// of it. Of equal ones the predicted latency.
    Memory,
    /// The modelled energy of a frame of plans that fit, then the predicted latency, then the tensor arena.
    Energy,
    /// The bytes that a frame of plans that fit writes to the card, then the predicted latency, then the tensor arena.
    Wear,
}

/// How weights lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// Transformed or without their zeros where a layer is modelled to be faster so; without zeros too where they do
    /// not fit the chip's flash otherwise.
    #[default]
    Auto,
    /// In pairs.
    Plain,
    /// As `Auto`; transformed wherever there is room.
    Fast,
    /// As `Auto`; without their zeros wherever they take fewer bytes so.
    Sparse,
}

/// How outputs come to external RAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outputs {
    /// The core writes them there.
    #[default]
    Direct,
    /// The core makes them in SRAM, DMA moves them.
    Staged,
}

/// What is done about wrong bytes from a card, and about those who read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrity {
    /// The card's own correction is trusted.
    #[default]
    Trusted,
    /// What copies bring is compared with checksums: those of the store image in the plan image, those of
    /// what programs write in the arena.
    Checked,
    /// What is swapped is encrypted, with tags where checksums would lie.
    #[serde(rename = "encrypted")]
    Sealed,
}

impl Integrity {
    /// Whether the firmware keeps something of each sector that programs write.
    #[must_use]
    pub const fn keeps(self) -> bool {
        !matches!(self, Self::Trusted)
    }
}

impl PlanSettings {
    /// The same on another board, whose memories and rates are others: a choice in bytes or hertz
    /// would mean something else there. `id` is of a board with one of its firmwares.
    #[must_use]
    pub fn on_board(&self, id: &str) -> Self {
        let (board, kernels) = match id.strip_suffix(tilewright_board::SMALL) {
            Some(board) => (board, Kernels::Small),
            None => (id, Kernels::Fast),
        };
        Self {
            board: board.to_owned(),
            kernels,
            sram_bytes: None,
            buffer_bytes: None,
            clock_hz: None,
            card: None,
            card_bytes_per_second: None,
            ..self.clone()
        }
    }

    /// How many frames.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.unwrap_or(1).max(1)
    }

    /// Whether its times are those of a board that exists: no clock and no card are imagined.
    #[must_use]
    pub const fn is_of_the_board(&self) -> bool {
        self.clock_hz.is_none() && self.card_bytes_per_second.is_none()
    }

    /// The id of the board with the firmware that is asked for, as images and firmware files name it.
    #[must_use]
    pub fn board_id(&self) -> String {
        let board = self.board.to_lowercase();
        match self.kernels {
            Kernels::Fast => board,
            Kernels::Small => format!("{board}{}", tilewright_board::SMALL),
        }
    }

    /// The card in the board's slot, at the chosen speed; nothing if the board has no slot.
    #[must_use]
    pub fn card(&self, board: &Board) -> Option<Card> {
        let slot = board.slot.as_ref()?;
        let class = self.card.as_ref().unwrap_or(&slot.card);
        let mut card = tilewright_board::find_card(class).ok()?;
        if let Some(rate) = self.card_bytes_per_second {
            let of_class = u128::from(card.read.bytes_per_second.max(1));
            let written = u128::from(card.write.bytes_per_second) * u128::from(rate) / of_class;
            card.read.bytes_per_second = rate.max(1);
            card.write.bytes_per_second = u64::try_from(written).unwrap_or(u64::MAX).max(1);
        }
        Some(card)
    }
}

/// The word of a choice, as JSON, links and the command line write it.
///
/// # Panics
/// If `choice` is no plain enumeration.
#[must_use]
pub fn word<T: Serialize>(choice: &T) -> String {
    serde_plain::to_string(choice).expect("choices are plain enumerations")
}

/// The choice of a word.
///
/// # Errors
/// With the words that are known.
pub fn choice<T: DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_plain::from_str(word).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_their_choices() {
        assert_eq!(word(&Integrity::Sealed), "encrypted");
        assert_eq!(choice(&word(&Packing::Sparse)), Ok(Packing::Sparse));
        let unknown = choice::<Objective>("beauty").unwrap_err();
        assert!(unknown.contains("latency") && unknown.contains("memory"), "{unknown}");
    }

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
