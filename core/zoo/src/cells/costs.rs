//! What operations cost, in cycles: section 3.1.1 of Sadiq's thesis. Table 3.4's costs of cells are the sums of
//! their operations' costs.

use super::genotype::{Cell, Genotype, Operation};

/// Cycles of one 32-bit instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionCosts {
    /// Of a comparison.
    pub comparison: u64,
    /// Of an addition.
    pub addition: u64,
    /// Of a multiplication.
    pub multiplication: u64,
    /// Of a division.
    pub division: u64,
}

impl InstructionCosts {
    /// Table 3.1: Texas Instruments' C64x+.
    pub const TABLE_3_1: Self = Self { comparison: 1, addition: 1, multiplication: 4, division: 4 };

    /// What tables 3.2 and 3.4 follow from: table 3.1, but their average pooling counts a division as 1.
    pub const AS_PRINTED: Self = Self { division: 1, ..Self::TABLE_3_1 };
}

/// What an operation is applied to, with stride 1. The thesis takes the network's input for all cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Representation {
    /// Pixels.
    pub height: u64,
    /// Pixels.
    pub width: u64,
    /// Channels, before and after the operation.
    pub channels: u64,
}

impl Representation {
    /// An input of CIFAR-10, for which table 3.2 is computed.
    pub const CIFAR_10: Self = Self { height: 32, width: 32, channels: 3 };
}

/// How often separable 3×3 and 5×5 convolutions count, which cells apply twice. Those of 7×7 windows, 1×7 and 7×1
/// included, always count twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separable {
    /// As table 3.4 counts.
    Once,
    /// As equation 3.2, table 3.2 and figure 3.11 count.
    Twice,
}

/// Cost of no connection, so that the search is not drawn to it: appendix B.2.
pub const COST_OF_NONE: u64 = 1_000_000 - 1;

/// Cycles of each operation. A plain value: a table, or what somebody counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationCosts {
    cycles: [u64; Operation::ALL.len()],
}

/// Products of numbers that users may give.
fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |all, factor| all.saturating_mul(*factor))
}

/// Cycles of one depthwise or full convolution and what follows it: a multiplication and an addition for each tap.
const fn multiplied(taps: u64, each: &InstructionCosts) -> u64 {
    taps.saturating_mul(each.multiplication.saturating_add(each.addition))
}

impl OperationCosts {
    /// Any costs, in cycles.
    #[must_use]
    pub fn from_fn(cost: impl FnMut(Operation) -> u64) -> Self {
        Self { cycles: Operation::ALL.map(cost) }
    }

    /// Equations 3.2 to 3.6, and likewise what the thesis only adds up. Products beyond 64 bits end at the largest.
    #[must_use]
    pub fn of_instructions(
        each: &InstructionCosts,
        of: &Representation,
        separable: Separable,
    ) -> Self {
        let Representation { height, width, channels } = *of;
        let values = product(&[height, width, channels]);
        let windows = |size: u64| product(&[size, size, values]);
        let pointwise = product(&[values, channels]);
        // A depthwise and a 1×1 convolution: equation 3.3.
        let separated = |size: u64| multiplied(windows(size).saturating_add(pointwise), each);
        let times = match separable {
            Separable::Once => 1,
            Separable::Twice => 2,
        };
        Self::from_fn(|operation| match operation {
            Operation::None => COST_OF_NONE,
            Operation::MaxPool3 => product(&[windows(3), each.comparison]),
            Operation::AveragePool3 => {
                let added = product(&[windows(3), each.addition]);
                added.saturating_add(product(&[values, each.division]))
            }
            Operation::Skip => 0,
            Operation::Separable3 => product(&[separated(3), times]),
            Operation::Separable5 => product(&[separated(5), times]),
            Operation::Dilated3 => separated(3),
            Operation::Dilated5 => separated(5),
            Operation::Separable7 => product(&[separated(7), 2]),
            // Two convolutions of 7 taps in all channels.
            Operation::Factorised7 => product(&[multiplied(product(&[2, 7, pointwise]), each), 2]),
        })
    }

    /// Table 3.2, which the search minimises. It prints 368,340 for twice a separable 3×3 convolution, where its
    /// equation gives 368,640.
    #[must_use]
    pub fn table_3_2() -> Self {
        let each = &InstructionCosts::AS_PRINTED;
        Self::of_instructions(each, &Representation::CIFAR_10, Separable::Twice)
    }

    /// What the costs of table 3.4 add up.
    #[must_use]
    pub fn table_3_4() -> Self {
        let each = &InstructionCosts::AS_PRINTED;
        Self::of_instructions(each, &Representation::CIFAR_10, Separable::Once)
    }

