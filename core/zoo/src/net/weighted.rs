//! Layers with weights.

use tilewright_model::op::Unary;
use tilewright_model::{Data, Op, Padding, Seeded, Source, Window};

use super::{Act, Id, Net, Pad, clip, seed};
use crate::statistics::Statistics;

/// What stands behind the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    None,
    Plain,
    /// The bias that folding a batch normalisation leaves.
    Normalised,
}

/// Standard deviation of a bias, as a part of that of the sum that it is added to.
const BIAS: f64 = 0.1;

/// What becomes of a layer's sums.
#[derive(Clone, Copy, Debug)]
struct Results {
    act: Act,
    bias: Bias,
    is_long_tailed: bool,
}

/// A convolution's geometry. Unless told otherwise: stride 1, padded to keep the image's size, one
/// group, batch normalisation folded, no activation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conv {
    outputs: usize,
    size: [usize; 2],
    stride: [usize; 2],
    dilation: usize,
    groups: usize,
    pad: Pad,
    act: Act,
    bias: Bias,
    is_long_tailed: bool,
}

impl Conv {
    /// `outputs` channels from windows of `size`×`size`.
    pub(crate) const fn new(outputs: usize, size: usize) -> Self {
        Self::rectangle(outputs, [size, size])
    }

    pub(crate) const fn rectangle(outputs: usize, size: [usize; 2]) -> Self {
        Self {
            outputs,
            size,
            stride: [1, 1],
            dilation: 1,
            groups: 1,
            pad: Pad::Same,
            act: Act::None,
            bias: Bias::Normalised,
            is_long_tailed: false,
        }
    }

    /// For [`Net::depthwise`], where outputs follow from the input.
    pub(crate) const fn depthwise(size: usize) -> Self {
        Self::new(0, size)
    }

    pub(crate) const fn stride(self, stride: usize) -> Self {
        self.strides([stride, stride])
    }

    /// Down and across.
    pub(crate) const fn strides(self, stride: [usize; 2]) -> Self {
        Self { stride, ..self }
    }

    pub(crate) const fn dilation(self, dilation: usize) -> Self {
        Self { dilation, ..self }
    }

    pub(crate) const fn groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    pub(crate) const fn pad(self, pad: Pad) -> Self {
        Self { pad, ..self }
    }

    pub(crate) const fn act(self, act: Act) -> Self {
        Self { act, ..self }
    }

    pub(crate) const fn relu(self) -> Self {
        self.act(Act::Relu)
    }

    pub(crate) const fn relu6(self) -> Self {
        self.act(Act::Relu6)
    }

    /// A bias of its own instead of a batch normalisation.
    pub(crate) const fn bias(self) -> Self {
        Self { bias: Bias::Plain, ..self }
    }

    /// Neither bias nor batch normalisation.
    pub(crate) const fn bare(self) -> Self {
        Self { bias: Bias::None, ..self }
    }

    /// As wide a range of results as depthwise layers have.
    pub(crate) const fn long_tailed(self) -> Self {
        Self { is_long_tailed: true, ..self }
    }
}

impl Conv {
    const fn results(&self) -> Results {
        Results { act: self.act, bias: self.bias, is_long_tailed: self.is_long_tailed }
    }
}

/// Variance that a layer's sums are given: more before functions that lose some; little before
/// gates, so that they stay half open and no chain of them strays; much before swishes, which
/// amplify what strays unless most values lie where they are straight.
const fn wanted(act: Act) -> f64 {
    match act {
        Act::None => 1.0,
        Act::Unary(Unary::Sigmoid | Unary::HardSigmoid { .. }) => 0.25,
        Act::Unary(Unary::Silu | Unary::HardSwish) => 9.0,
        _ => 2.0,
    }
}

