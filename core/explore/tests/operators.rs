//! The operators of the thesis' backbones: their number, and what figure 5.7 shows of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_explore::{Experiment, OPERATORS_BACKBONES, OPERATORS_BOARD, Operators};
use tilewright_planner::Stop;
use tilewright_report::{OperatorRun, OperatorsReport};

fn experiment(backbones: &[&str]) -> Operators {
    let backbones: Vec<String> = backbones.iter().map(|name| (*name).to_owned()).collect();
    let board = tilewright_board::find(OPERATORS_BOARD).unwrap();
    let mut experiment = Operators::new(&backbones, &board, Stop::default()).unwrap();
    while experiment.advance().unwrap() {}
    assert_eq!(experiment.done(), experiment.steps());
    experiment
}

fn of_network(report: &OperatorsReport, name: &str) -> usize {
    let network = report.networks.iter().position(|network| network.name == name).unwrap();
    report.uses.iter().filter(|one| one.network == network).count()
}

#[test]
fn there_are_as_many_operators_as_the_thesis_counts() {
    let report = experiment(&OPERATORS_BACKBONES).report();
    assert_eq!((report.networks.len(), report.uses.len()), (684, 46_056));
    for (backbone, operators) in OPERATORS_BACKBONES.into_iter().zip([77, 65, 60]) {
        assert_eq!(of_network(&report, &format!("{backbone}-w0.1-r48")), operators);
    }
    // Each distinct one is planned once.
    assert!((8_500..9_500).contains(&report.operators.len()), "{}", report.operators.len());
    let places: usize = report.classes.iter().map(|class| *class.uses).sum();
    assert_eq!(places, report.uses.len());
    let share = |name: &str| {
        let of = report.depthwise.iter().find(|share| share.network == name).unwrap();
        of.macs_percent.round()
    };
    // Figure 5.7: as the width falls, and as the resolution does.
    let widths = ["w1-r224", "w0.65-r224", "w0.3-r224"]
        .map(|size| share(&format!("proxylessnas-thesis-{size}")));
    assert_eq!(widths, [13.0, 18.0, 29.0]);
    assert_eq!(share("proxylessnas-thesis-w1-r160"), 13.0);
}

#[test]
fn a_backbone_without_these_sizes_is_refused() {
    let board = tilewright_board::find(OPERATORS_BOARD).unwrap();
    for name in ["lenet5", "no-such-network", ""] {
        let refused = Operators::new(&[name.to_owned()], &board, Stop::default());
        assert!(refused.is_err(), "{name}");
    }
    let twice = ["mnasnet-thesis", "mnasnet-thesis"].map(str::to_owned);
    let once = Operators::new(&twice, &board, Stop::default()).unwrap();
    assert_eq!(once.steps(), 228);
}

#[test]
fn a_run_takes_the_place_of_the_prediction() {
    let mut experiment = experiment(&["mobilenet-v3-thesis"]);
    let report = experiment.report();
    let is_depthwise = |name: &str| name.starts_with("DepthwiseConv2D");
    assert!(report.classes.iter().filter(|class| is_depthwise(&class.name)).count() >= 2);
    // None of more multiply-accumulates, and none without a kernel, is to be run.
    let small: Vec<usize> = (0..report.operators.len())
        .filter(|index| experiment.runnable(*index, 1_000).is_some())
        .collect();
    assert!(!small.is_empty());
    for index in &small {
        let operator = &report.operators[*index];
        assert!(*operator.macs <= 1_000 && operator.predicted_cycles.is_some(), "{operator:?}");
    }
    let run = OperatorRun { instructions: 7.into(), cycles: 9.into() };
    experiment.ran(small[0], run);
    let after = experiment.report();
    assert_eq!(after.operators[small[0]].cycles(), Some(9));
    assert_eq!(after.classes.iter().map(|class| *class.emulated).sum::<usize>(), 1);
}
