//! Plan image → packaged firmware → emulated run → result.

use std::time::Duration;

use tilewright_board::{Board, Card};
use tilewright_model::Data;
use tilewright_plan::image::{input_frame, input_frames, input_views, limit_frame};
use tilewright_plan::{PlanImage, Space, View};
use tilewright_planner::Integrity;
use tilewright_protocol::{Job, Limits, Mode, Recorded, Response, RunOutcome};

use crate::card_faults::{CardWish, card};
use crate::host::Host;
use crate::news::News;
use crate::package::Package;
use crate::plan_file::PlanFile;
use crate::progress::Stage;
use crate::result::{Done, layer_bytes, result_of};
use crate::watch::Watches;
use tilewright_report::{Blame, Diagnostic};

/// How an image is run, and within what bounds.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'m> {
    /// Longest time that comparing with the reference may take; nothing: no limit.
    pub comparing: Option<Duration>,

    /// Executed instructions, boot included.
    pub instructions: u64,
    /// Bytes of console output.
    pub console_bytes: u64,
    /// Whether each step is executed, or of those that run alike the first. Then nothing is computed
    /// whole: there are counts and a timeline, but no outputs.
    pub mode: Mode,
    /// Whether what SRAM holds is recorded where steps end, of full runs.
    pub records: bool,
    /// The class of the card in the board's slot; nothing: the one that goes with the board.
    pub card: Option<&'m Card>,
    /// What is done about wrong bytes from it.
    pub integrity: Integrity,
    /// What goes wrong with it.
    pub card_faults: &'m [CardWish],
    /// Limits of latency in microseconds, each with a run of the program that meets it, in one go: the result is that
    /// of the last. One from [`ENTRY`](tilewright_plan::image::ENTRY) on names a program. Empty: one run of the main one.
    pub limits: &'m [u32],
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            comparing: None,
            instructions: 50_000_000_000,
            console_bytes: 1 << 20,
            mode: Mode::Full,
            records: false,
            card: None,
            integrity: Integrity::Trusted,
            card_faults: &[],
            limits: &[],
        }
    }
}

impl RunOptions<'_> {
    /// The usual, for a program of so many frames.
    #[must_use]
    pub fn of_frames(frames: u16) -> Self {
        let usual = Self::default();
        let instructions = usual.instructions.saturating_mul(frames.into());
        Self { instructions, ..usual }
    }
}

/// Bytes of int8 inputs, one behind the other: the payload of a frame.
#[must_use]
pub fn bytes_of(inputs: &[Data]) -> Vec<u8> {
    let values = inputs.iter().filter_map(Data::as_i8).flatten();
    values.map(|value| value.cast_unsigned()).collect()
}

/// The program of an image that meets the last of these limits in microseconds, by its entry: without limits the main
/// one.
///
/// # Errors
/// [`Blame::BadInput`] if the image has no such program, [`Blame::DoesNotFit`] if none meets a limit.
fn chosen(image: &PlanImage<'_>, limits: &[u32]) -> Result<usize, Diagnostic> {
    let none = || {
        Diagnostic::new(
            Blame::BadInput,
            "The plan image has no program to choose by latency.",
            "limits",
            "Plan a model that has several outputs with exits.",
        )
    };
    let fastest = image.entries().iter().map(|entry| entry.latency_us).filter(|us| *us > 0).min();
    let missed = limits.iter().find_map(|limit| Some((limit, fastest.filter(|us| us > limit)?)));
    if let Some((limit, fastest)) = missed.filter(|(limit, _)| **limit > 0) {
        return Err(Diagnostic::new(
            Blame::DoesNotFit,
            format!("No program meets {limit} us: the fastest takes {fastest} us (modelled)."),
            "limits",
            "Give a larger limit, choose a faster board, or put an exit further ahead.",
        ));
    }
    image.select(limits.last().copied().unwrap_or(0)).ok_or_else(none)
}

/// Where the inputs of programs lie among those of all: sub-networks take the first program's.
struct Inputs {
    /// Of each entry the first byte, and how many there are.
    of_entries: Vec<(u64, u64)>,
    end: u64,
}

impl Inputs {
    fn of(image: &PlanImage<'_>) -> Self {
        let whole: u64 = input_views(image).iter().map(View::elements).sum();
        let (mut of_entries, mut end) = (Vec::new(), 0);
        for entry in image.entries() {
            let own = image.entry_inputs(entry).iter().filter_map(|input| image.view(input.view));
            // Of an input that arrives in rows a view holds some.
            let bytes = if end == 0 { whole } else { own.map(|view| view.elements()).sum() };
            of_entries.push(match (entry.kind, entry.latency_us) {
                (0, 0) => (end, bytes),
                _ => (0, whole),
            });
            if (entry.kind, entry.latency_us) == (0, 0) {
                end += bytes;
            }
        }
        Self { of_entries, end }
    }