/// The window's padding and how many of its taps meet the image on average, for one axis.
fn along(input: usize, size: usize, stride: usize, dilation: usize, ends: (usize, usize)) -> f64 {
    let reach = size.saturating_sub(1).saturating_mul(dilation) + 1;
    let padded = input.saturating_add(ends.0).saturating_add(ends.1);
    let outputs = padded.saturating_sub(reach).checked_div(stride).unwrap_or(0) + 1;
    let meets = |output: usize| {
        let start = output * stride;
        let inside = |tap: &usize| (ends.0..ends.0 + input).contains(&(start + tap * dilation));
        (0..size).filter(inside).count()
    };
    (0..outputs).map(meets).sum::<usize>() as f64 / outputs as f64
}

/// Padding before and behind along one axis.
pub(super) fn ends(pad: Pad, input: usize, reach: usize, stride: usize) -> (usize, usize) {
    match pad {
        Pad::Each(each) => (each, each),
        Pad::End(end) => (0, end),
        Pad::Same => {
            let outputs = input.div_ceil(stride.max(1));
            let needed = outputs.saturating_sub(1) * stride + reach;
            let all = needed.saturating_sub(input);
            (all / 2, all - all / 2)
        }
    }
}

impl Net {
    /// The window over image `x`, and how many of its taps meet the image on average.
    fn window(&self, x: Id, conv: &Conv) -> (Window, f64) {
        let [height, width, _] = self.image(x);
        let axis = |axis: usize, input: usize| {
            let reach = conv.size[axis].saturating_sub(1) * conv.dilation + 1;
            let ends = ends(conv.pad, input, reach, conv.stride[axis]);
            (ends, along(input, conv.size[axis], conv.stride[axis], conv.dilation, ends))
        };
        let ((top, bottom), rows) = axis(0, height);
        let ((left, right), columns) = axis(1, width);
        let window = Window {
            stride: conv.stride,
            dilation: [conv.dilation; 2],
            padding: Padding { top, left, bottom, right },
            ..Window::dense(conv.size)
        };
        (window, rows * columns)
    }

    pub(crate) fn conv(&mut self, x: Id, conv: Conv) -> Id {
        let (window, taps) = self.window(x, &conv);
        let channels = self.channels(x) / conv.groups.max(1);
        let dims = [conv.outputs, conv.size[0], conv.size[1], channels];
        let op = Op::Conv { window, groups: conv.groups, activation: conv.act.fused() };
        let taps = taps * channels as f64;
        self.weighted(("conv", op), x, &dims, conv.outputs, taps, conv.results())
    }

    pub(crate) fn depthwise(&mut self, x: Id, conv: Conv) -> Id {
        let (window, taps) = self.window(x, &conv);
        let channels = self.channels(x);
        let dims = [1, conv.size[0], conv.size[1], channels];
        let op = Op::DepthwiseConv { window, multiplier: 1, activation: conv.act.fused() };
        let results = conv.long_tailed().results();
        self.weighted(("depthwise", op), x, &dims, channels, taps, results)
    }

    /// A fully connected layer with bias; images become vectors first.
    pub(crate) fn dense(&mut self, x: Id, outputs: usize, act: Act) -> Id {
        let x = self.flatten(x);
        let inputs = self.channels(x);
        let op = Op::FullyConnected { activation: act.fused() };
        let dims = [outputs, inputs];
        let results = Results { act, bias: Bias::Plain, is_long_tailed: false };
        self.weighted(("dense", op), x, &dims, outputs, inputs as f64, results)
    }

    /// A fully connected layer with batch normalisation behind a bias: the two fold into one bias.
    pub(crate) fn dense_normalised(&mut self, x: Id, outputs: usize, act: Act) -> Id {
        self.normalised += outputs as u64;
        self.dense(x, outputs, act)
    }

