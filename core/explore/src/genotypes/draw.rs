//! Genotypes that spread from cheap cells to dear ones.
//!
//! Operations drawn alike would make nearly all cells cost the same. So each genotype has a share of convolutions of
//! its own, and likes some operations better than others.

use tilewright_zoo::cells::{Cell, CellFault, Edge, Genotype, INPUTS, Operation, STEPS, Step};

/// Operations that multiply.
const CONVOLUTIONS: [Operation; 4] =
    [Operation::Separable3, Operation::Separable5, Operation::Dilated3, Operation::Dilated5];

/// Those that do not. What is not connected is no choice: DARTS leaves it out of the cells that it finds.
const OTHERS: [Operation; 3] = [Operation::MaxPool3, Operation::AveragePool3, Operation::Skip];

/// SplitMix64: Steele, Lea and Flood 2014.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The same numbers for the same seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// From 0 up to, but not including 1.
    fn part(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below `end`, which is small and not 0.
    fn below(&mut self, end: usize) -> usize {
        ((self.part() * end as f64) as usize).min(end.saturating_sub(1))
    }

    /// An index, by weights.
    fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.part() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return index;
            }
        }
        weights.len().saturating_sub(1)
    }

    /// The next genotype of DARTS' search space: the operands of a step differ.
    ///
    /// # Errors
    /// Never: steps read what is there.
    pub fn genotype(&mut self) -> Result<Genotype, CellFault> {
        let of_convolutions = self.part();
        let [convolutions, others] = [CONVOLUTIONS.len(), OTHERS.len()].map(|count| {
            // Squares: some are liked much better than others.
            (0..count).map(|_| self.part()).map(|part| part * part + 1e-3).collect::<Vec<_>>()
        });
        let operation = |draw: &mut Self| match draw.part() < of_convolutions {
            true => CONVOLUTIONS[draw.weighted(&convolutions)],
            false => OTHERS[draw.weighted(&others)],
        };
        let cell = |draw: &mut Self| {
            let steps = (INPUTS..INPUTS + STEPS).map(|nodes| {
                let first = draw.below(nodes);
                // One of the others.
                let second = (first + 1 + draw.below(nodes - 1)) % nodes;
                let edges = [first, second].map(|input| Edge::new(operation(draw), input));
                Step { edges }
            });
            Cell::joining_all(steps.collect())
        };
        Ok(Genotype { normal: cell(self)?, reduction: cell(self)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_zoo::cells::OperationCosts;

    #[test]
    fn a_seed_gives_the_same_and_all_lie_in_the_search_space() {
        let draw = |seed| {
            let mut draw = Draw::new(seed);
            (0..50).map(|_| draw.genotype().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        for genotype in draw(3) {
            genotype.check_searched().unwrap();
            let cells = genotype.cells();
            let steps = cells.iter().flat_map(|(_, cell)| cell.steps());
            assert!(steps.into_iter().all(|step| step.edges[0].input != step.edges[1].input));
        }
    }

    #[test]
    fn costs_spread_from_cheap_to_dear() {
        let mut draw = Draw::new(0);
        let costs = OperationCosts::table_3_2();
        let mut found: Vec<u64> =
            (0..200).map(|_| costs.of_genotype(&draw.genotype().unwrap())).collect();
        found.sort_unstable();
        // A tenth below 1 million cycles, a tenth above 6: all of one operation make 0 to 13.8.
        assert!(found[20] < 1_000_000 && found[180] > 5_000_000, "{found:?}");
    }
}
