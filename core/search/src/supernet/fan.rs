//! All edges that leave one node of a cell: what they share is done once.

use super::Wanted;
use super::separated::{Kept, KeptSqueezed, Learnt, Separated, Squeezed};
use crate::kernels::norm::{Moments, denormalise, normalise};
use crate::kernels::pool::{Largest, Pool};
use crate::kernels::window::Window;
use crate::kernels::{rectified, rectify_back};
use crate::layout::Layout;

/// Operations that are chosen from, in the order of `Operation::SEARCHED`.
pub(crate) const CHOICES: usize = 8;
const MAX_POOL: usize = 1;
const AVERAGE_POOL: usize = 2;
const SKIP: usize = 3;
/// Of the results with a block for each edge: both separable and both dilated convolutions.
const CONVOLUTIONS: [usize; 4] = [4, 5, 6, 7];

/// An edge from the fan's node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spoke {
    /// The node that it adds to.
    pub target: usize,
    /// Its row of architecture weights.
    pub row: usize,
}

/// The edges of one node.
#[derive(Debug)]
pub(crate) struct Fan {
    /// The node.
    input: usize,
    spokes: Vec<Spoke>,
    channels: usize,
    pool: Pool,
    /// A rectifier follows the first of each.
    separable: [[Separated; 2]; 2],
    dilated: [Separated; 2],
    /// In place of doing nothing where the image is halved.
    halved: Option<Squeezed>,
}

/// What the way back needs.
#[derive(Debug)]
pub(crate) struct KeptFan {
    /// The rectified input, once for each edge.
    spread: Vec<f32>,
    separable: [KeptTwice; 2],
    dilated: [Kept; 2],
    largest: Largest,
    of_largest: Moments,
    average: Vec<f32>,
    of_average: Moments,
    halved: Option<KeptSqueezed>,
}

#[derive(Debug)]
struct KeptTwice {
    first: Kept,
    middle: Vec<f32>,
    second: Kept,
}

/// A result that edges take parts of.
#[derive(Clone, Copy)]
struct Source<'r> {
    choice: usize,
    values: &'r [f32],
    /// Whether each edge has a block of its own.
    has_blocks: bool,
}

impl Fan {
    /// The edges `spokes` of node `input`, whose image has `side` × `side` pixels of `channels`.
    pub fn new(
        layout: &mut Layout,
        input: usize,
        spokes: Vec<Spoke>,
        channels: usize,
        side: usize,
        stride: usize,
    ) -> Self {
        let blocks = spokes.len();
        let mut separated = |size, dilation, stride, side| {
            let window = Window::centred(size, dilation, stride, side);
            Separated::new(layout, window, channels, blocks)
        };
        let separable = [3, 5].map(|size| {
            [separated(size, 1, stride, side), separated(size, 1, 1, side.div_ceil(stride))]
        });
        let dilated = [3, 5].map(|size| separated(size, 2, stride, side));
        let halved =
            (stride > 1).then(|| Squeezed::halving(layout, side, channels, channels, blocks));
        let pool = Pool(Window::centred(3, 1, stride, side));
        Self { input, spokes, channels, pool, separable, dilated, halved }
    }

    /// Adds to the nodes behind what the edges make of this one, each operation by its share.
    pub fn forward(
        &self,
        nodes: &mut [Vec<f32>],
        shares: &[[f32; CHOICES]],
        weights: &[f32],
    ) -> KeptFan {
        let (before, behind) = nodes.split_at_mut(self.input + 1);
        let x = &before[self.input];
        let channels = self.channels;
        let mut spread = Vec::with_capacity(x.len() * self.spokes.len());
        for pixel in rectified(x).chunks_exact(channels) {
            self.spokes.iter().for_each(|_| spread.extend_from_slice(pixel));
        }
        let separable = [0, 1].map(|size| {
            let [first, second] = &self.separable[size];
            let first = first.forward(&spread, weights);
            let middle = rectified(&first.result);
            let second = second.forward(&middle, weights);
            KeptTwice { first, middle, second }
        });
        let dilated = [0, 1].map(|size| self.dilated[size].forward(&spread, weights));
        let mut largest = self.pool.largest(x, channels);
        let of_largest = normalise(&mut largest.values, channels);
        let mut average = self.pool.average(x, channels);
        let of_average = normalise(&mut average, channels);
        let halved = self.halved.as_ref().map(|halved| halved.forward(x, weights));
        let kept = KeptFan {
            spread,
            separable,
            dilated,
            largest,
            of_largest,
            average,
            of_average,
            halved,
        };
        for (block, spoke) in self.spokes.iter().enumerate() {
            let node = &mut behind[spoke.target - self.input - 1];
            self.mix(node, &kept.sources(x), block, &shares[spoke.row]);
        }
        kept
    }

