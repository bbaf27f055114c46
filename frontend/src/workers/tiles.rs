//! What is told of a plan's tiles: the boxes that the tiling itself has.

#[cfg(feature = "importer")]
use tilewright_model::tiling::{Grid, Region, TilingError, tile_region};
use tilewright_model::tiling::{Part, Pixels, Tile, Tiled};
use tilewright_model::{Model, TensorId};
use tilewright_plan::Plan;

use crate::message::{TileBox, TiledMap, TiledRegion, TilesFacts};

/// The tiles of a plan; nothing if there is only one.
pub fn facts(given: &Model, tiled: &Tiled, plan: &Plan) -> Option<TilesFacts> {
    if tiled.tiles.is_empty() {
        return None;
    }
    let nodes = &tiled.region.nodes;
    let made = nodes.clone().filter(|node| first_part(tiled, *node).is_some());
    let made: Vec<usize> = made.collect();
    let place = |id: &TensorId| {
        let maker = || {
            let mut nodes = made.iter();
            nodes.position(|node| given.nodes[*node].outputs.first() == Some(id))
        };
        match *id == tiled.region.input {
            true => Some(0),
            false => maker().map(|at| at as u32 + 1),
        }
    };
    let mut maps = vec![input(given, tiled)];
    maps.extend(made.iter().map(|node| layer(given, tiled, *node, &place)));
    Some(TilesFacts {
        region: TiledRegion {
            first: number(nodes.start),
            end: number(nodes.end),
            grid: tiled.grid.to_string(),
        },
        rows: tiled.grid.rows.into(),
        columns: tiled.grid.columns.into(),
        maps,
        nodes: plan.layers.iter().map(|layer| layer.nodes.clone()).collect(),
    })
}

/// The model in tiles again.
///
/// # Errors
/// If the region is none of the model.
#[cfg(feature = "importer")]
pub fn again(given: &Model, region: &TiledRegion) -> Result<Tiled, TilingError> {
    let grid: Grid = region.grid.parse()?;
    let nodes = region.first as usize..region.end as usize;
    tile_region(given, Region::spanning(given, nodes)?, grid)
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn part(tile: &Tile, node: usize) -> Option<&Part> {
    let at = tile.parts.binary_search_by_key(&node, |part| part.node).ok()?;
    tile.parts.get(at)
}

fn first_part(tiled: &Tiled, node: usize) -> Option<&Part> {
    part(tiled.tiles.first()?, node)
}

fn tile_box(pixels: &Pixels, macs: u64) -> TileBox {
    let side = |range: &std::ops::Range<usize>| [number(range.start), number(range.end)];
    TileBox { rows: side(&pixels.rows), columns: side(&pixels.columns), macs }
}

/// A feature map without what makes it.
fn map(given: &Model, id: TensorId) -> TiledMap {
    let tensor = given.tensor(id);
    let dim = |axis: usize| number(tensor.shape.dims().get(axis).copied().unwrap_or(1));
    TiledMap {
        name: tensor.name.clone(),
        rows: dim(1),
        columns: dim(2),
        channels: dim(3),
        element_bytes: number(tensor.dtype.bytes()),
        ..TiledMap::default()
    }
}

fn input(given: &Model, tiled: &Tiled) -> TiledMap {
    let read = |tile: &Tile| tile.input.as_ref().map(|pixels| tile_box(pixels, 0));
    let boxes = tiled.tiles.iter().map(|tile| read(tile).unwrap_or_default()).collect();
    TiledMap { boxes, ..map(given, tiled.region.input) }
}

fn layer(
    given: &Model,
    tiled: &Tiled,
    node: usize,
    place: &impl Fn(&TensorId) -> Option<u32>,
) -> TiledMap {
    let made = &given.nodes[node];
    let macs = |copy: usize| tiled.model.nodes.get(copy).map_or(0, |node| tiled.model.macs(node));
    let own = |tile: &Tile| {
        let part = part(tile, node)?;
        Some(tile_box(&part.pixels, macs(part.copy)))
    };
    let copy = |part: &Part| number(part.copy);
    let mut from: Vec<u32> = made.inputs.iter().filter_map(place).collect();
    from.sort_unstable();
    from.dedup();
    TiledMap {
        node: Some(number(node)),
        name: made.name.clone(),
        op: made.op.name().to_owned(),
        macs: given.macs(made),
        from,
        boxes: tiled.tiles.iter().map(|tile| own(tile).unwrap_or_default()).collect(),
        copies: tiled.tiles.iter().filter_map(|tile| part(tile, node)).map(copy).collect(),
        ..made.outputs.first().map(|id| map(given, *id)).unwrap_or_default()
    }
}
