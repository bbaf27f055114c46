//! Spilling: activations in SRAM, but for those that do not fit. They lie in external RAM, from where tiles of
//! them are overlaid.
//!
//! Which leave is chosen greedily: the tensor that lowers what is too much most for its bytes, until
//! the others fit. Layers write over what they read only where they must, since additions do so in pieces, and
//! in rows where rows cost little: not depthwise layers, which prepare filters for each. Weights stay in the chip's
//! flash as far as they fit there, by an [order](First) of layers; of the layer that ends it as many filters as
//! fit, used by turns with the others. The plan is one for [`overlay`](super::overlay) to rewrite.

use super::Strategy;
use super::external::{self, LINE};
use super::overlay::partition::TileSizes;
use super::overlay::{self, Beside, Overlaid};
use crate::aliasing::{self, Aliasing, Arranged, Given, Parts, Savings};
use crate::lower::{self, InImage, Layer};
use crate::narrow::narrow;
use crate::planning::described;
use crate::recipe::Made;
use crate::static_layout::{Heights, StaticLayout};
use crate::{Options, PlanError, Planned, Stop};
use tilewright_allocate::{Buffer, PLANNING_BUDGET};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, PlannedTensor, Space};

/// The aliasing of tensors in SRAM.
const ALIASING: Aliasing =
    Aliasing { parts: false, slices: false, in_place: true, rows: true, copied: Vec::new() };

/// Placements that are tried, each of less, until one fits.
const TRIES: usize = 6;

/// A network's layers with what they need in SRAM.
pub struct Spiller {
    layers: Vec<Layer>,
    tensors: Vec<PlannedTensor>,
    /// Of each layer the bytes that its output and what it reads can have in common.
    saved: Vec<Savings>,
    /// Of each layer the tensors that it reads and writes.
    used: Vec<Vec<usize>>,
    /// Of each layer the bytes of its weights, its MACs, and its output channels.
    weights: Vec<u64>,
    macs: Vec<u64>,
    channels: Vec<u32>,
}

/// Which layers' weights lie in the chip's flash, if it does not hold all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The smallest first: so the fewest layers wait for copies.
    Smallest,
    /// Those with the fewest MACs for each byte first, which would be used sooner than they come.
    Idlest,
}

/// What SRAM and flash hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Bytes of SRAM for activations.
    pub room: Bytes,
    /// All of SRAM.
    pub sram: Bytes,
    /// Bytes of the chip's flash for weights.
    pub flash: Bytes,
    /// Whose weights lie there.
    pub first: First,
    /// Whether what only layers use for which nothing need be brought comes back: these have all of SRAM.
    pub back: bool,
}

