//! Networks of inverted bottlenecks whose sizes a search found: MobileNetV3, MnasNet, ProxylessNAS,
//! MCUNet, EfficientNet.

use super::rule::Rule;
use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net};

/// An inverted bottleneck: Sandler et al. 2018, figure 4, and Hu et al. 2017 for the squeeze.
#[derive(Clone, Copy)]
struct Block {
    /// Channels between; as many as the input's means no expanding layer.
    inner: usize,
    outputs: usize,
    size: usize,
    stride: usize,
    /// Channels of the squeeze, if there is one, and the function behind the second layer.
    squeeze: Option<(usize, Act)>,
    act: Act,
    /// Whether it adds its input, if it can.
    adds: bool,
}

fn block(net: &mut Net, x: Id, block: Block) -> Id {
    let inputs = net.channels(x);
    let mut y = x;
    if block.inner != inputs {
        y = net.conv(y, Conv::new(block.inner, 1).act(block.act));
    }
    y = net.depthwise(y, Conv::depthwise(block.size).stride(block.stride).act(block.act));
    if let Some((channels, gate)) = block.squeeze {
        // The squeeze's own function is a rectifier, or that of the network if it is SiLU.
        let inner = if block.act == Act::SILU { Act::SILU } else { Act::Relu };
        let pooled = net.global_pool(y);
        let small = net.conv(pooled, Conv::new(channels, 1).act(inner).bias());
        let gates = net.conv(small, Conv::new(block.inner, 1).act(gate).bias());
        y = net.mul(y, gates);
    }
    y = net.conv(y, Conv::new(block.outputs, 1));
    let can_add = block.stride == 1 && inputs == block.outputs;
    if block.adds && can_add { net.add(x, y, Act::None) } else { y }
}

