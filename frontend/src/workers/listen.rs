//! A sound longer than a model's input: the reference's answer at each step of it.

use tilewright_formats::input::sound::Listening;
use tilewright_model::{Data, Model, int8::Interpreter};
use tilewright_report::{Blame, Diagnostic, sentence};

use super::Outcome;
use crate::message::{ImportReply, ReferenceFacts, TraceFacts, trouble};

/// Multiply-accumulates that all steps may take together, and most steps.
const MOST_WORK: u64 = 1_500_000_000;
const MOST_STEPS: u64 = 1_000;
/// Steps over a sound for a model without states, if there is time for them.
const STEPS_OF_INPUT: usize = 10;
/// Most classes of a trace.
const MOST_CLASSES: usize = 64;

/// Runs the reference over a sound. The input is that of the loudest part; with states, which each step hands on to the next,
/// it is that of the last step.
///
/// # Errors
/// If the file is no sound for this model.
pub fn listen(
    model: &Model,
    name: String,
    bytes: &[u8],
    say: &dyn Fn(&str),
) -> Outcome<ImportReply> {
    let refused = |text: &str| {
        let how = "Give a WAV file with a second of speech, or a .npy array of the input's shape.";
        Diagnostic::new(Blame::BadInput, sentence(text), name.clone(), how)
    };
    let states: Vec<Option<Data>> =
        (0..model.inputs.len()).map(|position| model.first_state(position)).collect();
    let mut given = (0..states.len()).filter(|position| states[*position].is_none());
    let (Some(position), None) = (given.next(), given.next()) else {
        return Err(refused("a sound is for models with one input besides their states"));
    };
    let tensor = model.tensor(model.inputs[position]);
    let listening = Listening::new(tensor, bytes).map_err(|error| refused(&error.to_string()))?;

    let is_stream = states.len() > 1;
    let window = listening.frames_of_input();
    let beyond = listening.frames() - window;
    let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
    let most = (MOST_WORK / macs.max(1)).clamp(1, MOST_STEPS) as usize;
    // A stream takes each frame once; what has no states may skip some.
    let hop = match is_stream {
        true => window,
        false => (window / STEPS_OF_INPUT).max(beyond.div_ceil(most)).max(1),
    };
    let steps = (beyond / hop + 1).min(most);
    let loudest = listening.loudest();

    let interpreter = Interpreter::new(model).map_err(|error| refused(&error.to_string()))?;
    let run = |inputs: &[Data]| {
        interpreter.run(inputs, &mut |_, _| {}).map_err(|error| {
            let what = format!("The reference does not take {name}");
            trouble(what, sentence(&error.to_string()), "Choose another input.")
        })
    };
    let mut inputs: Vec<Data> =
        states.into_iter().map(|state| state.unwrap_or(Data::I8(Vec::new()))).collect();
    let is_state = |at: usize| model.states.iter().any(|state| state.output == Some(at));
    let traced = (0..model.outputs.len()).find(|at| {
        let elements = model.tensor(model.outputs[*at]).shape.elements();
        !is_state(*at) && elements.is_some_and(|count| count <= MOST_CLASSES)
    });
    let mut rows = Vec::new();
    let mut last = None;
    if is_stream || (traced.is_some() && beyond > 0) {
        for step in 0..steps {
            if step % 16 == 0 {
                say(&format!("Listening: step {} of {steps}", step + 1));
            }
            inputs[position] = listening.input(tensor, step * hop);
            let outputs = run(&inputs)?;
            rows.extend(traced.map(|at| int8(&outputs[at])));
            let payload = is_stream.then(|| payload(&inputs));
            for state in &model.states {
                if let Some(value) = state.output.and_then(|at| outputs.get(at)) {
                    inputs[state.input] = value.clone();
                }
            }
            last = payload.map(|payload| (payload, outputs));
        }
    }
    let step_us = listening.step_us();
    let at = match is_stream {
        true => (steps - 1) * hop,
        false => loudest,
    };
    let (payload, outputs) = match last {
        Some(last) => last,
        None => {
            inputs[position] = listening.input(tensor, loudest);
            (payload(&inputs), run(&inputs)?)
        }
    };
    let seconds = |frames: usize| frames as f64 * step_us / 1e6;
    let part = match (is_stream, beyond) {
        (_, 0) => String::new(),
        (false, _) => format!(
            " The input is the loudest part, from {:.2} s to {:.2} s.",
            seconds(at),
            seconds(at + window)
        ),
        (true, _) => format!(
            " {steps} steps handed their states on, up to {:.2} s; the input is that of the last one.",
            seconds(at + window)
        ),
    };
    let trace = traced.filter(|_| rows.len() > 1).map(|output| TraceFacts {
        output: output as u32,
        hop_us: hop as f64 * step_us,
        window_us: window as f64 * step_us,
        rows,
    });
    let facts = ReferenceFacts {
        name: name.clone(),
        outputs: outputs.iter().map(int8).collect(),
        note: Some(format!("{}{part}", listening.words())),
        trace,
    };
    Ok((ImportReply::Input(facts), vec![payload]))
}

fn int8(data: &Data) -> Vec<i8> {
    data.as_i8().unwrap_or_default().to_vec()
}

/// Inputs as bytes, one behind the other.
fn payload(inputs: &[Data]) -> Vec<u8> {
    let values = inputs.iter().flat_map(|data| data.as_i8().unwrap_or_default());
    values.map(|value| value.cast_unsigned()).collect()
}
