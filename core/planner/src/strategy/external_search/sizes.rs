//! Sizes of memory that do not depend on the budget.

use tilewright_plan::Bytes;

/// Sizes between a power of two and the next.
const AN_OCTAVE: u64 = 8;
/// The smallest of all.
const LEAST: u64 = 512;

/// The sizes below a number of bytes, the largest first: powers of two times eighths from 8 to 15.
pub fn below(bytes: Bytes) -> impl Iterator<Item = Bytes> {
    let mut end = bytes.0;
    std::iter::from_fn(move || {
        let most = end.checked_sub(1).filter(|most| *most >= LEAST)?;
        let unit = (1 << most.ilog2()) / AN_OCTAVE;
        end = most / unit * unit;
        Some(Bytes(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_has_all_sizes_of_a_smaller_one() {
        let sizes: Vec<u64> = below(Bytes(4609)).take(10).map(|size| size.0).collect();
        assert_eq!(sizes, [4608, 4096, 3840, 3584, 3328, 3072, 2816, 2560, 2304, 2048]);
        for budget in (512..20_000).step_by(77) {
            let more: Vec<Bytes> = below(Bytes(budget + 5)).collect();
            assert!(below(Bytes(budget)).all(|size| more.contains(&size)), "{budget}");
        }
        assert_eq!(below(Bytes(512)).count(), 0);
        assert_eq!(below(Bytes(u64::MAX)).next(), Some(Bytes(15 << 60)));
    }
}
