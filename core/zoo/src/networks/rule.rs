//! How the channels, functions and last layers of a family follow from its table of blocks. Releases and papers
//! scale the same table by different rules.

use super::{divisible, multiple_above};
use crate::net::Act;

/// What scaled channels become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    /// The nearest multiple, never below nine tenths: [`divisible`].
    Nearest(usize),
    /// The next multiple: [`multiple_above`].
    Up(usize),
}

/// Channels of the convolution before the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// The same for every width.
    Fixed,
    /// Those of the table up to width 1, more above.
    Widened,
    /// Times the width.
    Scaled,
}

/// The rule of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    rounding: Rounding,
    head: Head,
    /// Whether inner channels expand the scaled input as the table does; else they are the table's, scaled.
    expands_inputs: bool,
    /// Whether a sum stands only where the table's channels repeat; else wherever the scaled ones are equal.
    adds_by_table: bool,
    /// Whether blocks squeeze and excite where the table says so.
    pub(super) squeezes: bool,
    /// Whether layers have hard swish where the table says so; else a rectifier.
    swishes: bool,
    /// Height and width of the largest depthwise window.
    pub(super) largest_window: usize,
}

impl Rule {
    /// Sandler et al. 2018's reference implementation, which ProxylessNAS and MCUNet follow.
    pub(super) const BOTTLENECKS: Self = Self {
        rounding: Rounding::Nearest(8),
        head: Head::Widened,
        expands_inputs: true,
        adds_by_table: false,
        squeezes: true,
        swishes: true,
        largest_window: usize::MAX,
    };

    /// torchvision's MnasNet.
    pub(super) const MNASNET: Self = Self { head: Head::Fixed, ..Self::BOTTLENECKS };

    /// torchvision's MobileNetV3.
    pub(super) const MOBILENET_V3: Self =
        Self { head: Head::Scaled, expands_inputs: false, ..Self::BOTTLENECKS };

    /// Sadiq's thesis does not print its rule. This one gives the MACs and parameters of its tables 4.6, 5.1 and
    /// 5.2, and its count of operators (5.1.3.1), which leaves none for squeezes and for functions by themselves.
    pub(super) const THESIS: Self = Self {
        rounding: Rounding::Up(4),
        head: Head::Scaled,
        expands_inputs: true,
        adds_by_table: true,
        squeezes: false,
        swishes: false,
        largest_window: usize::MAX,
    };

    /// The thesis' prose (5.1.3.1) gives its MobileNetV3 windows of 3x3 alone; its sizes do not.
    pub(super) const THESIS_MINIMAL: Self = Self { largest_window: 3, ..Self::THESIS };

    /// So many channels, after scaling.
    pub(super) fn channels(&self, asked: f64) -> usize {
        match self.rounding {
            Rounding::Nearest(step) => divisible(asked, step),
            Rounding::Up(step) => multiple_above(asked, step),
        }
    }

    /// Inner channels of a bottleneck: `inner` behind `before` in the table, behind `inputs` in the network.
    pub(super) fn inner(&self, inner: usize, before: usize, inputs: usize, width: f64) -> usize {
        let expansion = inner as f64 / before as f64;
        self.channels(if self.expands_inputs {
            expansion * inputs as f64
        } else {
            inner as f64 * width
        })
    }

    /// Whether a bottleneck of `outputs` behind `before` channels in the table may add its input.
    pub(super) const fn may_add(&self, before: usize, outputs: usize) -> bool {
        !self.adds_by_table || before == outputs
    }

    /// Channels of the convolution before the classes.
    pub(super) fn last(&self, channels: usize, width: f64) -> usize {
        let factor = match self.head {
            Head::Fixed => 1.0,
            Head::Widened => width.max(1.0),
            Head::Scaled => width,
        };
        self.channels(channels as f64 * factor)
    }

    /// Hard swish, or a rectifier.
    pub(super) const fn swish(&self) -> Act {
        if self.swishes { Act::HARD_SWISH } else { Act::Relu }
    }
}
