//! Genotypes that are drawn, and what follows from runs of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_explore::{ExploreError, GENOTYPES_BOARD, GENOTYPES_STACK, Genotypes};
use tilewright_report::{GenotypeRow, OperationRow, OperatorRun, Proxy, Verdict};
use tilewright_zoo::Stack;
use tilewright_zoo::cells::{Genotype, Operation, OperationCosts};

fn drawn(count: usize, seed: u64) -> Genotypes {
    let board = tilewright_board::find(GENOTYPES_BOARD).unwrap();
    Genotypes::new(count, seed, &board, GENOTYPES_STACK).unwrap()
}

fn run(cycles: u64) -> OperatorRun {
    OperatorRun { instructions: (2 * cycles).into(), cycles: cycles.into() }
}

/// As if each operation had taken what table 3.2 says, wherever it stands.
fn operations(experiment: &Genotypes) -> Vec<OperationRow> {
    let costs = OperationCosts::table_3_2();
    let row = |at| {
        let of = experiment.operation_key(at)?;
        let cycles = costs.of(Operation::of_name(&of.operation)?).max(1);
        Some(OperationRow { of, run: run(cycles) })
    };
    (0..experiment.operations()).filter_map(row).collect()
}

/// As if each network had taken `cycles` of its genotype.
fn networks(experiment: &Genotypes, cycles: impl Fn(&Genotype) -> u64) -> Vec<GenotypeRow> {
    let row = |at| {
        let of = experiment.key(at)?.clone();
        let genotype: Genotype = of.genotype.parse().unwrap();
        Some(GenotypeRow {
            of,
            macs: 1.into(),
            predicted_cycles: None,
            run: Some(run(cycles(&genotype))),
            problem: None,
        })
    };
    (0..experiment.genotypes()).filter_map(row).collect()
}

#[test]
fn a_seed_draws_the_same_genotypes_and_all_differ() {
    let keys = |experiment: &Genotypes| -> Vec<String> {
        (0..experiment.genotypes()).map(|at| experiment.key(at).unwrap().genotype.clone()).collect()
    };
    let first = keys(&drawn(200, 1));
    assert_eq!(first.len(), 200);
    assert_eq!(keys(&drawn(10, 1)), first[..10]);
    assert_ne!(keys(&drawn(10, 2)), first[..10]);
    let mut unique = first.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 200);
    let network = drawn(1, 1).network(0).unwrap().unwrap();
    assert!(network.macs() > 0);
    // Six operations in three sizes, and seven that halve in two.
    assert_eq!(drawn(200, 1).operations(), 32);
}

#[test]
fn a_proxy_that_orders_like_the_runs_predicts() {
    let experiment = drawn(40, 3);
    let published = OperationCosts::table_3_2();
    let rows = networks(&experiment, |genotype| 5 + published.of_genotype(genotype));
    let report = experiment.report(&operations(&experiment), &rows);
    assert_eq!(report.published_predicts, Verdict::Yes);
    for proxy in [Proxy::Published, Proxy::CountedCycles, Proxy::CountedInstructions] {
        let one = report.correlation(proxy).unwrap();
        assert_eq!(*one.networks, 40, "{proxy:?}");
        assert!(*one.kendall.unwrap() > 0.999 && *one.spearman.unwrap() > 0.999, "{one:?}");
        assert!(*one.spearman_of_instructions.unwrap() > 0.999, "{one:?}");
    }
    // All have as many: nothing is ordered. And of the plan nothing is known.
    assert_eq!(report.correlation(Proxy::Macs).unwrap().spearman, None);
    assert_eq!(*report.correlation(Proxy::Predicted).unwrap().networks, 0);
    let costs: Vec<_> = report.costs.iter().map(|cost| (&*cost.operation, *cost.cycles)).collect();
    assert_eq!(
        (costs.len(), costs[0], costs[4]),
        (8, ("none", 999_999), ("sep_conv_3x3", 368_640))
    );
    let opposite = networks(&experiment, |genotype| u64::MAX / 4 - published.of_genotype(genotype));
    let report = experiment.report(&operations(&experiment), &opposite);
    assert_eq!(report.published_predicts, Verdict::No);
}

#[test]
fn parts_and_gaps_are_reports_too() {
    let experiment = drawn(5, 1);
    let nothing = experiment.report(&[], &[]);
    assert_eq!((nothing.of, nothing.genotypes.len(), nothing.costs.len()), (5, 0, 0));
    assert_eq!(nothing.published_predicts, Verdict::Unknown);
    let mut few = operations(&experiment);
    few.retain(|row| row.of.operation != "dil_conv_5x5");
    let mut rows = networks(&experiment, |_| 7);
    rows[1].run = None;
    let report = experiment.report(&few, &rows[..3]);
    assert!(report.costs.is_empty(), "a table with a gap is none");
    assert_eq!(report.genotypes.len(), 3);
    assert_eq!(*report.correlation(Proxy::Published).unwrap().networks, 2);
    assert_eq!(report.genotypes[0].value(Proxy::CountedCycles), None);
}

#[test]
fn what_cannot_be_is_refused() {
    let board = tilewright_board::find(GENOTYPES_BOARD).unwrap();
    let refused = Genotypes::new(0, 1, &board, GENOTYPES_STACK).err().unwrap();
    assert!(matches!(refused, ExploreError::NoGenotypes), "{refused}");
    for wrong in [
        Stack { cells: 0, ..GENOTYPES_STACK },
        Stack { channels: 7, ..GENOTYPES_STACK },
        Stack { resolution: 0, ..GENOTYPES_STACK },
    ] {
        let refused = Genotypes::new(3, 1, &board, wrong).err().unwrap();
        assert!(matches!(refused, ExploreError::Network(_)), "{refused}");
    }
}
