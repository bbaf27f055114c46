//! Layers in tiles as pictures: which pixels a tile is made from, and which of them neighbours make too.

use tilewright_report::short_name;

use super::figures;
use crate::message::{PlanFacts, TileBox, TiledMap, TilesFacts};

/// A tile of a feature map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The map, by its place among those of the region.
    pub map: usize,
    /// The tile, row by row.
    pub tile: usize,
}

/// Where a key leads from a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the tile above.
    Up,
    /// To the tile below.
    Down,
    /// To the tile on the left.
    Left,
    /// To the tile on the right.
    Right,
}

impl Way {
    /// What a key means, by its name in the browser.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            "ArrowUp" => Self::Up,
            "ArrowDown" => Self::Down,
            "ArrowLeft" => Self::Left,
            "ArrowRight" => Self::Right,
            _ => return None,
        })
    }
}

/// The tile that a key leads to; at an edge the same.
#[must_use]
pub fn stepped(facts: &TilesFacts, tile: usize, way: Way) -> usize {
    let columns = facts.columns.max(1) as usize;
    let (row, column) = (tile / columns, tile % columns);
    let (row, column) = match way {
        Way::Up => (row.saturating_sub(1), column),
        Way::Down => ((row + 1).min(facts.rows.saturating_sub(1) as usize), column),
        Way::Left => (row, column.saturating_sub(1)),
        Way::Right => (row, (column + 1).min(columns - 1)),
    };
    row * columns + column
}

/// The tiles beside a tile. Boxes of tiles begin and end in the order of the tiles, so that those farther away share
/// no pixel with it that these do not.
fn beside(facts: &TilesFacts, tile: usize) -> impl Iterator<Item = usize> {
    let ways = [Way::Up, Way::Down, Way::Left, Way::Right];
    ways.map(|way| stepped(facts, tile, way)).into_iter().filter(move |other| *other != tile)
}

/// Whether each map is one that a map is made from, or the map itself.
fn ancestors(facts: &TilesFacts, map: usize) -> Vec<bool> {
    let mut are = vec![false; facts.maps.len()];
    if let Some(own) = are.get_mut(map) {
        *own = true;
    }
    // Maps stand behind those that they are made from.
    for index in (0..facts.maps.len()).rev().filter(|index| *index <= map) {
        if are[index] {
            for from in &facts.maps[index].from {
                if let Some(from) = are.get_mut(*from as usize) {
                    *from = true;
                }
            }
        }
    }
    are
}

/// What a tile needs of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The pixels.
    pub own: TileBox,
    /// Those of them that a neighbour makes or reads too; they may overlap.
    pub shared: Vec<TileBox>,
}

impl Field {
    /// How many pixels a neighbour makes or reads too.
    #[must_use]
    pub fn shared_pixels(&self) -> u64 {
        let side = |of: fn(&TileBox) -> [u32; 2]| {
            let mut cuts: Vec<u32> = self.shared.iter().flat_map(of).collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        };
        let (rows, columns) = (side(|b| b.rows), side(|b| b.columns));
        let mut pixels = 0;
        for rows in rows.windows(2) {
            for columns in columns.windows(2) {
                let cell = TileBox {
                    rows: [rows[0], rows[1]],
                    columns: [columns[0], columns[1]],
                    ..TileBox::default()
                };
                let is_shared = self.shared.iter().any(|shared| shared.shared(&cell).is_some());
                pixels += if is_shared { cell.pixels() } else { 0 };
            }
        }
        pixels
    }

    /// Multiply-accumulates for pixels that a neighbour makes too.
    #[must_use]
    pub fn shared_macs(&self) -> u64 {
        let all = u128::from(self.own.pixels().max(1));
        let macs = u128::from(self.own.macs) * u128::from(self.shared_pixels()) / all;
        u64::try_from(macs).unwrap_or(u64::MAX)
    }
}

