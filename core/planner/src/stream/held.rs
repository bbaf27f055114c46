//! What of SRAM a streamed network keeps over time. A place counts from when it is free for what lies
//! there, weights from when they begin to come, to the end of the last step that needs it.

use super::network::Network;
use super::{Part, Use};
use tilewright_plan::CyclePoint;
use tilewright_report::{Held, LayerHeld, Occupancy, Slice};

impl Part {
    const fn held(self) -> Held {
        match self {
            Self::Operand | Self::Output => Held::Inputs,
            Self::Weights => Held::Weights,
            Self::Result => Held::Results,
        }
    }
}

/// What is kept over time, and for each layer of the plan when most is while the core has a step of it.
pub fn held(uses: &[Use], slices: &[Slice], network: &Network) -> (Occupancy, Vec<LayerHeld>) {
    let mut times = [Vec::new(), Vec::new()];
    for slice in slices.iter().filter(|slice| slice.kind.works()) {
        times[usize::from(slice.lane)].push((slice.start, slice.end, slice.layer));
    }
    let [core, card] = times;
    let at = |lane: &[(CyclePoint, CyclePoint, u16)], step: u32| lane.get(step as usize).copied();
    // When, which use, and whether it is taken or given back: what is given back at a time goes first.
    let mut changes: Vec<(CyclePoint, bool, usize)> = Vec::with_capacity(2 * uses.len());
    for (number, used) in uses.iter().enumerate() {
        let before = used.from.checked_sub(1).and_then(|step| at(&core, step));
        let free = before.map_or(CyclePoint(0), |(_, end, _)| end);
        let load = used.load.and_then(|load| at(&card, load));
        let since = load.map_or(free, |(start, _, _)| start);
        let Some((_, until, _)) = at(&core, used.last) else { continue };
        if since < until {
            changes.push((since, true, number));
            changes.push((until, false, number));
        }
    }
    changes.sort_unstable();
    let layers = network.layers.iter().map(|layer| usize::from(layer.layer) + 1).max().unwrap_or(0);
    let mut kept =
        Kept { bytes: [0; 3], layers: vec![[0; 4]; layers], reads: vec![Vec::new(); layers] };
    for layer in &network.layers {
        let read = layer.operands.iter().filter_map(|operand| operand.producer);
        let read = read.map(|producer| usize::from(network.layers[producer].layer));
        kept.reads[usize::from(layer.layer)] = read.collect();
    }
    let mut occupancy = Occupancy::default();
    let mut most = vec![LayerHeld::default(); layers];
    let (mut step, mut next) = (0, 0);
    // Between two changes all is as it is; steps of the core that run meanwhile see that.
    while let Some((now, ..)) = changes.get(next).copied() {
        while let Some((_, is_taken, number)) = changes.get(next).filter(|change| change.0 == now) {
            kept.change(&uses[*number], *is_taken);
            next += 1;
        }
        occupancy.note(now, kept.bytes);
        let until = changes.get(next).map_or(now, |(at, ..)| *at);
        while core.get(step).is_some_and(|(_, end, _)| *end <= now) {
            step += 1;
        }
        let meanwhile = core[step..].iter().take_while(|(start, ..)| *start < until);
        for (_, _, layer) in meanwhile {
            let most = &mut most[usize::from(*layer)];
            if kept.bytes.iter().sum::<u64>() > most.total() {
                *most = kept.at(usize::from(*layer));
            }
        }
    }
    (occupancy, most)
}

/// What is kept at a time.
struct Kept {
    /// Of each of [`Held::ALL`].
    bytes: [u64; 3],
    /// For each layer of the plan of each [`Part`].
    layers: Vec<[u64; 4]>,
    /// The layers whose outputs each layer reads.
    reads: Vec<Vec<usize>>,
}

impl Kept {
    fn change(&mut self, used: &Use, is_taken: bool) {
        let (layer, part) = used.of;
        let bytes = used.end - used.start;
        let counts = [
            self.bytes.get_mut(part.held() as usize),
            self.layers.get_mut(usize::from(layer)).map(|parts| &mut parts[part as usize]),
        ];
        for count in counts.into_iter().flatten() {
            *count = if is_taken { *count + bytes } else { count.saturating_sub(bytes) };
        }
    }

    /// What is kept for a layer, and for others.
    fn at(&self, layer: usize) -> LayerHeld {
        let made = |layer: usize| {
            let parts = &self.layers[layer];
            parts[Part::Output as usize] + parts[Part::Result as usize]
        };
        let read = self.reads[layer].iter().map(|producer| made(*producer)).sum::<u64>();
        let parts = &self.layers[layer];
        let own =
            [parts[Part::Operand as usize] + read, parts[Part::Weights as usize], made(layer)];
        let all: u64 = self.bytes.iter().sum();
        LayerHeld { own, others: all.saturating_sub(own.iter().sum()) }
    }
}
