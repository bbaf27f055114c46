//! Whether costs of operations predict what whole networks take: networks of drawn genotypes, each run as a whole,
//! and each operation run by itself.
//!
//! Here is what is to be run, and what follows from runs; whoever can emulate runs it.

mod draw;

use std::collections::{BTreeMap, BTreeSet};

use tilewright_board::Board;
use tilewright_report::{
    GenotypeKey, GenotypeRow, GenotypesReport, OperationCost, OperationKey, OperationRow,
    OperatorRun, Proxy, ProxyCorrelation, ProxyValues, RankedGenotype, Verdict,
};
use tilewright_zoo::cells::{COST_OF_NONE, Genotype, Operation, OperationCosts};
use tilewright_zoo::{Applied, Network, Stack, of_genotype, of_operation};

use crate::ExploreError;
use crate::correlation::{Order, Pair, spearman};
use draw::Draw;

/// How many genotypes are drawn as usual.
pub const GENOTYPES: usize = 200;

/// Most genotypes: all pairs of them are compared.
pub const MOST_GENOTYPES: usize = 10_000;

/// The board: its memories hold all small networks.
pub const GENOTYPES_BOARD: &str = "nucleo-f767zi";

/// The stack: as the thesis' search has it, in pixels of a small picture.
pub const GENOTYPES_STACK: Stack = Stack { cells: 8, channels: 8, resolution: 16, colours: 3 };

/// What is to be run.
pub struct Genotypes {
    board: String,
    stack: Stack,
    seed: u64,
    drawn: Vec<Drawn>,
    /// Each operation in each place, once.
    operations: Vec<Applied>,
}

/// A genotype with its name.
struct Drawn {
    genotype: Genotype,
    key: GenotypeKey,
}

impl Genotypes {
    /// Draws genotypes that differ from each other; fewer if there are no more.
    ///
    /// # Errors
    /// If none are wanted, or no network can be stacked so.
    pub fn new(count: usize, seed: u64, board: &Board, stack: Stack) -> Result<Self, ExploreError> {
        let mut draw = Draw::new(seed);
        let mut known = BTreeSet::new();
        let mut drawn = Vec::new();
        // Few are drawn twice.
        for _ in 0..count.min(MOST_GENOTYPES).saturating_mul(2) {
            let Ok(genotype) = draw.genotype() else { break };
            let key = GenotypeKey {
                board: board.id.clone(),
                cells: stack.cells,
                channels: stack.channels,
                resolution: stack.resolution,
                genotype: genotype.to_string(),
            };
            if known.insert(key.genotype.clone()) {
                drawn.push(Drawn { genotype, key });
            }
            if drawn.len() == count {
                break;
            }
        }
        let Some(first) = drawn.first() else { return Err(ExploreError::NoGenotypes) };
        of_genotype(&first.genotype, &stack)?;
        let of_search = Operation::SEARCHED.into_iter().filter(|one| *one != Operation::None);
        let on_inputs = of_search.flat_map(|operation| stack.in_each_cell(operation));
        let in_place = drawn.iter().flat_map(|one| stack.applied(&one.genotype));
        let operations: BTreeSet<Applied> = on_inputs.chain(in_place).collect();
        Ok(Self {
            board: board.id.clone(),
            stack,
            seed,
            drawn,
            operations: operations.into_iter().filter(|one| !is_nothing(*one)).collect(),
        })
    }

    /// How many genotypes there are.
    #[must_use]
    pub const fn genotypes(&self) -> usize {
        self.drawn.len()
    }

    /// How many operations are to be run.
    #[must_use]
    pub const fn operations(&self) -> usize {
        self.operations.len()
    }

    /// What the network of this number is.
    #[must_use]
    pub fn key(&self, genotype: usize) -> Option<&GenotypeKey> {
        self.drawn.get(genotype).map(|drawn| &drawn.key)
    }