/// Of each map what a tile is made from, its own pixels included; nothing of maps that it is not made from.
#[must_use]
pub fn receptive_field(facts: &TilesFacts, spot: Spot) -> Vec<Option<Field>> {
    let field = |(map, is_part): (&TiledMap, bool)| {
        let own = *map.boxes.get(spot.tile).filter(|own| is_part && own.pixels() > 0)?;
        let others = beside(facts, spot.tile).filter_map(|other| map.boxes.get(other));
        Some(Field { own, shared: others.filter_map(|other| own.shared(other)).collect() })
    };
    facts.maps.iter().zip(ancestors(facts, spot.map)).map(field).collect()
}

/// Pixels of a map that more than one tile makes or reads; they may overlap.
#[must_use]
pub fn halo(facts: &TilesFacts, map: &TiledMap) -> Vec<TileBox> {
    let shared = |(tile, own): (usize, &TileBox)| {
        let others = beside(facts, tile).filter(move |other| *other > tile);
        let shared = others.filter_map(|other| own.shared(map.boxes.get(other)?));
        shared.collect::<Vec<_>>()
    };
    map.boxes.iter().enumerate().flat_map(shared).collect()
}

/// Where on a map the pointer means a tile: rows and columns to halfway between neighbours, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// From the first row to behind the last.
    pub rows: [f64; 2],
    /// From the first column to behind the last.
    pub columns: [f64; 2],
}

/// The cells of a map, tile by tile.
#[must_use]
pub fn cells(facts: &TilesFacts, map: &TiledMap) -> Vec<Cell> {
    let cell = |tile: usize| {
        let own = map.boxes.get(tile)?;
        let side = |of: fn(&TileBox) -> [u32; 2], ways: [Way; 2], size: u32| {
            let [before, behind] = ways.map(|way| {
                let other = stepped(facts, tile, way);
                map.boxes.get(other).filter(|_| other != tile).map(of)
            });
            let middle = |a: u32, b: u32| (f64::from(a) + f64::from(b)) / 2.0;
            let start = before.map_or(0.0, |before| middle(before[1], of(own)[0]));
            let end = behind.map_or(f64::from(size), |behind| middle(of(own)[1], behind[0]));
            [start, end.max(start)]
        };
        Some(Cell {
            rows: side(|b| b.rows, [Way::Up, Way::Down], map.rows),
            columns: side(|b| b.columns, [Way::Left, Way::Right], map.columns),
        })
    };
    (0..map.boxes.len()).filter_map(cell).collect()
}

/// Pixels of the screen for the longest side of the largest map, and the least that a map's longest side takes.
const LARGEST: f64 = 148.0;
const SMALLEST: f64 = 56.0;

/// How large a map is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Pixels of the screen for one of the map.
    pub pixel: f64,
    /// How much larger than the others, so that its tiles can be pointed at.
    pub times: u32,
}

/// How large each map is drawn: all to one scale, but for small ones, which are enlarged by powers of two.
#[must_use]
pub fn scales(facts: &TilesFacts) -> Vec<Scale> {
    let longest = |map: &TiledMap| f64::from(map.rows.max(map.columns).max(1));
    let largest = facts.maps.iter().map(longest).fold(1.0, f64::max);
    let scale = |map: &TiledMap| {
        let (mut times, one) = (1, LARGEST / largest);
        while longest(map) * one * f64::from(times) < SMALLEST {
            times *= 2;
        }
        Scale { pixel: one * f64::from(times), times }
    };
    facts.maps.iter().map(scale).collect()
}

/// Boxes as one path, in pixels of the screen: where they overlap they are filled once.
#[must_use]
pub fn path(boxes: &[TileBox], pixel: f64) -> String {
    let mut text = String::new();
    for TileBox { rows, columns, .. } in boxes {
        let [top, bottom, left, right] =
            [rows[0], rows[1], columns[0], columns[1]].map(|at| f64::from(at) * pixel);
        let [top, left] = [top, left].map(|at| figures::fixed(at, 2));
        let [bottom, right] = [bottom, right].map(|at| figures::fixed(at, 2));
        text.push_str(&format!("M{left} {top}H{right}V{bottom}H{left}Z"));
    }
    text
}