    /// Cycles of an operation.
    #[must_use]
    pub fn of(&self, operation: Operation) -> u64 {
        let known = Operation::ALL.into_iter().zip(self.cycles);
        known.filter(|(which, _)| *which == operation).map(|(_, cycles)| cycles).sum()
    }

    /// The same with another cost, in cycles, of one operation.
    #[must_use]
    pub fn with(self, operation: Operation, cycles: u64) -> Self {
        Self::from_fn(|other| if other == operation { cycles } else { self.of(other) })
    }

    /// Cycles of all operations of a cell. What is not connected does nothing and costs nothing here, whatever the
    /// search charges for it.
    #[must_use]
    pub fn of_cell(&self, cell: &Cell) -> u64 {
        let done = cell.edges().map(|edge| edge.operation).filter(|what| *what != Operation::None);
        done.fold(0, |all, operation| all.saturating_add(self.of(operation)))
    }

    /// Cycles of both cells: "compute cost" in table 3.4.
    #[must_use]
    pub fn of_genotype(&self, genotype: &Genotype) -> u64 {
        self.of_cell(&genotype.normal).saturating_add(self.of_cell(&genotype.reduction))
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::Published;
    use super::*;

    #[test]
    fn operations_cost_what_table_3_2_prints() {
        let costs = OperationCosts::table_3_2();
        for (operation, cycles) in [
            (Operation::None, 999_999),
            (Operation::MaxPool3, 27_648),
            (Operation::AveragePool3, 30_720),
            (Operation::Skip, 0),
            (Operation::Separable3, 368_640),
            (Operation::Separable5, 860_160),
            (Operation::Dilated3, 184_320),
            (Operation::Dilated5, 430_080),
        ] {
            assert_eq!(costs.of(operation), cycles, "{operation:?}");
        }
        let each = &InstructionCosts::TABLE_3_1;
        let strict =
            OperationCosts::of_instructions(each, &Representation::CIFAR_10, Separable::Twice);
        assert_eq!(strict.of(Operation::AveragePool3), 39_936);
        assert_eq!(strict.with(Operation::AveragePool3, 30_720), costs);
    }

    #[test]
    fn genotypes_cost_what_table_3_4_prints() {
        let costs = OperationCosts::table_3_4();
        for (published, cycles) in [
            (Published::NasNetA, 5_861_376),
            (Published::AmoebaNetA, 6_100_992),
            (Published::Darts, 1_244_160),
            (Published::DeffArts001, 642_048),
            (Published::DeffArts002, 276_480),
            (Published::DeffArts004, 0),
        ] {
            assert_eq!(costs.of_genotype(&published.genotype()), cycles, "{}", published.name());
        }
        let twice = OperationCosts::table_3_2();
        assert_eq!(twice.of_genotype(&Published::DeffArts001.genotype()), 1_010_688);
        assert_eq!(twice.of_genotype(&Published::DeffArts002.genotype()), 276_480);
    }

    #[test]
    fn normal_cells_cost_more_where_the_thesis_searched() {
        for published in [Published::DeffArts001, Published::DeffArts002] {
            let genotype = published.genotype();
            let costs = OperationCosts::table_3_2();
            assert!(costs.of_cell(&genotype.normal) > costs.of_cell(&genotype.reduction));
        }
    }

    #[test]
    fn sizes_scale_and_end_at_the_largest() {
        let costs = |height, channels| {
            let of = Representation { height, width: 16, channels };
            OperationCosts::of_instructions(&InstructionCosts::TABLE_3_1, &of, Separable::Once)
        };
        assert_eq!(costs(16, 8).of(Operation::MaxPool3), 9 * 16 * 16 * 8);
        assert_eq!(costs(16, 8).of(Operation::Dilated3), 5 * 16 * 16 * 8 * (9 + 8));
        assert_eq!(costs(u64::MAX, u64::MAX).of(Operation::Separable5), u64::MAX);
        assert_eq!(costs(u64::MAX, 2).of_genotype(&Published::Darts.genotype()), u64::MAX);
        assert_eq!(costs(0, 0).of(Operation::Factorised7), 0);
    }

    #[test]
    fn what_is_not_connected_costs_a_cell_nothing() {
        let text = "Genotype(normal=[('none', 0), ('none', 1)], reduce=[('none', 0), ('none', 1)])";
        let genotype: Genotype = text.parse().unwrap();
        assert_eq!(OperationCosts::table_3_2().of_genotype(&genotype), 0);
    }
}
