//! Early exits: outputs of a network before its last one (section 5.2.1 of Sadiq's thesis).
//!
//! Both kinds are made of a finished plan, whatever strategy wrote it: a sub-network keeps the steps that one output
//! needs ([`needed`]), an exit by confidence puts a step behind those that make an output ([`confident`]). Tables,
//! addresses and weights stay as they are, so that switching copies nothing. `check` proves each program of its own.

mod confident;
mod lanes;
mod needed;

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{After, CyclePoint, Instruction, Io, Plan, Program, Subnetwork};
use tilewright_report::{ExitRow, Modelled, Timeline};

use crate::costs::CostCache;
use crate::{Options, PlanError, simulate};

/// Which exits a plan has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Whether there is a program for each output, which a limit of latency chooses from.
    pub subnetworks: bool,
    /// The confidence from which an output before the last ends the run.
    pub confidence: Option<Confidence>,
}

impl Exits {
    /// Whether there are none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// A probability from which an output is certain enough, in thousandths: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Confidence {
    thousandths: u16,
}

impl Confidence {
    /// From a probability above 0, up to 1; nothing if it is none.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "of 1 to 1000 that is sure"
    )]
    pub fn new(probability: f64) -> Option<Self> {
        let thousandths = (probability * 1000.0).round();
        let is_one = (1.0..=1000.0).contains(&thousandths);
        is_one.then_some(Self { thousandths: thousandths as u16 })
    }

    /// The probability.
    #[must_use]
    pub fn probability(self) -> f64 {
        f64::from(self.thousandths) / 1000.0
    }

    /// The least value of an output, of this scale and zero point, that is as certain.
    ///
    /// # Errors
    /// [`ExitError`] if its values are no probabilities, or none is as certain.
    #[expect(clippy::cast_possible_truncation, reason = "the value is clamped")]
    pub fn least(self, output: &str, scale: f32, zero: i16) -> Result<i8, ExitError> {
        let (scale, zero) = (f64::from(scale), f64::from(zero));
        let largest = scale * (f64::from(i8::MAX) - zero);
        let (name, told) = (|| output.to_owned(), || format!("{largest:.3}"));
        if largest > 1.01 {
            return Err(ExitError::NoProbabilities { output: name(), largest: told() });
        }
        let least = (self.probability() / scale + zero).ceil();
        if least > f64::from(i8::MAX) {
            return Err(ExitError::TooCertain { output: name(), largest: told() });
        }
        Ok(least.max(f64::from(i8::MIN)) as i8)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.probability().fmt(f)
    }
}

impl FromStr for Confidence {
    type Err = ExitError;

    fn from_str(text: &str) -> Result<Self, ExitError> {
        let probability = text.parse().ok().and_then(Self::new);
        probability.ok_or_else(|| ExitError::NoConfidence(text.to_owned()))
    }
}

/// Why a plan has no such exits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExitError {
    /// The model has one output.
    #[error("the model has one output, and so no exit before the last")]
    OneOutput,
    /// Outputs of the model are what runs keep for the next.
    #[error("the model keeps states from run to run, which an early end would not make")]
    States,
    /// Runs work on several frames.
    #[error("an exit ends one frame, but each run of the program works on {0}")]
    Frames(u16),
    /// A text or number that is no confidence.
    #[error("'{0}' is no confidence: it is a probability above 0, up to 1, such as 0.9")]
    NoConfidence(String),
    /// An output that holds something else.
    #[error("output '{output}' holds values up to {largest}, no probabilities")]
    NoProbabilities {
        /// Its name.
        output: String,
        /// The largest value.
        largest: String,
    },
    /// No output is as certain.
    #[error("output '{output}' holds probabilities up to {largest}: no exit would ever be taken")]
    TooCertain {
        /// Its name.
        output: String,
        /// The largest value.
        largest: String,
    },
}

/// Gives a plan of a model the exits that the options ask for. Plans without a program have none.
///
/// # Errors
/// [`PlanError::Exits`] if the model or the program is not for them, [`PlanError::Stopped`] if nobody waits.
pub fn add(
    plan: &mut Plan,
    model: &Model,
    board: &Board,
    costs: &CostCache,
    options: &Options,
) -> Result<(), PlanError> {
    if options.exits.is_none() {
        return Ok(());
    }
    let Some(main) = plan.main.take() else { return Ok(()) };
    let outputs = main.outputs_of_frame();
    if outputs < 2 {
        return Err(ExitError::OneOutput.into());
    }
    if !model.states.is_empty() {
        return Err(ExitError::States.into());
    }
    if options.exits.subnetworks {
        for output in 0..outputs {
            let program = needed::subnetwork(plan, &main, output);
            let inputs = 0..main.inputs_of_frame();
            let (outputs, latency) = (output..output + 1, None);
            plan.subnetworks.push(Subnetwork { inputs, outputs, latency, program });
        }
    }
    plan.main = Some(match options.exits.confidence {
        Some(confidence) => confident::with_exits(plan, main, confidence)?,
        None => main,
    });
    for index in 0..plan.subnetworks.len() {
        let Some(alone) = plan.of_subnetwork(index) else { continue };
        let runs = Options { frames: options.frames.min(one_run(&alone)), ..options.clone() };
        let timeline = simulate::predict(&alone, board, costs, &runs)?;
        let latency = timeline.end().since(Default::default()).at(timeline.clock_hz);
        plan.subnetworks[index].latency = Some(latency);
    }
    Ok(())
}

