//! Searches for cells as curves over their steps, after figures 3.7, 3.8 and 3.10 of the thesis of Sadiq, and as rows.

use tilewright_report::{CsvColumn, csv_table};

use super::figures;
use crate::message::{SearchLog, SearchStep};

/// Steps whose losses are shown as their mean: those of single batches jump.
const TOGETHER: u32 = 5;

/// Part of the axis upwards that a curve's name takes.
const NAME: f64 = 0.1;

/// A chart: a curve for each search.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    pub title: &'static str,
    /// What the axis upwards says, with the figures' kind.
    pub unit: &'static str,
    /// Places on the axis upwards, parts of its length, and what stands there.
    pub ticks: Vec<(f64, String)>,
    /// The chosen one comes last, so that it is drawn over the others.
    pub curves: Vec<Curve>,
    /// What is seen of the chosen one.
    pub words: String,
}

/// A search in a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub name: String,
    pub is_chosen: bool,
    /// Whether there is room for its name behind its end.
    pub is_labelled: bool,
    /// Right and up, parts of the axes.
    pub points: Vec<[f64; 2]>,
}

struct Quantity {
    title: &'static str,
    unit: &'static str,
    value: fn(&SearchStep) -> f64,
    text: fn(f64) -> String,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        title: "Loss on validation images",
        unit: "L_ce (measured)",
        value: |step| step.loss,
        text: |loss| figures::fixed(loss, 2),
    },
    Quantity {
        title: "Cost in the loss",
        unit: "L_com, cycles (modelled)",
        value: |step| step.cost,
        text: cycles,
    },
    Quantity {
        title: "Both cells, discretised",
        unit: "cycles (modelled)",
        value: |step| both(step) as f64,
        text: cycles,
    },
];

fn cycles(value: f64) -> String {
    figures::compact(value.max(0.0) as u64)
}

fn both(step: &SearchStep) -> u64 {
    step.cells.iter().fold(0, |sum, cell| sum.saturating_add(*cell))
}

/// What a search is called.
#[must_use]
pub fn name(log: &SearchLog) -> String {
    format!("Γ = {}", weight(log.trade_off))
}

