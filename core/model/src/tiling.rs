//! Tiles of a graph: a region of layers is computed branch by branch, each of which makes a tile of the region's
//! output from the part of the region's input that it sees (Cipolletta and Calimera, "On the efficiency of
//! sparse-tiled tensor graph processing for low memory usage", section III.B).
//!
//! Neighbouring branches compute some pixels twice, where windows reach over a tile's edge (the halo). Values stay
//! the same, bit for bit: at the edges of the whole picture windows see its padding, and elsewhere its pixels.

mod branch;
mod region;

pub use branch::{Part, Pixels, Tile};
pub use region::{Region, active_bytes};

use std::fmt;
use std::str::FromStr;

use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::Tensor;
use branch::Branch;
use thiserror::Error;

/// Rows and columns of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grid {
    /// Tiles one below the other.
    pub rows: u16,
    /// Tiles side by side.
    pub columns: u16,
}

impl Grid {
    /// Most tiles: each is a copy of the region's layers.
    pub const MOST: usize = 256;

    /// How many tiles there are.
    #[must_use]
    pub fn tiles(self) -> usize {
        usize::from(self.rows) * usize::from(self.columns)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl FromStr for Grid {
    type Err = TilingError;

    fn from_str(text: &str) -> Result<Self, TilingError> {
        let side = |side: &str| side.parse::<u16>().map_err(|_| TilingError::Grid);
        let (rows, columns) = text.split_once('x').ok_or(TilingError::Grid)?;
        let grid = Self { rows: side(rows)?, columns: side(columns)? };
        let is_right = (1..=Self::MOST).contains(&grid.tiles());
        if is_right { Ok(grid) } else { Err(TilingError::Grid) }
    }
}

/// Most nodes of all tiles together.
pub const MOST_NODES: usize = 20_000;

/// How a graph is tiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tiling {
    /// The tiles.
    pub grid: Grid,
    /// γ, in thousandths: layers are in the region whose active memory is more than this part of the peak.
    pub threshold: u16,
}

impl Tiling {
    /// As the paper has it: 2×2 tiles, γ = 0.4.
    pub const PUBLISHED: Self = Self { grid: Grid { rows: 2, columns: 2 }, threshold: 400 };
}

/// What tiling a model gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiled {
    /// The model: the same function in tiles.
    pub model: Model,
    /// The nodes of the given model that are in tiles now.
    pub region: Region,
    /// Of each node of the model in tiles the given model's that it is, or is a tile of; nothing: it cuts out or joins
    /// tiles.
    pub origins: Vec<Option<usize>>,
    /// How many tiles there are.
    pub grid: Grid,
    /// The tiles, row by row: which pixels each makes of each layer; none if there is only one.
    pub tiles: Vec<Tile>,
    /// Multiply-accumulates that are made more than once.
    pub recomputed_macs: u64,
}

impl Tiled {
    /// The model in tiles, if there is one, else the given one.
    #[must_use]
    pub fn model_or<'m>(tiled: Option<&'m Self>, given: &'m Model) -> &'m Model {
        tiled.map_or(given, |tiled| &tiled.model)
    }
}

/// Why a graph cannot be tiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TilingError {
    /// The threshold is none.
    #[error("the threshold is a part of the peak, from 0 to 1000 thousandths")]
    Threshold,
    /// The grid has no tiles or more than [`Grid::MOST`].
    #[error("a grid has 1 to {most} tiles", most = Grid::MOST)]
    Grid,
    /// The tiles have more layers than [`MOST_NODES`] together.
    #[error("{tiles} tiles of {layers} layers are more than {MOST_NODES} layers")]
    TooMany {
        /// The tiles.
        tiles: usize,
        /// Layers of each.
        layers: usize,
    },
    /// The grid has more rows or columns than the region's output.
    #[error(
        "the region's output '{tensor}' has {rows} rows and {columns} columns: fewer than the grid"
    )]
    TooFine {
        /// The output.
        tensor: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// No layers with the peak among them can be made in tiles.
    #[error("layer '{node}' ({op}) cannot be made in tiles: {reason}")]
    NoRegion {
        /// The layer.
        node: String,
        /// Its operator.
        op: String,
        /// Why not.
        reason: String,
    },
    /// The model has no layers, or not these.
    #[error("the model does not have these layers")]
    NoLayers,
}

