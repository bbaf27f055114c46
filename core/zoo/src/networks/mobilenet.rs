//! MobileNets 1 and 2, and what stands on them: PoseNet and DeepLab v3.

use super::divisible;
use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net};

/// Depthwise separable layers after the first: channels before scaling, and stride.
const SEPARABLE: [(usize, usize); 13] = [
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (1024, 2),
    (1024, 1),
];

/// Howard et al. 2017, table 1, up to the pooling.
pub(crate) fn mobilenet_v1_body(net: &mut Net, x: Id, width: f64) -> Id {
    let scaled = |channels: usize| ((channels as f64 * width) as usize).max(8);
    net.scope("stem");
    let mut x = net.conv(x, Conv::new(scaled(32), 3).stride(2).relu6());
    for (index, (channels, stride)) in SEPARABLE.into_iter().enumerate() {
        net.scope(format!("block{}", index + 1));
        x = net.depthwise(x, Conv::depthwise(3).stride(stride).relu6());
        x = net.conv(x, Conv::new(scaled(channels), 1).relu6());
    }
    x
}

pub(crate) fn mobilenet_v1(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let x = mobilenet_v1_body(&mut net, x, p.width);
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Personlab (Papandreou et al. 2018) as published for browsers and phones: MobileNetV1, and for
/// 17 joints their places, offsets, and the offsets between joints forwards and backwards.
pub(crate) fn posenet(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let x = mobilenet_v1_body(&mut net, x, p.width);
    net.scope("head");
    let outputs = [17, 34, 32, 32].map(|channels| net.conv(x, Conv::new(channels, 1).bias()));
    net.finish(&outputs)
}

/// Expansion, channels, blocks and stride of each stage.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// Sandler et al. 2018, table 2, up to the last bottleneck. Once the image is `largest_stride`
/// times smaller, windows are dilated instead of it shrinking further.
fn mobilenet_v2_body(net: &mut Net, x: Id, width: f64, largest_stride: usize) -> Id {
    net.scope("stem");
    let first = divisible(32.0 * width, 8);
    let mut x = net.conv(x, Conv::new(first, 3).stride(2).relu6());
    let (mut shrunk, mut dilation, mut number) = (2, 1, 0);
    for (expansion, channels, blocks, stride) in STAGES {
        let outputs = divisible(channels as f64 * width, 8);
        for block in 0..blocks {
            number += 1;
            net.scope(format!("block{number}"));
            let asked = if block == 0 { stride } else { 1 };
            let dilated = dilation;
            let mut stride = asked;
            if shrunk * asked > largest_stride {
                stride = 1;
                dilation *= asked;
            }
            shrunk *= stride;
            let inputs = net.channels(x);
            let mut y = x;
            if expansion > 1 {
                y = net.conv(y, Conv::new(inputs * expansion, 1).relu6());
            }
            y = net.depthwise(y, Conv::depthwise(3).stride(stride).dilation(dilated).relu6());
            y = net.conv(y, Conv::new(outputs, 1));
            x = if asked == 1 && inputs == outputs { net.add(x, y, Act::None) } else { y };
        }
    }
    x
}

pub(crate) fn mobilenet_v2(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let x = mobilenet_v2_body(&mut net, x, p.width, 32);
    net.scope("head");
    let x = net.conv(x, Conv::new(divisible(1280.0 * p.width.max(1.0), 8), 1).relu6());
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Chen et al. 2017 on MobileNetV2 as in Sandler et al. 2018, section 6.3: the last bottleneck
/// directly, image pooling as the only other branch, output stride 16, 21 classes.
pub(crate) fn deeplab_v3(p: &Parameters) -> Result<Built, String> {
    let (mut net, input) = Net::new(p.picture(3));
    let x = mobilenet_v2_body(&mut net, input, p.width, 16);
    net.scope("head");
    let [height, width, _] = net.image(x);
    let pooled = net.global_pool(x);
    let pooled = net.conv(pooled, Conv::new(256, 1).relu());
    let pooled = net.resize(pooled, [height, width]);
    let direct = net.conv(x, Conv::new(256, 1).relu());
    let both = net.concat(&[pooled, direct]);
    let x = net.conv(both, Conv::new(256, 1).relu());
    let x = net.conv(x, Conv::new(21, 1).bias());
    let [height, width, _] = net.image(input);
    let x = net.resize(x, [height, width]);
    net.finish(&[x])
}
