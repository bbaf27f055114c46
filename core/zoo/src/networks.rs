//! The networks, one function each.

pub(crate) mod cells;
pub(crate) mod classic;
pub(crate) mod dense;
pub(crate) mod example;
pub(crate) mod inception;
pub(crate) mod mobilenet;
pub(crate) mod nasnet;
pub(crate) mod resnet;
mod rule;
pub(crate) mod searched;
pub(crate) mod shufflenet;
pub(crate) mod tiny;

/// A scaled number of channels as a multiple of `step`: the nearest, but never below nine tenths of
/// what was asked for. Sandler et al. 2018's reference implementation.
fn divisible(channels: f64, step: usize) -> usize {
    let whole = step as f64;
    let nearest = (libm::floor((channels + whole / 2.0) / whole) * whole).max(whole);
    let enough = if nearest < 0.9 * channels { nearest + whole } else { nearest };
    enough as usize
}

/// A scaled number of channels as a multiple of `step`: the next one, as in ProxylessNAS' code. What is left of a
/// product like 0.55 · 80 behind its ninth digit asks for none.
fn multiple_above(channels: f64, step: usize) -> usize {
    let steps = libm::ceil(channels / step as f64 - 1e-9).max(1.0);
    steps as usize * step
}

#[cfg(test)]
mod tests {
    use super::{divisible, multiple_above};

    #[test]
    fn channels_are_multiples_and_not_much_fewer() {
        for (asked, given) in
            [(11.2, 16), (33.6, 32), (3.0, 8), (12.0, 16), (19.0, 24), (1280.0, 1280)]
        {
            assert_eq!(divisible(asked, 8), given, "{asked}");
        }
    }

    #[test]
    fn channels_are_the_next_multiple() {
        let products = [(0.1 * 16.0, 4), (0.55 * 80.0, 44), (1.1 * 40.0, 44), (0.3 * 40.0, 12)];
        for (asked, given) in products.into_iter().chain([(12.001, 16), (0.0, 4)]) {
            assert_eq!(multiple_above(asked, 4), given, "{asked}");
        }
    }
}
