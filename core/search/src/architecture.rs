//! What is searched: a weight for each operation on each edge (sections 2.2.1.3 and 3.1.1 of the thesis).

use serde::{Deserialize, Serialize};
use tilewright_zoo::cells::{
    Cell, CellFault, Edge, Genotype, INPUTS, Operation, OperationCosts, Step,
};

use crate::random::Random;
use crate::supernet::{CHOICES, Shares, row, rows};

/// Weights begin within this of 0, so that no operation is preferred.
const BEGINNING: f32 = 1e-3;

/// Architecture weights α: a row for each edge, a column for each of [`Operation::SEARCHED`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    steps: usize,
    /// Of normal cells, then of reduction cells.
    alphas: [Vec<[f32; CHOICES]>; 2],
}

/// L_com, and what it has to do with each weight.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    /// In cycles.
    pub cycles: f64,
    /// The derivatives by the weights, in cycles.
    pub by_alphas: [Vec<[f64; CHOICES]>; 2],
}

fn softmax(alphas: &[f32; CHOICES]) -> [f64; CHOICES] {
    let most = alphas.iter().fold(f32::NEG_INFINITY, |most, alpha| most.max(*alpha));
    let powers = alphas.map(|alpha| libm::exp(f64::from(alpha) - f64::from(most)));
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// A gradient by shares as one by the weights that they are the softmax of.
fn through_softmax(shares: &[f64; CHOICES], by_shares: &[f64; CHOICES]) -> [f64; CHOICES] {
    let mean: f64 = shares.iter().zip(by_shares).map(|(share, by)| share * by).sum();
    std::array::from_fn(|choice| shares[choice] * (by_shares[choice] - mean))
}

impl Architecture {
    pub(crate) fn begin(steps: usize, random: &mut Random) -> Self {
        let mut cell = || {
            (0..rows(steps)).map(|_| std::array::from_fn(|_| random.within(BEGINNING))).collect()
        };
        let alphas = [cell(), cell()];
        Self { steps, alphas }
    }

    /// Whether there are rows for every edge and numbers in them.
    pub(crate) fn is_whole(&self, steps: usize) -> bool {
        self.steps == steps && self.alphas.iter().all(|cell| cell.len() == rows(steps))
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.alphas.iter().flatten().flatten().all(|alpha| alpha.is_finite())
    }

    /// All weights, to be changed.
    pub(crate) fn alphas_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.alphas.iter_mut().flatten().flatten()
    }

    /// Each operation's share of its edge.
    pub(crate) fn shares(&self) -> Shares {
        let of_cell = |kind: usize| {
            let of_edge = |alphas| softmax(alphas).map(|share| share as f32);
            self.alphas[kind].iter().map(of_edge).collect()
        };
        [of_cell(0), of_cell(1)]
    }

    /// L_com (equation 3.1): the cost of every operation by its share, in normal and reduction cells.
    pub(crate) fn cost(&self, costs: &OperationCosts) -> Cost {
        let each = Operation::SEARCHED.map(|operation| costs.of(operation) as f64);
        let mut cycles = 0.0;
        let by_alphas = [0, 1].map(|kind: usize| {
            let of_edge = |alphas: &[f32; CHOICES]| {
                let shares = softmax(alphas);
                cycles += shares.iter().zip(&each).map(|(share, cost)| share * cost).sum::<f64>();
                through_softmax(&shares, &each)
            };
            self.alphas[kind].iter().map(of_edge).collect()
        });
        Cost { cycles, by_alphas }
    }

    /// Gradients by the weights, one behind the other, from those by the shares and those of the cost, `slope` times.
    pub(crate) fn gradient(&self, by_shares: &Shares, cost: &Cost, slope: f64) -> Vec<f32> {
        let mut gradient = Vec::new();
        for kind in [0, 1] {
            let rows = self.alphas[kind].iter().zip(&by_shares[kind]).zip(&cost.by_alphas[kind]);
            for ((alphas, by_shares), by_cost) in rows {
                let by_alphas = through_softmax(&softmax(alphas), &by_shares.map(f64::from));
                let both = by_alphas.iter().zip(by_cost);
                gradient.extend(both.map(|(by, cost)| (by + slope * cost) as f32));
            }
        }
        gradient
    }

    /// The cells that are left if every edge keeps its strongest operation, [`Operation::None`] aside, and every step
    /// its two strongest edges (2.2.1.3). Of equals the first is kept.
    ///
    /// # Errors
    /// Those of [`Cell::joining_all`]: none, if the search has as many steps as a cell may have.
    pub fn genotype(&self) -> Result<Genotype, CellFault> {
        let cell = |kind: usize| {
            let step = |step: usize| {
                let mut edges: Vec<Strongest> = (0..INPUTS + step)
                    .map(|input| strongest(&self.alphas[kind][row(step, input)], input))
                    .collect();
                edges.sort_by(|a, b| b.share.total_cmp(&a.share));
                Step { edges: [edges[0].edge, edges[1].edge] }
            };
            Cell::joining_all((0..self.steps).map(step).collect())
        };
        Ok(Genotype { normal: cell(0)?, reduction: cell(1)? })
    }
}

struct Strongest {
    share: f64,
    edge: Edge,
}

fn strongest(alphas: &[f32; CHOICES], input: usize) -> Strongest {
    let mut best = Strongest { share: -1.0, edge: Edge::new(Operation::None, input) };
    for (share, operation) in softmax(alphas).into_iter().zip(Operation::SEARCHED) {
        if operation != Operation::None && share > best.share {
            best = Strongest { share, edge: Edge::new(operation, input) };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_the_cost_are_its_differences() {
        let costs = OperationCosts::table_3_2();
        let architecture = Architecture::begin(2, &mut Random::new(7, 0));
        let cost = architecture.cost(&costs);
        let by: Vec<f64> = cost.by_alphas.iter().flatten().flatten().copied().collect();
        for (index, by) in by.into_iter().enumerate() {
            let at = |step: f32| {
                let mut moved = architecture.clone();
                if let Some(alpha) = moved.alphas_mut().nth(index) {
                    *alpha += step;
                }
                moved.cost(&costs).cycles
            };
            let found = (at(0.01) - at(-0.01)) / 0.02;
            assert!((found - by).abs() < 20.0, "{index}: {found} and {by}");
        }
    }

    #[test]
    fn cells_keep_the_strongest_two_edges_and_never_none() {
        let mut architecture = Architecture::begin(2, &mut Random::new(7, 0));
        architecture.alphas_mut().for_each(|alpha| *alpha = 0.0);
        architecture.alphas[0][row(1, 2)][4] = 3.0;
        architecture.alphas[0][row(1, 1)][3] = 2.0;
        architecture.alphas[0][row(1, 0)][0] = 9.0;
        let genotype = architecture.genotype().unwrap();
        let step = genotype.normal.steps()[1];
        assert_eq!(step.edges[0], Edge::new(Operation::Separable3, 2));
        assert_eq!(step.edges[1], Edge::new(Operation::Skip, 1));
        assert!(genotype.reduction.edges().all(|edge| edge.operation == Operation::MaxPool3));
    }
}
