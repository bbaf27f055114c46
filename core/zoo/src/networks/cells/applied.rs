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

/// What a cell's operations are applied to.
#[derive(Clone, Copy)]
struct Place {
    kind: CellKind,
    /// Height and width of the cell's inputs.
    before: usize,
    /// Height and width of its steps.
    side: usize,
    channels: usize,
}

impl Place {
    /// An edge of the cell.
    fn applied(self, Edge { operation, input }: Edge) -> Applied {
        let halves = self.kind == CellKind::Reduction && input < INPUTS;
        let side = if halves { self.before } else { self.side };
        Applied { operation, side, channels: self.channels, halves }
    }
}

impl Stack {
    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let (mut before, mut channels) = (self.resolution, self.channels);
        (0..self.cells).map(move |index| {
            let kind = CellKind::in_stack(index, self.cells);
            let reduces = kind == CellKind::Reduction;
            let side = if reduces { before.div_ceil(2) } else { before };
            if reduces {
                channels = channels.saturating_mul(2);
            }
            Place { kind, before: std::mem::replace(&mut before, side), side, channels }
        })
    }

    /// An operation on an input of each cell, cell by cell.
    #[must_use]
    pub fn in_each_cell(&self, operation: Operation) -> Vec<Applied> {
        self.places().map(|place| place.applied(Edge::new(operation, 0))).collect()
    }

    /// The operations of all cells in their places, cell by cell. Equal pools of one node are there twice, though a
    /// network computes them once.
    #[must_use]
    pub fn applied(&self, genotype: &Genotype) -> Vec<Applied> {
        let of_cell = |place: Place| {
            let cell = match place.kind {
                CellKind::Normal => &genotype.normal,
                CellKind::Reduction => &genotype.reduction,
            };
            cell.edges().map(move |edge| place.applied(edge))
        };
        self.places().flat_map(of_cell).collect()
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