    /// The network of this number.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn network(&self, genotype: usize) -> Result<Option<Network>, ExploreError> {
        let drawn = self.drawn.get(genotype);
        let built = drawn.map(|drawn| of_genotype(&drawn.genotype, &self.stack));
        Ok(built.transpose()?)
    }

    /// What the operation of this number is.
    #[must_use]
    pub fn operation_key(&self, operation: usize) -> Option<OperationKey> {
        self.operations.get(operation).map(|applied| self.key_of(*applied))
    }

    /// The operation of this number as a network of its own.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn operation(&self, operation: usize) -> Result<Option<Network>, ExploreError> {
        let applied = self.operations.get(operation);
        Ok(applied.map(|applied| of_operation(*applied)).transpose()?.flatten())
    }

    fn key_of(&self, applied: Applied) -> OperationKey {
        OperationKey {
            board: self.board.clone(),
            operation: applied.operation.name().to_owned(),
            side: applied.side,
            channels: applied.channels,
            halves: applied.halves,
        }
    }

    /// What follows from runs. Rows of anything else are passed over.
    #[must_use]
    pub fn report(&self, operations: &[OperationRow], networks: &[GenotypeRow]) -> GenotypesReport {
        let runs: BTreeMap<&OperationKey, OperatorRun> =
            operations.iter().map(|row| (&row.of, row.run)).collect();
        let rows: BTreeMap<&GenotypeKey, &GenotypeRow> =
            networks.iter().map(|row| (&row.of, row)).collect();
        let costs = Costs { experiment: self, runs: &runs };
        let (instructions, cycles) = (costs.table(instructions_of), costs.table(cycles_of));
        let ranked = |drawn: &Drawn| {
            let row = GenotypeRow::clone(rows.get(&drawn.key)?);
            let sum = |table: &Option<OperationCosts>| {
                table.as_ref().map(|table| table.of_genotype(&drawn.genotype))
            };
            let costs = ProxyValues {
                published: OperationCosts::table_3_2().of_genotype(&drawn.genotype).into(),
                published_once: OperationCosts::table_3_4().of_genotype(&drawn.genotype).into(),
                counted_instructions: sum(&instructions).map(Into::into),
                counted_cycles: sum(&cycles).map(Into::into),
                in_place: costs.in_place(&drawn.genotype).map(Into::into),
            };
            Some(RankedGenotype { row, costs })
        };
        let genotypes: Vec<RankedGenotype> = self.drawn.iter().filter_map(ranked).collect();
        let correlations = Proxy::ALL.map(|proxy| correlation(proxy, &genotypes)).to_vec();
        let published = correlations.iter().find(|one| one.proxy == Proxy::Published);
        let published = published.and_then(|one| one.spearman.map(|value| *value));
        GenotypesReport {
            board: self.board.clone(),
            cells: self.stack.cells,
            channels: self.stack.channels,
            resolution: self.stack.resolution,
            seed: self.seed,
            of: self.drawn.len(),
            costs: costs_of(instructions.as_ref(), cycles.as_ref()),
            operations: operations.to_vec(),
            genotypes,
            correlations,
            published_predicts: Verdict::of(published),
        }
    }
}

/// Whether it computes nothing: then nothing is to be run.
fn is_nothing(applied: Applied) -> bool {
    let passes_on = applied.operation == Operation::Skip && !applied.halves;
    applied.operation == Operation::None || passes_on
}

fn instructions_of(run: OperatorRun) -> u64 {
    *run.instructions
}

fn cycles_of(run: OperatorRun) -> u64 {
    *run.cycles
}

/// Costs from runs of operations.
struct Costs<'c> {
    experiment: &'c Genotypes,
    runs: &'c BTreeMap<&'c OperationKey, OperatorRun>,
}

impl Costs<'_> {
    /// Of an operation in a place; nothing if it did not run.
    fn of(&self, applied: Applied, figure: fn(OperatorRun) -> u64) -> Option<u64> {
        if is_nothing(applied) {
            return Some(0);
        }
        self.runs.get(&self.experiment.key_of(applied)).map(|run| figure(*run))
    }

    /// A table as the published one is: of each operation the mean over the cells, on an input of each. Nothing, if
    /// one did not run.
    fn table(&self, figure: fn(OperatorRun) -> u64) -> Option<OperationCosts> {
        let of = |operation| -> Option<u64> {
            let cells = self.experiment.stack.in_each_cell(operation);
            let count = cells.len() as u64;
            let all: Option<u64> = cells.into_iter().map(|one| self.of(one, figure)).sum();
            all?.checked_div(count)
        };
        let all: Option<Vec<u64>> = Operation::SEARCHED.into_iter().map(of).collect();
        let dearest = all?.into_iter().max().unwrap_or(0);
        // No connection costs more than any, as in the published table.
        let none = COST_OF_NONE.max(dearest.saturating_add(1));
        let table = OperationCosts::from_fn(|operation| of(operation).unwrap_or(0));
        Some(table.with(Operation::None, none))
    }

    /// All operations of all cells.
    fn in_place(&self, genotype: &Genotype) -> Option<u64> {
        let applied = self.experiment.stack.applied(genotype).into_iter();
        applied.map(|one| self.of(one, cycles_of)).sum()
    }
}

/// The tables side by side; nothing without both.
fn costs_of(
    instructions: Option<&OperationCosts>,
    cycles: Option<&OperationCosts>,
) -> Vec<OperationCost> {
    let (Some(instructions), Some(cycles)) = (instructions, cycles) else { return Vec::new() };
    let published = OperationCosts::table_3_2();
    let cost = |operation: Operation| OperationCost {
        operation: operation.name().to_owned(),
        published: published.of(operation).into(),
        instructions: instructions.of(operation).into(),
        cycles: cycles.of(operation).into(),
    };
    Operation::SEARCHED.into_iter().map(cost).collect()
}

fn correlation(proxy: Proxy, genotypes: &[RankedGenotype]) -> ProxyCorrelation {
    let pairs = |figure: fn(OperatorRun) -> u64| -> Vec<Pair> {
        let pair = |one: &RankedGenotype| {
            let (of, with) = (one.value(proxy)?, figure(one.row.run?));
            Some(Pair { of: of as f64, with: with as f64 })
        };
        genotypes.iter().filter_map(pair).collect()
    };
    let of_cycles = pairs(cycles_of);
    let order = Order::of(&of_cycles);
    ProxyCorrelation {
        proxy,
        networks: of_cycles.len().into(),
        spearman: spearman(&of_cycles).map(Into::into),
        kendall: order.kendall().map(Into::into),
        in_order_percent: order.in_order().map(|part| (100.0 * part).into()),
        spearman_of_instructions: spearman(&pairs(instructions_of)).map(Into::into),
    }
}
