//! Layers in tiles: which pixels each tile makes, and what it is made from.

use serde::{Deserialize, Serialize};

/// Which nodes of the opened model are in tiles, and in which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TiledRegion {
    /// The first node.
    pub first: u32,
    /// The one behind the last.
    pub end: u32,
    /// Rows by columns, such as `2x2`.
    pub grid: String,
}

/// A plan's layers in tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilesFacts {
    /// Where they are.
    pub region: TiledRegion,
    /// Tiles one below the other.
    pub rows: u32,
    /// Tiles side by side.
    pub columns: u32,
    /// The region's input, then its layers in order of execution.
    pub maps: Vec<TiledMap>,
    /// For each layer of the plan the indices of its nodes in the model in tiles; the last makes its output.
    pub nodes: Vec<Vec<u32>>,
}

/// A feature map of the region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TiledMap {
    /// The node of the opened model that makes it; nothing for the region's input.
    pub node: Option<u32>,
    /// Its name, or the input's.
    pub name: String,
    /// The operator, for people; empty for the region's input.
    pub op: String,
    pub rows: u32,
    pub columns: u32,
    pub channels: u32,
    pub element_bytes: u32,
    /// Multiply-accumulates of the whole map, made once.
    pub macs: u64,
    /// The maps that it is made from, by their places in the list.
    pub from: Vec<u32>,
    /// What each tile makes of it, or reads of the input, row by row of tiles.
    pub boxes: Vec<TileBox>,
    /// The nodes of the model in tiles that make these; none for the region's input.
    pub copies: Vec<u32>,
}

/// Some pixels of a feature map: half-open intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileBox {
    /// The first row, and the one behind the last.
    pub rows: [u32; 2],
    /// The first column, and the one behind the last.
    pub columns: [u32; 2],
    /// Multiply-accumulates that the tile makes for it.
    pub macs: u64,
}

impl TileBox {
    /// How many pixels.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        let side = |[start, end]: [u32; 2]| u64::from(end.saturating_sub(start));
        side(self.rows) * side(self.columns)
    }

    /// The pixels that both have; nothing if there are none.
    #[must_use]
    pub fn shared(&self, other: &Self) -> Option<Self> {
        let both = |a: [u32; 2], b: [u32; 2]| [a[0].max(b[0]), a[1].min(b[1])];
        let (rows, columns) = (both(self.rows, other.rows), both(self.columns, other.columns));
        let shared = Self { rows, columns, macs: 0 };
        (shared.pixels() > 0).then_some(shared)
    }
}