impl Spiller {
    /// The layers of a model, in its order.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        let layers = lower::layers(model);
        let tensors = lower::tensors(model, &layers)?;
        let mut saved = aliasing::savings(model, &layers, &Parts::none())?;
        for (layer, saved) in layers.iter().zip(&mut saved) {
            if layer.work.prepares_filters() {
                saved.in_rows = 0;
            }
        }
        let draft = lower::draft(model, &layers, &Parts::none(), tensors.clone())?;
        let used = draft.layers.iter().map(|layer| {
            layer.reads.iter().chain(&layer.writes).map(|tensor| *tensor as usize).collect()
        });
        let used = used.collect();
        let weights = layers.iter().map(|layer| model.constant_bytes(&model.nodes[layer.node.0]));
        let weights = weights.collect();
        let macs = draft.layers.iter().map(|layer| layer.macs).collect();
        let channels = layers.iter().map(|layer| {
            let shape = layer.writes.first().map(|output| model.tensor(*output).shape.dims());
            shape.and_then(<[usize]>::last).map_or(0, |channels| narrow(*channels))
        });
        let channels = channels.collect();
        Ok(Self { layers, tensors, saved, used, weights, macs, channels })
    }

    /// The plan whose activations in SRAM take no more than their room; nothing if none was found. Of the weights outside
    /// of the chip's flash, layers whose weights fill more than half of the rest of SRAM share nothing, so that they can
    /// be made in parts.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is, or says that nobody waits any more.
    pub fn plan(
        &self,
        model: &Model,
        board: &Board,
        &Spill { room, sram: budget, flash, first, back }: &Spill,
        stop: &Stop,
    ) -> Result<Option<Made>, PlanError> {
        let (room, most) = (room.0, budget.0.saturating_sub(room.0) / 2);
        let in_image = self.in_image(flash.0, first, budget.0);
        let is_apart = |layer: usize| match in_image[layer] {
            InImage::All => false,
            InImage::Nothing => self.weights[layer] > most,
            InImage::Filters { .. } => true,
        };
        let mut wanted = room;
        for _ in 0..TRIES {
            let (mut outside, mut live) = self.outside(wanted, &is_apart, stop)?;
            let is_all_inside = |layer: usize| in_image[layer] == InImage::All;
            if back && !self.bring_back((&mut outside, &mut live), budget.0, &is_all_inside) {
                return Ok(None);
            }
            let has_all = |layer: usize| {
                back && is_all_inside(layer) && self.used[layer].iter().all(|t| !outside[*t])
            };
            let shares = |layer: usize| {
                let Savings { in_place, in_rows } = self.saved[layer];
                let most = if has_all(layer) { budget.0 } else { wanted };
                let is_cheap =
                    (in_place > 0 || in_rows > 0 && !is_apart(layer)) && live[layer] > most;
                is_cheap && self.used[layer].iter().all(|tensor| !outside[*tensor])
            };
            let is_outside = |tensor: usize| outside[tensor];
            let given = Given { is_elsewhere: &is_outside, ..Given::NOTHING };
            let work = PLANNING_BUDGET / 8;
            let arranged =
                aliasing::arrange_given(model, &self.layers, &ALIASING, (&shares, given), work)?;
            let top = |layer: usize| {
                let lives =
                    |tensor: &&PlannedTensor| life(tensor, self.layers.len()).contains(&layer);
                let inside = arranged.tensors.iter().enumerate();
                let inside = inside.filter(|(number, _)| !outside[*number]).map(|(_, t)| t);
                inside.filter(lives).map(|t| t.offset + t.bytes.0).max().unwrap_or(0)
            };
            let height = match back {
                false => arranged.height.0,
                true => {
                    let moving = (0..self.layers.len()).filter(|layer| !has_all(*layer));
                    let over = arranged.height.0.saturating_sub(budget.0);
                    moving.map(top).max().unwrap_or(0).max(room + over)
                }
            };
            if height <= room {
                return self.lowered(model, board, arranged, (&outside, &in_image)).map(Some);
            }
            wanted = wanted.saturating_sub(height - room);
        }
        Ok(None)
    }

    /// What of each layer's weights lies in `flash` bytes; the other filters of the layer that ends it come
    /// in parts, each three eighths of what its tensors leave of `budget` bytes.
    fn in_image(&self, flash: u64, first: First, budget: u64) -> Vec<InImage> {
        let mut order: Vec<usize> =
            (0..self.weights.len()).filter(|layer| self.weights[*layer] > 0).collect();
        match first {
            First::Smallest => order.sort_by_key(|layer| (self.weights[*layer], *layer)),
            First::Idlest => order.sort_by(|a, b| {
                let [a, b] = [(a, b), (b, a)]
                    .map(|(x, y)| (u128::from(self.macs[*x]) * u128::from(self.weights[*y]), *x));
                a.cmp(&b)
            }),
        }
        let mut in_image = vec![InImage::All; self.weights.len()];
        for layer in &order {
            in_image[*layer] = InImage::Nothing;
        }
        let mut left = flash;
        for layer in order {
            let bytes = self.weights[layer];
            if let Some(rest) = left.checked_sub(bytes) {
                (in_image[layer], left) = (InImage::All, rest);
                continue;
            }
            // Filters lie in pairs.
            let channels = u64::from(self.channels[layer]);
            let even = |part: u64| u32::try_from(part * channels / bytes / 2 * 2).unwrap_or(0);
            let tensors = self.used[layer].iter().map(|tensor| self.tensors[*tensor].bytes.0);
            let part = budget.saturating_sub(tensors.sum()) / 8 * 3;
            let [inside, each] = [left, part.min(bytes)].map(even);
            in_image[layer] = InImage::Filters { inside, each: each.max(2) };
            break;
        }
        in_image
    }

    /// Which tensors leave so that at most `room` bytes are needed at once, and for each layer the bytes
    /// of those that stay, as if none shared any.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn outside(
        &self,
        room: u64,
        is_apart: &dyn Fn(usize) -> bool,
        stop: &Stop,
    ) -> Result<(Vec<bool>, Vec<u64>), PlanError> {
        let mut outside = vec![false; self.tensors.len()];
        let mut live = vec![0u64; self.layers.len()];
        for tensor in &self.tensors {
            for bytes in &mut live[life(tensor, self.layers.len())] {
                *bytes += tensor.bytes.0;
            }
        }
        let saved = self.saved.iter().enumerate();
        let saved = saved.map(|(layer, saved)| match is_apart(layer) {
            true => saved.in_place,
            false => saved.in_place.max(saved.in_rows),
        });
        let mut saved: Vec<u64> = saved.collect();
        let lives = self.tensors.iter().map(|tensor| life(tensor, self.layers.len()).len() as u64);
        let lives: u64 = lives.sum();
        loop {
            stop.after(lives)?;
            let over = |layer: usize, bytes: u64| bytes.saturating_sub(saved[layer] + room);
            // What is too much without a tensor, which also ends what its layers share.
            let without = |number: usize, layer: usize| {
                let bytes = live[layer] - self.tensors[number].bytes.0;
                let shares = !self.used[layer].contains(&number);
                bytes.saturating_sub(room + if shares { saved[layer] } else { 0 })
            };
            let gain = |number: usize| -> u64 {
                let layers = life(&self.tensors[number], self.layers.len());
                layers.map(|l| over(l, live[l]).saturating_sub(without(number, l))).sum()
            };
            let candidates = (0..outside.len()).filter(|number| !outside[*number]);
            let best = candidates
                .map(|number| (gain(number), self.tensors[number].bytes.0.max(1), number))
                .filter(|(gain, ..)| *gain > 0)
                .max_by(|a, b| {
                    let [a, b] = [(a, b), (b, a)].map(|(x, y)| u128::from(x.0) * u128::from(y.1));
                    a.cmp(&b)
                });
            let Some((.., number)) = best else { return Ok((outside, live)) };
            outside[number] = true;
            for layer in life(&self.tensors[number], self.layers.len()) {
                live[layer] -= self.tensors[number].bytes.0;
                if self.used[layer].contains(&number) {
                    saved[layer] = 0;
                }
            }
        }
    }

    /// Brings those back, the largest first, that fit the budget beside what lives with them where no layer
    /// uses anything else outside, and no weights but those in the plan image; whether there are any.
    fn bring_back(
        &self,
        (outside, live): (&mut [bool], &mut [u64]),
        budget: u64,
        is_all_inside: &dyn Fn(usize) -> bool,
    ) -> bool {
        let mut order: Vec<usize> = (0..outside.len()).filter(|number| outside[*number]).collect();
        order.sort_by_key(|number| std::cmp::Reverse((self.tensors[*number].bytes, *number)));
        let mut found = false;
        for number in order {
            let bytes = self.tensors[number].bytes.0;
            let fits = |layer: usize| live[layer] + bytes <= budget;
            let moves_nothing = |layer: usize| {
                let used = &self.used[layer];
                is_all_inside(layer) && used.iter().all(|t| *t == number || !outside[*t])
            };
            let mut layers = life(&self.tensors[number], self.layers.len());
            if layers.all(|layer| fits(layer) && moves_nothing(layer)) {
                (outside[number], found) = (false, true);
                for layer in life(&self.tensors[number], self.layers.len()) {
                    live[layer] += bytes;
                }
            }
        }
        found
    }

    /// The plan with these tensors outside, and these layers' weights in the plan image.
    fn lowered(
        &self,
        model: &Model,
        board: &Board,
        arranged: Arranged,
        (outside, in_image): (&[bool], &[InImage]),
    ) -> Result<Made, PlanError> {
        let Arranged { mut tensors, parts, height } = arranged;
        let block = |(tensor, outside): (&PlannedTensor, &bool)| {
            let bytes = if *outside { tensor.bytes.align_up(LINE) } else { Bytes(0) };
            Buffer::new(tensor.first.into(), tensor.end.max(tensor.first).into(), bytes)
                .aligned(LINE)
        };
        let blocks = tensors.iter().zip(outside).map(block).collect();
        let placed = tilewright_allocate::least(blocks, PLANNING_BUDGET / 8)?.solution;
        for ((tensor, offset), _) in
            tensors.iter_mut().zip(placed.offsets).zip(outside).filter(|(_, outside)| **outside)
        {
            tensor.space = Space::ExternalRam;
            tensor.offset = offset;
        }
        let heights =
            Heights { sram: height, external_ram: placed.height.align_up(LINE), card: Bytes(0) };
        let inside = Arranged { tensors, parts, height };
        let mut static_layout =
            StaticLayout { heights, ..StaticLayout::inside(self.layers.clone(), inside) };
        if in_image.iter().any(|held| *held != InImage::All) {
            (static_layout.stored, static_layout.in_image) =
                (external::stored(board), in_image.to_vec());
        }
        external::lowered(static_layout, model, board)
    }
}

