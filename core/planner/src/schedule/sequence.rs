//! What a program does, in one order with all addresses: [`super::emit`] makes its lanes of it.
//!
//! The order is one in which everything could run one after the other. Lanes overlap where no byte forbids it.

use super::operator::SECTOR;
use crate::strategy::external::LINE;
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_plan::{Bytes, LaneKind, RowOrder, Space, Tile, View};

/// Events in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// SRAM that the program takes.
    pub arena: Bytes,
    /// The engines of the lanes behind the core's.
    pub engines: Vec<Engine>,
    /// What happens.
    pub events: Vec<Event>,
}

/// An engine that moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Which it is.
    pub kind: LaneKind,
    /// Most bytes of a transfer; longer moves become several.
    pub largest: u64,
}

/// A lane of a program: 0 is the core, the others are [`Sequence::engines`] in their order. Those without steps are
/// left out of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneId(pub u8);

impl LaneId {
    /// The core.
    pub const CORE: Self = Self(0);
    /// The card's controller.
    pub const CARD: Self = Self(1);
    /// DMA between memories.
    pub const DMA: Self = Self(2);

    /// The lane whose engine moves bytes between SRAM and another memory.
    pub const fn of(space: Space) -> Self {
        match space {
            Space::Card => Self::CARD,
            _ => Self::DMA,
        }
    }
}

impl Engine {
    /// Those of a board, in the order of their lanes: whole sectors, and whole lines.
    pub fn of(board: &Board) -> Vec<Self> {
        let engine = |(kind, unit): (LaneKind, u64)| {
            let most = board.engine(kind).map_or(unit, |engine| engine.largest_bytes.0);
            Self { kind, largest: (most / unit * unit).max(unit) }
        };
        [(LaneKind::Card, SECTOR), (LaneKind::Dma, LINE)].map(engine).to_vec()
    }
}

/// A step of the core, or bytes that an engine moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step of the core.
    Task(Task),
    /// Bytes that an engine moves.
    Move(Move),
    /// Rows of the input arrive.
    Arrival(Arrival),
}

/// Rows of the input that arrive, one behind the other in SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The layer that reads them first.
    pub layer: u16,
    /// Where they are put.
    pub view: View,
}

/// A step of the core.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Index of its op.
    pub op: u32,
    /// Its layer.
    pub layer: u16,
    /// The frame that it works on.
    pub frame: u8,
    /// The order of its rows.
    pub order: RowOrder,
    /// The part of the layer that it makes.
    pub tile: Tile,
    /// Its operands where they are then, in the order of the kernel's roles.
    pub views: Vec<View>,
}

/// Bytes that an engine moves, in one run in SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The engine's lane.
    pub lane: LaneId,
    /// Where they are.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// How many bytes.
    pub bytes: u64,
    /// In how many rows they lie outside, and how far apart.
    pub rows: Rows,
    /// The layer that they belong to.
    pub layer: u16,
    /// The frame that they are of; of several the first.
    pub frame: u8,
}

/// Rows of bytes in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How many, of as many bytes each.
    pub count: u32,
    /// Bytes from one to the next.
    pub pitch: u32,
}

impl Rows {
    /// Bytes that follow each other.
    pub const ONE: Self = Self { count: 1, pitch: 0 };
}

/// A byte of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The byte in it.
    pub offset: u64,
}

impl Place {
    /// The byte so many further on.
    pub const fn after(self, bytes: u64) -> Self {
        Self { space: self.space, offset: self.offset + bytes }
    }
}
