//! Channels whose results are the same whatever the input, since their factor leaves nothing of any product: of floats that
//! hardly differ from zero. They have biases and shifts that kernels take the long way; others do as well.

use tilewright_kernels::{Channel, Multiplier};

/// Shifts to the right and biases up to which kernels take the short way.
const MOST_RIGHT: i32 = 22;
const MOST_BIAS: u32 = 1 << 27;

/// A channel with the same results, and a bias and a factor for the short way if there are some; its weights' absolute values
/// sum up to `weights`.
pub fn channel(channel: &Channel, weights: u64) -> Channel {
    let is_long = channel.factor.shift < -MOST_RIGHT || channel.bias.unsigned_abs() > MOST_BIAS;
    short(channel, weights).filter(|_| is_long).unwrap_or(*channel)
}

fn short(channel: &Channel, weights: u64) -> Option<Channel> {
    // Inputs differ from their zero point by 255 at most.
    let reach = i32::try_from(weights.checked_mul(255)?).ok()?;
    let results = |channel: &Channel| {
        let ends = [channel.bias.checked_sub(reach)?, channel.bias.checked_add(reach)?];
        Some(ends.map(|sum| channel.factor.apply(sum)))
    };
    // Results grow with sums.
    let [result, largest] = results(channel)?;
    if result != largest {
        return None;
    }
    let factor = |right: i32| Multiplier { multiplier: 1 << 30, shift: -right };
    let all = std::iter::once(Channel { bias: 0, factor: Multiplier { multiplier: 0, shift: -1 } })
        .filter(|_| result == 0)
        .chain((1..=MOST_RIGHT).filter_map(|right| {
            let bias = result.checked_mul(1 << (right + 1))?;
            Some(Channel { bias, factor: factor(right) })
        }));
    let mut fitting = all.filter(|new| new.bias.unsigned_abs() <= MOST_BIAS);
    fitting.find(|new| results(new) == Some([result; 2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_and_the_way_is_short() {
        let mut changed = 0;
        for shift in -31..2 {
            for weights in [9u64, 1000, 60_000, 10_000_000] {
                for (multiplier, bias) in
                    [(1 << 30, 0), (i32::MAX, -70_000), (1 << 30, 1 << 30), (1 << 30, 1 << 29)]
                {
                    let old = Channel { bias, factor: Multiplier { multiplier, shift } };
                    let new = channel(&old, weights);
                    if new == old {
                        continue;
                    }
                    changed += 1;
                    assert!(
                        new.bias.unsigned_abs() <= MOST_BIAS && new.factor.shift >= -MOST_RIGHT
                    );
                    let reach = 255 * i32::try_from(weights).unwrap();
                    for product in [-reach, -reach / 2, -1, 0, 1, reach / 3, reach] {
                        let [a, b] = [&old, &new].map(|c| c.factor.apply(c.bias + product));
                        assert_eq!(a, b, "{old:?} {new:?} {product}");
                    }
                }
            }
        }
        assert!(changed > 30, "{changed}");
    }

    #[test]
    fn what_takes_the_short_way_stays_as_it_is() {
        let usual = Channel { bias: 77, factor: Multiplier { multiplier: 1 << 30, shift: -20 } };
        assert_eq!(channel(&usual, 10), usual);
    }
}
