//! NASNet-A for phones: Zoph et al. 2017, figure 4 and appendix A.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net, Pad, Pool};

/// A rectifier, a depthwise and a pointwise layer.
pub(super) fn separated(net: &mut Net, x: Id, outputs: usize, window: Conv) -> Id {
    let x = net.act(x, Act::Relu);
    let x = net.depthwise(x, window.bare());
    net.conv(x, Conv::new(outputs, 1))
}

/// The same twice; the first takes the stride.
pub(super) fn separable(net: &mut Net, x: Id, outputs: usize, size: usize, stride: usize) -> Id {
    let x = separated(net, x, outputs, Conv::depthwise(size).stride(stride));
    separated(net, x, outputs, Conv::depthwise(size))
}

pub(super) fn average(net: &mut Net, x: Id, stride: usize) -> Id {
    net.average_pool(x, Pool::new(3, stride).pad(Pad::Same))
}

pub(super) fn largest(net: &mut Net, x: Id, stride: usize) -> Id {
    net.max_pool(x, Pool::new(3, stride).pad(Pad::Same))
}

/// Half the size: pointwise layers of every second pixel, each making half of the channels.
pub(super) fn halved(net: &mut Net, x: Id, channels: usize) -> Id {
    let x = net.act(x, Act::Relu);
    let halves = [0, 1].map(|first| {
        let half = net.every_second(x, first);
        net.conv(half, Conv::new(channels / 2, 1))
    });
    net.concat(&halves)
}

/// The cell before's result in the size and with the channels that this one wants.
/// The first cell has none before and takes its input as it is.
fn fitted(net: &mut Net, before: Option<Id>, to: Id, channels: usize) -> Id {
    let Some(before) = before else { return to };
    let (from, wanted) = (net.image(before), net.image(to));
    if from[0] != wanted[0] {
        return halved(net, before, channels);
    }
    if from[2] == channels {
        return before;
    }
    squeezed(net, before, Conv::new(channels, 1))
}

/// A rectifier and a pointwise layer.
pub(super) fn squeezed(net: &mut Net, x: Id, pointwise: Conv) -> Id {
    let x = net.act(x, Act::Relu);
    net.conv(x, pointwise)
}

fn normal(net: &mut Net, x: Id, before: Option<Id>, channels: usize) -> Id {
    let p = fitted(net, before, x, channels);
    let h = squeezed(net, x, Conv::new(channels, 1));
    let a = separable(net, h, channels, 5, 1);
    let b = separable(net, p, channels, 3, 1);
    let first = net.add(a, b, Act::None);
    let a = separable(net, p, channels, 5, 1);
    let b = separable(net, p, channels, 3, 1);
    let second = net.add(a, b, Act::None);
    let a = average(net, h, 1);
    let third = net.add(a, p, Act::None);
    let pooled = average(net, p, 1);
    let fourth = net.add(pooled, pooled, Act::None);
    let a = separable(net, h, channels, 3, 1);
    let fifth = net.add(a, h, Act::None);
    net.concat(&[p, first, second, third, fourth, fifth])
}

fn reduction(net: &mut Net, x: Id, before: Option<Id>, channels: usize) -> Id {
    let p = fitted(net, before, x, channels);
    let h = squeezed(net, x, Conv::new(channels, 1));
    let a = separable(net, h, channels, 5, 2);
    let b = separable(net, p, channels, 7, 2);
    let first = net.add(a, b, Act::None);
    let peaks = largest(net, h, 2);
    let b = separable(net, p, channels, 7, 2);
    let second = net.add(peaks, b, Act::None);
    let a = average(net, h, 2);
    let b = separable(net, p, channels, 5, 2);
    let third = net.add(a, b, Act::None);
    let a = average(net, first, 1);
    let fourth = net.add(second, a, Act::None);
    let a = separable(net, first, channels, 3, 1);
    let fifth = net.add(a, peaks, Act::None);
    net.concat(&[second, third, fourth, fifth])
}

/// NASNet-A (4 @ 1056).
pub(crate) fn nasnet_mobile(p: &Parameters) -> Result<Built, String> {
    const CHANNELS: usize = 1056 / 24;
    let (mut net, input) = Net::new(p.picture(3));
    net.scope("stem");
    let x = net.conv(input, Conv::new(32, 3).stride(2).pad(Pad::Each(0)));
    let (mut x, mut before) = (x, None);
    for (index, channels) in [CHANNELS / 4, CHANNELS / 2].into_iter().enumerate() {
        net.scope(format!("stem{}", index + 1));
        let next = reduction(&mut net, x, before, channels);
        (x, before) = (next, Some(x));
    }
    for (group, channels) in [CHANNELS, 2 * CHANNELS, 4 * CHANNELS].into_iter().enumerate() {
        if group > 0 {
            net.scope(format!("reduce{group}"));
            let next = reduction(&mut net, x, before, channels);
            (x, before) = (next, Some(x));
        }
        for cell in 0..4 {
            net.scope(format!("cell{}.{cell}", group + 1));
            let next = normal(&mut net, x, before, channels);
            (x, before) = (next, Some(x));
        }
    }
    net.scope("head");
    let x = net.act(x, Act::Relu);
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}