/// The first and the last of an interval, for people.
fn span([start, end]: [u32; 2]) -> String {
    match end.saturating_sub(start) {
        0 | 1 => start.to_string(),
        _ => format!("{start}–{}", end - 1),
    }
}

/// Rows and columns of a box, for people.
#[must_use]
pub fn place(own: &TileBox) -> String {
    format!("rows {}, columns {}", span(own.rows), span(own.columns))
}

/// The name of a map, for people.
#[must_use]
pub fn title(map: &TiledMap) -> String {
    match map.node {
        None => format!("Input: {}", short_name(&map.name)),
        Some(_) => short_name(&map.name).to_owned(),
    }
}

/// Bytes of some pixels of a map.
fn bytes_of(map: &TiledMap, own: &TileBox) -> u64 {
    own.pixels() * u64::from(map.channels) * u64::from(map.element_bytes)
}

/// What is said of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// Which tile of which layer.
    pub tile: String,
    /// Which pixels, and their bytes (counted).
    pub own: String,
    /// What it is made from at the region's input; empty if the tile is the input's.
    pub from: String,
    /// Multiply-accumulates on the way to it, and those that neighbours make again (counted).
    pub again: String,
}

/// What is said of a tile.
#[must_use]
pub fn caption(facts: &TilesFacts, spot: Spot) -> Option<Caption> {
    let map = facts.maps.get(spot.map)?;
    let fields = receptive_field(facts, spot);
    let own = &fields.get(spot.map)?.as_ref()?.own;
    let columns = facts.columns.max(1) as usize;
    let (row, column) = (spot.tile / columns + 1, spot.tile % columns + 1);
    let sides = [own.rows, own.columns].map(|[start, end]| end.saturating_sub(start));
    let shape = format!("{} × {} × {}", sides[0], sides[1], map.channels);
    let from = match (spot.map, facts.maps.first(), fields.first()) {
        (1.., Some(input), Some(Some(field))) => format!(
            "It is made from {} of the input, {}. {}",
            place(&field.own),
            figures::bytes(bytes_of(input, &field.own)),
            read_too(field)
        ),
        _ => String::new(),
    };
    let macs: u64 = fields.iter().flatten().map(|field| field.own.macs).sum();
    let again: u64 = fields.iter().flatten().map(Field::shared_macs).sum();
    let again = match (spot.map, macs) {
        (0, _) => match fields.first() {
            Some(Some(field)) => read_too(field),
            _ => String::new(),
        },
        (_, 0) => "No multiply-accumulates are made on the way to it.".to_owned(),
        (_, macs) => format!(
            "{} MACs lead to it; {} of them, {}, are for pixels that neighbours make too.",
            figures::grouped(macs),
            figures::grouped(again),
            figures::percent(again as f64, macs as f64)
        ),
    };
    Some(Caption {
        tile: format!("Tile {row}, {column} of {}", title(map)),
        own: format!("{}: {shape}, {}", place(own), figures::bytes(bytes_of(map, own))),
        from,
        again,
    })
}

/// How much of what a tile reads of the input neighbours read too.
fn read_too(field: &Field) -> String {
    let share = figures::percent(field.shared_pixels() as f64, field.own.pixels() as f64);
    format!("Neighbours read {share} of these pixels too.")
}

