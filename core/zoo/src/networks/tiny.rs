//! MLPerf Tiny's networks and TensorFlow Lite Micro's person detection: Banbury et al. 2021.

use super::mobilenet::mobilenet_v1_body;
use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Net, Pool};
use crate::statistics::Statistics;

/// Zhang et al. 2017 ("Hello Edge"), the size that MLPerf Tiny took: 49 windows of 10 coefficients.
pub(crate) fn ds_cnn(_: &Parameters) -> Result<Built, String> {
    let features = Statistics::sum(1.0, false);
    let (mut net, x) = Net::with_input(&[1, 49, 10, 1], features);
    let mut x = net.conv(x, Conv::rectangle(64, [10, 4]).stride(2).relu());
    for block in 1..=4 {
        net.scope(format!("block{block}"));
        x = net.depthwise(x, Conv::depthwise(3).relu());
        x = net.conv(x, Conv::new(64, 1).relu());
    }
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 12, Act::None);
    let x = net.softmax(x);
    net.finish(&[x])
}

/// MLPerf Tiny's image classification: three stacks of one residual block.
pub(crate) fn resnet8(_: &Parameters) -> Result<Built, String> {
    three_stacks(16)
}

/// MLPerf Tiny's larger image classification (IC02, `pretrainedResnet_large`): the same with 2.5 times the channels.
pub(crate) fn resnet8_large(_: &Parameters) -> Result<Built, String> {
    three_stacks(40)
}

/// Three stacks of one residual block, the first with so many channels, each with twice as many as the one before.
fn three_stacks(channels: usize) -> Result<Built, String> {
    let (mut net, x) = Net::new([32, 32, 3]);
    let mut x = net.conv(x, Conv::new(channels, 3).relu());
    for (outputs, stride) in [(channels, 1), (2 * channels, 2), (4 * channels, 2)] {
        net.scope(format!("stack{outputs}"));
        let y = net.conv(x, Conv::new(outputs, 3).stride(stride).relu());
        let y = net.conv(y, Conv::new(outputs, 3));
        let shortcut =
            if stride == 1 { x } else { net.conv(x, Conv::new(outputs, 1).stride(stride).bias()) };
        x = net.add(shortcut, y, Act::Relu);
    }
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 10, Act::None);
    let x = net.softmax(x);
    net.finish(&[x])
}

/// MLPerf Tiny's anomaly detection: five frames of 128 bands through a bottleneck of eight.
pub(crate) fn autoencoder(_: &Parameters) -> Result<Built, String> {
    let (mut net, mut x) = Net::with_input(&[1, 640], Statistics::sum(1.0, false));
    for outputs in [128, 128, 128, 128, 8, 128, 128, 128, 128] {
        x = net.dense_normalised(x, outputs, Act::Relu);
    }
    let x = net.dense(x, 640, Act::None);
    net.finish(&[x])
}

/// MobileNetV1 of quarter width over grey pictures of 96×96, two classes.
pub(crate) fn person_detect(_: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new([96, 96, 1]);
    let x = mobilenet_v1_body(&mut net, x, 0.25);
    net.scope("head");
    let x = net.average_pool(x, Pool::new(3, 2));
    let x = net.conv(x, Conv::new(2, 1).bias());
    let x = net.flatten(x);
    let x = net.softmax(x);
    net.finish(&[x])
}

/// MLPerf Tiny's visual wake words: the same over colour pictures.
pub(crate) fn vww(_: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new([96, 96, 3]);
    let x = mobilenet_v1_body(&mut net, x, 0.25);
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 2, Act::None);
    let x = net.softmax(x);
    net.finish(&[x])
}
