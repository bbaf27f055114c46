//! A cell with all operations on all edges.

use tilewright_zoo::cells::INPUTS;

use super::fan::{CHOICES, Fan, KeptFan, Spoke};
use super::separated::{KeptSqueezed, Learnt, Squeezed};
use crate::layout::Layout;

/// The row of architecture weights of the edge to step `step`, from 0, of node `input`.
pub(crate) const fn row(step: usize, input: usize) -> usize {
    // Steps before have 2, 3, … edges.
    INPUTS * step + step * step.saturating_sub(1) / 2 + input
}

/// Edges of a cell of so many steps.
pub(crate) const fn rows(steps: usize) -> usize {
    row(steps, 0)
}

/// An image of rows of pixels, as a cell hands it on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub side: usize,
    pub channels: usize,
}

/// A cell.
#[derive(Debug)]
pub(crate) struct Cell {
    steps: usize,
    channels: usize,
    /// Of the result.
    pub shape: Shape,
    pub is_reduction: bool,
    squeezed: [Squeezed; INPUTS],
    fans: Vec<Fan>,
}

/// What the way back needs.
#[derive(Debug)]
pub(crate) struct KeptCell {
    squeezed: [KeptSqueezed; INPUTS],
    nodes: Vec<Vec<f32>>,
    fans: Vec<KeptFan>,
    /// The steps' channels side by side.
    pub result: Vec<f32>,
}

impl Cell {
    /// A cell behind these two results, the second of which is the cell before's.
    pub fn new(
        layout: &mut Layout,
        steps: usize,
        channels: usize,
        inputs: [Shape; INPUTS],
        is_reduction: bool,
    ) -> Self {
        let side_in = inputs[1].side;
        let squeezed = inputs.map(|input| {
            if input.side == side_in {
                Squeezed::keeping(layout, input.side, input.channels, channels)
            } else {
                Squeezed::halving(layout, input.side, input.channels, channels, 1)
            }
        });
        let side = if is_reduction { side_in / 2 } else { side_in };
        let fans = (0..INPUTS + steps - 1).map(|input| {
            let first = (input + 1).saturating_sub(INPUTS);
            let spokes = (first..steps)
                .map(|step| Spoke { target: INPUTS + step, row: row(step, input) })
                .collect();
            let is_halved = is_reduction && input < INPUTS;
            let (side, stride) = if is_halved { (side_in, 2) } else { (side, 1) };
            Fan::new(layout, input, spokes, channels, side, stride)
        });
        let fans = fans.collect();
        let shape = Shape { side, channels: channels * steps };
        Self { steps, channels, shape, is_reduction, squeezed, fans }
    }

    const fn pixels(&self, images: usize) -> usize {
        images * self.shape.side * self.shape.side
    }

    pub fn forward(
        &self,
        inputs: [&[f32]; INPUTS],
        shares: &[[f32; CHOICES]],
        weights: &[f32],
        images: usize,
    ) -> KeptCell {
        let squeezed = [0, 1].map(|index| self.squeezed[index].forward(inputs[index], weights));
        let size = self.pixels(images) * self.channels;
        let mut nodes: Vec<Vec<f32>> = squeezed.iter().map(|kept| kept.result.clone()).collect();
        nodes.resize(INPUTS + self.steps, vec![0.0f32; size]);
        let fans = self.fans.iter().map(|fan| fan.forward(&mut nodes, shares, weights)).collect();
        let mut result = Vec::with_capacity(size * self.steps);
        for pixel in 0..self.pixels(images) {
            for node in &nodes[INPUTS..] {
                result.extend_from_slice(&node[pixel * self.channels..][..self.channels]);
            }
        }
        KeptCell { squeezed, nodes, fans, result }
    }

    /// Adds to the gradients by both inputs what `dy` gives back.
    pub fn backward(
        &self,
        kept: &KeptCell,
        dy: &[f32],
        [by_first, by_second]: [&mut [f32]; INPUTS],
        shares: &[[f32; CHOICES]],
        by_shares: &mut [[f32; CHOICES]],
        learnt: &mut Learnt<'_>,
    ) {
        let mut by_nodes: Vec<Vec<f32>> =
            kept.nodes.iter().map(|node| vec![0.0f32; node.len()]).collect();
        let channels = self.channels;
        for (pixel, dy) in dy.chunks_exact(channels * self.steps).enumerate() {
            for (node, dy) in by_nodes[INPUTS..].iter_mut().zip(dy.chunks_exact(channels)) {
                node[pixel * channels..][..channels].copy_from_slice(dy);
            }
        }
        for ((index, fan), kept_fan) in self.fans.iter().enumerate().zip(&kept.fans).rev() {
            let x = &kept.nodes[index];
            fan.backward(x, kept_fan, &mut by_nodes, shares, by_shares, learnt);
        }
        let mut by_nodes = by_nodes.into_iter();
        for (index, by_input) in [by_first, by_second].into_iter().enumerate() {
            let dy = by_nodes.next().unwrap_or_default();
            self.squeezed[index].backward(&kept.squeezed[index], dy, by_input, learnt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        let all: Vec<usize> =
            (0..4).flat_map(|step| (0..INPUTS + step).map(move |input| row(step, input))).collect();
        assert_eq!(all, (0..14).collect::<Vec<_>>());
        assert_eq!(rows(4), 14);
    }
}
