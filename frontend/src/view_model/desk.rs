//! What a board on the desk said, beside prediction and emulation.

use tilewright_desk::{Emulated, LayerRecord, Measured, MeasuredOn};
use tilewright_plan::{CyclePoint, Cycles, LaneKind};
use tilewright_report::{Kind, Slice, SliceKind, Timeline};

use super::figures;
use super::overview::Fact;
use super::run::deviation;
use crate::state::{Measurement, Outcome};

/// How the outputs compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All values are the reference's.
    Equal {
        /// How many were compared.
        values: u64,
    },
    /// Some are not.
    Differs {
        /// Position of the first output with a difference, and of the value in it.
        first: [u64; 2],
        /// How many differ.
        values: u64,
    },
}

/// What a board said beside what was expected of it; `emulated`: a run of the same plan on the emulated board.
#[must_use]
pub fn measured<'m>(measurement: &'m Measurement, emulated: Option<&'m Outcome>) -> Measured<'m> {
    Measured {
        outcome: &measurement.heard.talked,
        measured_on: measurement.heard.measured_on,
        report: &measurement.plan.report,
        clock: measurement.plan.timeline.clock_hz,
        frames: 1,
        reference: &measurement.reference.outputs,
        emulated: emulated.map(|run| Emulated {
            cycles: *run.result.cycles,
            instructions: *run.result.instructions,
            layers: &run.result.layers,
        }),
    }
}

/// How a board's outputs compare with the reference's.
#[must_use]
pub fn verdict(measurement: &Measurement) -> Verdict {
    let outputs = measured(measurement, None).outputs();
    let first = outputs
        .iter()
        .find_map(|output| output.first_difference.map(|value| [output.index.into(), value]));
    match first {
        None => Verdict::Equal { values: outputs.iter().map(|output| output.bytes).sum() },
        Some(first) => {
            let values = outputs.iter().map(|output| output.differing_values).sum();
            Verdict::Differs { first, values }
        }
    }
}

/// Of which kind the board's cycles are.
#[must_use]
pub const fn kind(measurement: &Measurement) -> Kind {
    measurement.heard.measured_on.kind()
}

/// Where the figures come from, in a sentence.
#[must_use]
pub fn origin(measurement: &Measurement) -> String {
    let heard = &measurement.heard;
    match (heard.measured_on, &heard.talked.emulated) {
        (MeasuredOn::PhysicalBoard, _) => format!(
            "Measured: a {} at {} counted its own cycles.",
            heard.talked.greeting.board, heard.port
        ),
        (_, Some(by)) => {
            format!("Modelled, not measured: what answered says that it is emulated ({by}).")
        }
        _ => "Modelled, not measured: nobody can tell what stands behind the port.".to_owned(),
    }
}

/// The figures of an answer; `emulated`: a run of the same plan on the emulated board.
#[must_use]
pub fn facts(measurement: &Measurement, emulated: Option<&Outcome>) -> Vec<Fact> {
    let measured = measured(measurement, emulated);
    let (cycles, took) = (measured.cycles(), |cycles: Cycles| cycles.at(measured.clock).0);
    let in_cycles = |cycles: Cycles| format!("{} cycles", figures::grouped(cycles.0));
    let off = deviation(took(cycles), took(measured.predicted()));
    let mut facts = vec![Fact {
        title: "Latency on the board",
        id: "latency",
        value: figures::duration(took(cycles)),
        detail: format!("{}; {off}", in_cycles(cycles)),
        kind: kind(measurement),
    }];
    if let Some(emulated) = measured.emulated {
        let share =
            figures::percent(cycles.0.abs_diff(emulated.cycles.0) as f64, emulated.cycles.0 as f64);
        let word = if cycles < emulated.cycles { "below" } else { "over" };
        facts.push(Fact {
            title: "On the emulated board",
            id: "emulated",
            value: figures::duration(took(emulated.cycles)),
            detail: format!("{}; the board is {share} {word} it", in_cycles(emulated.cycles)),
            kind: Kind::Modelled,
        });
    }
    if let Some(loaded) = measurement.heard.talked.loaded_cycles.map(Cycles) {
        facts.push(Fact {
            title: "Once, at the start",
            id: "loaded",
            value: figures::duration(took(loaded)),
            detail: in_cycles(loaded),
            kind: kind(measurement),
        });
    }
    facts
}

