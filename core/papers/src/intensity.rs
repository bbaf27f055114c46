//! What bounds a layer whose operands come from a card: the normalised arithmetic intensity of Miao and Lin, section 3.

/// Operations that cores of the paper do in a second, in millions: the slowest and the fastest.
const CORE_MOPS: [f64; 2] = [64.0, 480.0];

/// Megabytes that its cards move in a second.
const CARD_MBS: [f64; 2] = [10.0, 40.0];

/// A layer's work beside its traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intensity {
    /// Operations in millions: products, or comparisons of a pool.
    pub mega_operations: f64,
    /// Megabytes of its operands and its result, each once, an element a byte.
    pub megabytes: f64,
}

impl Intensity {
    /// N, the time of its operations over that of its traffic: with the fastest core and the slowest card, and the
    /// other way round. Above one the core is what is waited for.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        let each = self.mega_operations / self.megabytes;
        let [slow_core, fast_core] = CORE_MOPS;
        let [slow_card, fast_card] = CARD_MBS;
        [each * slow_card / fast_core, each * fast_card / slow_core]
    }

    /// Whether the core is what is waited for, in the middle of the range.
    #[must_use]
    pub fn is_bound_by_compute(&self) -> bool {
        self.range().iter().product::<f64>() >= 1.0
    }
}
