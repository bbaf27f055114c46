//! Networks stacked from a genotype's cells: Liu et al. 2019, section 3.1 and appendix A.1.1, as their release for
//! CIFAR-10 builds them, without the auxiliary classifier. Windows with stride 2 are padded as TensorFlow does.

mod applied;

use super::nasnet::{average, halved, largest, separable, separated, squeezed};
use crate::cells::published::Published;
use crate::cells::{Cell, CellKind, Edge, Genotype, INPUTS, Operation};
use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net};

pub use applied::Applied;
pub(crate) use applied::of_operation;

/// The stem has so many times the channels of the first cells.
const STEM: usize = 3;

/// Classes of CIFAR-10, MNIST and Fashion-MNIST.
const CLASSES: usize = 10;

/// Largest stacks that are built.
const MOST_CELLS: usize = 64;
const MOST_CHANNELS: usize = 1024;
const RESOLUTIONS: std::ops::RangeInclusive<usize> = 4..=1024;

/// A stack of a genotype's cells, behind one convolution and before a classifier of 10 classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// Number of cells, those at a third and two thirds of it, rounded down, being reductions: 20 has them at 6 and
    /// 13, counted from 0.
    pub cells: usize,
    /// Channels of each step before the first reduction; even. Reductions double them.
    pub channels: usize,
    /// Height and width of the input in pixels.
    pub resolution: usize,
    /// Channels of the input: 3, or 1 if it is grey.
    pub colours: usize,
}

impl Stack {
    /// What the thesis of Sadiq evaluates (3.2.3).
    pub const CIFAR_10: Self = Self { cells: 20, channels: 36, resolution: 32, colours: 3 };

    /// Small enough to be tried on a microcontroller.
    pub const USUAL: Self = Self { cells: 8, channels: 16, ..Self::CIFAR_10 };

    const fn of(parameters: &Parameters) -> Self {
        Self {
            cells: parameters.cells,
            channels: parameters.channels,
            resolution: parameters.resolution,
            ..Self::CIFAR_10
        }
    }

    fn check(&self) -> Result<(), String> {
        let within = |what: &str, found: usize, range: std::ops::RangeInclusive<usize>| {
            let said = || format!("{found} {what}: give {} to {}", range.start(), range.end());
            if range.contains(&found) { Ok(()) } else { Err(said()) }
        };
        within("cells", self.cells, 1..=MOST_CELLS)?;
        within("channels", self.channels, 2..=MOST_CHANNELS)?;
        within("pixels", self.resolution, RESOLUTIONS)?;
        within("colours", self.colours, 1..=4)?;
        match self.channels % 2 {
            0 => Ok(()),
            _ => Err(format!("{} channels: give an even number", self.channels)),
        }
    }
}

/// A cell under construction.
struct Growing<'n> {
    net: &'n mut Net,
    kind: CellKind,
    channels: usize,
    /// The two inputs, then the steps.
    nodes: Vec<Id>,
    /// Pools that are there already.
    pools: Vec<(Edge, Id)>,
}

impl Growing<'_> {
    /// An operation on a node; nothing if it does not connect.
    fn edge(&mut self, edge: Edge) -> Option<Id> {
        let x = *self.nodes.get(edge.input)?;
        let halves = self.kind == CellKind::Reduction && edge.input < INPUTS;
        let stride = if halves { 2 } else { 1 };
        if let Some((_, known)) = self.pools.iter().find(|(known, _)| *known == edge) {
            return Some(*known);
        }
        let (net, channels) = (&mut *self.net, self.channels);
        let dilated = |size: usize| Conv::depthwise(size).dilation(2).stride(stride);
        let result = match edge.operation {
            Operation::None => return None,
            Operation::MaxPool3 => largest(net, x, stride),
            Operation::AveragePool3 => average(net, x, stride),
            Operation::Skip if halves => halved(net, x, channels),
            Operation::Skip => x,
            Operation::Separable3 => separable(net, x, channels, 3, stride),
            Operation::Separable5 => separable(net, x, channels, 5, stride),
            Operation::Separable7 => separable(net, x, channels, 7, stride),
            Operation::Dilated3 => separated(net, x, channels, dilated(3)),
            Operation::Dilated5 => separated(net, x, channels, dilated(5)),
            Operation::Factorised7 => {
                let x = net.act(x, Act::Relu);
                let across = Conv::rectangle(channels, [1, 7]).strides([1, stride]).bare();
                let x = net.conv(x, across);
                net.conv(x, Conv::rectangle(channels, [7, 1]).strides([stride, 1]))
            }
        };
        if matches!(edge.operation, Operation::MaxPool3 | Operation::AveragePool3) {
            self.pools.push((edge, result));
        }
        Some(result)
    }

    /// The sum of a step's operations; nothing if neither connects.
    fn step(&mut self, edges: [Edge; 2]) -> Option<Id> {
        match edges.map(|edge| self.edge(edge)) {
            [Some(a), Some(b)] => Some(self.net.add(a, b, Act::None)),
            [Some(x), None] | [None, Some(x)] => Some(x),
            [None, None] => None,
        }
    }
}

