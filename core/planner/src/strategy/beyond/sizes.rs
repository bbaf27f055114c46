//! Sizes of memory that do not depend on the budget.

use tilewright_plan::Bytes;

/// Sizes between a power of two and the next.
const AN_OCTAVE: u64 = 8;
/// Sizes that are searched below a budget, and the smallest of all.
const MOST: usize = 16;
const LEAST: u64 = 512;

/// The sizes up to a budget, the largest first: powers of two times eighths from 8 to 15.
pub fn below(budget: Bytes) -> impl Iterator<Item = Bytes> {
    let mut next = Some(budget.0).filter(|budget| *budget >= LEAST);
    let sizes = std::iter::from_fn(move || {
        let unit = (1 << next?.ilog2()) / AN_OCTAVE;
        let size = next? / unit * unit;
        next = size.checked_sub(1).filter(|next| *next >= LEAST);
        Some(Bytes(size))
    });
    sizes.take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_has_all_sizes_of_a_smaller_one_but_the_least() {
        let sizes: Vec<u64> = below(Bytes(5000)).take(10).map(|size| size.0).collect();
        assert_eq!(sizes, [4608, 4096, 3840, 3584, 3328, 3072, 2816, 2560, 2304, 2048]);
        for budget in (512..20_000).step_by(77) {
            let [less, more] = [budget, budget + 5].map(|budget| below(Bytes(budget)));
            let more: Vec<Bytes> = more.collect();
            let common = less.filter(|size| more.contains(size)).count();
            assert!(common + 1 >= more.len(), "{budget}");
        }
        assert_eq!(below(Bytes(511)).count(), 0);
        assert_eq!(below(Bytes(u64::MAX)).count(), MOST);
    }
}