    fn mix(&self, node: &mut [f32], all: &[Source<'_>; 7], block: usize, shares: &[f32; CHOICES]) {
        let channels = self.channels;
        for (index, node) in node.chunks_exact_mut(channels).enumerate() {
            let [a, b, c, d, e, f, g] = all.each_ref().map(|source| {
                let at = if source.has_blocks { index * self.spokes.len() + block } else { index };
                &source.values[at * channels..][..channels]
            });
            let [pa, pb, pc, pd, pe, pf, pg] = all.each_ref().map(|source| shares[source.choice]);
            for at in 0..channels {
                node[at] += (pa * a[at] + pb * b[at])
                    + (pc * c[at] + pd * d[at])
                    + (pe * e[at] + pf * f[at] + pg * g[at]);
            }
        }
    }

    /// Adds to the gradient by this node what those by the nodes behind give back, and to `by_shares` what the
    /// operations' shares had to do with it.
    pub fn backward(
        &self,
        x: &[f32],
        kept: &KeptFan,
        by_nodes: &mut [Vec<f32>],
        shares: &[[f32; CHOICES]],
        by_shares: &mut [[f32; CHOICES]],
        learnt: &mut Learnt<'_>,
    ) {
        let (before, behind) = by_nodes.split_at_mut(self.input + 1);
        let dx = &mut before[self.input];
        let dy: Vec<&[f32]> = self
            .spokes
            .iter()
            .map(|spoke| behind[spoke.target - self.input - 1].as_slice())
            .collect();
        if learnt.wanted == Wanted::Architecture {
            for source in kept.sources(x) {
                for (block, spoke) in self.spokes.iter().enumerate() {
                    by_shares[spoke.row][source.choice] += self.along(&source, dy[block], block);
                }
            }
        }
        let share = |choice: usize| move |spoke: &Spoke| shares[spoke.row][choice];
        let mut through = vec![0.0f32; kept.spread.len()];
        for (size, [first, second]) in self.separable.iter().enumerate() {
            let kept_here = &kept.separable[size];
            let mut middle = vec![0.0f32; kept_here.middle.len()];
            let parts = self.parts(&dy, share(CONVOLUTIONS[size]));
            second.backward(&kept_here.middle, &kept_here.second, parts, &mut middle, learnt);
            rectify_back(&mut middle, &kept_here.middle);
            first.backward(&kept.spread, &kept_here.first, middle, &mut through, learnt);
        }
        for (size, dilated) in self.dilated.iter().enumerate() {
            let parts = self.parts(&dy, share(CONVOLUTIONS[2 + size]));
            dilated.backward(&kept.spread, &kept.dilated[size], parts, &mut through, learnt);
        }
        rectify_back(&mut through, &kept.spread);
        let width = self.channels * self.spokes.len();
        for (dx, through) in dx.chunks_exact_mut(self.channels).zip(through.chunks_exact(width)) {
            for through in through.chunks_exact(self.channels) {
                dx.iter_mut().zip(through).for_each(|(dx, through)| *dx += through);
            }
        }
        let mut sum = self.sum(&dy, share(MAX_POOL));
        denormalise(&mut sum, &kept.largest.values, &kept.of_largest);
        kept.largest.back(&sum, dx, self.channels);
        let mut sum = self.sum(&dy, share(AVERAGE_POOL));
        denormalise(&mut sum, &kept.average, &kept.of_average);
        self.pool.average_back(&sum, dx, self.channels);
        match self.halved.as_ref().zip(kept.halved.as_ref()) {
            Some((halved, kept)) => {
                halved.backward(kept, self.parts(&dy, share(SKIP)), dx, learnt);
            }
            None => {
                let sum = self.sum(&dy, share(SKIP));
                dx.iter_mut().zip(&sum).for_each(|(dx, sum)| *dx += sum);
            }
        }
    }

    /// How a result and a gradient go together: the sum of their products.
    fn along(&self, source: &Source<'_>, dy: &[f32], block: usize) -> f32 {
        let channels = self.channels;
        let mut sums = vec![0.0f32; channels];
        for (index, dy) in dy.chunks_exact(channels).enumerate() {
            let at = if source.has_blocks { index * self.spokes.len() + block } else { index };
            let values = &source.values[at * channels..][..channels];
            for ((sum, value), dy) in sums.iter_mut().zip(values).zip(dy) {
                *sum += value * dy;
            }
        }
        sums.iter().sum()
    }

    /// Gradients by a result with a block for each edge.
    fn parts(&self, dy: &[&[f32]], share: impl Fn(&Spoke) -> f32) -> Vec<f32> {
        let channels = self.channels;
        let pixels = dy.first().map_or(0, |dy| dy.len() / channels);
        let mut parts = Vec::with_capacity(pixels * channels * self.spokes.len());
        for pixel in 0..pixels {
            for (spoke, dy) in self.spokes.iter().zip(dy) {
                let share = share(spoke);
                parts.extend(dy[pixel * channels..][..channels].iter().map(|dy| dy * share));
            }
        }
        parts
    }

    /// The gradient by a result that all edges share.
    fn sum(&self, dy: &[&[f32]], share: impl Fn(&Spoke) -> f32) -> Vec<f32> {
        let mut sums = vec![0.0f32; dy.first().map_or(0, |dy| dy.len())];
        for (spoke, dy) in self.spokes.iter().zip(dy) {
            let share = share(spoke);
            sums.iter_mut().zip(*dy).for_each(|(sum, dy)| *sum += dy * share);
        }
        sums
    }
}

impl KeptFan {
    fn sources<'r>(&'r self, x: &'r [f32]) -> [Source<'r>; 7] {
        let shared = |choice, values| Source { choice, values, has_blocks: false };
        let own = |choice, values| Source { choice, values, has_blocks: true };
        [
            shared(MAX_POOL, &self.largest.values),
            shared(AVERAGE_POOL, &self.average),
            match &self.halved {
                Some(halved) => own(SKIP, &halved.result),
                None => shared(SKIP, x),
            },
            own(CONVOLUTIONS[0], &self.separable[0].second.result),
            own(CONVOLUTIONS[1], &self.separable[1].second.result),
            own(CONVOLUTIONS[2], &self.dilated[0].result),
            own(CONVOLUTIONS[3], &self.dilated[1].result),
        ]
    }
}
