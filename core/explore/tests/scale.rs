//! The width and resolution search of Sadiq's thesis (5.2.2) on its own board.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::LazyLock;

use tilewright_explore::{
    AccuracyTable, ExploreError, HeldModel, SCALE_BACKBONE, SCALE_BOARD, SCALE_LIMITS_MS, Scale,
    Targets,
};
use tilewright_plan::Micros;
use tilewright_planner::{Stop, Strategy};
use tilewright_report::{ScaleTarget, SweepRow};

fn scale(backbone: &str, accuracies: AccuracyTable) -> Result<Scale, ExploreError> {
    let boards = vec![tilewright_board::find(SCALE_BOARD).unwrap()];
    let targets = Targets { boards, strategies: vec![Strategy::Overlay], sram: None };
    let limits = SCALE_LIMITS_MS.map(|ms| Micros(f64::from(ms) * 1e3));
    Scale::new(backbone, targets, &limits, accuracies)
}

/// The thesis' own, and its rows.
static WHOLE: LazyLock<(Scale, Vec<SweepRow>)> = LazyLock::new(|| {
    let scale = scale(SCALE_BACKBONE, AccuracyTable::published().unwrap()).unwrap();
    let rows = scale.sweep().all(&Stop::default()).unwrap();
    assert_eq!(rows.len(), 165);
    (scale, rows)
});

/// What so many of its rows say.
fn part(rows: usize) -> ScaleTarget {
    let (scale, all) = &*WHOLE;
    let report = scale.report(&all[..rows]);
    assert_eq!(report.of, 165);
    let [target] = &report.targets[..] else { panic!("{report:?}") };
    assert_eq!(target.sizes.len(), rows);
    target.clone()
}

/// Table 5.2: the network of each limit, and its int8 accuracy in per cent.
const TABLE_5_2: [(&str, f64); 9] = [
    ("w0.45-r112", 51.66),
    ("w0.65-r128", 60.58),
    ("w0.75-r144", 63.74),
    ("w0.9-r144", 66.43),
    ("r160", 68.19),
    ("w0.95-r176", 68.74),
    ("r192", 69.35),
    ("r208", 70.67),
    ("r224", 70.37),
];

#[test]
fn latencies_are_those_of_table_5_2_within_a_tenth() {
    let report = part(165);
    for ((size, percent), ms) in TABLE_5_2.into_iter().zip(SCALE_LIMITS_MS) {
        let name = tilewright_zoo::canonical(&format!("{SCALE_BACKBONE}-{size}")).unwrap();
        let found = report.size(&name).unwrap();
        let ratio = found.row.latency_us().unwrap() / (f64::from(ms) * 1e3);
        // The printed one is with a framework, the modelled one without.
        assert!((0.85..1.0).contains(&ratio), "{size}: {ratio:.3} of the printed latency");
        assert_eq!(found.accuracy.as_ref().unwrap().int8_percent, percent, "{size}");
    }
}

#[test]
fn what_is_chosen_is_never_less_accurate_than_in_table_5_2() {
    let report = part(165);
    assert_eq!(report.limits.len(), TABLE_5_2.len());
    for (within, (size, percent)) in report.limits.iter().zip(TABLE_5_2) {
        let network = within.network.as_ref().unwrap();
        let chosen = report.size(network).unwrap();
        assert!(chosen.row.latency_us().unwrap() <= within.limit_us, "{network}");
        assert!(chosen.trade_off().unwrap().percent >= percent, "{network} instead of {size}");
        assert!(within.of_known_accuracy <= *within.meet_it);
    }
    // Table 5.1 has a faster and more accurate network than the third row of table 5.2.
    assert_eq!(report.limits[2].network.as_deref(), Some("mobilenet-v3-thesis-r112"));
    let ends: Vec<(&str, &str)> =
        report.diminishing.iter().map(|point| (&*point.network, &*point.by)).collect();
    assert_eq!(ends, [("mobilenet-v3-thesis-w0.75-r144", "mobilenet-v3-thesis-r112")]);
}

#[test]
fn a_part_of_it_is_a_report_too() {
    let report = part(5);
    assert!(report.limits.iter().all(|within| within.meet_it == 5 && within.network.is_none()));
    assert!(report.front.is_empty() && report.diminishing.is_empty());
    assert!(part(0).limits.iter().all(|within| within.meet_it == 0));
}

#[test]
fn each_board_and_strategy_has_its_own_part() {
    let ids = [SCALE_BOARD, "stm32f469i-disco"];
    let boards = ids.map(|id| tilewright_board::find(id).unwrap()).to_vec();
    let strategies = vec![Strategy::Overlay, Strategy::Resident];
    let targets = Targets { boards, strategies, sram: None };
    let accuracies = AccuracyTable::published().unwrap();
    let scale = Scale::new(SCALE_BACKBONE, targets, &[Micros(1e9)], accuracies).unwrap();
    // The first two sizes on all of them.
    let mut held = HeldModel::default();
    let row = |row| scale.sweep().plan(row, &mut held, &Stop::default()).unwrap();
    let rows: Vec<SweepRow> = (0..8).map_while(row).collect();
    let report = scale.report(&rows);
    let of = |target: &ScaleTarget| (target.board.clone(), target.strategy.clone());
    let expected =
        ids.map(|id| ["overlay", "resident"].map(|strategy| (id.to_owned(), strategy.to_owned())));
    assert_eq!(report.targets.iter().map(of).collect::<Vec<_>>(), expected.concat());
    for target in &report.targets {
        let networks: Vec<&str> =
            target.sizes.iter().map(|size| size.row.key.network.as_str()).collect();
        assert_eq!(networks, ["mobilenet-v3-thesis-w0.3-r64", "mobilenet-v3-thesis-w0.3-r80"]);
        let fitting = target.sizes.iter().filter(|size| size.row.latency_us().is_some()).count();
        assert_eq!(target.limits[0].meet_it, fitting);
    }
}

#[test]
fn accuracies_are_never_guessed() {
    let published = || AccuracyTable::published().unwrap();
    let error = scale("mobilenet-v2", published()).err().unwrap();
    assert!(matches!(&error, ExploreError::NoAccuracy { sizes: 165, .. }), "{error}");
    for wrong in ["lenet5", "mobilenet-v9", "mobilenet-v3-thesis-w0.5", ""] {
        let error = scale(wrong, published()).err().unwrap();
        assert!(matches!(error, ExploreError::Network(_)), "{wrong}: {error}");
    }
    let other = "network,int8_percent,fp32_percent,source\nmobilenet-v2-w0.35-r96,40,,ours\n";
    let table = AccuracyTable::read(other).unwrap();
    assert!(scale("mobilenet-v2", table.clone()).is_ok());
    assert!(scale(SCALE_BACKBONE, table).is_err());
}