    /// Batch normalisation that no layer before can take: a scale and an offset for each channel,
    /// which bring mean 0 and variance 2, and an activation.
    pub(crate) fn normalise(&mut self, x: Id, act: Act) -> Id {
        let (channels, before) = (self.channels(x), self.statistics[x.0]);
        let name = self.name("norm");
        let factor = libm::sqrt(2.0 / before.variance().max(1e-6));
        let spread = Seeded::floats(seed(&name), 2 * channels, (0.2 / 127.0) as f32).values();
        let spread = spread.as_f32().unwrap_or_default();
        let scale = |value: &f32| (factor * (1.0 + f64::from(*value))) as f32;
        let scales: Vec<f32> = spread.iter().take(channels).map(scale).collect();
        let offset = |(value, scale): (&f32, &f32)| *value - (before.mean as f32) * scale;
        let offsets = spread.iter().skip(channels).zip(&scales).map(offset).collect();
        let dims = [1, 1, 1, channels];
        let scales = Source::inline(Data::F32(scales));
        let offsets = Source::inline(Data::F32(offsets));
        let weights = self.constant(format!("{name}.weights"), &dims, scales);
        let bias = self.constant(format!("{name}.bias"), &[channels], offsets);
        let window = Window::dense([1, 1]);
        let op = Op::DepthwiseConv { window, multiplier: 1, activation: act.fused() };
        let after = Statistics::sum(2.0, true).map(clip(act.fused()));
        let result = self.node(name, op, vec![x, weights, bias], &[], after);
        let [height, width, _] = self.image(x);
        self.scaling_macs += [height, width, channels].iter().map(|n| *n as u64).product::<u64>();
        result
    }

    fn weighted(
        &mut self,
        (kind, op): (&str, Op),
        x: Id,
        dims: &[usize],
        outputs: usize,
        taps: f64,
        Results { act, bias, is_long_tailed }: Results,
    ) -> Id {
        let name = self.name(kind);
        let Some(elements) = dims.iter().try_fold(1usize, |all, dim| all.checked_mul(*dim)) else {
            self.fail(format!("'{name}': its weights overflow"));
            return x;
        };
        if elements == 0 {
            self.fail(format!("'{name}' has no channels"));
            return x;
        }
        let variance = wanted(act);
        let second = (taps * self.statistics[x.0].square).max(1e-6);
        let scale = libm::sqrt(variance / (second * Seeded::VARIANCE));
        let weights = Source::Seeded(Seeded::floats(seed(&name), elements, scale as f32));
        let mut inputs = vec![x, self.constant(format!("{name}.weights"), dims, weights)];
        if bias != Bias::None {
            let deviation = BIAS * libm::sqrt(variance / Seeded::VARIANCE);
            let values = Seeded::floats(seed(&name).rotate_left(32), outputs, deviation as f32);
            let source = Source::inline(values.values());
            inputs.push(self.constant(format!("{name}.bias"), &[outputs], source));
        }
        if bias == Bias::Normalised {
            self.normalised += outputs as u64;
        }
        let after = Statistics::sum(variance * (1.0 + BIAS * BIAS), is_long_tailed);
        let x = self.node(name, op, inputs, &[], after.map(clip(act.fused())));
        if let Act::Unary(_) = act { self.act(x, act) } else { x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_in_the_padding_do_not_count() {
        assert_eq!(along(1, 3, 1, 1, (1, 1)), 1.0);
        assert_eq!(along(4, 3, 1, 1, (0, 0)), 3.0);
        assert_eq!(along(4, 3, 1, 1, (1, 1)), 10.0 / 4.0);
        assert_eq!(along(5, 3, 1, 2, (2, 2)), 11.0 / 5.0);
    }

    #[test]
    fn same_is_that_of_tensorflow() {
        assert_eq!(ends(Pad::Same, 224, 3, 2), (0, 1));
        assert_eq!(ends(Pad::Same, 225, 3, 2), (1, 1));
        assert_eq!(ends(Pad::Same, 7, 5, 1), (2, 2));
        assert_eq!(ends(Pad::Same, 8, 1, 2), (0, 0));
    }
}
