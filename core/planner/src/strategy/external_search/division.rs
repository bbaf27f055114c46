//! How SRAM of some size is divided where it does not hold all activations: those that are tried, and their
//! neighbours.

use crate::strategy::overlay::{Beside, MOST_TURNED, Overlaid};
use crate::strategy::spill::First;
use tilewright_plan::Bytes;
use tilewright_report::Outputs;

/// A division of SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// All of it.
    pub sram: Bytes,
    /// How much of that activations take, in parts of [`FINE`].
    pub room: u64,
    /// Whether activations have all of it where nothing is brought.
    pub back: bool,
    /// Whose weights lie in the chip's flash.
    pub first: First,
    /// How the rest is divided.
    pub beside: Beside,
    /// What is overlaid there.
    pub what: Overlaid,
}

/// Parts of SRAM that are told apart.
pub const FINE: u64 = 64;

/// Which part of SRAM activations take, in sixteenths, how the rest is divided, and what is overlaid.
const FIRST: [(u64, Beside, Overlaid); 13] = {
    const ONE: Beside = Beside { filters: 4, apart: 8, early: false, turned: 0 };
    const PHASES: Beside = Beside { filters: 4, apart: 2, early: false, turned: 0 };
    const FILTERS: Beside = Beside { filters: 6, apart: 2, early: false, turned: 0 };
    [
        (14, PHASES, Overlaid::IN_PARTS),
        (14, PHASES, Overlaid::ALL_IN_PARTS),
        (12, ONE, Overlaid::ALL_IN_PARTS),
        (12, PHASES, Overlaid::IN_PARTS),
        (12, PHASES, Overlaid::ALL_IN_PARTS),
        (10, PHASES, Overlaid::ALL_IN_PARTS),
        (8, PHASES, Overlaid::ALL_IN_PARTS),
        (6, FILTERS, Overlaid::ALL_IN_PARTS),
        (4, FILTERS, Overlaid::ALL_IN_PARTS),
        (2, FILTERS, Overlaid::ALL_IN_PARTS),
        (14, ONE, Overlaid::NOTHING),
        (8, ONE, Overlaid::NOTHING),
        (2, ONE, Overlaid::NOTHING),
    ]
};

impl Division {
    /// Those of so many bytes that are tried first; more where the chip's flash does not hold all weights.
    pub fn first(sram: Bytes, weights: bool) -> impl Iterator<Item = Self> {
        let orders = [First::Smallest, First::Idlest].into_iter().take(1 + usize::from(weights));
        orders.flat_map(move |first| {
            FIRST.map(|(room, beside, what)| {
                let room = room * (FINE / 16);
                Self { sram, room, back: false, first, beside, what }
            })
        })
    }

    /// Bytes for activations.
    pub fn room(&self) -> Bytes {
        Bytes(self.sram.0 / FINE * self.room)
    }

    /// Those that differ in one thing; without `weights` outside of the chip not in what is done with them. Of
    /// operators so many take or give something outside.
    pub fn near(self, weights: bool, moving: usize) -> Vec<Self> {
        let mut near = Vec::new();
        let rooms = |steps: &[i64]| -> Vec<Self> {
            let moved = steps.iter().map(|step| self.room.saturating_add_signed(*step));
            moved.map(|room| Self { room, ..self }).collect()
        };
        near.extend(rooms(&[1, -1, 4, -4]));
        let apart = [0, 1, 2, 4, 8];
        near.extend(apart.map(|apart| Self { beside: Beside { apart, ..self.beside }, ..self }));
        let early = !self.beside.early;
        near.push(Self { beside: Beside { early, ..self.beside }, ..self });
        let outputs = [Outputs::Direct, Outputs::Staged];
        near.extend(
            outputs.map(|outputs| Self { what: Overlaid { outputs, ..self.what }, ..self }),
        );
        if weights {
            let filters = [2, 4, 6];
            near.extend(
                filters.map(|filters| Self { beside: Beside { filters, ..self.beside }, ..self }),
            );
            let parts = [false, true];
            near.extend(parts.map(|parts| Self { what: Overlaid { parts, ..self.what }, ..self }));
        }
        near.extend(rooms(&[2, -2, 8]));
        near.push(Self { back: !self.back, ..self });
        let turned = (0..moving.min(MOST_TURNED)).map(|bit| self.beside.turned ^ 1 << bit);
        near.extend(turned.map(|turned| Self { beside: Beside { turned, ..self.beside }, ..self }));
        near.retain(|other| (1..FINE).contains(&other.room) && *other != self);
        near
    }
}