/// The frames of one run.
fn one_run(plan: &Plan) -> NonZeroU32 {
    NonZeroU32::new(plan.frames().into()).unwrap_or(NonZeroU32::MIN)
}

/// What is said of a plan's exits: one row for each output; none if it has no exits. `timeline` is that of the main
/// program.
pub fn rows(plan: &Plan, timeline: &Timeline) -> Vec<ExitRow> {
    let Some(main) = &plan.main else { return Vec::new() };
    let core = main.lanes.first().map_or(&[][..], |lane| &lane.steps);
    let exit = |output: u16| {
        core.iter().position(|step| {
            matches!(step.instruction, Instruction::Exit { output: own, .. } if own == output)
        })
    };
    let has_exits = core.iter().any(|step| matches!(step.instruction, Instruction::Exit { .. }));
    if plan.subnetworks.is_empty() && !has_exits {
        return Vec::new();
    }
    let outputs = main.outputs_of_frame();
    let row = |(output, io): (u16, &Io)| {
        let own = plan.subnetworks.iter().find(|subnetwork| subnetwork.outputs.start == output);
        let ends = exit(output).map(|step| until(timeline, &core[step].after, step));
        let is_last = output + 1 == outputs;
        let whole = (has_exits && is_last).then(|| timeline.end());
        let at = |end: CyclePoint| end.since(Default::default());
        ExitRow {
            output: plan.tensors.get(io.tensor as usize).map_or(String::new(), |t| t.name.clone()),
            macs: own.map(|own| macs(plan, &own.program).into()),
            latency_us: own.and_then(|own| own.latency).map(Modelled::new),
            exit_us: ends.or(whole).map(|end| Modelled::new(at(end).at(timeline.clock_hz))),
        }
    };
    (0u16..).zip(main.outputs.iter().take(outputs.into())).map(row).collect()
}

/// When a step of the core, which takes no time, is reached: all before it and what it waits for have ended.
fn until(timeline: &Timeline, after: &[Option<After>; 3], step: usize) -> CyclePoint {
    let is_before = |lane: u8, number: u32| {
        let waits = after.iter().flatten().any(|after| (after.lane, after.step) == (lane, number));
        waits || lane == 0 && (number as usize) < step
    };
    let slices = timeline.slices.iter().filter(|slice| is_before(slice.lane, slice.step));
    slices.map(|slice| slice.end).max().unwrap_or_default()
}

/// Multiply-accumulates of the layers that a program computes.
fn macs(plan: &Plan, program: &Program) -> u64 {
    let steps = program.lanes.first().map_or(&[][..], |lane| &lane.steps);
    let is_made = |layer: usize| {
        steps.iter().any(|step| {
            usize::from(step.layer) == layer
                && matches!(step.instruction, Instruction::Compute { .. })
        })
    };
    let made = plan.layers.iter().enumerate().filter(|(layer, _)| is_made(*layer));
    made.map(|(_, layer)| layer.macs).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_becomes_the_least_value_that_is_as_certain() {
        let softmax = |text: &str| {
            let confidence: Confidence = text.parse().unwrap();
            confidence.least("p", 1.0 / 256.0, -128)
        };
        assert_eq!(softmax("0.5"), Ok(0));
        assert_eq!(softmax("0.8"), Ok(77));
        assert_eq!(softmax("0.001"), Ok(-127));
        assert!(matches!(softmax("1"), Err(ExitError::TooCertain { .. })));
        let logits = Confidence::new(0.5).unwrap().least("l", 0.1, 0);
        assert!(matches!(logits, Err(ExitError::NoProbabilities { .. })));
    }

    #[test]
    fn what_is_no_probability_is_no_confidence() {
        for text in ["0", "-0.5", "1.5", "high", "NaN", "inf", ""] {
            assert!(text.parse::<Confidence>().is_err(), "{text}");
        }
    }
}