/// How far a layer's cycles are from the prediction; nothing behind the layers that the board tells apart.
#[must_use]
pub fn off(layer: &LayerRecord) -> Option<String> {
    let (found, predicted) = (layer.cycles.0, layer.predicted_cycles?.0);
    let sign = if found < predicted { "−" } else { "+" };
    let share = figures::percent(found.abs_diff(predicted) as f64, predicted as f64);
    Some(format!("{sign}{share}"))
}

/// The layers of an answer, one behind the other: a board tells what each took in all, not when.
#[must_use]
pub fn timeline(measurement: &Measurement) -> Timeline {
    let mut start = CyclePoint(0);
    let slice = |time: &tilewright_desk::LayerTime| {
        let from = start;
        start = CyclePoint(from.0 + time.cycles);
        Slice {
            lane: 0,
            kind: SliceKind::Compute,
            waits_for: None,
            layer: time.index as u16,
            step: time.index,
            frame: 0,
            start: from,
            end: start,
            instructions: 0,
            bytes: 0,
        }
    };
    let slices = measurement.heard.talked.answer.layers.iter().map(slice).collect();
    Timeline {
        clock_hz: measurement.plan.timeline.clock_hz,
        instructions_kind: Kind::Counted,
        cycles_kind: kind(measurement),
        lanes: vec![LaneKind::Core],
        slices,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::message::{ReferenceFacts, RunResult};
    use crate::view_model::fixture;

    fn measurement(cycles: &[u64]) -> Measurement {
        let heard = fixture::heard(cycles);
        let reference = ReferenceFacts {
            name: "x.png".to_owned(),
            outputs: heard.talked.answer.outputs.clone(),
            ..ReferenceFacts::default()
        };
        Measurement { plan: Rc::new(fixture::plan()), reference: Rc::new(reference), heard }
    }

    #[test]
    fn only_what_a_board_said_is_called_measured() {
        let mut measurement = measurement(&[100, 200, 300]);
        assert_eq!(kind(&measurement), Kind::Measured);
        assert_eq!(timeline(&measurement).cycles_kind, Kind::Measured);
        assert!(origin(&measurement).starts_with("Measured"));
        measurement.heard.measured_on = MeasuredOn::EmulatedBoard;
        measurement.heard.talked.emulated = Some("by a test".to_owned());
        assert!(facts(&measurement, None).iter().all(|fact| fact.kind == Kind::Modelled));
        assert!(origin(&measurement).contains("by a test"));
    }

    #[test]
    fn outputs_are_compared_value_by_value() {
        let mut measurement = measurement(&[1, 2, 3]);
        assert_eq!(verdict(&measurement), Verdict::Equal { values: 3 });
        measurement.heard.talked.answer.outputs[0][1] ^= 1;
        assert_eq!(verdict(&measurement), Verdict::Differs { first: [0, 1], values: 1 });
        measurement.heard.talked.answer.outputs.clear();
        assert_eq!(verdict(&measurement), Verdict::Differs { first: [0, 0], values: 3 });
    }

    #[test]
    fn layers_stand_beside_prediction_and_emulation() {
        let mut measurement = measurement(&[0, 0, 0]);
        let predicted = measurement.plan.report.layers.clone();
        let layers = &mut measurement.heard.talked.answer.layers;
        for (time, row) in layers.iter_mut().zip(&predicted) {
            time.cycles = *row.cycles + *row.cycles / 2;
        }
        let layers = measured(&measurement, None).layers();
        assert_eq!(layers.len(), predicted.len());
        assert_eq!(layers[0].predicted_cycles, Some(Cycles(*predicted[0].cycles)));
        assert_eq!(layers[0].emulated_cycles, None);
        assert_eq!(off(&layers[0]).as_deref(), Some("+50 %"));
        let slices = timeline(&measurement).slices;
        assert_eq!(slices[1].start, slices[0].end);
    }

    #[test]
    fn a_run_of_the_emulated_board_stands_beside() {
        let measurement = measurement(&[100, 200, 300]);
        let (plan, reference) = (Rc::clone(&measurement.plan), Rc::clone(&measurement.reference));
        let result = RunResult { cycles: Cycles(500).into(), ..fixture::result(Vec::new()) };
        let recording = Rc::default();
        let run = Outcome { plan, reference, result, comparison: None, recording };
        let facts = facts(&measurement, Some(&run));
        let fact = facts.iter().find(|fact| fact.id == "emulated").unwrap();
        assert!(fact.detail.contains("the board is 20 % over it"), "{}", fact.detail);
    }
}
