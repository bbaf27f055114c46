//! A talk with the board that holds an image.

use std::num::NonZeroU64;
use std::time::Duration;

use tilewright_board::Board;
use tilewright_desk::{Expected, MeasuredOn, Outcome, PortKind, Session, measured_on};
use tilewright_image::input_frames;
use tilewright_plan::PlanImage;
use tilewright_plan::image::{EntryRecord, FIRMWARE_ABI};
use tilewright_server::{Blame, Cancel, Problem, hexadecimal};

use super::flash::tell;
use crate::args::board::{AtPort, Flashing};
use crate::desk::port::{Port, talk};
use crate::desk::ports::{choose, kind_of};
use crate::desk::writers::{Way, resetter};

/// Layers that a board tells apart (the console of `firmware/runtime`).
pub const LAYERS_TOLD: usize = 256;
/// How long an answer may take if nobody has predicted it.
const UNPREDICTED: Duration = Duration::from_secs(600);

/// What a talk gave, and with whom it was.
pub struct Talked {
    /// What was said.
    pub outcome: Outcome,
    /// What the port is.
    pub port: PortKind,
    /// What may be said of where figures come from.
    pub measured_on: MeasuredOn,
}

/// The program that a board runs.
pub fn program<'i>(image: &PlanImage<'i>) -> Option<&'i EntryRecord> {
    image.entries().iter().find(|entry| entry.kind == 0)
}

/// What resets the board once somebody listens, if something does.
///
/// # Errors
/// If nothing is there that can.
pub fn resetter_of(
    at: &AtPort,
    board: &Board,
    flashing: &Flashing,
) -> Result<Option<Way>, Problem> {
    at.reset.then(|| resetter(board, flashing)).transpose()
}

/// Opens the port and has a talk: reset `by` a tool, if there is one, greeting, input, answer.
///
/// # Errors
/// If the port cannot be had, the board is another or holds another image, or there is no answer.
pub fn with_board(
    at: &AtPort,
    board: &Board,
    image: &PlanImage<'_>,
    payload: &[u8],
    predicted: Option<Duration>,
    by: Option<&Way>,
    cancel: &Cancel,
) -> Result<Talked, Problem> {
    let bad = |what: &str| {
        Problem::new(
            Blame::BadInput,
            what,
            "image",
            "Make the image with this version of Tilewright.",
        )
    };
    let program = program(image).ok_or_else(|| bad("The image has no program."))?;
    let outputs = image.entry_outputs(program).iter();
    let frames = input_frames(image, payload).map_err(|error| {
        Problem::new(Blame::BadInput, error.to_string(), "--input", "Give a smaller input.")
    })?;
    let baud = board.firmware.as_ref().map_or(115_200, |firmware| firmware.console_baud);
    let within = |seconds: NonZeroU64| Duration::from_secs(seconds.get());
    // Predictions may be off, and the answer takes its time on the line.
    let suggested = predicted.map_or(UNPREDICTED, |time| time * 4 + Duration::from_secs(20));
    let mut known_boards: Vec<String> = Vec::new();
    for board in tilewright_board::all() {
        known_boards.extend(board.small().map(|small| small.id));
        known_boards.push(board.id);
    }
    let expected = Expected {
        board: board.id.clone(),
        known_boards,
        abi: FIRMWARE_ABI,
        plan_id: hexadecimal(&image.plan_id()[..8]),
        layers: image.layers().len().min(LAYERS_TOLD) as u32,
        output_bytes: outputs
            .map(|output| image.view(output.view).map_or(0, |view| view.elements()))
            .collect(),
        frames,
        baud,
        greeting_within: within(at.greeting_within),
        answer_within: at.answer_within.map_or(suggested, within),
    };
    let path = choose(at.port.as_deref())?;
    let port = kind_of(&path);
    let mut open = Port::open(&path, baud)?;
    if let Some(way) = by {
        open.forget()?;
        way.reset(&mut tell, cancel)?;
    }
    let outcome = talk(&mut open, Session::new(expected), cancel)?;
    let measured_on = measured_on(&port, outcome.emulated.is_some(), at.emulated);
    Ok(Talked { outcome, port, measured_on })
}

/// What is said of figures that come from there, below a table.
#[must_use]
pub fn origin(talked: &Talked) -> String {
    match (talked.measured_on, &talked.outcome.emulated) {
        (MeasuredOn::PhysicalBoard, _) => {
            format!("Cycles are measured: the board said them ({}).", talked.port)
        }
        (MeasuredOn::EmulatedBoard, Some(by)) => format!(
            "Cycles are modelled, not measured: an emulated board said them ({by})."
        ),
        (MeasuredOn::EmulatedBoard, None) => {
            "Cycles are modelled, not measured: the port leads to an emulated board (--emulated)."
                .to_owned()
        }
        (MeasuredOn::Unknown, _) => {
            "Cycles count as modelled, not measured: a program serves this port (a pseudo-terminal), and nobody \
             can tell what stands behind it."
                .to_owned()
        }
    }
}
