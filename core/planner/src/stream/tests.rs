use super::*;
use crate::costs::Cost;
use crate::simulate::simulate;
use crate::swap::layers::{Operand, Way, Window};
use proptest::prelude::*;
use tilewright_report::{LayerHeld, SliceKind};

/// Layers that read each other.
struct Graph(Vec<SwapLayer>, [u32; 3]);

impl Graph {
    fn new(input: [u32; 3]) -> Self {
        Self(Vec::new(), input)
    }

    /// The last output and its layer.
    fn last(&self) -> Operand {
        let shape = self.0.last().map_or(self.1, |layer| layer.output);
        Operand { producer: self.0.len().checked_sub(1), shape }
    }

    fn push(mut self, operands: Vec<Operand>, output: [u32; 3], way: Way, weights: u64) -> Self {
        let pixels = u64::from(output[0]) * u64::from(output[1]);
        let results = pixels * u64::from(output[2]);
        self.0.push(SwapLayer {
            layer: self.0.len() as u16,
            name: format!("layer {}", self.0.len()),
            operands,
            output,
            way,
            weights,
            cycles: pixels * weights + 3 * results + 7,
            is_given: false,
        });
        self
    }

    fn window(self, channels: u32, size: u32, stride: u32, weighs: bool) -> Self {
        let input = self.last();
        let side = |side: u32| side.div_ceil(stride);
        let output = [side(input.shape[0]), side(input.shape[1]), channels];
        let padding = [(size - 1) / 2; 2];
        let weights = u64::from(size * size * channels * input.shape[2]) * u64::from(weighs);
        let window = Window { size: [size; 2], stride: [stride; 2], padding };
        self.push(vec![input], output, Way::Squares(window), weights)
    }

    fn dense(self, outputs: u32) -> Self {
        let input = self.last();
        let weights = super::network::volume(input.shape) * u64::from(outputs);
        self.push(vec![input], [1, 1, outputs], Way::Whole, weights)
    }

    /// The last output and one of the same shape before it, added.
    fn add(self, back: usize) -> Self {
        let last = self.last();
        let layers = self.0.iter().enumerate().rev().skip(1);
        let same = layers.filter(|(_, layer)| layer.output == last.shape);
        let Some((producer, _)) = same.take(back + 1).last() else { return self };
        let other = Operand { producer: Some(producer), shape: last.shape };
        let window = Window { size: [1; 2], stride: [1; 2], padding: [0; 2] };
        self.push(vec![last, other], last.shape, Way::Squares(window), 0)
    }

    fn stream(mut self, sram: u64, frames: u32) -> Result<Streamed, NotStreamed> {
        if let Some(last) = self.0.last_mut() {
            last.is_given = true;
        }
        let board = tilewright_board::find("paper-swapnn-8m").unwrap();
        let options = Options {
            sram: Some(Bytes(sram)),
            frames: frames.try_into().unwrap(),
            ..Options::default()
        };
        of_layers(self.0, &board, &options)
    }
}

/// Start and end of each step, in the core's and the card's lane.
fn times(slices: &[Slice]) -> [Vec<[u64; 2]>; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for slice in slices.iter().filter(|slice| slice.kind != SliceKind::Stall) {
        let lane: &mut Vec<[u64; 2]> = &mut times[usize::from(slice.lane)];
        assert_eq!(lane.len(), slice.step as usize, "steps run in their order");
        lane.push([slice.start.0, slice.end.0]);
    }
    times
}

/// Nothing is used before it has come, and nothing is overwritten while it is needed.
fn holds(made: &Streamed, slices: &[Slice]) {
    let [core, card] = times(slices);
    let steps = made.program.lanes.iter().map(|lane| lane.steps.len());
    assert!(steps.eq([core.len(), card.len()]), "every step runs");
    for [load, first] in &made.arrivals {
        let (came, used) = (card[*load as usize][1], core[*first as usize][0]);
        assert!(came <= used, "step {first} runs at {used}, before {came}");
    }
    let life = |used: &Use| {
        let before = used.from.checked_sub(1).map_or(0, |step| core[step as usize][1]);
        let start = used.load.map_or(before, |load| card[load as usize][0]);
        (start, core[used.last as usize][1])
    };
    // Places do not meet, so that at no time more is kept than there is.
    let peak = made.occupancy.peak();
    assert!(peak <= made.peak.0 && (peak > 0) == (made.end.0 > 0), "{peak} of {}", made.peak.0);
    let most = made.held.iter().map(LayerHeld::total).max();
    assert_eq!(most.unwrap_or(0), peak, "the core computes at every time, or waits");
    let last = made.occupancy.changes().last().map(|last| last.bytes);
    assert_eq!(last.unwrap_or_default(), [0; 3], "in the end nothing is kept");
    for (index, one) in made.uses.iter().enumerate() {
        assert!(one.end <= made.peak.0);
        for other in &made.uses[..index] {
            if one.start < other.end && other.start < one.end {
                let (a, b) = (life(one), life(other));
                assert!(a.1 <= b.0 || b.1 <= a.0, "{one:?} {a:?} meets {other:?} {b:?}");
            }
        }
    }
}

