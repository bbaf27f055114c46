//! Results of a run beside the reference.

use std::fmt::Write;

use tilewright_board::Board;
use tilewright_plan::Micros;
use tilewright_report::{Kind, Mode, OutputValues, PREDICTION_MAY_BE_OFF, over_prediction};

use super::decode::Picture;
use super::energy_and_wear::{energy, energy_fact};
use super::figures;
use super::overview::Fact;
use crate::message::{OutputFacts, PlanFacts, ReferenceFacts, RunResult};
use crate::state::Outcome;

/// A class with its score on the board and in the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Index of the class.
    pub class: usize,
    /// Its name; the index if it has none.
    pub label: String,
    /// The reference's int8 value.
    pub reference: i8,
    /// The same as a real number.
    pub real: f32,
    /// Length of a bar, 0 to 1, between the least and the largest value that int8 has here.
    pub fill: f64,
    /// The board's int8 value, after a run.
    pub board: Option<i8>,
}

/// The scores of the first output, best first, at most `most`; ties keep the order of classes.
#[must_use]
pub fn scores(
    output: &OutputFacts,
    reference: &ReferenceFacts,
    board: Option<&[OutputValues]>,
    most: usize,
) -> Vec<Score> {
    let Some(values) = reference.outputs.first() else { return Vec::new() };
    let board = board.and_then(|outputs| outputs.first()).map(|output| &output.values);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|class| std::cmp::Reverse(values[*class]));
    let least = values.iter().copied().min().unwrap_or(0);
    let real = |value: i8| output.scale * (i32::from(value) - output.zero) as f32;
    // Softmax gives shares of one; other scores have no floor but the least.
    let floor = if real(least) >= 0.0 { 0.0 } else { real(least) };
    let top = order.first().map_or(1.0, |class| real(values[*class]));
    let ceiling = if floor >= 0.0 && top <= 1.0 { 1.0 } else { top };
    let span = f64::from((ceiling - floor).max(f32::EPSILON));
    order
        .into_iter()
        .take(most)
        .map(|class| Score {
            class,
            label: output.labels.get(class).cloned().unwrap_or_else(|| class.to_string()),
            reference: values[class],
            real: real(values[class]),
            fill: (f64::from(real(values[class]) - floor) / span).clamp(0.0, 1.0),
            board: board.and_then(|values| values.get(class).copied()),
        })
        .collect()
}

/// Size of the first input if it may be a picture: grey or in colours, with more than a few pixels.
#[must_use]
pub fn input_picture(plan: &PlanFacts) -> Option<Picture> {
    let [height, width, channels] = inputs(plan).next()?;
    let is_picture = height.min(width) >= 8 && matches!(channels, 1 | 3 | 4);
    is_picture.then_some(Picture { height, width })
}

/// Whether the first input may be a picture and no features of a sound.
#[must_use]
pub fn takes_pictures(plan: &PlanFacts) -> bool {
    input_picture(plan).is_some() && !takes_sounds(plan)
}

/// Whether an input may be a sound's samples, filter channels or coefficients: as the importer reads them.
#[must_use]
pub fn takes_sounds(plan: &PlanFacts) -> bool {
    inputs(plan).any(|shape| {
        let sizes: Vec<u32> = shape.into_iter().filter(|size| *size > 1).collect();
        matches!(*sizes.as_slice(), [40 | 490 | 1_960 | 4_000..=960_000] | [..=400, 10 | 13 | 40])
    })
}

/// Shapes of what no layer makes.
fn inputs(plan: &PlanFacts) -> impl Iterator<Item = [u32; 3]> {
    let is_made =
        |tensor: usize| plan.memory.rows.iter().any(|row| row.writes.contains(&(tensor as u32)));
    let given = plan.tensors.iter().enumerate().filter(move |(tensor, _)| !is_made(*tensor));
    given.map(|(_, tensor)| tensor.shape)
}

/// What emulated, and how long that took.
#[must_use]
pub fn emulated_by(result: &RunResult) -> String {
    let took = figures::duration(result.emulation_wall_ns as f64 / 1e3);
    format!("Emulated by {} in {took} (measured)", result.engine)
}

/// An output that is no list of scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRow {
    pub name: String,
    pub shape: String,
    /// Its values as real numbers: each if they are few, else the least and the largest.
    pub values: String,
    /// Whether the board gave the same, after a run.
    pub is_equal: Option<bool>,
}

