use super::{Pools, tasks};
use crate::swapnn::graph::Graph;
use crate::swapnn::layers::{Operand, SwapLayer, Way, Window};
use crate::swapnn::schedule::{Run, schedule};
use crate::swapnn::tiles::{NoTile, Tiling, least};
use tilewright_plan::Bytes;
use tilewright_planner::card_bound;
use tilewright_planner::simulate::Transfers;
use tilewright_report::SliceKind;

const KB: u64 = 1000;

struct Chain(Vec<SwapLayer>, [u32; 3]);

impl Chain {
    fn new(input: [u32; 3]) -> Self {
        Self(Vec::new(), input)
    }

    fn push(mut self, output: [u32; 3], way: Way, weights: u64, cycles: u64) -> Self {
        let producer = self.0.len().checked_sub(1);
        self.0.push(SwapLayer {
            layer: self.0.len() as u16,
            name: format!("layer {}", self.0.len()),
            operands: vec![Operand { producer, shape: self.1 }],
            output,
            way,
            weights,
            cycles,
        });
        self.1 = output;
        self
    }

    fn window(self, channels: u32, size: u32, stride: u32, padding: u32, weights: u64) -> Self {
        let [height, width, _] = self.1;
        let side = |input: u32| (input + 2 * padding - size) / stride + 1;
        let output = [side(height), side(width), channels];
        let (size, stride) = ([size; 2], [stride; 2]);
        let macs = u64::from(output[0]) * u64::from(output[1]) * weights.max(1);
        self.push(output, Way::Squares(Window { size, stride }), weights, macs)
    }

    fn conv(self, channels: u32) -> Self {
        let weights = 9 * u64::from(self.1[2]) * u64::from(channels);
        self.window(channels, 3, 1, 1, weights)
    }

    fn pool(self) -> Self {
        let channels = self.1[2];
        self.window(channels, 2, 2, 0, 0)
    }

    fn dense(self, outputs: u32) -> Self {
        let weights = self.1.map(u64::from).iter().product::<u64>() * u64::from(outputs);
        self.push([1, 1, outputs], Way::Whole, weights, weights)
    }

    fn vgg16() -> Self {
        let mut chain = Self::new([224, 224, 3]);
        for (convolutions, channels) in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)] {
            for _ in 0..convolutions {
                chain = chain.conv(channels);
            }
            chain = chain.pool();
        }
        chain.dense(4096).dense(4096).dense(1000)
    }

    fn tilings(&self, buffer: u64) -> Result<Vec<Tiling>, NoTile> {
        self.0.iter().map(|layer| Tiling::of(layer, buffer)).collect()
    }
}

fn run(chain: &Chain, pools: &Pools, frames: u32) -> Run {
    let board = tilewright_board::find("paper-swapnn-8m").unwrap();
    let card = tilewright_board::find_card("paper-swapnn").unwrap();
    let tilings = chain.tilings(pools.buffer.0).unwrap();
    let graph = Graph::of(&chain.0, &tilings, pools);
    schedule(&graph, pools, &Transfers::new(&board, Some(&card)), frames)
}

#[test]
fn vgg16_has_as_many_io_tasks_as_the_reading_of_the_paper_gives() {
    // The paper prints 85,024 and 2,248.
    let chain = Chain::vgg16();
    let count = |buffer: u64| tasks(&chain.0, &chain.tilings(buffer).unwrap(), buffer)[0];
    assert_eq!([16, 32, 64, 128].map(|kb| count(kb * KB)), [70_596, 16_845, 5_522, 2_282]);
}

#[test]
fn pools_are_a_quarter_half_and_a_quarter() {
    let pools = |sram: u64, buffer: u64| Pools::new(Bytes(sram), Bytes(buffer));
    let of = |pools: Pools| (pools.inputs, pools.weights, pools.outputs);
    assert_eq!(pools(512 << 10, 128 * KB).map(of), Some((1, 2, 1)));
    assert_eq!(pools(8 << 20, 128 * KB).map(of), Some((16, 33, 16)));
    assert_eq!(pools(500 * KB, 128 * KB), None);
    assert_eq!(pools(500 * KB, 0), None);
}

#[test]
fn a_layer_that_no_buffer_holds_is_named_with_the_buffer_that_would() {
    let chain = Chain::new([8, 8, 3]).conv(2000).dense(10);
    let missing = chain.tilings(1500).unwrap_err();
    assert_eq!(missing, NoTile { layer: "layer 0".to_owned(), buffer: Bytes(2000) });
    assert!(chain.tilings(2000).is_ok());
    assert_eq!(least(&chain.0), missing);
}