fn classes(mut net: Net, x: Id) -> Result<Built, String> {
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Window, channels between, channels, squeeze, hard swish (or a rectifier), stride.
type Row = (usize, usize, usize, bool, bool, usize);

const V3_LARGE: [Row; 15] = [
    (3, 16, 16, false, false, 1),
    (3, 64, 24, false, false, 2),
    (3, 72, 24, false, false, 1),
    (5, 72, 40, true, false, 2),
    (5, 120, 40, true, false, 1),
    (5, 120, 40, true, false, 1),
    (3, 240, 80, false, true, 2),
    (3, 200, 80, false, true, 1),
    (3, 184, 80, false, true, 1),
    (3, 184, 80, false, true, 1),
    (3, 480, 112, true, true, 1),
    (3, 672, 112, true, true, 1),
    (5, 672, 160, true, true, 2),
    (5, 960, 160, true, true, 1),
    (5, 960, 160, true, true, 1),
];

const V3_SMALL: [Row; 11] = [
    (3, 16, 16, true, false, 2),
    (3, 72, 24, false, false, 2),
    (3, 88, 24, false, false, 1),
    (5, 96, 40, true, true, 2),
    (5, 240, 40, true, true, 1),
    (5, 240, 40, true, true, 1),
    (5, 120, 48, true, true, 1),
    (5, 144, 48, true, true, 1),
    (5, 288, 96, true, true, 2),
    (5, 576, 96, true, true, 1),
    (5, 576, 96, true, true, 1),
];

/// Howard et al. 2019, table 1.
pub(crate) fn mobilenet_v3_large(p: &Parameters) -> Result<Built, String> {
    mobilenet_v3(p, &V3_LARGE, 1280, &Rule::MOBILENET_V3, None)
}

/// Howard et al. 2019, table 2.
pub(crate) fn mobilenet_v3_small(p: &Parameters) -> Result<Built, String> {
    mobilenet_v3(p, &V3_SMALL, 1024, &Rule::MOBILENET_V3, None)
}

/// The large one as the thesis of Sadiq scales it.
pub(crate) fn mobilenet_v3_thesis(p: &Parameters) -> Result<Built, String> {
    mobilenet_v3(p, &V3_LARGE, 1280, &Rule::THESIS, None)
}

/// The same with early exits (5.2.1): a head of its own behind each block from the seventh on.
pub(crate) fn mobilenet_v3_exits_thesis(p: &Parameters) -> Result<Built, String> {
    mobilenet_v3(p, &V3_LARGE, 1280, &Rule::THESIS, Some(7))
}

/// The same with windows of 3x3 alone.
pub(crate) fn mobilenet_v3_minimal_thesis(p: &Parameters) -> Result<Built, String> {
    mobilenet_v3(p, &V3_LARGE, 1280, &Rule::THESIS_MINIMAL, None)
}

/// `last` are the channels before the classes, `first_exit` is the number of the block behind which the first early exit
/// stands, if there are some: heads behind it and each later block give probabilities then.
fn mobilenet_v3(
    p: &Parameters,
    rows: &[Row],
    last: usize,
    rule: &Rule,
    first_exit: Option<usize>,
) -> Result<Built, String> {
    let mut exits = Vec::new();
    let head = |net: &mut Net, x: Id| {
        let inner = 6 * net.channels(x);
        let x = net.conv(x, Conv::new(inner, 1).act(rule.swish()));
        let x = net.global_pool(x);
        let x = net.dense(x, rule.last(last, p.width), rule.swish());
        net.dense(x, 1000, Act::None)
    };
    let scaled = |channels: usize| rule.channels(channels as f64 * p.width);
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let mut before = 16;
    let mut x = net.conv(x, Conv::new(scaled(before), 3).stride(2).act(rule.swish()));
    for (index, (size, inner, channels, squeezes, swish, stride)) in
        rows.iter().copied().enumerate()
    {
        net.scope(format!("block{}", index + 1));
        let inner = rule.inner(inner, before, net.channels(x), p.width);
        let squeeze = (squeezes && rule.squeezes)
            .then(|| (rule.channels(inner as f64 / 4.0), Act::HARD_SIGMOID));
        let act = if swish { rule.swish() } else { Act::Relu };
        let adds = rule.may_add(before, channels);
        let (outputs, size) = (scaled(channels), size.min(rule.largest_window));
        x = block(&mut net, x, Block { inner, outputs, size, stride, squeeze, act, adds });
        before = channels;
        if first_exit.is_some_and(|first| index + 1 >= first) {
            net.scope(format!("exit{}", index + 1));
            let classes = head(&mut net, x);
            exits.push(net.softmax(classes));
        }
    }
    if exits.is_empty() {
        net.scope("head");
        exits.push(head(&mut net, x));
    }
    net.finish(&exits)
}

/// Tan et al. 2018, figure 7: MnasNet-B1, without squeezes.
pub(crate) fn mnasnet(p: &Parameters) -> Result<Built, String> {
    mnasnet_by(p, &Rule::MNASNET)
}

/// The same as the thesis of Sadiq scales it.
pub(crate) fn mnasnet_thesis(p: &Parameters) -> Result<Built, String> {
    mnasnet_by(p, &Rule::THESIS)
}

fn mnasnet_by(p: &Parameters, rule: &Rule) -> Result<Built, String> {
    let scaled = |channels: usize| rule.channels(channels as f64 * p.width);
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let x = net.conv(x, Conv::new(scaled(32), 3).stride(2).relu());
    let x = net.depthwise(x, Conv::depthwise(3).relu());
    let mut before = 16;
    let mut x = net.conv(x, Conv::new(scaled(before), 1));
    let stages = [
        (24, 3, 2, 3, 3),
        (40, 5, 2, 3, 3),
        (80, 5, 2, 6, 3),
        (96, 3, 1, 6, 2),
        (192, 5, 2, 6, 4),
        (320, 3, 1, 6, 1),
    ];
    for (stage, (channels, size, stride, expansion, blocks)) in stages.into_iter().enumerate() {
        for index in 0..blocks {
            net.scope(format!("stage{}.{index}", stage + 1));
            let inner = expansion * net.channels(x);
            let stride = if index == 0 { stride } else { 1 };
            let outputs = scaled(channels);
            let (squeeze, act) = (None, Act::Relu);
            let adds = rule.may_add(before, channels);
            x = block(&mut net, x, Block { inner, outputs, size, stride, squeeze, act, adds });
            before = channels;
        }
    }
    net.scope("head");
    let x = net.conv(x, Conv::new(rule.last(1280, p.width), 1).relu());
    classes(net, x)
}

/// A block of a searched network: expansion, channels, window, stride.
type Found = (usize, usize, usize, usize);

/// A first convolution, bottlenecks, perhaps a last convolution, and the classes.
fn found(
    p: &Parameters,
    first: usize,
    blocks: &[Found],
    last: Option<usize>,
    rule: &Rule,
) -> Result<Built, String> {
    let scaled = |channels: usize| rule.channels(channels as f64 * p.width);
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let mut before = first;
    let mut x = net.conv(x, Conv::new(scaled(first), 3).stride(2).relu6());
    for (index, (expansion, channels, size, stride)) in blocks.iter().copied().enumerate() {
        net.scope(format!("block{}", index + 1));
        let (inner, outputs) = (expansion * net.channels(x), scaled(channels));
        let (squeeze, act) = (None, Act::Relu6);
        let adds = rule.may_add(before, channels);
        x = block(&mut net, x, Block { inner, outputs, size, stride, squeeze, act, adds });
        before = channels;
    }
    net.scope("head");
    if let Some(channels) = last {
        x = net.conv(x, Conv::new(rule.last(channels, p.width), 1).relu6());
    }
    classes(net, x)
}

/// Cai, Zhu and Han 2018, figure 4, the network found for phones.
const PROXYLESS_MOBILE: [Found; 20] = [
    (1, 16, 3, 1),
    (3, 32, 5, 2),
    (3, 32, 3, 1),
    (3, 40, 7, 2),
    (3, 40, 3, 1),
    (3, 40, 5, 1),
    (3, 40, 5, 1),
    (6, 80, 7, 2),
    (3, 80, 5, 1),
    (3, 80, 5, 1),
    (3, 80, 5, 1),
    (6, 96, 5, 1),
    (3, 96, 5, 1),
    (3, 96, 5, 1),
    (3, 96, 5, 1),
    (6, 192, 7, 2),
    (6, 192, 7, 1),
    (3, 192, 7, 1),
    (3, 192, 7, 1),
    (6, 320, 7, 1),
];

/// ProxylessNAS-Mobile as its authors released it.
pub(crate) fn proxylessnas_mobile(p: &Parameters) -> Result<Built, String> {
    found(p, 32, &PROXYLESS_MOBILE, Some(1280), &Rule::BOTTLENECKS)
}

/// The same as the thesis of Sadiq scales it.
pub(crate) fn proxylessnas_thesis(p: &Parameters) -> Result<Built, String> {
    found(p, 32, &PROXYLESS_MOBILE, Some(1280), &Rule::THESIS)
}

/// Lin et al. 2020, ten frames a second.
pub(crate) fn mcunet_in0(p: &Parameters) -> Result<Built, String> {
    let blocks = [
        (1, 16, 3, 1),
        (4, 16, 5, 2),
        (3, 16, 3, 1),
        (4, 16, 3, 1),
        (5, 24, 7, 2),
        (4, 24, 5, 1),
        (5, 24, 5, 1),
        (5, 48, 7, 2),
        (4, 48, 5, 1),
        (5, 56, 3, 1),
        (4, 56, 5, 1),
        (5, 56, 3, 1),
        (6, 112, 3, 2),
        (4, 112, 5, 1),
        (6, 192, 3, 1),
    ];
    found(p, 24, &blocks, None, &Rule::BOTTLENECKS)
}

/// Lin et al. 2020, five frames a second.
pub(crate) fn mcunet_in1(p: &Parameters) -> Result<Built, String> {
    let blocks = [
        (1, 8, 3, 1),
        (4, 16, 3, 2),
        (3, 16, 3, 1),
        (3, 24, 7, 2),
        (5, 24, 3, 1),
        (5, 40, 3, 2),
        (4, 40, 7, 1),
        (4, 48, 5, 1),
        (3, 48, 3, 1),
        (4, 48, 3, 1),
        (5, 96, 7, 2),
        (4, 96, 5, 1),
        (4, 96, 5, 1),
        (6, 160, 3, 1),
    ];
    found(p, 16, &blocks, None, &Rule::BOTTLENECKS)
}

/// Lin et al. 2020, for 256 KB of SRAM and 1 MB of flash.
pub(crate) fn mcunet_in2(p: &Parameters) -> Result<Built, String> {
    let blocks = [
        (1, 8, 3, 1),
        (3, 16, 5, 2),
        (6, 16, 7, 1),
        (5, 16, 3, 1),
        (5, 16, 5, 1),
        (5, 24, 3, 2),
        (6, 24, 7, 1),
        (6, 24, 5, 1),
        (4, 40, 7, 2),
        (5, 40, 5, 1),
        (5, 48, 3, 1),
        (5, 48, 5, 1),
        (4, 48, 3, 1),
        (6, 96, 5, 2),
        (4, 96, 5, 1),
        (3, 96, 5, 1),
        (4, 96, 3, 1),
        (5, 160, 5, 1),
    ];
    found(p, 16, &blocks, None, &Rule::BOTTLENECKS)
}

/// Lin et al. 2020, for 320 KB of SRAM and 1 MB of flash.
pub(crate) fn mcunet_in3(p: &Parameters) -> Result<Built, String> {
    let blocks = [
        (1, 8, 3, 1),
        (3, 16, 7, 2),
        (5, 16, 3, 1),
        (5, 16, 7, 1),
        (4, 16, 5, 1),
        (5, 24, 5, 2),
        (5, 24, 5, 1),
        (5, 24, 5, 1),
        (5, 40, 3, 2),
        (6, 40, 7, 1),
        (4, 40, 5, 1),
        (5, 48, 5, 1),
        (5, 48, 7, 1),
        (5, 48, 3, 1),
        (6, 96, 3, 2),
        (5, 96, 7, 1),
        (4, 96, 3, 1),
        (5, 160, 7, 1),
    ];
    found(p, 16, &blocks, None, &Rule::BOTTLENECKS)
}

/// Lin et al. 2020, for 512 KB of SRAM and 2 MB of flash.
pub(crate) fn mcunet_in4(p: &Parameters) -> Result<Built, String> {
    let blocks = [
        (1, 16, 3, 1),
        (3, 24, 7, 2),
        (5, 24, 3, 1),
        (4, 24, 5, 1),
        (5, 40, 7, 2),
        (4, 40, 3, 1),
        (4, 40, 7, 1),
        (3, 80, 7, 2),
        (3, 80, 3, 1),
        (3, 80, 7, 1),
        (4, 96, 3, 1),
        (3, 96, 5, 1),
        (3, 96, 5, 1),
        (4, 192, 7, 2),
        (3, 192, 7, 1),
        (3, 192, 5, 1),
        (4, 320, 5, 1),
    ];
    found(p, 32, &blocks, None, &Rule::BOTTLENECKS)
}

/// Tan and Le 2019, table 1.
pub(crate) fn efficientnet_b0(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let mut x = net.conv(x, Conv::new(32, 3).stride(2).act(Act::SILU));
    let stages = [
        (1, 16, 3, 1, 1),
        (6, 24, 3, 2, 2),
        (6, 40, 5, 2, 2),
        (6, 80, 3, 2, 3),
        (6, 112, 5, 1, 3),
        (6, 192, 5, 2, 4),
        (6, 320, 3, 1, 1),
    ];
    for (stage, (expansion, outputs, size, stride, blocks)) in stages.into_iter().enumerate() {
        for index in 0..blocks {
            net.scope(format!("stage{}.{index}", stage + 1));
            let inputs = net.channels(x);
            let stride = if index == 0 { stride } else { 1 };
            let squeeze = Some(((inputs / 4).max(1), Act::SIGMOID));
            let (inner, act, adds) = (expansion * inputs, Act::SILU, true);
            x = block(&mut net, x, Block { inner, outputs, size, stride, squeeze, act, adds });
        }
    }
    net.scope("head");
    let x = net.conv(x, Conv::new(1280, 1).act(Act::SILU));
    classes(net, x)
}
