//! The operators of the thesis' backbones: their number, and what figure 5.7 shows of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_explore::{
    Experiment, OPERATORS_BACKBONES, OPERATORS_BOARD, Operators, OperatorsTarget,
};
use tilewright_planner::Stop;
use tilewright_report::{DataCacheUse, OperatorRun, OperatorsReport};

fn board(id: &str) -> Board {
    tilewright_board::find(id).unwrap()
}

fn usual() -> Vec<OperatorsTarget> {
    vec![OperatorsTarget::of(&board(OPERATORS_BOARD))]
}

fn experiment(backbones: &[&str], targets: Vec<OperatorsTarget>) -> Operators {
    let backbones: Vec<String> = backbones.iter().map(|name| (*name).to_owned()).collect();
    let mut experiment = Operators::new(&backbones, targets, Stop::default()).unwrap();
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
    let report = experiment(&OPERATORS_BACKBONES, usual()).report();
    assert_eq!((report.networks.len(), report.uses.len()), (684, 46_056));
    for (backbone, operators) in OPERATORS_BACKBONES.into_iter().zip([77, 65, 60]) {
        assert_eq!(of_network(&report, &format!("{backbone}-w0.1-r48")), operators);
    }
    // Each distinct one is planned once.
    let core = &report.cores[0];
    assert!((8_500..9_500).contains(&core.operators.len()), "{}", core.operators.len());
    let places: usize = core.classes.iter().map(|class| *class.uses).sum();
    assert_eq!(places, report.uses.len());
    let share = |name: &str| {
        let of = core.depthwise.iter().find(|share| share.network == name).unwrap();
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
    for name in ["lenet5", "no-such-network", ""] {
        let refused = Operators::new(&[name.to_owned()], usual(), Stop::default());
        assert!(refused.is_err(), "{name}");
    }
    let twice = ["mnasnet-thesis", "mnasnet-thesis"].map(str::to_owned);
    let once = Operators::new(&twice, usual(), Stop::default()).unwrap();
    assert_eq!(once.steps(), 228);
}

#[test]
fn a_run_takes_the_place_of_the_prediction() {
    let mut experiment = experiment(&["mobilenet-v3-thesis"], usual());
    let report = experiment.report().cores.remove(0);
    let is_depthwise = |name: &str| name.starts_with("DepthwiseConv2D");
    assert!(report.classes.iter().filter(|class| is_depthwise(&class.name)).count() >= 2);
    // None of more multiply-accumulates, and none without a kernel, is to be run.
    let small: Vec<usize> = (0..report.operators.len())
        .filter(|index| experiment.runnable(0, *index, 1_000).is_some())
        .collect();
    assert!(!small.is_empty());
    for index in &small {
        let operator = &report.operators[*index];
        assert!(*operator.macs <= 1_000 && operator.predicted_cycles.is_some(), "{operator:?}");
    }
    let run = OperatorRun { instructions: 7.into(), cycles: 9.into() };
    experiment.ran(0, small[0], run);
    let after = experiment.report().cores.remove(0);
    assert_eq!(after.operators[small[0]].cycles(), Some(9));
    assert_eq!(after.classes.iter().map(|class| *class.emulated).sum::<usize>(), 1);
}

#[test]
fn a_core_without_its_data_cache_takes_longer() {
    let with_cache = board(OPERATORS_BOARD);
    let targets = vec![
        OperatorsTarget::of(&with_cache),
        OperatorsTarget::without_data_cache(&with_cache).unwrap(),
        OperatorsTarget::of(&board("stm32f469i-disco")),
    ];
    assert!(OperatorsTarget::without_data_cache(&board("stm32f469i-disco")).is_none());
    let mut experiment = experiment(&["mnasnet-thesis"], targets);
    let report = experiment.report();
    let [on, off, none] = &report.cores[..] else { panic!("{}", report.cores.len()) };
    let uses = [on, off, none].map(|core| core.data_cache);
    assert_eq!(uses, [DataCacheUse::On, DataCacheUse::Off, DataCacheUse::Absent]);
    assert_eq!(on.fitting(), off.fitting());
    let rate = |core: &tilewright_report::OperatorsCore| core.cycles_a_mac("Conv2D 1x1").unwrap();
    // Each four weights of a pass wait for flash: 15 cycles for 16 multiply-accumulates.
    assert!((0.5..1.2).contains(&(rate(off) - rate(on))), "{} and {}", rate(off), rate(on));
    assert!(rate(none) > rate(on), "{}", rate(none));
    for (with, without) in on.operators.iter().zip(&off.operators) {
        assert!(without.predicted_cycles >= with.predicted_cycles, "{without:?}");
    }
    let index = on.operators.iter().position(|operator| operator.fits).unwrap();
    let runs = [0, 1].map(|target| experiment.runnable(target, index, u64::MAX).is_some());
    assert_eq!(runs, [true, true]);
    assert_ne!(experiment.key(0, index), experiment.key(1, index));
    experiment.ran(2, index, OperatorRun { instructions: 7.into(), cycles: 9.into() });
    let counts: Vec<_> = experiment.report().cores.iter().map(|core| core.emulated()).collect();
    assert_eq!(counts, [0, 0, 1]);
}
