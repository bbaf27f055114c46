//! ShuffleNets: Zhang et al. 2017, Ma et al. 2018.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net, Pad, Pool};

fn stem(net: &mut Net, x: Id) -> Id {
    net.scope("stem");
    let x = net.conv(x, Conv::new(24, 3).stride(2).pad(Pad::Each(1)).relu());
    net.max_pool(x, Pool::new(3, 2).pad(Pad::Each(1)))
}

/// Zhang et al. 2017, table 1, three groups; widths multiply the channels of all stages.
pub(crate) fn shufflenet_v1(p: &Parameters) -> Result<Built, String> {
    const GROUPS: usize = 3;
    let (mut net, x) = Net::new(p.picture(3));
    let mut x = stem(&mut net, x);
    let base = [240, 480, 960];
    for (stage, (channels, units)) in base.into_iter().zip([4, 8, 4]).enumerate() {
        // Multiples of 4 · groups, so that a quarter splits into groups.
        let step = (4 * GROUPS) as f64;
        let outputs = (libm::round(f64::from(channels) * p.width / step).max(1.0) * step) as usize;
        for unit in 0..units {
            net.scope(format!("stage{}.{unit}", stage + 2));
            let first = stage == 0 && unit == 0;
            let grouped = if first { 1 } else { GROUPS };
            let shrinks = unit == 0;
            let added = if shrinks { outputs.saturating_sub(net.channels(x)) } else { outputs };
            let y = net.conv(x, Conv::new(outputs / 4, 1).groups(grouped).relu());
            let y = net.shuffle(y, grouped);
            let stride = if shrinks { 2 } else { 1 };
            let y = net.depthwise(y, Conv::depthwise(3).stride(stride).pad(Pad::Each(1)));
            let y = net.conv(y, Conv::new(added, 1).groups(GROUPS));
            x = if shrinks {
                let beside = net.average_pool(x, Pool::new(3, 2).pad(Pad::Each(1)));
                let both = net.concat(&[beside, y]);
                net.act(both, Act::Relu)
            } else {
                net.add(x, y, Act::Relu)
            };
        }
    }
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// Ma et al. 2018, table 5.
pub(crate) fn shufflenet_v2(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    let stages = match p.width {
        0.5 => [48, 96, 192, 1024],
        1.0 => [116, 232, 464, 1024],
        1.5 => [176, 352, 704, 1024],
        2.0 => [244, 488, 976, 2048],
        _ => return Err("its widths are 0.5, 1, 1.5 and 2".to_owned()),
    };
    let mut x = stem(&mut net, x);
    for (stage, units) in [4, 8, 4].into_iter().enumerate() {
        let half = stages[stage] / 2;
        for unit in 0..units {
            net.scope(format!("stage{}.{unit}", stage + 2));
            x = if unit == 0 {
                shrinking_unit(&mut net, x, half)
            } else {
                unit_of(&mut net, x, half)
            };
        }
    }
    net.scope("head");
    let x = net.conv(x, Conv::new(stages[3], 1).relu());
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

fn branch(net: &mut Net, x: Id, half: usize, stride: usize) -> Id {
    let x = net.conv(x, Conv::new(half, 1).relu());
    let x = net.depthwise(x, Conv::depthwise(3).stride(stride).pad(Pad::Each(1)));
    net.conv(x, Conv::new(half, 1).relu())
}

fn shrinking_unit(net: &mut Net, x: Id, half: usize) -> Id {
    let beside = net.depthwise(x, Conv::depthwise(3).stride(2).pad(Pad::Each(1)));
    let beside = net.conv(beside, Conv::new(half, 1).relu());
    let y = branch(net, x, half, 2);
    let both = net.concat(&[beside, y]);
    net.shuffle(both, 2)
}

fn unit_of(net: &mut Net, x: Id, half: usize) -> Id {
    let beside = net.slice_channels(x, 0, half);
    let y = net.slice_channels(x, half, half);
    let y = branch(net, y, half, 1);
    let both = net.concat(&[beside, y]);
    net.shuffle(both, 2)
}
