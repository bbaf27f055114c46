//! Plain chains: LeNet-5, the CIFAR-10 network of CMSIS-NN, AlexNet, ZFNet, VGG-16.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Net, Pad, Pool};

/// LeCun et al. 1998, as Unlu uses it: padded digits of 32×32, rectifiers, largest-value pooling.
pub(crate) fn lenet5(_: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new([32, 32, 1]);
    let x = net.conv(x, Conv::new(6, 5).pad(Pad::Each(0)).relu().bias());
    let x = net.max_pool(x, Pool::new(2, 2));
    let x = net.conv(x, Conv::new(16, 5).pad(Pad::Each(0)).relu().bias());
    let x = net.max_pool(x, Pool::new(2, 2));
    let x = net.dense(x, 120, Act::Relu);
    let x = net.dense(x, 84, Act::Relu);
    let x = net.dense(x, 10, Act::None);
    net.finish(&[x])
}

/// Lai, Suda and Chandra 2018, in the sizes of the library's example and of Unlu's table.
pub(crate) fn cifar10_cmsis(_: &Parameters) -> Result<Built, String> {
    let (mut net, mut x) = Net::new([32, 32, 3]);
    for outputs in [32, 16, 32] {
        x = net.conv(x, Conv::new(outputs, 5).relu().bias());
        x = net.max_pool(x, Pool::new(3, 2).pad(Pad::End(1)));
    }
    let x = net.dense(x, 10, Act::None);
    let x = net.softmax(x);
    net.finish(&[x])
}

/// Krizhevsky et al. 2012, the two halves as groups.
pub(crate) fn alexnet(p: &Parameters) -> Result<Built, String> {
    alex(p, 2)
}

/// The same as one tower, without groups.
pub(crate) fn alexnet_ungrouped(p: &Parameters) -> Result<Built, String> {
    alex(p, 1)
}

fn alex(p: &Parameters, groups: usize) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let pool = Pool::new(3, 2);
    let x = net.conv(x, Conv::new(96, 11).stride(4).pad(Pad::Each(0)).relu().bias());
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let x = net.max_pool(x, pool);
    let x = net.conv(x, Conv::new(256, 5).groups(groups).relu().bias());
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let x = net.max_pool(x, pool);
    let x = net.conv(x, Conv::new(384, 3).relu().bias());
    let x = net.conv(x, Conv::new(384, 3).groups(groups).relu().bias());
    let x = net.conv(x, Conv::new(256, 3).groups(groups).relu().bias());
    let x = net.max_pool(x, pool);
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Zeiler and Fergus 2013, figure 3.
pub(crate) fn zfnet(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let pool = Pool::new(3, 2);
    let x = net.conv(x, Conv::new(96, 7).stride(2).pad(Pad::Each(1)).relu().bias());
    let x = net.max_pool(x, pool.pad(Pad::End(1)));
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let x = net.conv(x, Conv::new(256, 5).stride(2).pad(Pad::Each(0)).relu().bias());
    let x = net.max_pool(x, pool.pad(Pad::End(1)));
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let x = net.conv(x, Conv::new(384, 3).relu().bias());
    let x = net.conv(x, Conv::new(384, 3).relu().bias());
    let x = net.conv(x, Conv::new(256, 3).relu().bias());
    let x = net.max_pool(x, pool);
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Simonyan and Zisserman 2014, configuration D.
pub(crate) fn vgg16(p: &Parameters) -> Result<Built, String> {
    let (mut net, mut x) = Net::new(p.picture(3));
    for (block, (outputs, layers)) in
        [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)].into_iter().enumerate()
    {
        net.scope(format!("block{}", block + 1));
        for _ in 0..layers {
            x = net.conv(x, Conv::new(outputs, 3).relu().bias());
        }
        x = net.max_pool(x, Pool::new(2, 2));
    }
    net.scope("head");
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 4096, Act::Relu);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}