/// The result of a cell on two inputs of `channels` channels each.
fn cell(
    net: &mut Net,
    cell: &Cell,
    kind: CellKind,
    inputs: [Id; INPUTS],
    channels: usize,
) -> Result<Id, String> {
    let nodes = inputs.to_vec();
    let mut growing = Growing { net, kind, channels, nodes, pools: Vec::new() };
    for step in cell.steps() {
        let node = growing.nodes.len();
        let result = growing.step(step.edges).ok_or_else(|| {
            format!("node {node} of the {kind} cell has 'none' twice: give it an operation")
        })?;
        growing.nodes.push(result);
    }
    let joined: Vec<Id> =
        cell.joined().iter().filter_map(|node| growing.nodes.get(*node).copied()).collect();
    Ok(match joined[..] {
        [one] => one,
        _ => net.concat(&joined),
    })
}

/// The network of a genotype.
pub(crate) fn of_genotype(genotype: &Genotype, stack: &Stack) -> Result<Built, String> {
    stack.check()?;
    let (mut net, input) = Net::new([stack.resolution, stack.resolution, stack.colours]);
    net.scope("stem");
    let stem = net.conv(input, Conv::new(STEM * stack.channels, 3));
    let (mut two_before, mut before, mut channels) = (stem, stem, stack.channels);
    for index in 0..stack.cells {
        net.scope(format!("cell{index}"));
        let kind = CellKind::in_stack(index, stack.cells);
        let of = match kind {
            CellKind::Reduction => &genotype.reduction,
            CellKind::Normal => &genotype.normal,
        };
        if kind == CellKind::Reduction {
            channels *= 2;
        }
        let is_larger = net.image(two_before)[0] != net.image(before)[0];
        let pointwise = Conv::new(channels, 1).long_tailed();
        let first = match is_larger {
            true => halved(&mut net, two_before, channels),
            false => squeezed(&mut net, two_before, pointwise),
        };
        let inputs = [first, squeezed(&mut net, before, pointwise)];
        let next = cell(&mut net, of, kind, inputs, channels)?;
        (two_before, before) = (before, next);
    }
    net.scope("head");
    let x = net.global_pool(before);
    let x = net.dense(x, CLASSES, Act::None);
    net.finish(&[x])
}

/// What [`crate::catalogue::OF_GENOTYPE`] builds without one.
pub(crate) fn of_no_genotype(_: &Parameters) -> Result<Built, String> {
    Err("it has no genotype".to_owned())
}

fn published(which: Published, parameters: &Parameters) -> Result<Built, String> {
    of_genotype(&which.genotype(), &Stack::of(parameters))
}

/// Liu et al. 2019.
pub(crate) fn darts(p: &Parameters) -> Result<Built, String> {
    published(Published::Darts, p)
}

/// Real et al. 2018.
pub(crate) fn amoebanet_a(p: &Parameters) -> Result<Built, String> {
    published(Published::AmoebaNetA, p)
}

/// Zoph et al. 2017.
pub(crate) fn nasnet_a(p: &Parameters) -> Result<Built, String> {
    published(Published::NasNetA, p)
}

/// Thesis of Sadiq, figure 3.11.
pub(crate) fn deff_arts_001(p: &Parameters) -> Result<Built, String> {
    published(Published::DeffArts001, p)
}

/// Thesis of Sadiq, figure 3.12.
pub(crate) fn deff_arts_002(p: &Parameters) -> Result<Built, String> {
    published(Published::DeffArts002, p)
}

/// Thesis of Sadiq, figure 3.13.
pub(crate) fn deff_arts_004(p: &Parameters) -> Result<Built, String> {
    published(Published::DeffArts004, p)
}
