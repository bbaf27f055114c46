//! What a talk is about.

use core::fmt;
use core::time::Duration;

use tilewright_board::Board;
use tilewright_plan::PlanImage;
use tilewright_plan::image::{FIRMWARE_ABI, FrameTooLong, input_frames, limit_frame};

/// Layers that a board tells apart (the console of `firmware/runtime`).
pub const LAYERS_TOLD: usize = 256;
/// How long an answer may take if nobody has predicted it.
const UNPREDICTED: Duration = Duration::from_secs(600);
/// Baud rate of a board whose file says nothing of firmware.
const USUAL_BAUD: u32 = 115_200;

/// What the board must be and hold, and what it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Board id, as the image names it.
    pub board: String,
    /// Boards that there are: another name in a greeting has lost bytes.
    pub known_boards: Vec<String>,
    /// Version of what firmware and plan image agree on.
    pub abi: u32,
    /// First 16 digits of the plan id.
    pub plan_id: String,
    /// Layers that the board tells of, one line each.
    pub layers: u32,
    /// Bytes of each output.
    pub output_bytes: Vec<u64>,
    /// Frames in the order in which the board asks for them.
    pub frames: Vec<Vec<u8>>,
    /// Baud rate of the console, for what is said about noise.
    pub baud: u32,
    /// How long the greeting may take.
    pub greeting_within: Duration,
    /// How long an answer may take, from the last byte of a frame on.
    pub answer_within: Duration,
}

/// How long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the greeting.
    pub greeting_within: Duration,
    /// For an answer.
    pub answer_within: Duration,
}

impl Patience {
    /// For an answer that is predicted to take this time. Predictions may be off, and the answer takes its time on the
    /// line.
    #[must_use]
    pub fn with_prediction(greeting_within: Duration, predicted: Option<Duration>) -> Self {
        let answer_within =
            predicted.map_or(UNPREDICTED, |time| time * 4 + Duration::from_secs(20));
        Self { greeting_within, answer_within }
    }
}

/// Why there can be no talk about an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It has no program.
    NoProgram,
    /// Its input is too long.
    Input(FrameTooLong),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram => f.write_str("the image has no such program"),
            Self::Input(error) => error.fmt(f),
        }
    }
}

impl Expected {
    /// That this board, one of `boards`, holds an image and is sent `payload`: all inputs one behind the other, int8,
    /// NHWC; before that a limit of latency in microseconds, if there is one.
    ///
    /// # Errors
    /// If the image or the input cannot be used.
    pub fn of(
        board: &Board,
        boards: &[Board],
        image: &PlanImage<'_>,
        payload: &[u8],
        limit_us: Option<u32>,
        patience: Patience,
    ) -> Result<Self, Unusable> {
        let program = image.select(limit_us.unwrap_or(0));
        let program = program.and_then(|entry| image.entries().get(entry));
        let program = program.ok_or(Unusable::NoProgram)?;
        let mut frames: Vec<_> = limit_us.into_iter().map(limit_frame).collect();
        frames.extend(input_frames(image, payload).map_err(Unusable::Input)?);
        let outputs = image.entry_outputs(program).iter();
        let small = boards.iter().filter_map(|board| board.small().map(|small| small.id));
        let plan_id = image.plan_id()[..8].iter();
        Ok(Self {
            board: board.id.clone(),
            known_boards: boards.iter().map(|board| board.id.clone()).chain(small).collect(),
            abi: FIRMWARE_ABI,
            plan_id: plan_id.map(|byte| format!("{byte:02x}")).collect(),
            layers: image.layers().len().min(LAYERS_TOLD) as u32,
            output_bytes: outputs
                .map(|output| image.view(output.view).map_or(0, |view| view.elements()))
                .collect(),
            frames,
            baud: board.firmware.as_ref().map_or(USUAL_BAUD, |firmware| firmware.console_baud),
            greeting_within: patience.greeting_within,
            answer_within: patience.answer_within,
        })
    }
}