/// The region in a sentence or two.
#[must_use]
pub fn summary(facts: &TilesFacts, plan: &PlanFacts) -> String {
    let layers = facts.maps.iter().filter(|map| map.node.is_some());
    let (first, last) = (facts.maps.get(1), facts.maps.last());
    let names = match (first, last) {
        (Some(first), Some(last)) if first != last => {
            format!(": {} to {}", title(first), title(last))
        }
        (Some(only), _) => format!(": {}", title(only)),
        _ => String::new(),
    };
    let recomputed = plan.report.recomputed_macs;
    let once = plan.report.macs.saturating_sub(*recomputed);
    let again = match *recomputed {
        0 => "No pixel that takes multiply-accumulates is made twice.".to_owned(),
        macs => format!(
            "Tiles make {} MACs again, {} of those of the whole model.",
            figures::grouped(macs),
            figures::percent(macs as f64, once as f64)
        ),
    };
    let count = layers.count();
    let layers = if count == 1 { "layer is" } else { "layers are" };
    format!("{count} {layers} made in {} × {} tiles{names}. {again}", facts.rows, facts.columns)
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    /// Operator; empty for the input.
    pub op: String,
    /// Shape of the whole map.
    pub shape: String,
    /// Bytes of the whole map.
    pub bytes: u64,
    /// Bytes of the largest tile.
    pub largest: u64,
    /// Rows and columns of that.
    pub box_words: String,
    /// Multiply-accumulates, made once.
    pub macs: u64,
    /// Those that are made again.
    pub again: u64,
}

/// All maps of the region.
#[must_use]
pub fn rows(facts: &TilesFacts) -> Vec<Row> {
    let row = |map: &TiledMap| {
        let largest = map.boxes.iter().max_by_key(|own| own.pixels()).copied().unwrap_or_default();
        let whole = TileBox { rows: [0, map.rows], columns: [0, map.columns], macs: 0 };
        let side = |[start, end]: [u32; 2]| end.saturating_sub(start);
        Row {
            name: title(map),
            op: map.op.clone(),
            shape: figures::shape([map.rows, map.columns, map.channels]),
            bytes: bytes_of(map, &whole),
            largest: bytes_of(map, &largest),
            box_words: format!("{} × {}", side(largest.rows), side(largest.columns)),
            macs: map.macs,
            again: map.boxes.iter().map(|own| own.macs).sum::<u64>().saturating_sub(map.macs),
        }
    };
    facts.maps.iter().map(row).collect()
}

/// The plan's layer that makes a tile of a map.
#[must_use]
pub fn layer_of(facts: &TilesFacts, spot: Spot) -> Option<usize> {
    let copy = facts.maps.get(spot.map)?.copies.get(spot.tile)?;
    facts.nodes.iter().position(|nodes| nodes.contains(copy))
}