/// Whether the outputs are the scores of classes: one vector of them.
#[must_use]
pub fn are_scores(outputs: &[OutputFacts]) -> bool {
    matches!(outputs, [OutputFacts { is_scores: true, shape: [1, 1, _], .. }])
}

/// Outputs of which each is listed by its values are no longer than this.
const FEW: usize = 8;

/// The outputs that are no scores: of detectors, heat maps, key points.
#[must_use]
pub fn output_rows(
    outputs: &[OutputFacts],
    reference: &ReferenceFacts,
    board: Option<&[OutputValues]>,
) -> Vec<OutputRow> {
    let row = |(index, (output, values)): (usize, (&OutputFacts, &Vec<i8>))| {
        let real = |value: &i8| {
            let value = output.scale * (i32::from(*value) - output.zero) as f32;
            figures::fixed(f64::from(value), 3)
        };
        let text = match (values.iter().min(), values.iter().max()) {
            _ if values.len() <= FEW => values.iter().map(real).collect::<Vec<_>>().join(", "),
            (Some(least), Some(most)) => format!("{} to {}", real(least), real(most)),
            _ => String::new(),
        };
        OutputRow {
            name: output.name.clone(),
            shape: figures::shape(output.shape),
            values: text,
            // What a sub-network or an exit leaves out is neither.
            is_equal: board
                .and_then(|board| match board.len() >= outputs.len() {
                    true => board.get(index),
                    false => board.iter().find(|found| found.name == output.name),
                })
                .map(|found| found.values == *values),
        }
    };
    outputs.iter().zip(&reference.outputs).enumerate().map(row).collect()
}

/// Values of an output that are written out.
const SHOWN: usize = 512;

/// The first values of an output, and how many more there are.
#[must_use]
pub fn shown_values(values: &[i8]) -> String {
    let first: Vec<String> = values.iter().take(SHOWN).map(i8::to_string).collect();
    match values.len().saturating_sub(SHOWN) {
        0 => first.join(" "),
        more => format!("{} … and {} more", first.join(" "), figures::grouped(more as u64)),
    }
}

/// All values, a line for each place of each output: its row and column, then its channels.
#[must_use]
pub fn values_as_csv(outputs: &[OutputFacts], reference: &ReferenceFacts) -> String {
    let mut text = "output,row,column,int8 of each channel\n".to_owned();
    for (index, (output, values)) in outputs.iter().zip(&reference.outputs).enumerate() {
        let [_, columns, channels] = output.shape.map(|size| size.max(1) as usize);
        for (place, values) in values.chunks(channels).enumerate() {
            let _ = write!(text, "{index},{},{}", place / columns, place % columns);
            values.iter().for_each(|value| {
                let _ = write!(text, ",{value}");
            });
            text.push('\n');
        }
    }
    text
}

/// What was predicted for a run, in microseconds; nothing if no time was.
#[must_use]
pub fn predicted_us(outcome: &Outcome) -> Option<f64> {
    let report = &outcome.plan.report;
    let part = frames(outcome) as f64 / f64::from(report.frames.max(1));
    // A sampled run has no outputs to count frames by.
    let part = if outcome.result.outputs.is_empty() { 1.0 } else { part };
    let alone = outcome.result.invokes.last().and_then(|invoke| {
        report.exits.iter().find(|exit| exit.output == invoke.program)?.latency_us
    });
    let taken = outcome.result.exit.and_then(|exit| report.exits.get(*exit)?.exit_us);
    alone.or(taken).map_or_else(
        || report.latency_us.map(|predicted| predicted.0 * part),
        |predicted| Some(predicted.0),
    )
}

/// How far a run was from its prediction.
#[must_use]
pub fn deviation(ran_us: f64, predicted_us: f64) -> String {
    let share = figures::percent((ran_us - predicted_us).abs(), predicted_us);
    if ran_us < predicted_us {
        return format!("{share} below the prediction");
    }
    match over_prediction(Micros(ran_us), Micros(predicted_us)) {
        None => format!("{share} over the prediction"),
        Some(_) => {
            let may = figures::fixed(100.0 * PREDICTION_MAY_BE_OFF, 0);
            format!("{share} over the prediction: more than the {may} % it may be off")
        }
    }
}