#[test]
fn a_layer_waits_for_all_of_the_layers_that_it_reads() {
    let mut chain = Chain::new([8, 8, 1]).conv(1).conv(1).pool();
    // The last reads the first too.
    chain.0[2].operands.push(Operand { producer: Some(0), shape: [8, 8, 1] });
    let pools = Pools::new(Bytes(4 * 36), Bytes(36)).unwrap();
    let graph = Graph::of(&chain.0, &chain.tilings(36).unwrap(), &pools);
    assert_eq!(graph.counts, [4, 4, 4]);
    let waits: Vec<u32> = graph.tiles.iter().map(|tile| tile.waits_for).collect();
    assert_eq!(waits, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(graph.dependants[0], [4..8, 8..12]);
    assert_eq!(graph.dependants[1], std::slice::from_ref(&(8..12)));
    assert!(graph.dependants[2].is_empty());
    // Tiles of 4x4 with weights of one pass: all of the layer's time and output, shared out.
    let of_layer = |of: u32| graph.tiles.iter().filter(move |tile| tile.of == of);
    assert_eq!(of_layer(1).map(|tile| tile.cycles).sum::<u64>(), chain.0[1].cycles);
    assert!(of_layer(1).all(|tile| tile.output == 16));
}

#[test]
fn a_single_buffer_of_each_kind_leaves_weights_to_overlap_only() {
    // One tile: its input, then two weight tiles; the first is computed while the second is read.
    let chain = Chain::new([1, 1, 100]).push([1, 1, 100], Way::Whole, 200, 2_000_000);
    let pools = Pools::new(Bytes(400), Bytes(100)).unwrap();
    let done = run(&chain, &pools, 1);
    let task = 125_280 + 4_320;
    assert_eq!((done.io, done.compute), (4 * task, 2_000_000));
    assert_eq!(done.end, 2 * task + 2_000_000 + task);
}

#[test]
fn every_task_runs_once_and_lanes_run_one_task_at_a_time() {
    let mut numbers = fastrand::Rng::with_seed(0);
    for _ in 0..200 {
        let side = numbers.u32(4..20);
        let mut chain = Chain::new([side, side, 3]);
        for _ in 0..numbers.usize(1..7) {
            let (channels, stride) = (numbers.u32(1..40), numbers.u32(1..3));
            chain = match numbers.u32(0..3) {
                0 => chain.dense(channels),
                1 if chain.1[0] >= 2 => chain.pool(),
                _ => {
                    let size = numbers.u32(1..4).min(chain.1[0]);
                    let weights = u64::from(channels * size * size * chain.1[2]);
                    chain.window(channels, size, stride, 0, weights)
                }
            };
        }
        check(&chain, numbers.u64(300..3000), numbers.u64(4..20), numbers.u32(1..5));
    }
}

fn check(chain: &Chain, buffer: u64, buffers: u64, frames: u32) {
    let pools = Pools::new(Bytes(buffer * buffers), Bytes(buffer)).unwrap();
    let least = least(&chain.0).buffer.0;
    assert!(chain.tilings(least).is_ok(), "{least} does");
    assert!(least == 1 || chain.tilings(least - 1).is_err(), "{least} is not the least");
    let tilings = chain.tilings(buffer).unwrap();
    let [io, compute] = tasks(&chain.0, &tilings, buffer);
    let done = run(chain, &pools, frames);
    let of = |lane: u8, kind| done.slices.iter().filter(move |s| (s.lane, s.kind) == (lane, kind));
    assert_eq!(of(1, SliceKind::Copy).count() as u64, io * u64::from(frames));
    assert_eq!(of(0, SliceKind::Compute).count() as u64, compute * u64::from(frames));
    for pair in done.slices.windows(2).filter(|pair| pair[0].lane == pair[1].lane) {
        assert_eq!(pair[0].end, pair[1].start);
    }
    let cycles: u64 = chain.0.iter().map(|layer| layer.cycles).sum();
    assert_eq!(done.compute, cycles * u64::from(frames));
    let board = tilewright_board::find("paper-swapnn-8m").unwrap();
    let card = tilewright_board::find_card("paper-swapnn").unwrap();
    let layers: Vec<[u64; 2]> = chain.0.iter().map(|l| [l.weights, l.cycles]).collect();
    let input = chain.0[0].operands[0].shape.map(u64::from).iter().product();
    let least = card_bound(&layers, input, &board, &card, Bytes(buffer * buffers), frames);
    assert!(least.0 <= done.end, "{} > {}", least.0, done.end);
}