/// A plan of `auto` beyond SRAM: activations in `room` of the SRAM as far as they fit there,
/// weights in so many bytes of the chip's flash, the others where the board has memory for them; nothing
/// if no placement was found.
///
/// # Errors
/// [`PlanError`] if a tensor cannot be planned, or a node has no kernel.
pub fn spilled(
    model: &Model,
    board: &Board,
    options: &Options,
    (room, flash, first): (Bytes, Bytes, First),
    (beside, overlaid): (Beside, Overlaid),
) -> Result<Option<Planned>, PlanError> {
    let budget = options.arena_on(board);
    let spill = Spill { room: room.min(budget), sram: budget, flash, first, back: false };
    let plan = Spiller::new(model)?.plan(model, board, &spill, &options.stop)?;
    let Some(made) = plan else { return Ok(None) };
    let mut made = overlay::overlay_beside(
        made,
        board,
        budget,
        (beside, overlaid),
        &mut TileSizes::default(),
        &options.stop,
    )?;
    made.plan.board.clone_from(&board.id);
    Strategy::Auto.name().clone_into(&mut made.plan.strategy);
    described(made, model, board, options, Some(Bytes(0))).map(Some)
}

/// The layers between which a tensor lives.
fn life(tensor: &PlannedTensor, layers: usize) -> std::ops::Range<usize> {
    let end = (tensor.end as usize).min(layers);
    (tensor.first as usize).min(end)..end
}
