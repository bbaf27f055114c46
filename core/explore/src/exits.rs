//! What early exits by confidence come to over a labelled set: section 5.2.1 of Sadiq's thesis, by data instead of a
//! limit.

use tilewright_plan::Micros;
use tilewright_planner::{Confidence, ExitError};
use tilewright_report::{Counted, ExitAlone, ExitsReport, PlanReport, ThresholdRow};

/// What a network says of one input at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The class of largest value, the first of several.
    pub class: usize,
    /// That value.
    pub value: i8,
}

impl Answer {
    /// Of an output's values; nothing if it has none.
    #[must_use]
    pub fn of(values: &[i8]) -> Option<Self> {
        let value = *values.iter().max()?;
        Some(Self { class: values.iter().position(|other| *other == value)?, value })
    }
}

/// The answers to an image at all exits, with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// In the order of the exits.
    pub answers: Vec<Answer>,
    /// The class that is right.
    pub label: usize,
}

/// How an output's values stand for probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// The output's name.
    pub name: String,
    /// Probability = scale × (value − zero).
    pub scale: f32,
    /// The value that stands for zero.
    pub zero: i16,
}

/// Most points of accuracy that the best threshold may cost.
pub const MOST_LOST: f64 = 0.5;

/// The report of a plan with exits of both kinds, over images; `outputs` says how their values are meant.
///
/// # Errors
/// [`ExitError`] if an output holds no probabilities, or none as large as a threshold.
pub fn report(
    plan: &PlanReport,
    outputs: &[Scaled],
    images: &[Labelled],
    confidences: &[Confidence],
) -> Result<ExitsReport, ExitError> {
    let percent = |count: usize| 100.0 * count as f64 / images.len().max(1) as f64;
    let right = |exit: usize| {
        let right = images.iter().filter(|image| image.answers[exit].class == image.label);
        percent(right.count())
    };
    let is_known = !images.is_empty();
    let exits: Vec<ExitAlone> = plan
        .exits
        .iter()
        .enumerate()
        .map(|(index, exit)| ExitAlone {
            output: exit.output.clone(),
            macs: exit.macs.unwrap_or_default(),
            latency_us: exit.latency_us.unwrap_or_default(),
            accuracy_percent: is_known.then(|| Counted::new(right(index))),
        })
        .collect();
    let whole = exits.last().map_or(Micros(0.0), |exit| *exit.latency_us);
    let mut thresholds = Vec::new();
    for confidence in confidences.iter().filter(|_| is_known) {
        let least: Vec<i8> = outputs
            .iter()
            .map(|output| confidence.least(&output.name, output.scale, output.zero))
            .collect::<Result<_, _>>()?;
        let (mut correct, mut time) = (0, 0.0);
        let mut ended = vec![0usize; exits.len()];
        for image in images {
            let last = exits.len().saturating_sub(1);
            let sure = image.answers.iter().zip(&least).take(last);
            let exit = sure.clone().position(|(answer, least)| answer.value >= *least);
            let exit = exit.unwrap_or(last);
            ended[exit] += 1;
            correct += usize::from(image.answers[exit].class == image.label);
            time += plan.exits[exit].exit_us.map_or(0.0, |time| time.0);
        }
        let mean = time / images.len() as f64;
        thresholds.push(ThresholdRow {
            confidence: confidence.probability(),
            accuracy_percent: percent(correct).into(),
            shares_percent: ended.into_iter().map(percent).collect::<Vec<_>>().into(),
            mean_latency_us: Micros(mean).into(),
            change_percent: (100.0 * (mean / whole.0.max(1e-9) - 1.0)).into(),
        });
    }
    let least = exits.last().and_then(|exit| exit.accuracy_percent).map(|all| *all - MOST_LOST);
    let close = thresholds
        .iter()
        .enumerate()
        .filter(|(_, row)| least.is_some_and(|least| *row.accuracy_percent >= least - 1e-9));
    let best = close.min_by(|(_, a), (_, b)| a.mean_latency_us.0.total_cmp(&b.mean_latency_us.0));
    let best = best.map(|(index, _)| index);
    Ok(ExitsReport {
        model: plan.model.clone(),
        board: plan.board.clone(),
        strategy: plan.strategy.clone(),
        images: images.len(),
        exits,
        thresholds,
        best,
    })
}
