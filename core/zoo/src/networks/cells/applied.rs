//! The operations of a stack's cells in their places, and each as a network of its own.

use super::{Growing, INPUTS, RESOLUTIONS, Stack};
use crate::cells::{CellKind, Edge, Genotype, Operation};
use crate::net::{Built, Net};

/// An operation with all that its time depends on: what it reads, and whether it halves that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Applied {
    /// What is done.
    pub operation: Operation,
    /// Height and width of what it reads, in pixels.
    pub side: usize,
    /// Channels that it reads, and makes.
    pub channels: usize,
    /// Whether height and width are halved: an operation of a reduction cell on one of its inputs.
    pub halves: bool,
}

impl Stack {
    /// An operation on what the first cells hold, which keeps its size.
    #[must_use]
    pub const fn first(&self, operation: Operation) -> Applied {
        Applied { operation, side: self.resolution, channels: self.channels, halves: false }
    }

    /// The operations of all cells in their places, cell by cell. Equal pools of one node are there twice, though a
    /// network computes them once.
    #[must_use]
    pub fn applied(&self, genotype: &Genotype) -> Vec<Applied> {
        let (mut side, mut channels) = (self.resolution, self.channels);
        let mut all = Vec::new();
        for index in 0..self.cells {
            let reduces = self.is_reduction(index);
            let cell = if reduces { &genotype.reduction } else { &genotype.normal };
            let before = side;
            if reduces {
                channels = channels.saturating_mul(2);
                side = side.div_ceil(2);
            }
            all.extend(cell.edges().map(|Edge { operation, input }| {
                let halves = reduces && input < INPUTS;
                Applied { operation, side: if halves { before } else { side }, channels, halves }
            }));
        }
        all
    }
}

/// A network of one operation; nothing for one that computes nothing.
pub(crate) fn of_operation(applied: Applied) -> Result<Option<Built>, String> {
    let Applied { operation, side, channels, halves } = applied;
    if !(1..=*RESOLUTIONS.end()).contains(&side) {
        return Err(format!("{side} pixels: give 1 to {}", RESOLUTIONS.end()));
    }
    if channels == 0 || channels % 2 == 1 {
        return Err(format!("{channels} channels: give an even number"));
    }
    let (mut net, input) = Net::new([side, side, channels]);
    let kind = if halves { CellKind::Reduction } else { CellKind::Normal };
    let nodes = vec![input; INPUTS];
    let mut growing = Growing { net: &mut net, kind, channels, nodes, pools: Vec::new() };
    match growing.edge(Edge::new(operation, 0)) {
        Some(result) if result != input => net.finish(&[result]).map(Some),
        _ => Ok(None),
    }
}
