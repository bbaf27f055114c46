//! Operators on pairs of values in int8: what two values give, as functions for
//! [`walk::combine`](crate::interpret::broadcast::combine).

use super::clamp;
use crate::integer::{ADD_LEFT_SHIFT, AddParams, Multiplier, PreluParams};

/// Zero points of both operands and the result, and the result's range.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) zeros: [i32; 3],
    pub(super) clamp: (i8, i8),
}

impl Pair {
    fn differences(&self, first: i8, second: i8) -> [i32; 2] {
        [i32::from(first) - self.zeros[0], i32::from(second) - self.zeros[1]]
    }

    fn result(&self, scaled: i32) -> i8 {
        clamp(scaled.wrapping_add(self.zeros[2]), self.clamp)
    }

    /// Sum, or with `sign` −1 difference.
    pub(super) fn add(&self, params: &AddParams, sign: i32, first: i8, second: i8) -> i8 {
        let [first, second] = self.differences(first, second).map(|value| value << ADD_LEFT_SHIFT);
        let sum = params.first.apply(first).wrapping_add(params.second.apply(second) * sign);
        self.result(params.output.apply(sum))
    }

    pub(super) fn mul(&self, scale: Multiplier, first: i8, second: i8) -> i8 {
        let [first, second] = self.differences(first, second);
        self.result(scale.apply(first * second))
    }

    pub(super) fn prelu(&self, params: &PreluParams, value: i8, slope: i8) -> i8 {
        match self.differences(value, slope) {
            [value, _] if value >= 0 => self.result(params.positive.apply(value)),
            [value, slope] => self.result(params.negative.apply(value * slope)),
        }
    }
}