/// Γ as text.
#[must_use]
pub fn weight(trade_off: f64) -> String {
    let text = figures::fixed(trade_off, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The steps of a search with the means of the last losses and accuracies.
#[must_use]
pub fn smoothed(log: &SearchLog) -> Vec<SearchStep> {
    let mean_until = |(index, last): (usize, &SearchStep)| {
        let since = last.step.saturating_sub(TOGETHER);
        let latest = log.steps[..=index].iter().rev().take_while(|step| step.step > since);
        let (mut count, mut loss, mut accuracy) = (0.0, 0.0, 0.0);
        for step in latest {
            (count, loss, accuracy) = (count + 1.0, loss + step.loss, accuracy + step.accuracy);
        }
        SearchStep { loss: loss / count, accuracy: accuracy / count, ..*last }
    };
    log.steps.iter().enumerate().map(mean_until).collect()
}

/// The charts of some searches of at most `steps` steps, one of them chosen.
#[must_use]
pub fn curves(logs: &[&SearchLog], chosen: usize, steps: u32) -> [Curves; 3] {
    let smooth: Vec<Vec<SearchStep>> = logs.iter().map(|log| smoothed(log)).collect();
    QUANTITIES.map(|Quantity { title, unit, value, text }| {
        let most = smooth.iter().flatten().map(value).fold(0.0, f64::max);
        let tick = figures::axis_step(most, 4, false);
        let top = (most / tick).ceil().max(1.0) * tick;
        let right = f64::from(steps.max(1));
        let place = |step: &SearchStep| [f64::from(step.step) / right, value(step) / top];
        let mut curves: Vec<Curve> = logs
            .iter()
            .zip(&smooth)
            .enumerate()
            .map(|(index, (log, steps))| Curve {
                name: name(log),
                is_chosen: index == chosen,
                is_labelled: false,
                points: steps.iter().map(place).collect(),
            })
            .collect();
        curves.sort_by_key(|curve| curve.is_chosen);
        label(&mut curves);
        let ends = smooth.get(chosen).and_then(|steps| steps.first().zip(steps.last()));
        let words = match (ends, logs.get(chosen)) {
            (Some((first, last)), Some(log)) => format!(
                "{title}, {}: from {} at step {} to {} at step {}.",
                name(log),
                text(value(first)),
                first.step,
                text(value(last)),
                last.step
            ),
            _ => format!("{title}: no step is done."),
        };
        let count = (top / tick).round() as u32;
        let ticks = (0..=count).map(|index| {
            let at = f64::from(index) * tick;
            // Axes say round numbers.
            (at / top, if at < 10.0 { figures::fixed(at, 1) } else { cycles(at) })
        });
        Curves { title, unit, ticks: ticks.collect(), curves, words }
    })
}

/// Names the chosen curve, and of the others those whose ends are apart.
fn label(curves: &mut [Curve]) {
    let mut taken: Vec<f64> = Vec::new();
    for curve in curves.iter_mut().rev() {
        let Some([_, up]) = curve.points.last() else { continue };
        curve.is_labelled = taken.iter().all(|other| (up - other).abs() >= NAME);
        if curve.is_labelled {
            taken.push(*up);
        }
    }
}

/// What a search came to, in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub steps: String,
    pub loss: String,
    pub accuracy: String,
    pub cost: String,
    pub normal: String,
    pub reduction: String,
}

/// The last step of a search; nothing before the first.
#[must_use]
pub fn row(log: &SearchLog) -> Option<Row> {
    let smooth = smoothed(log);
    let last = smooth.last()?;
    Some(Row {
        name: weight(log.trade_off),
        steps: last.step.to_string(),
        loss: figures::fixed(last.loss, 3),
        accuracy: figures::percent(last.accuracy, 1.0),
        cost: figures::grouped(last.cost.max(0.0).round() as u64),
        normal: figures::grouped(last.cells[0]),
        reduction: figures::grouped(last.cells[1]),
    })
}

/// A step and its search's Γ, under the heads that the command line's log has.
const COLUMNS: [CsvColumn<(f64, SearchStep)>; 7] = [
    CsvColumn { head: "trade_off", field: |(trade_off, _)| weight(*trade_off) },
    CsvColumn { head: "step", field: |(_, step)| step.step.to_string() },
    CsvColumn { head: "validation_loss", field: |(_, step)| figures::fixed(step.loss, 6) },
    CsvColumn { head: "validation_accuracy", field: |(_, step)| figures::fixed(step.accuracy, 6) },
    CsvColumn { head: "validation_cost_cycles", field: |(_, step)| figures::fixed(step.cost, 0) },
    CsvColumn { head: "normal_cell_cycles", field: |(_, step)| step.cells[0].to_string() },
    CsvColumn { head: "reduction_cell_cycles", field: |(_, step)| step.cells[1].to_string() },
];

/// The steps of a search as comma-separated values.
#[must_use]
pub fn csv(log: &SearchLog) -> String {
    let rows: Vec<_> = log.steps.iter().map(|step| (log.trade_off, *step)).collect();
    csv_table(&COLUMNS, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(trade_off: f64, every: u32, losses: &[f64]) -> SearchLog {
        let step = |(index, loss): (u32, &f64)| SearchStep {
            step: every * index,
            loss: *loss,
            accuracy: 0.5,
            cost: 8e6 / f64::from(index),
            cells: [400_000, 1_600_000],
        };
        let steps = (1..).zip(losses).map(step).collect();
        SearchLog { trade_off, steps, ..SearchLog::default() }
    }

    #[test]
    fn losses_are_means_of_five_steps_and_what_is_a_mean_stays() {
        let losses =
            |log: &SearchLog| -> Vec<f64> { smoothed(log).iter().map(|step| step.loss).collect() };
        let each = log(0.0, 1, &[1.0, 2.0, 3.0, 4.0, 5.0, 11.0]);
        assert_eq!(losses(&each), [1.0, 1.5, 2.0, 2.5, 3.0, 5.0]);
        assert_eq!(losses(&log(0.0, 5, &[1.0, 7.0])), [1.0, 7.0]);
    }

    #[test]
    fn curves_share_axes_and_the_chosen_one_is_on_top() {
        let (a, b) = (log(0.0, 5, &[2.5, 1.0]), log(0.02, 5, &[2.0, 0.5]));
        let charts = curves(&[&a, &b], 0, 10);
        let loss = &charts[0];
        let names: Vec<&str> = loss.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["Γ = 0.02", "Γ = 0"]);
        assert!(loss.curves[1].is_chosen);
        assert!(loss.curves.iter().all(|curve| curve.is_labelled), "their ends are apart");
        assert_eq!(charts[1].curves.iter().filter(|curve| curve.is_labelled).count(), 1);
        assert_eq!(loss.ticks.last().unwrap(), &(1.0, "3.0".to_owned()));
        assert_eq!(loss.curves[1].points, [[0.5, 2.5 / 3.0], [1.0, 1.0 / 3.0]]);
        assert!(loss.words.contains("Γ = 0: from 2.50 at step 5 to 1.00 at step 10"), "{loss:?}");
        assert_eq!(charts[1].ticks.last().unwrap().1, cycles(8e6));
        let flat = charts[2].curves.iter().flat_map(|curve| &curve.points);
        assert!(flat.clone().all(|point| point[1] == 1.0), "2 million is the axis' end");
    }

    #[test]
    fn a_search_without_a_step_has_charts_and_no_row() {
        let empty = SearchLog::default();
        assert!(curves(&[&empty], 0, 9)[0].words.contains("no step"));
        assert_eq!(row(&empty), None);
        let row = row(&log(0.04, 5, &[1.0])).unwrap();
        assert_eq!((row.name.as_str(), row.steps.as_str()), ("0.04", "5"));
        assert_eq!(
            (row.cost, row.reduction),
            (figures::grouped(8_000_000), figures::grouped(1_600_000))
        );
        let text = csv(&log(0.04, 5, &[1.25]));
        assert!(text.contains("\n0.04,5,1.250000,0.500000,8000000,400000,1600000\r\n"), "{text}");
    }
}
