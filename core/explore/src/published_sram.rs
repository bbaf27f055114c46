//! SRAM as Cipolletta and Calimera count it: of layers one by one, their operands and results; of a region in tiles its
//! input and output whole, and the largest sum of live tensors of a tile.

use tilewright_model::tiling::{self, Tiled};
use tilewright_model::{Model, Node, TensorId};

/// Bytes with all layers whole.
pub fn whole(model: &Model) -> u64 {
    tiling::active_bytes(model).into_iter().max().unwrap_or(0)
}

/// Bytes with a region in tiles.
pub fn in_tiles(model: &Model, tiled: &Tiled) -> u64 {
    let active = tiling::active_bytes(model).into_iter().enumerate();
    let others = active.filter(|(node, _)| !tiled.region.nodes.contains(node));
    let outside = others.map(|(_, bytes)| bytes).max().unwrap_or(0);
    region(model, tiled).max(outside)
}

fn region(model: &Model, tiled: &Tiled) -> u64 {
    let bytes = |model: &Model, id: TensorId| model.tensor(id).bytes().unwrap_or(0) as u64;
    let region = &tiled.region;
    let ends = bytes(model, region.input) + bytes(model, region.output);
    // What a tile makes, but for what is joined: a part of the region's output.
    let nodes = || tiled.model.nodes.iter().zip(&tiled.origins).enumerate();
    let is_inside = |origin: &Option<usize>| origin.is_some_and(|o| region.nodes.contains(&o));
    let last = region.nodes.clone().find(|node| model.nodes[*node].outputs == [region.output]);
    let mut lives: Vec<(u64, usize, usize)> = Vec::new();
    for (position, (node, origin)) in nodes() {
        if is_inside(origin) && *origin != last {
            let reads = |other: &Node| node.outputs.iter().any(|made| other.inputs.contains(made));
            let end = nodes().filter(|(_, (other, _))| reads(other)).map(|(at, _)| at).max();
            let size = node.outputs.iter().map(|made| bytes(&tiled.model, *made)).sum();
            lives.push((size, position, end.unwrap_or(position)));
        }
    }
    let live = |(position, _)| -> u64 {
        let here = lives.iter().filter(|(_, from, to)| *from <= position && position <= *to);
        here.map(|(size, ..)| *size).sum()
    };
    ends + nodes().map(live).max().unwrap_or(0)
}
