//! What early exits by confidence come to over a labelled set: section 5.2.1 of Sadiq's thesis, by data instead of a
//! limit.

use thiserror::Error;
use tilewright_model::int8::Interpreter;
use tilewright_model::{Data, Model, RunError, Tensor};
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

impl Labelled {
    /// What the int8 reference says of an input; nothing if an output has no values.
    ///
    /// # Errors
    /// If the reference does not take the input.
    pub fn of(
        reference: &Interpreter<'_>,
        input: Vec<i8>,
        label: u8,
    ) -> Result<Option<Self>, RunError> {
        let outputs = reference.run(&[Data::I8(input)], &mut |_, _| {})?;
        let answers: Option<Vec<Answer>> =
            outputs.iter().map(|output| Answer::of(output.as_i8()?)).collect();
        Ok(answers.map(|answers| Self { answers, label: label.into() }))
    }
}

/// Why images are no inputs of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the images are grey, {height}x{width}: they do not fit the model's input")]
pub struct NoInput {
    /// Of the images, in pixels.
    pub height: usize,
    /// Likewise.
    pub width: usize,
}

/// Grey images, one behind the other, as a model takes them: over 255, in the middle of zeros.
///
/// # Errors
/// [`NoInput`] if the model takes something else than one grey image at least as large.
pub fn grey_inputs(
    model: &Model,
    [height, width]: [usize; 2],
    pixels: &[u8],
) -> Result<Vec<Vec<i8>>, NoInput> {
    let input = model.inputs.first().map(|id| model.tensor(*id));
    let place = input.and_then(|input| match *input.shape.dims() {
        [_, rows, columns, 1] if model.inputs.len() == 1 && height <= rows && width <= columns => {
            Some((input.quantisation.as_ref()?, rows, columns))
        }
        _ => None,
    });
    let (quantisation, rows, columns) = place.ok_or(NoInput { height, width })?;
    let (above, left) = ((rows - height) / 2, (columns - width) / 2);
    let values: Vec<i8> = quantisation
        .quantise(&(0..=255u8).map(|pixel| f32::from(pixel) / 255.0).collect::<Vec<_>>());
    let image = |pixels: &[u8]| {
        let mut input = vec![values[0]; rows * columns];
        for (row, line) in pixels.chunks_exact(width).enumerate() {
            let start = (above + row) * columns + left;
            for (to, pixel) in input[start..start + width].iter_mut().zip(line) {
                *to = values[usize::from(*pixel)];
            }
        }
        input
    };
    Ok(pixels.chunks_exact((height * width).max(1)).map(image).collect())
}

/// Thresholds that are looked at, if nobody says which.
pub const CONFIDENCES: [f64; 8] = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99];

/// Most points of accuracy that the best threshold may cost.
pub const MOST_LOST: f64 = 0.5;

/// The report of a plan of a model with exits of both kinds, over images.
///
/// # Errors
/// [`ExitError`] if an output holds no probabilities, or none as large as a threshold.
pub fn report(
    plan: &PlanReport,
    model: &Model,
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
        let least: Vec<i8> = model
            .outputs
            .iter()
            .map(|output| least(model.tensor(*output), *confidence))
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

/// The least value of an output that stands for as much confidence.
fn least(output: &Tensor, confidence: Confidence) -> Result<i8, ExitError> {
    let quantised = output.quantisation.as_ref();
    let scale = quantised.and_then(|quantised| quantised.scales.first());
    let zero = quantised.and_then(|quantised| i16::try_from(*quantised.zeros.first()?).ok());
    confidence.least(&output.name, scale.copied().unwrap_or_default(), zero.unwrap_or_default())
}
