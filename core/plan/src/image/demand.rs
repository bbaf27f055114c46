//! What an image demands of whoever runs it, besides memories and copies between them.

use core::fmt;

use super::{EntryRecord, PlanImage};
use crate::{Instruction, Space};

/// Something that the boards' own firmware does for a plan, and the C library does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// What lies outside is encrypted.
    Decryption,
    /// An input goes to a card while it arrives.
    StoredInput,
    /// An input arrives in rows while the plan runs.
    RowsOfInput,
    /// An output is read from a card.
    OutputOnCard,
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decryption => "what lies on the card is encrypted",
            Self::StoredInput => "an input is stored on the card while it arrives",
            Self::RowsOfInput => "the input arrives in rows while the plan runs",
            Self::OutputOnCard => "an output lies on the card",
        })
    }
}

impl Demand {
    /// How to plan without it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Decryption => "make it without --encrypt",
            Self::StoredInput | Self::RowsOfInput => {
                "choose a strategy or a board that keeps the whole input in memory"
            }
            Self::OutputOnCard => "choose a strategy or a board that leaves outputs in memory",
        }
    }
}

impl PlanImage<'_> {
    /// The first of all that there is.
    #[must_use]
    pub fn demand(&self) -> Option<Demand> {
        if self.sector_checksums().is_some_and(|kept| kept.sealed) || self.key().is_some() {
            return Some(Demand::Decryption);
        }
        if self.window().is_some() {
            return Some(Demand::StoredInput);
        }
        self.entries().iter().find_map(|entry| self.demand_of(entry))
    }

    fn demand_of(&self, entry: &EntryRecord) -> Option<Demand> {
        let mut outputs = self.entry_outputs(entry).iter();
        let on_card = |view| self.view(view).is_none_or(|it| it.space() == Some(Space::Card));
        if outputs.any(|io| on_card(io.view)) {
            return Some(Demand::OutputOnCard);
        }
        let mut steps = self.entry_lanes(entry).iter().flat_map(|lane| self.lane_steps(lane));
        let arrives = steps.any(|step| {
            matches!(Instruction::from_record(&step), Some(Instruction::Arrive { .. }))
        });
        arrives.then_some(Demand::RowsOfInput)
    }
}