/// The tile of a map that a layer of the plan makes; where it makes several maps the last.
#[must_use]
pub fn spot_of(facts: &TilesFacts, layer: usize) -> Option<Spot> {
    let copy = facts.nodes.get(layer)?.last()?;
    facts.maps.iter().enumerate().find_map(|(map, made)| {
        let tile = made.copies.iter().position(|own| own == copy)?;
        Some(Spot { map, tile })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    const MIDDLE: Spot = Spot { map: 2, tile: 0 };

    #[test]
    fn a_tile_is_made_from_boxes_back_to_the_input() {
        let facts = fixture::tiles();
        let fields = receptive_field(&facts, MIDDLE);
        let field = |map: usize| fields[map].as_ref().unwrap();
        assert_eq!((field(2).own.rows, field(2).own.columns), ([0, 4], [0, 4]));
        assert!(field(2).shared.is_empty(), "the last layer's tiles do not overlap");
        assert_eq!((field(1).own.rows, field(1).own.columns), ([0, 5], [0, 5]));
        assert_eq!((field(0).own.rows, field(0).own.columns), ([0, 6], [0, 6]));
        // Neighbours make two of its rows and two of its columns too, and two more of each at the input.
        assert_eq!(field(1).shared_pixels(), 25 - 9);
        assert_eq!(field(0).shared_pixels(), 36 - 4);
        assert_eq!(field(1).shared_macs(), 25 * 9 * 16 / 25);
        let first = receptive_field(&facts, Spot { map: 1, tile: 3 });
        assert!(first[2].is_none(), "what is made from a tile is not lit");
        assert_eq!(first[0].as_ref().unwrap().own.rows, [2, 8]);
    }

    #[test]
    fn what_tiles_share_is_the_halo_and_macs_made_again_add_up() {
        let facts = fixture::tiles();
        assert!(halo(&facts, &facts.maps[2]).is_empty());
        let halo = halo(&facts, &facts.maps[1]);
        let field = Field { own: TileBox::default(), shared: halo };
        assert_eq!(field.shared_pixels(), 64 - 36, "two rows and two columns");
        let rows = rows(&facts);
        assert_eq!((rows[1].macs, rows[1].again), (64 * 9, 4 * 25 * 9 - 64 * 9));
        assert_eq!((rows[2].again, rows[0].largest, rows[0].bytes), (0, 36, 64));
        assert_eq!(rows[1].box_words, "5 × 5");
    }

    #[test]
    fn cells_cover_the_map_without_overlap() {
        let facts = fixture::tiles();
        for map in &facts.maps {
            let cells = cells(&facts, map);
            let area =
                |cell: &Cell| (cell.rows[1] - cell.rows[0]) * (cell.columns[1] - cell.columns[0]);
            assert_eq!(cells.iter().map(area).sum::<f64>(), 64.0);
            assert_eq!((cells[3].rows, cells[3].columns), ([4.0, 8.0], [4.0, 8.0]));
        }
    }

    #[test]
    fn keys_go_from_tile_to_tile_and_stop_at_the_edge() {
        let facts = fixture::tiles();
        let step = |tile, key| stepped(&facts, tile, Way::of_key(key).unwrap());
        assert_eq!([step(0, "ArrowRight"), step(0, "ArrowDown")], [1, 2]);
        assert_eq!([step(0, "ArrowUp"), step(3, "ArrowRight"), step(3, "ArrowLeft")], [0, 3, 2]);
        assert_eq!(Way::of_key("Tab"), None);
    }

    #[test]
    fn the_caption_says_rows_columns_bytes_and_what_is_made_again() {
        let caption = caption(&fixture::tiles(), MIDDLE).unwrap();
        assert_eq!(caption.tile, "Tile 1, 1 of second");
        assert!(caption.own.contains("rows 0–3, columns 0–3: 4 × 4 × 2, 32 B"), "{caption:?}");
        assert!(caption.from.contains("rows 0–5, columns 0–5 of the input, 36 B"), "{caption:?}");
        // 144 of the first layer's 225 and none of the second's 288.
        assert!(caption.again.contains("513 MACs lead to it; 144 of them"), "{caption:?}");
        let input = super::caption(&fixture::tiles(), Spot { map: 0, tile: 0 }).unwrap();
        assert!(
            input.from.is_empty()
                && input.again.contains("Neighbours read 89 % of these pixels too")
        );
    }

    #[test]
    fn small_maps_are_enlarged_and_plans_and_tiles_name_each_other() {
        let mut facts = fixture::tiles();
        assert!(scales(&facts).iter().all(|scale| scale.times == 1));
        facts.maps[0].rows = 64;
        let scales = scales(&facts);
        assert_eq!((scales[0].times, scales[1].times), (1, 4));
        let spot = Spot { map: 2, tile: 1 };
        let layer = layer_of(&facts, spot).unwrap();
        assert_eq!(spot_of(&facts, layer), Some(spot));
        assert_eq!(layer_of(&facts, Spot { map: 0, tile: 1 }), None);
    }

    #[test]
    fn the_region_is_told_in_a_sentence() {
        let mut plan = fixture::plan();
        (*plan.report.macs, *plan.report.recomputed_macs) = (1_100, 100);
        let text = summary(&fixture::tiles(), &plan);
        assert!(text.starts_with("2 layers are made in 2 × 2 tiles"), "{text}");
        assert!(text.contains("first to second") && text.contains("100 MACs again, 10"), "{text}");
    }
}
