//! Searches that are small enough to be whole.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use tilewright_search::{Samples, Search, SearchError, Settings, StateError, TradeOff};
use tilewright_zoo::cells::{Operation, OperationCosts};

/// Stripes of four directions, each image another one.
fn samples(count: usize) -> Arc<Samples> {
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for index in 0..count {
        let class = index % 4;
        for y in 0..8 {
            for x in 0..8 {
                let along = [x, y, x + y, x + 8 - y][class] + index / 4;
                let noise = (index * 31 + y * 17 + x * 7) % 50;
                images.push((along % 4 / 2 * 200 + noise) as u8);
            }
        }
        labels.push(class as u8);
    }
    Arc::new(Samples::new(&images, [8, 8], &labels, 8).unwrap())
}

fn settings(steps: usize, weight: f64) -> Settings {
    Settings {
        trade_off: TradeOff::weighing(weight),
        cells: 3,
        cell_steps: 2,
        channels: 4,
        steps,
        batch: 8,
        architecture_rate: 0.1,
        ..Settings::default()
    }
}

fn all(mut search: Search) -> Search {
    while search.advance().unwrap() {}
    search
}

#[test]
fn a_search_that_goes_on_is_the_same_bit_for_bit() {
    let settings = settings(7, 0.02);
    let whole = all(Search::new(settings.clone(), samples(48)).unwrap());
    let mut part = Search::new(settings.clone(), samples(48)).unwrap();
    for _ in 0..7 {
        let bytes = part.state().unwrap();
        part = Search::resume(&settings, samples(48), &bytes).unwrap();
        assert!(part.advance().unwrap());
    }
    assert!(!part.advance().unwrap());
    assert_eq!(part.state().unwrap(), whole.state().unwrap());
    assert_eq!(part.genotype().unwrap(), whole.genotype().unwrap());
    assert_eq!([part.done(), part.log().len()], [7, 7]);
    let other = all(Search::new(Settings { seed: 1, ..settings }, samples(48)).unwrap());
    assert_ne!(other.log(), whole.log());
}

#[test]
fn weights_and_architecture_both_learn() {
    let search = all(Search::new(settings(40, 0.0), samples(64)).unwrap());
    let mean = |range: std::ops::Range<usize>| {
        let rows = &search.log()[range];
        rows.iter().map(|row| row.validation_loss).sum::<f64>() / rows.len() as f64
    };
    assert!(mean(30..40) < 0.5 * mean(0..5), "{} after {}", mean(30..40), mean(0..5));
    assert!(search.log().iter().all(|row| row.step > 0 && row.training_cost > 0.0));
}

#[test]
fn cells_cost_less_the_more_cost_weighs() {
    let costs = [0.0, 0.02, 1.0].map(|weight| {
        let search = all(Search::new(settings(30, weight), samples(48)).unwrap());
        let last = *search.log().last().unwrap();
        let genotype = search.genotype().unwrap();
        let counted = OperationCosts::table_3_2().of_genotype(&genotype);
        assert_eq!(counted, last.cells_cost());
        (last.training_cost, last.cells_cost())
    });
    assert!(costs[0].0 > costs[1].0 && costs[1].0 > costs[2].0, "{costs:?}");
    assert!(costs[0].1 > costs[2].1, "{costs:?}");
    assert_eq!(costs[2].1, 0, "nothing but skips");
}

#[test]
fn a_table_of_costs_leads_elsewhere() {
    let costs = OperationCosts::table_3_2().with(Operation::Skip, 9_000_000);
    let dear = Settings { costs: Settings::costs_of(&costs), ..settings(30, 1.0) };
    let genotype = all(Search::new(dear, samples(48)).unwrap()).genotype().unwrap();
    for (_, cell) in genotype.cells() {
        assert!(cell.edges().all(|edge| edge.operation != Operation::Skip), "{genotype}");
    }
}

#[test]
fn a_search_that_diverges_says_so_and_keeps_its_log() {
    let wild = Settings { weight_rate: 1e30, ..settings(20, 0.01) };
    let mut search = Search::new(wild.clone(), samples(48)).unwrap();
    let error = loop {
        match search.advance() {
            Ok(more) => assert!(more, "it never diverged"),
            Err(error) => break error,
        }
    };
    let SearchError::Diverged(diverged) = &error else { panic!("{error}") };
    assert_eq!(diverged.step, search.done() + 1);
    assert!(search.done() > 0);
    assert!(error.to_string().contains("diverged in step"), "{error}");
    assert_eq!(search.advance().unwrap_err().to_string(), error.to_string());
    let bytes = search.state().unwrap();
    assert_eq!(Search::resume(&wild, samples(48), &bytes).unwrap().log(), search.log());
}

#[test]
fn states_of_something_else_are_refused() {
    let settings = settings(5, 0.01);
    let search = Search::new(settings.clone(), samples(48)).unwrap();
    let bytes = search.state().unwrap();
    let error = |settings: &Settings, count, bytes: &[u8]| {
        Search::resume(settings, samples(count), bytes).unwrap_err()
    };
    let state = |error: SearchError| match error {
        SearchError::State(state) => state,
        other => panic!("{other}"),
    };
    let other = Settings { seed: 9, ..settings.clone() };
    assert_eq!(state(error(&other, 48, &bytes)), StateError::OtherSettings);
    assert_eq!(state(error(&settings, 52, &bytes)), StateError::OtherSamples);
    for length in [0, 4, 8, 20, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(state(error(&settings, 48, &bytes[..length])), StateError::Unreadable);
    }
    let mut changed = bytes;
    changed[0] ^= 1;
    assert_eq!(state(error(&settings, 48, &changed)), StateError::Unreadable);
}

#[test]
fn impossible_settings_are_refused() {
    let wrong = [
        (Settings { cells: 0, ..settings(5, 0.0) }, "0 cells"),
        (Settings { channels: 7, ..settings(5, 0.0) }, "even"),
        (Settings { batch: 1, ..settings(5, 0.0) }, "images of a batch"),
        (Settings { weight_rate: f32::NAN, ..settings(5, 0.0) }, "learning rate"),
        (settings(5, -1.0), "-1 as trade-off"),
        (
            Settings { cells: 64, channels: 64, cell_steps: 8, batch: 1024, ..settings(5, 0.0) },
            "way back",
        ),
    ];
    for (settings, words) in wrong {
        let error = Search::new(settings, samples(16)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
