//! A talk with the board that holds an image.

use std::num::NonZeroU64;
use std::time::Duration;

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_board::Board;
use tilewright_desk::{
    Expected, MeasuredOn, Outcome, Patience, PortKind, Session, Unusable, measured_on,
};
use tilewright_plan::PlanImage;
use tilewright_report::sentence;

use super::flash::tell;
use crate::args::board::{AtPort, Flashing};
use crate::desk::port::{Port, talk};
use crate::desk::ports::{choose, kind_of};
use crate::desk::writers::{Way, resetter};

/// What a talk gave, and with whom it was.
pub struct Talked {
    /// What was said.
    pub outcome: Outcome,
    /// What the port is.
    pub port: PortKind,
    /// What may be said of where figures come from.
    pub measured_on: MeasuredOn,
}

/// What resets the board once somebody listens, if something does.
///
/// # Errors
/// If nothing is there that can.
pub fn resetter_of(
    at: &AtPort,
    board: &Board,
    flashing: &Flashing,
) -> Result<Option<Way>, Diagnostic> {
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
    (payload, limit_us): (&[u8], Option<u32>),
    predicted: Option<Duration>,
    by: Option<&Way>,
    cancel: &Cancel,
) -> Result<Talked, Diagnostic> {
    let within = |seconds: NonZeroU64| Duration::from_secs(seconds.get());
    let mut patience = Patience::with_prediction(within(at.greeting_within), predicted);
    patience.answer_within = at.answer_within.map_or(patience.answer_within, within);
    let expected =
        Expected::of(board, &tilewright_board::all(), image, payload, limit_us, patience);
    let expected = expected.map_err(|error| {
        let (place, what_to_do) = match error {
            Unusable::NoProgram if limit_us.is_some() => {
                ("--limit", "Make the image with --exits, of a model with several outputs.")
            }
            Unusable::NoProgram => ("image", "Make the image with this version of Tilewright."),
            Unusable::Input(_) => ("--input", "Give a smaller input."),
        };
        Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), place, what_to_do)
    })?;
    let baud = expected.baud;
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