/// How a run compares with the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Every compared layer is bit-equal.
    Equal {
        /// Number of tensors compared.
        tensors: usize,
        /// Number of elements compared.
        elements: u64,
    },
    /// Only the outputs were compared, and they are bit-equal.
    OutputsEqual,
    /// The run was sampled, so that there is nothing to compare: so many steps passed.
    Sampled(u64),
    /// Something differs.
    Differs(String),
    /// The run came to no outputs.
    Faulted,
}

/// Frames that the run worked on.
#[must_use]
pub fn frames(outcome: &Outcome) -> usize {
    let of_frame = outcome.reference.outputs.len().max(1);
    (outcome.result.outputs.len() / of_frame).max(1)
}

/// How an outcome compares.
#[must_use]
pub fn agreement(outcome: &Outcome) -> Agreement {
    if outcome.result.fault.is_some() {
        return Agreement::Faulted;
    }
    if outcome.result.mode == Mode::Sampled {
        let passed = outcome.result.passed_steps;
        return Agreement::Sampled(passed);
    }
    // Of several frames the first has the input that the reference was given.
    let (found, expected) = (&outcome.result.outputs, &outcome.reference.outputs);
    let mut pairs = expected.iter().zip(found.iter());
    let are_outputs_equal = if makes_a_part(outcome) {
        let names = outcome.plan.outputs.iter().map(|output| &output.name);
        let expected: Vec<_> = names.zip(expected).collect();
        let is_equal = |found: &OutputValues| {
            expected.iter().any(|(name, values)| **name == found.name && **values == found.values)
        };
        !found.is_empty() && found.iter().all(is_equal)
    } else {
        !expected.is_empty()
            && found.len() >= expected.len()
            && pairs.all(|(expected, found)| *expected == found.values)
    };
    if let Some(comparison) = &outcome.comparison {
        if let Some(first) = &comparison.difference {
            return Agreement::Differs(format!(
                "First difference in {}, tensor {}, element {}: reference {}, board {}; {} \
                 elements of that tensor differ.",
                first.layer,
                first.tensor,
                first.element,
                first.expected,
                first.found,
                first.differing
            ));
        }
        if !comparison.layers.is_empty() && are_outputs_equal {
            return Agreement::Equal {
                tensors: comparison.layers.len(),
                elements: comparison.layers.iter().map(|layer| layer.elements).sum(),
            };
        }
    }
    if are_outputs_equal {
        return Agreement::OutputsEqual;
    }
    Agreement::Differs("The outputs differ from the reference's.".to_owned())
}

/// Whether a run makes some of the outputs: those of a sub-network, or up to the exit that was taken.
fn makes_a_part(outcome: &Outcome) -> bool {
    outcome.result.exit.is_some() || !outcome.result.invokes.is_empty()
}

/// The figures of a run.
#[must_use]
pub fn facts(outcome: &Outcome, boards: &[Board]) -> Vec<Fact> {
    let (plan, result) = (&outcome.plan, &outcome.result);
    let outside = result.counts.dispatch_instructions + result.counts.interrupt_instructions;
    let cycles = format!("{} cycles", figures::grouped(result.cycles.0));
    let mut facts = vec![
        Fact {
            title: "Instructions",
            id: "instructions",
            value: figures::grouped(*result.instructions),
            detail: match frames(outcome) {
                1 => "of one inference".to_owned(),
                frames => format!("of {frames} frames"),
            },
            kind: Kind::Counted,
        },
        Fact {
            title: "Latency",
            id: "latency",
            value: figures::duration(result.latency_us.0),
            detail: match predicted_us(outcome).filter(|_| result.fault.is_none()) {
                Some(predicted) => {
                    format!("{cycles}; {}", deviation(result.latency_us.0, predicted))
                }
                None => cycles,
            },
            kind: Kind::Modelled,
        },
        Fact {
            title: "Outside of kernels",
            id: "outside",
            value: figures::grouped(outside),
            detail: "instructions of runtime and interrupts".to_owned(),
            kind: Kind::Counted,
        },
    ];
    if let Some(invoke) = result.invokes.last() {
        let select = figures::grouped(*invoke.select_instructions);
        facts.push(Fact {
            title: "Program",
            id: "program",
            value: invoke.program.clone(),
            detail: format!("chosen by its limit in {select} instructions"),
            kind: Kind::Counted,
        });
    }
    if let Some(exit) = result.exit.and_then(|exit| plan.report.exits.get(*exit)) {
        facts.push(Fact {
            title: "Early exit",
            id: "exit",
            value: exit.output.clone(),
            detail: "certain enough, so that the run ended there".to_owned(),
            kind: Kind::Counted,
        });
    }
    if let Some(stack) = &result.stack {
        let [thread, handlers, used, limit] =
            [stack.thread_bytes, stack.handler_bytes, stack.used_bytes, stack.limit_bytes]
                .map(|part| figures::grouped(part.0));
        facts.push(Fact {
            title: "Stack of the firmware",
            id: "stack",
            value: format!("{used} of {limit} bytes"),
            detail: format!("{thread}, and {handlers} of an interrupt on top"),
            kind: Kind::Counted,
        });
    }
    let board = boards.iter().find(|board| board.id == plan.settings.board_id());
    if let (Some(board), None) = (board, &result.fault) {
        let timeline = &result.timeline;
        facts.push(energy_fact(&energy(plan, timeline, board)));
    }
    facts
}