    /// The frames that bring an entry's inputs out of those of all.
    fn frames(
        &self,
        image: &PlanImage<'_>,
        entry: usize,
        payload: &[u8],
    ) -> Result<Vec<Vec<u8>>, Diagnostic> {
        let (start, bytes) = self.of_entries.get(entry).copied().unwrap_or_default();
        let own = usize::try_from(start).ok().zip(usize::try_from(start + bytes).ok());
        let own = own.and_then(|(start, end)| payload.get(start..end)).unwrap_or_default();
        let frames =
            if start == 0 { input_frames(image, own) } else { input_frame(own).map(|f| vec![f]) };
        frames
            .map_err(|error| Diagnostic::new(Blame::TooLarge, error.to_string(), "input", SMALLER))
    }
}

/// Packages `file` with the board's firmware and runs it once on `payload`, or once for each limit: the int8 bytes of
/// all inputs, one behind the other. The result is not compared with anything.
///
/// # Errors
/// If the image has no program, the payload has another length, firmware or worker are missing,
/// the worker fails, or somebody wants an end. A fault of the emulated board is a result.
pub fn run_image(
    options: &RunOptions<'_>,
    board: &Board,
    file: &PlanFile,
    payload: &[u8],
    with_layers: bool,
    host: &dyn Host,
) -> Result<Done, Diagnostic> {
    host.begin(Stage::Packaging)?;
    let image = file.image();
    let lacks = |space, store: &[u8]| image.space_bytes(space) > 0 && store.is_empty();
    if lacks(Space::ExternalFlash, file.external_flash()) || lacks(Space::Card, file.card()) {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "The plan image's weights lie in external flash or on a card, and its store image is not \
             there.",
            "plan image",
            "Bring it along, or run the model itself (`tilewright run`), which makes both.",
        ));
    }
    let needed = Inputs::of(image).end;
    if payload.len() as u64 != needed {
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("The input has {} bytes, the program reads {needed}.", payload.len()),
            "input",
            "Give the int8 bytes of all inputs, one behind the other, or a picture of the \
             input's size.",
        ));
    }
    let entry = chosen(image, options.limits)?;
    let with_layers = with_layers && options.mode == Mode::Full;
    let watches = match options.mode {
        Mode::Full => Watches::of(image, entry, board, with_layers)?,
        Mode::Sampled => Watches::default(),
    };
    let package = Package::new(host.firmware(&board.id)?, board, file.bytes().to_vec());
    let elf = package.image()?.elf;
    host.begin(Stage::Running)?;
    let inputs = Inputs::of(image);
    let behind = |limit: &u32| -> Result<Vec<Vec<u8>>, Diagnostic> {
        let entry = chosen(image, &[*limit])?;
        Ok([vec![limit_frame(*limit)], inputs.frames(image, entry, payload)?].concat())
    };
    let frames = match options.limits {
        [] => vec![inputs.frames(image, entry, payload)?],
        limits => limits.iter().map(behind).collect::<Result<_, _>>()?,
    };
    let arena = board.firmware.as_ref().map(|place| Recorded {
        address: place.arena_address,
        bytes: u32::try_from(image.space_bytes(Space::Arena)).unwrap_or(0),
    });
    let job = Job {
        recorded: arena.filter(|_| options.records && options.mode == Mode::Full),
        external_flash: file.external_flash().to_vec(),
        card: card(options, board, file, image.space_bytes(Space::Card))?,
        frames,
        strict: false,
        mode: options.mode,
        watches: watches.watches.clone(),
        ..Job::new(
            board.id.clone(),
            elf,
            Limits { instructions: options.instructions, console_bytes: options.console_bytes },
        )
    };
    let mut news = News::default();
    let mut on_event = |response: &Response| {
        if let Some(progress) = news.of(response) {
            host.tell(progress);
        }
    };
    let outcome = host.execute(job, &mut on_event)?;
    let result = result_of(image, entry, board, options, &watches, &outcome);
    let layers = with_layers.then(|| layer_bytes(&watches, &outcome));
    let RunOutcome { borders, finish, .. } = outcome;
    Ok(Done { result, layers, borders, invokes: finish.invokes, package })
}

const SMALLER: &str = "Give a smaller input.";