/// The model with its layers of most active memory in tiles.
///
/// # Errors
/// [`TilingError`] if there is no such region, or the grid does not fit it.
pub fn tile(model: &Model, tiling: &Tiling) -> Result<Tiled, TilingError> {
    tile_region(model, Region::of(model, tiling.threshold)?, tiling.grid)
}

/// The model with a region of its layers in tiles.
///
/// # Errors
/// [`TilingError`] if the grid does not fit the region's output.
pub fn tile_region(model: &Model, region: Region, grid: Grid) -> Result<Tiled, TilingError> {
    if !(1..=Grid::MOST).contains(&grid.tiles()) {
        return Err(TilingError::Grid);
    }
    if grid.tiles() == 1 {
        let origins = (0..model.nodes.len()).map(Some).collect();
        let (model, tiles) = (model.clone(), Vec::new());
        return Ok(Tiled { model, region, origins, grid, tiles, recomputed_macs: 0 });
    }
    let (tiles, layers) = (grid.tiles(), region.nodes.len());
    if tiles.saturating_mul(layers) > MOST_NODES {
        return Err(TilingError::TooMany { tiles, layers });
    }
    let output = model.tensor(region.output);
    let [_, rows, columns, _] = *output.shape.dims() else { return Err(TilingError::Grid) };
    if rows < grid.rows.into() || columns < grid.columns.into() {
        return Err(TilingError::TooFine { tensor: output.name.clone(), rows, columns });
    }
    let macs = |model: &Model| model.nodes.iter().map(|node| model.macs(node)).sum::<u64>();
    let mut tiled = Model { nodes: Vec::new(), ..model.clone() };
    let mut origins: Vec<Option<usize>> = (0..region.nodes.start).map(Some).collect();
    tiled.nodes.extend_from_slice(&model.nodes[..region.nodes.start]);
    let whole = model.tensor(region.output);
    // What is joined in the end: rows of tiles, or the tiles of the only row.
    let mut joined = Vec::new();
    let mut written = Vec::with_capacity(tiles);
    for (row, rows) in parts(rows, grid.rows).enumerate() {
        let mut tiles = Vec::new();
        for (column, columns) in parts(columns, grid.columns).enumerate() {
            let pixels = Pixels { rows: rows.clone(), columns };
            let branch = Branch::of(model, &region, &pixels);
            let name = format!("tile {row},{column}");
            let (output, tile) = branch.write(&mut tiled, &mut origins, &name);
            tiles.push(output);
            written.push(tile);
        }
        match (grid.rows, tiles.as_slice()) {
            (1, _) => joined = tiles,
            (_, [tile]) => joined.push(*tile),
            _ => {
                let mut dims = whole.shape.dims().to_vec();
                dims[1] = rows.len();
                let (name, shape) = (format!("{} row {row}", whole.name), Shape::new(dims));
                let output = tiled.add_tensor(Tensor { name, shape, ..whole.clone() });
                concat(&mut tiled, tiles, 2, output);
                joined.push(output);
            }
        }
    }
    concat(&mut tiled, joined, if grid.rows == 1 { 2 } else { 1 }, region.output);
    origins.resize(tiled.nodes.len(), None);
    origins.extend((region.nodes.end..model.nodes.len()).map(Some));
    tiled.nodes.extend_from_slice(&model.nodes[region.nodes.end..]);
    let recomputed_macs = macs(&tiled).saturating_sub(macs(model));
    Ok(Tiled { model: tiled, region, origins, grid, tiles: written, recomputed_macs })
}

/// Divides so many pixels among so many tiles, as evenly as can be, larger ones first.
fn parts(pixels: usize, tiles: u16) -> impl Iterator<Item = std::ops::Range<usize>> {
    let tiles = usize::from(tiles);
    let (each, more) = (pixels / tiles, pixels % tiles);
    let start = move |tile: usize| tile * each + tile.min(more);
    (0..tiles).map(move |tile| start(tile)..start(tile + 1))
}

/// Adds a node that joins tensors along a dimension.
fn concat(model: &mut Model, inputs: Vec<TensorId>, axis: usize, output: TensorId) {
    let name = format!("{} of tiles", model.tensor(output).name);
    model.nodes.push(Node { name, op: Op::Concat { axis }, inputs, outputs: vec![output] });
}
