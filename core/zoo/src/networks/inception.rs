//! Inception networks: Szegedy et al. 2014 and 2015.

use crate::name::Parameters;
use crate::net::{Act, Built, Conv, Id, Net, Pad, Pool};

/// Szegedy et al. 2014, table 1, without the auxiliary classifiers.
pub(crate) fn googlenet(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    // Output sizes are rounded up.
    let half = Pool::new(3, 2).pad(Pad::End(1));
    net.scope("stem");
    let x = net.conv(x, Conv::new(64, 7).stride(2).pad(Pad::Each(3)).relu().bias());
    let x = net.max_pool(x, half);
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let x = net.conv(x, Conv::new(64, 1).relu().bias());
    let x = net.conv(x, Conv::new(192, 3).relu().bias());
    let x = net.lrn(x, 5, 1e-4, 0.75, 1.0);
    let mut x = net.max_pool(x, half);
    let modules = [
        ("3a", [64, 96, 128, 16, 32, 32]),
        ("3b", [128, 128, 192, 32, 96, 64]),
        ("4a", [192, 96, 208, 16, 48, 64]),
        ("4b", [160, 112, 224, 24, 64, 64]),
        ("4c", [128, 128, 256, 24, 64, 64]),
        ("4d", [112, 144, 288, 32, 64, 64]),
        ("4e", [256, 160, 320, 32, 128, 128]),
        ("5a", [256, 160, 320, 32, 128, 128]),
        ("5b", [384, 192, 384, 48, 128, 128]),
    ];
    for (name, [one, reduce3, three, reduce5, five, pooled]) in modules {
        if matches!(name, "4a" | "5a") {
            x = net.max_pool(x, half);
        }
        net.scope(format!("inception_{name}"));
        let first = net.conv(x, Conv::new(one, 1).relu().bias());
        let second = net.conv(x, Conv::new(reduce3, 1).relu().bias());
        let second = net.conv(second, Conv::new(three, 3).relu().bias());
        let third = net.conv(x, Conv::new(reduce5, 1).relu().bias());
        let third = net.conv(third, Conv::new(five, 5).relu().bias());
        let fourth = net.max_pool(x, Pool::new(3, 1).pad(Pad::Each(1)));
        let fourth = net.conv(fourth, Conv::new(pooled, 1).relu().bias());
        x = net.concat(&[first, second, third, fourth]);
    }
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

/// A layer of Inception v3.
fn conv(net: &mut Net, x: Id, outputs: usize, size: [usize; 2]) -> Id {
    net.conv(x, Conv::rectangle(outputs, size).relu())
}

/// The same, unpadded, two pixels apart.
fn shrinking(net: &mut Net, x: Id, outputs: usize) -> Id {
    net.conv(x, Conv::new(outputs, 3).stride(2).pad(Pad::Each(0)).relu())
}

/// Szegedy et al. 2015 ("Rethinking"), table 1 with figures 5 to 7, without the auxiliary
/// classifier.
pub(crate) fn inception_v3(p: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new(p.picture(3));
    net.scope("stem");
    let x = shrinking(&mut net, x, 32);
    let x = net.conv(x, Conv::new(32, 3).pad(Pad::Each(0)).relu());
    let x = conv(&mut net, x, 64, [3, 3]);
    let x = net.max_pool(x, Pool::new(3, 2));
    let x = conv(&mut net, x, 80, [1, 1]);
    let x = net.conv(x, Conv::new(192, 3).pad(Pad::Each(0)).relu());
    let mut x = net.max_pool(x, Pool::new(3, 2));
    for (name, pooled) in [("5b", 32), ("5c", 64), ("5d", 64)] {
        net.scope(format!("mixed_{name}"));
        x = wide(&mut net, x, pooled);
    }
    net.scope("mixed_6a");
    x = reduction_a(&mut net, x);
    for (name, inner) in [("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)] {
        net.scope(format!("mixed_{name}"));
        x = factorised(&mut net, x, inner);
    }
    net.scope("mixed_7a");
    x = reduction_b(&mut net, x);
    for name in ["7b", "7c"] {
        net.scope(format!("mixed_{name}"));
        x = expanded(&mut net, x);
    }
    net.scope("head");
    let x = net.global_pool(x);
    let x = net.dense(x, 1000, Act::None);
    net.finish(&[x])
}

fn pooled(net: &mut Net, x: Id, outputs: usize) -> Id {
    let pool = net.average_pool(x, Pool::new(3, 1).pad(Pad::Each(1)));
    conv(net, pool, outputs, [1, 1])
}

fn wide(net: &mut Net, x: Id, outputs: usize) -> Id {
    let first = conv(net, x, 64, [1, 1]);
    let second = conv(net, x, 48, [1, 1]);
    let second = conv(net, second, 64, [5, 5]);
    let third = conv(net, x, 64, [1, 1]);
    let third = conv(net, third, 96, [3, 3]);
    let third = conv(net, third, 96, [3, 3]);
    let fourth = pooled(net, x, outputs);
    net.concat(&[first, second, third, fourth])
}

fn reduction_a(net: &mut Net, x: Id) -> Id {
    let first = shrinking(net, x, 384);
    let second = conv(net, x, 64, [1, 1]);
    let second = conv(net, second, 96, [3, 3]);
    let second = shrinking(net, second, 96);
    let third = net.max_pool(x, Pool::new(3, 2));
    net.concat(&[first, second, third])
}

fn factorised(net: &mut Net, x: Id, inner: usize) -> Id {
    let first = conv(net, x, 192, [1, 1]);
    let second = conv(net, x, inner, [1, 1]);
    let second = conv(net, second, inner, [1, 7]);
    let second = conv(net, second, 192, [7, 1]);
    let mut third = conv(net, x, inner, [1, 1]);
    for (outputs, size) in [(inner, [7, 1]), (inner, [1, 7]), (inner, [7, 1]), (192, [1, 7])] {
        third = conv(net, third, outputs, size);
    }
    let fourth = pooled(net, x, 192);
    net.concat(&[first, second, third, fourth])
}

fn reduction_b(net: &mut Net, x: Id) -> Id {
    let first = conv(net, x, 192, [1, 1]);
    let first = shrinking(net, first, 320);
    let second = conv(net, x, 192, [1, 1]);
    let second = conv(net, second, 192, [1, 7]);
    let second = conv(net, second, 192, [7, 1]);
    let second = shrinking(net, second, 192);
    let third = net.max_pool(x, Pool::new(3, 2));
    net.concat(&[first, second, third])
}

fn expanded(net: &mut Net, x: Id) -> Id {
    let fork = |net: &mut Net, x: Id| {
        let across = conv(net, x, 384, [1, 3]);
        let down = conv(net, x, 384, [3, 1]);
        net.concat(&[across, down])
    };
    let first = conv(net, x, 320, [1, 1]);
    let second = conv(net, x, 384, [1, 1]);
    let second = fork(net, second);
    let third = conv(net, x, 448, [1, 1]);
    let third = conv(net, third, 384, [3, 3]);
    let third = fork(net, third);
    let fourth = pooled(net, x, 192);
    net.concat(&[first, second, third, fourth])
}
