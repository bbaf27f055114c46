//! Residual networks: He et al. 2015, with the stride in the 3×3 layer as in later versions. Also
//! EAST, which stands on one.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net, Pad, Pool};

const STAGES: [usize; 4] = [64, 128, 256, 512];

fn stem(net: &mut Net, x: Id) -> Id {
    let x = net.conv(x, Conv::new(64, 7).stride(2).pad(Pad::Each(3)).relu());
    net.max_pool(x, Pool::new(3, 2).pad(Pad::Each(1)))
}

fn shortcut(net: &mut Net, x: Id, outputs: usize, stride: usize) -> Id {
    if stride == 1 && net.channels(x) == outputs {
        return x;
    }
    net.conv(x, Conv::new(outputs, 1).stride(stride))
}

fn basic(net: &mut Net, x: Id, width: usize, stride: usize) -> Id {
    let y = net.conv(x, Conv::new(width, 3).stride(stride).pad(Pad::Each(1)).relu());
    let y = net.conv(y, Conv::new(width, 3));
    let shortcut = shortcut(net, x, width, stride);
    net.add(y, shortcut, Act::Relu)
}

fn bottleneck(net: &mut Net, x: Id, width: usize, stride: usize) -> Id {
    let y = net.conv(x, Conv::new(width, 1).relu());
    let y = net.conv(y, Conv::new(width, 3).stride(stride).pad(Pad::Each(1)).relu());
    let y = net.conv(y, Conv::new(4 * width, 1));
    let shortcut = shortcut(net, x, 4 * width, stride);
    net.add(y, shortcut, Act::Relu)
}

type Block = fn(&mut Net, Id, usize, usize) -> Id;

/// The results of the four stages, each half the size of the one before.
fn stages(net: &mut Net, x: Id, block: Block, blocks: [usize; 4]) -> [Id; 4] {
    net.scope("stem");
    let mut x = stem(net, x);
    let mut results = [x; 4];
    for (stage, count) in blocks.into_iter().enumerate() {
        for index in 0..count {
            net.scope(format!("layer{}.{index}", stage + 1));
            let stride = if stage > 0 && index == 0 { 2 } else { 1 };
            x = block(net, x, STAGES[stage], stride);
        }
        results[stage] = x;
    }
    results
}

fn classifier(p: &Parameters, block: Block, blocks: [usize; 4]) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let [.., x] = stages(&mut net, x, block, blocks);
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

pub(crate) fn resnet18(p: &Parameters) -> Result<Built, String> {
    classifier(p, basic, [2, 2, 2, 2])
}

pub(crate) fn resnet50(p: &Parameters) -> Result<Built, String> {
    classifier(p, bottleneck, [3, 4, 6, 3])
}

/// Zhou et al. 2017, section 3.2, with ResNet-50 as the trunk and rotated boxes as the answer:
/// text or not, four distances, an angle.
pub(crate) fn east(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let [first, second, third, last] = stages(&mut net, x, bottleneck, [3, 4, 6, 3]);
    let mut merged = last;
    for (index, (beside, outputs)) in
        [(third, 128), (second, 64), (first, 32)].into_iter().enumerate()
    {
        net.scope(format!("merge{}", index + 1));
        let [height, width, _] = net.image(beside);
        let larger = net.resize(merged, [height, width]);
        let both = net.concat(&[larger, beside]);
        let x = net.conv(both, Conv::new(outputs, 1).relu());
        merged = net.conv(x, Conv::new(outputs, 3).relu());
    }
    net.scope("head");
    let x = net.conv(merged, Conv::new(32, 3).relu());
    let score = net.conv(x, Conv::new(1, 1).act(Act::SIGMOID).bias());
    let distances = net.conv(x, Conv::new(4, 1).act(Act::SIGMOID).bias());
    let angle = net.conv(x, Conv::new(1, 1).act(Act::SIGMOID).bias());
    net.finish(&[score, distances, angle])
}
