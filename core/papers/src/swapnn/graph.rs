//! The task graph of one frame (SwapNN, 3.2): tiles with the tasks that read, compute and write them.
//!
//! A tile's tasks depend on each other in a fixed way (input, then weights; each weight tile and the
//! input, then its compute task; all compute tasks, then the write), and a layer's tiles wait for all
//! tiles of the layers that it reads. So only edges from layers to layers are kept. All frames share
//! the graph.

use super::layers::SwapLayer;
use super::swap::Pools;
use super::tiles::{Tiling, pixels};

/// An output tile with all that is done for it.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Layer (position in the plan's order).
    pub layer: u16,
    /// Index among the layers of swapping.
    pub of: u32,
    /// Bytes and tasks of each operand's input tile.
    pub inputs: Vec<(u64, u64)>,
    /// Buffers that its input takes.
    pub input_buffers: u32,
    /// Bytes of all weight tiles together.
    pub weights: u64,
    pub weight_tiles: u64,
    /// Cycles of all compute tasks together.
    pub cycles: u64,
    /// Bytes of the output tile.
    pub output: u64,
    /// In-degree: layers that its read waits for.
    pub waits_for: u32,
}

/// The tiles of one frame, in the order of the layers.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub tiles: Vec<Tile>,
    /// For each layer of swapping its number of tiles.
    pub counts: Vec<u32>,
    /// For each layer of swapping the ranges of tiles that wait for all of it.
    pub dependants: Vec<Vec<std::ops::Range<u32>>>,
}

impl Graph {
    /// The graph of layers that are cut in this way.
    pub fn of(layers: &[SwapLayer], tilings: &[Tiling], pools: &Pools) -> Self {
        let mut graph = Self { dependants: vec![Vec::new(); layers.len()], ..Self::default() };
        for (of, (layer, tiling)) in layers.iter().zip(tilings).enumerate() {
            let first = graph.tiles.len();
            graph.counts.push(tiling.tiles() as u32);
            graph.add_tiles(of as u32, layer, tiling, pools);
            for producer in layer.operands.iter().filter_map(|operand| operand.producer) {
                graph.dependants[producer].push(first as u32..graph.tiles.len() as u32);
                for tile in &mut graph.tiles[first..] {
                    tile.waits_for += 1;
                }
            }
        }
        graph
    }

    fn add_tiles(&mut self, of: u32, layer: &SwapLayer, tiling: &Tiling, pools: &Pools) {
        let [rows, columns, channels] = layer.output;
        let input: u64 = tiling.inputs.iter().map(|(bytes, _)| bytes).sum();
        let buffers = input.div_ceil(pools.buffer.0).clamp(1, u64::from(pools.inputs));
        let all = tiling.tiles();
        let volume = pixels([rows, columns]) * u64::from(channels);
        let mut before = 0;
        for number in 0..all {
            let at = [number / u64::from(tiling.grid[1]), number % u64::from(tiling.grid[1])];
            let side = |axis: usize, whole: u32| {
                let start = at[axis] * u64::from(tiling.size[axis]);
                u64::from(tiling.size[axis]).min(u64::from(whole).saturating_sub(start))
            };
            // Runs share what there is; squares have what lies in them.
            let after = if tiling.is_square {
                before + side(0, rows) * side(1, columns) * u64::from(channels)
            } else {
                let part = u128::from(volume) * u128::from(number + 1) / u128::from(all);
                u64::try_from(part).unwrap_or(u64::MAX)
            };
            let share = |bytes: u64| {
                let part = u128::from(layer.cycles) * u128::from(bytes) / u128::from(volume.max(1));
                u64::try_from(part).unwrap_or(u64::MAX)
            };
            self.tiles.push(Tile {
                layer: layer.layer,
                of,
                inputs: tiling.inputs.clone(),
                input_buffers: buffers as u32,
                weights: layer.weights,
                weight_tiles: layer.weights.div_ceil(pools.buffer.0),
                cycles: share(after) - share(before),
                output: after - before,
                waits_for: 0,
            });
            before = after;
        }
    }
}
