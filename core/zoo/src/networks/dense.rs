//! Networks of concatenations: SqueezeNet and DenseNet.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net, Pad, Pool};

fn fire(net: &mut Net, x: Id, squeeze: usize, expand: usize) -> Id {
    let squeezed = net.conv(x, Conv::new(squeeze, 1).relu().bias());
    let one = net.conv(squeezed, Conv::new(expand, 1).relu().bias());
    let three = net.conv(squeezed, Conv::new(expand, 3).relu().bias());
    net.concat(&[one, three])
}

/// A first layer, fire modules with pools before those at `pools`, and a convolution over classes.
fn squeeze(p: &Parameters, first: Conv, pools: [usize; 2]) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    // Output sizes are rounded up; where the last window already fits, no padding is needed.
    let pool = |net: &mut Net, x: Id| {
        let odd = net.image(x)[0] % 2 == 1;
        net.max_pool(x, Pool::new(3, 2).pad(Pad::End(usize::from(!odd))))
    };
    let x = net.conv(x, first.stride(2).pad(Pad::Each(0)).relu().bias());
    let mut x = pool(&mut net, x);
    let sizes =
        [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)];
    for (index, (squeezed, expanded)) in sizes.into_iter().enumerate() {
        let number = index + 2;
        if pools.contains(&number) {
            x = pool(&mut net, x);
        }
        net.scope(format!("fire{number}"));
        x = fire(&mut net, x, squeezed, expanded);
    }
    net.scope("head");
    let x = net.conv(x, Conv::new(1000, 1).relu().bias());
    let x = net.global_pool(x);
    let x = net.flatten(x);
    net.finish(&[x])
}

/// Iandola et al. 2016, table 1.
pub(crate) fn squeezenet(p: &Parameters) -> Result<Built, String> {
    squeeze(p, Conv::new(96, 7), [5, 9])
}

/// Its authors' second release: the same with 2.4 times fewer MACs.
pub(crate) fn squeezenet_1_1(p: &Parameters) -> Result<Built, String> {
    squeeze(p, Conv::new(64, 3), [4, 6])
}

/// Huang et al. 2016, table 1: growth 32. Batch normalisations before their rectifier stand behind
/// concatenations, so that they remain as a scale and an offset for each channel.
pub(crate) fn densenet121(p: &Parameters) -> Result<Built, String> {
    const GROWTH: usize = 32;
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let x = net.conv(x, Conv::new(64, 7).stride(2).pad(Pad::Each(3)).relu());
    let mut x = net.max_pool(x, Pool::new(3, 2).pad(Pad::Each(1)));
    for (block, layers) in [6, 12, 24, 16].into_iter().enumerate() {
        for layer in 1..=layers {
            net.scope(format!("block{}.{layer}", block + 1));
            let y = net.normalise(x, Act::Relu);
            let y = net.conv(y, Conv::new(4 * GROWTH, 1).relu());
            let y = net.conv(y, Conv::new(GROWTH, 3).bare());
            x = net.concat(&[x, y]);
        }
        if block < 3 {
            net.scope(format!("transition{}", block + 1));
            x = net.normalise(x, Act::Relu);
            let half = net.channels(x) / 2;
            x = net.conv(x, Conv::new(half, 1).bare());
            x = net.average_pool(x, Pool::new(2, 2));
        }
    }
    net.scope("head");
    let x = net.normalise(x, Act::Relu);
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}