/// The schedule with durations that are up to 30 % longer or shorter.
fn otherwise(made: &Streamed, mut seed: u64) -> Vec<Slice> {
    let [core, card] = times(&made.slices);
    let costs: Vec<Vec<u64>> = [core, card]
        .into_iter()
        .map(|lane| {
            let mut vary = |[start, end]: [u64; 2]| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (end - start) * (70 + (seed >> 33) % 61) / 100
            };
            lane.into_iter().map(&mut vary).collect()
        })
        .collect();
    simulate(
        &made.program,
        1,
        &|lane: usize, step: usize| {
            (Cost { instructions: 0, cycles: Cycles(costs[lane][step]) }, 0)
        },
        &Stop::default(),
    )
    .unwrap()
}

#[test]
fn weights_come_while_the_core_computes_and_activations_stay() {
    let net = Graph::new([16, 16, 8]).window(16, 3, 1, true).window(16, 3, 1, true).dense(10);
    let made = net.stream(20_000, 1).unwrap();
    assert_eq!(made.written, Bytes(0));
    // Whole blocks: 2,048 of the input, perhaps in strips; 1,152, 2,304 and 40,960 of weights.
    let least = 2048 + 1536 + 2560 + 40_960;
    assert!((least..least + 2048).contains(&made.read.0), "{}", made.read.0);
    assert!(made.end >= made.bound);
}

#[test]
fn what_sram_cannot_hold_goes_through_in_strips() {
    // 64 KiB between the two: rows of it are enough, and nothing is written.
    let net = || Graph::new([64, 64, 4]).window(16, 3, 1, true).window(4, 3, 2, true);
    let made = net().stream(24_000, 1).unwrap();
    assert_eq!(made.written, Bytes(0));
    assert!(made.peak.0 <= 24_000);
    holds(&made, &made.slices);
}

#[test]
fn the_last_layers_take_frames_together() {
    let net = || Graph::new([8, 8, 16]).window(64, 3, 1, true).window(16, 3, 2, true).dense(2000);
    let one = net().stream(40_000, 1).unwrap();
    let ten = net().stream(40_000, 10).unwrap();
    assert!(ten.together > 1);
    assert!(ten.end.0 < 8 * one.end.0, "{} {}", ten.end.0, one.end.0);
    assert!(ten.read.0 < 4 * one.read.0);
}

#[test]
fn too_little_sram_names_the_layer() {
    let net = Graph::new([8, 8, 16]).window(64, 3, 1, true).window(2000, 3, 2, true);
    let NotStreamed::TooSmall(layer, bytes) = net.stream(2000, 1).unwrap_err() else {
        panic!("it is SRAM that is missing");
    };
    assert_eq!(layer, "layer 1");
    // Three rows of its input, a row of its output, a filter.
    assert_eq!(bytes, Bytes(3 * 8 * 64 + 4 * 2000 + 9 * 64));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_schedule_is_sound_whatever_its_durations(
        layers in proptest::collection::vec((1u32..40, 1u32..4, 1u32..3, 0u32..6), 1..9),
        side in 1u32..40,
        sram in 1_000u64..60_000,
        frames in 1u32..7,
        seed in any::<u64>(),
    ) {
        let mut net = Graph::new([side, side, 3]);
        for (channels, size, stride, kind) in layers {
            net = match kind {
                0 => net.dense(channels),
                1 => {
                    let channels = net.last().shape[2];
                    net.window(channels, 2, 2, false)
                }
                2 => net.add(size as usize),
                _ => net.window(channels, size, stride, true),
            };
        }
        let cycles: u64 = net.0.iter().map(|layer| layer.cycles).sum();
        match net.stream(sram, frames) {
            Err(NotStreamed::Error(error)) => return Err(TestCaseError::fail(error.to_string())),
            Err(NotStreamed::TooSmall(..)) => {}
            Ok(made) => {
                prop_assert!(made.peak.0 <= sram);
                prop_assert!(made.bound <= made.end, "{} > {}", made.bound.0, made.end.0);
                prop_assert!(made.least <= made.peak);
                let of_core = made.slices.iter().filter(|s| s.kind == SliceKind::Compute);
                let computed: Cycles = of_core.map(|slice| slice.end.since(slice.start)).sum();
                prop_assert_eq!(computed.0, cycles * u64::from(frames));
                holds(&made, &made.slices);
                holds(&made, &otherwise(&made, seed));
            }
        }
    }
}