/// A compared layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    pub layer: usize,
    pub name: String,
    /// Elements compared.
    pub elements: u64,
    /// How many differ.
    pub differing: u64,
}

/// The compared layers of an outcome.
#[must_use]
pub fn checks(outcome: &Outcome) -> Vec<CheckRow> {
    let name = |plan: &PlanFacts, layer: usize| {
        let layers = &plan.report.layers;
        let frame = layer / layers.len().max(1);
        let row = layers.get(layer % layers.len().max(1));
        let name = row.map(|row| row.name.clone()).unwrap_or_default();
        if frame == 0 { name } else { format!("{name}, frame {}", frame + 1) }
    };
    let layers = outcome.comparison.iter().flat_map(|comparison| &comparison.layers);
    layers
        .map(|check| CheckRow {
            layer: check.layer as usize,
            name: name(&outcome.plan, check.layer as usize),
            elements: check.elements,
            differing: check.differing,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_picture_has_pixels_and_few_channels() {
        let mut plan = fixture::plan();
        assert!(!takes_pictures(&plan), "4 × 4");
        plan.tensors[0].shape = [28, 28, 1];
        assert!(takes_pictures(&plan));
        plan.tensors[0].shape = [49, 10, 8];
        assert!(!takes_pictures(&plan) && !takes_sounds(&plan));
        for shape in [[49, 10, 1], [1, 1, 1_960], [1, 3, 40], [1, 16_000, 1]] {
            plan.tensors[0].shape = shape;
            assert!(!takes_pictures(&plan) && takes_sounds(&plan), "{shape:?}");
        }
    }

    use std::rc::Rc;

    use super::*;
    use crate::message::{Comparison, LayerCheck};
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;
    use tilewright_report::{Difference, StackUse};

    fn reference() -> ReferenceFacts {
        ReferenceFacts { outputs: vec![vec![-128, 100, 27]], ..ReferenceFacts::default() }
    }

    fn outcome(outputs: Vec<Vec<i8>>, comparison: Option<Comparison>) -> Outcome {
        Outcome {
            plan: Rc::new(fixture::plan()),
            reference: Rc::new(reference()),
            result: fixture::result(outputs),
            comparison,
            recording: Rc::default(),
        }
    }

    #[test]
    fn scores_come_best_first_with_the_board_beside() {
        let output = OutputFacts {
            name: "y".to_owned(),
            shape: [1, 1, 3],
            is_scores: true,
            scale: 1.0 / 256.0,
            zero: -128,
            labels: vec!["a".to_owned(), "b".to_owned()],
            labels_of: String::new(),
        };
        let scores = scores(
            &output,
            &reference(),
            Some(&fixture::result(vec![vec![-128, 100, 26]]).outputs),
            2,
        );
        assert_eq!(scores.len(), 2);
        assert_eq!((scores[0].label.as_str(), scores[0].board), ("b", Some(100)));
        assert_eq!((scores[1].label.as_str(), scores[1].board), ("2", Some(26)));
        assert!((scores[0].real - 0.890_625).abs() < 1e-6);
        assert!((scores[0].fill - 0.890_625).abs() < 1e-6);
    }

    #[test]
    fn what_are_no_scores_are_told_as_real_values() {
        let mut plan = fixture::plan();
        assert!(are_scores(&plan.outputs));
        let output = &mut plan.outputs[0];
        (output.shape, output.scale, output.zero) = ([2, 2, 3], 0.5, -2);
        let row = |plan: &PlanFacts, values: Vec<i8>, board: Option<Vec<i8>>| {
            let board = board.map(|values| fixture::result(vec![values]).outputs);
            let reference = ReferenceFacts { outputs: vec![values], ..ReferenceFacts::default() };
            output_rows(&plan.outputs, &reference, board.as_deref().map(Vec::as_slice)).remove(0)
        };
        assert!(!are_scores(&plan.outputs), "a map");
        let values: Vec<i8> = (-2..10).collect();
        let map = row(&plan, values.clone(), Some(values));
        assert_eq!((map.shape.as_str(), map.values.as_str()), ("2×2×3", "0.000 to 5.500"));
        assert_eq!(map.is_equal, Some(true));
        plan.outputs[0].shape = [1, 1, 2];
        let two = row(&plan, vec![-3, 4], Some(vec![-3, 5]));
        assert_eq!((two.values.as_str(), two.is_equal), ("-0.500, 3.000", Some(false)));
        assert_eq!(row(&plan, vec![-3, 4], None).is_equal, None);
        plan.outputs[0].is_scores = false;
        assert!(!are_scores(&plan.outputs), "key points");
        plan.outputs[0].is_scores = true;
        let again = plan.outputs[0].clone();
        plan.outputs.push(again);
        assert!(!are_scores(&plan.outputs), "several outputs, as of detectors");
    }

    #[test]
    fn values_are_shown_and_saved_as_they_are() {
        assert_eq!(shown_values(&[-128, 0, 7]), "-128 0 7");
        assert!(shown_values(&[1; 600]).ends_with("1 … and 88 more"));
        let mut output = fixture::plan().outputs.remove(0);
        output.shape = [1, 2, 2];
        let reference =
            ReferenceFacts { outputs: vec![vec![1, -2, 3, 4]], ..ReferenceFacts::default() };
        let csv = values_as_csv(&[output], &reference);
        assert_eq!(csv, "output,row,column,int8 of each channel\n0,0,0,1,-2\n0,0,1,3,4\n");
    }

    #[test]
    fn agreement_needs_layers_and_outputs() {
        let check = LayerCheck { layer: 0, elements: 32, differing: 0 };
        let all = Comparison { layers: vec![check], difference: None };
        let same = reference().outputs;
        assert_eq!(
            agreement(&outcome(same.clone(), Some(all.clone()))),
            Agreement::Equal { tensors: 1, elements: 32 }
        );
        assert_eq!(agreement(&outcome(same, None)), Agreement::OutputsEqual);
        let other = vec![vec![-128, 99, 27]];
        assert!(matches!(agreement(&outcome(other, Some(all))), Agreement::Differs(_)));
    }

    #[test]
    fn a_run_has_the_energy_of_its_own_timeline() {
        let mut ran = outcome(Vec::new(), None);
        let boards = [fixture::board()];
        assert!(facts(&ran, &boards).iter().any(|fact| fact.id == "energy"));
        assert!(facts(&ran, &boards).iter().all(|fact| fact.id != "stack"));
        let stack = StackUse::new(Bytes(9000), Bytes(1500), Bytes(16_384));
        ran.result.stack = Some(stack.into());
        let facts = facts(&ran, &boards);
        let fact = facts.iter().find(|fact| fact.id == "stack").unwrap();
        let [used, limit] = [10_500, 16_384].map(figures::grouped);
        assert_eq!(fact.value, format!("{used} of {limit} bytes"));
    }

    #[test]
    fn a_sampled_run_is_not_said_to_differ() {
        let mut sampled = outcome(Vec::new(), None);
        (sampled.result.mode, sampled.result.passed_steps) = (Mode::Sampled, 8);
        assert_eq!(agreement(&sampled), Agreement::Sampled(8));
    }

    #[test]
    fn what_emulated_is_named_with_its_time() {
        let mut ran = fixture::result(Vec::new());
        (ran.engine, ran.emulation_wall_ns) = ("own core, page 1".to_owned(), 120_000_000);
        assert_eq!(emulated_by(&ran), "Emulated by own core, page 1 in 120 ms (measured)");
    }

    #[test]
    fn the_first_difference_is_named() {
        let difference = Difference {
            layer: "second".to_owned(),
            tensor: "t2".to_owned(),
            element: 7,
            expected: 3,
            found: -4,
            differing: 12,
        };
        let comparison = Comparison { layers: Vec::new(), difference: Some(difference) };
        let Agreement::Differs(text) = agreement(&outcome(vec![], Some(comparison))) else {
            panic!("a difference was overlooked");
        };
        for part in ["second", "t2", "element 7", "3", "-4", "12"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
