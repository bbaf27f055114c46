//! What a board says and hears on its serial port: text lines out, one frame at a time in.
//!
//! ```text
//! tilewright <version> abi <abi> board <board id>
//! plan <first 16 digits of the plan id> layers <count> arena <bytes>
//! loaded <cycles>                    what was to be done once, if there was something
//! ready <payload bytes>              now a frame may be sent, see `frame`; of an input that arrives in rows the
//!                                    next of them, in the middle of a run
//! program <entry> <latency us> <name>  a limit was sent: the program that runs from now on; `ready` follows
//! retry: <reason>                    the frame was not usable; `ready` follows
//! again <cycles>: <what, where>      so much was computed for nothing; the frame is begun again
//! layer <index> <cycles> <name>      after the run, one line for each layer
//! exit <index>                       the run ended early, at the exit with this output: no output behind it follows
//! output <index> <hex bytes>         int8, NHWC
//! score <class> <int8 value> <label> at most ten, best first; for outputs with labels
//! invoke <cycles>                    the whole run
//! done                               `ready` follows
//! error: <what, where, what to do>   nothing follows
//! ```
//! Lines end in CR LF.

mod cycles;
mod frame;
mod report;
mod text;

use core::fmt;

use crate::error::{Place, RunError};
use crate::lanes::LaneDriver;
use crate::memory::Memory;
use crate::program::{Awaited, Reached, run_from};
use crate::replay::is_replayable;
use cycles::Recorder;
pub use cycles::{LayerCycles, MarkKind, Marker};
use embedded_io_async::Write;
pub use frame::FramePort;
use frame::{Missed, Payload, Received};
use text::Port;
pub use text::write_truncated;
use tilewright_plan::image::{EntryRecord, FIRMWARE_ABI};
use tilewright_plan::{ImageError, Instruction, PlanImage};

/// Layers whose cycles are told apart; the last slot sums all that follow.
pub const LAYER_SLOTS: usize = 256;

/// Why the console ended.
#[derive(Debug)]
pub enum ConsoleError<E> {
    /// The port failed.
    Port(E),
    /// The port was closed.
    Closed,
    /// A program failed; the port has said so.
    Stopped,
}

impl<E: fmt::Debug> fmt::Display for ConsoleError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(error) => write!(f, "the serial port failed: {error:?}"),
            Self::Closed => f.write_str("the serial port was closed"),
            Self::Stopped => f.write_str("a program failed"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ConsoleError<E> {}

/// Says which firmware this is.
///
/// # Errors
/// [`ConsoleError::Port`].
pub async fn greet<P: Write>(port: &mut P, board: &str) -> Result<(), ConsoleError<P::Error>> {
    let version = env!("CARGO_PKG_VERSION");
    let mut port = Port(port);
    port.line(format_args!("tilewright {version} abi {FIRMWARE_ABI} board {board}")).await
}

/// Says a line of a board's own.
///
/// # Errors
/// [`ConsoleError::Port`].
pub async fn tell<P: Write>(
    port: &mut P,
    line: fmt::Arguments<'_>,
) -> Result<(), ConsoleError<P::Error>> {
    Port(port).line(line).await
}

/// Says that there is no usable plan image.
///
/// # Errors
/// [`ConsoleError::Port`].
pub async fn refuse<P: Write>(
    port: &mut P,
    error: &ImageError,
    plan_address: usize,
) -> Result<(), ConsoleError<P::Error>> {
    let mut port = Port(port);
    port.text(format_args!("error: {error}; at {plan_address:#010x} there must be a plan image "))
        .await?;
    port.line(format_args!("for this board and firmware: flash one")).await
}

/// Runs the boot programs once, then a program for each frame that arrives. Returns only if the
/// port or a program fails. `layers` is where cycles of layers are kept: not on the stack, which kernels need.
///
/// # Errors
/// [`ConsoleError`]; a program's failure was said on the port before.
pub async fn serve<P: FramePort + Write>(
    port: &mut P,
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    engines: &mut impl LaneDriver,
    marker: &mut impl Marker,
    layers: &mut LayerCycles,
) -> Result<core::convert::Infallible, ConsoleError<P::Error>> {
    let mut port = Port(port);
    let mut id = 0u64;
    for byte in image.plan_id().iter().take(8) {
        id = id << 8 | u64::from(*byte);
    }
    let arena = image.space_bytes(tilewright_plan::Space::Arena);
    port.line(format_args!("plan {id:016x} layers {} arena {arena}", image.layers().len())).await?;
    if let Err(error) = memory.check_stores(image) {
        port.line(format_args!("error: {error}; in external flash")).await?;
        return Err(ConsoleError::Stopped);
    }
    if let Err(error) = engines.open(image, memory) {
        marker.mark(MarkKind::FailedCard, 0);
        port.text(format_args!("error: {error}; put a card in that holds the image ")).await?;
        port.line(format_args!("which was made with this plan image")).await?;
        return Err(ConsoleError::Stopped);
    }
    for (entry, record) in image.entries().iter().enumerate() {
        if record.kind != BOOT {
            continue;
        }
        let began = marker.mark(MarkKind::BootBegin, entry as u32);
        // Nothing computes there, so that nobody hears of steps: with this observer there is one walker in the firmware.
        let mut recorder = Recorder::new(marker, layers);
        if let Err(error) = run_from(image, (entry, 0), memory, engines, &mut recorder) {
            return stop(&mut port, image, &error, marker).await;
        }
        let cycles = marker.mark(MarkKind::BootEnd, entry as u32).wrapping_sub(began);
        port.line(format_args!("loaded {cycles}")).await?;
    }
    let Some(mut entry) = image.entries().iter().position(|record| record.kind != BOOT) else {
        port.line(format_args!("error: the plan image has no program to run: flash another"))
            .await?;
        return Err(ConsoleError::Stopped);
    };
    let mut recorder = Recorder::new(marker, layers);
    loop {
        let Some(program) = image.entries().get(entry) else { return Err(ConsoleError::Stopped) };
        let first = arrives_first(image, program);
        let what =
            first.map_or(Payload::Inputs(program), |Awaited { rows, .. }| Payload::Rows(rows));
        if let Received::Limit { us } =
            frame(&mut port, image, what, (memory, engines), &mut recorder).await?
        {
            recorder.marker().mark(MarkKind::Selecting, us);
            let selected = image.select(us).unwrap_or(entry);
            recorder.marker().mark(MarkKind::Selected, selected as u32);
            entry = selected;
            report::program(&mut port, image, entry).await?;
            continue;
        }
        let mut again = 0;
        let exit = loop {
            recorder.begin();
            let mut next = first.map_or(0, |awaited| awaited.next);
            let result = loop {
                match run_from(image, (entry, next), memory, engines, &mut recorder) {
                    Ok(Reached::End) => break Ok(None),
                    Ok(Reached::Exit { output }) => break Ok(Some(output)),
                    Ok(Reached::Arrival(awaited)) => {
                        recorder.pause();
                        let what = Payload::Rows(awaited.rows);
                        // A limit is for the frame behind this one, which nobody may send yet.
                        while frame(&mut port, image, what, (memory, engines), &mut recorder)
                            .await?
                            != Received::Payload
                        {}
                        recorder.go_on();
                        next = awaited.next;
                    }
                    Err(error) => break Err(error),
                }
            };
            recorder.end();
            let error = match result {
                Ok(exit) => break exit,
                Err(error) => error,
            };
            if again == REPEATS || !error.is_loss() || !is_replayable(image, program) {
                return stop(&mut port, image, &error, recorder.marker()).await;
            }
            again += 1;
            engines.give_up();
            port.line(format_args!("again {}: {error}", recorder.total())).await?;
        };
        if let Some(output) = exit {
            recorder.marker().mark(MarkKind::Exit, output.into());
        }
        report::layers(&mut port, image, &recorder).await?;
        report::outputs(&mut port, image, program, exit, memory).await?;
        port.line(format_args!("invoke {}", recorder.total())).await?;
        port.line(format_args!("done")).await?;
    }
}

/// How often a frame is computed again after something that it wrote to a card was lost.
const REPEATS: u8 = 2;

/// An entry's kind: run once at start.
const BOOT: u16 = 1;

/// The rows that arrive before a program runs, if its input arrives in rows.
fn arrives_first(image: &PlanImage<'_>, program: &EntryRecord) -> Option<Awaited> {
    let lane = image.entry_lanes(program).first()?;
    let first = Instruction::from_record(&image.lane_step(lane, 0)?)?;
    let Instruction::Arrive { view } = first else { return None };
    Some(Awaited { rows: image.view(view)?, next: 1 })
}

/// Asks for a frame until one has come, or a limit.
async fn frame<P: FramePort + Write>(
    port: &mut Port<'_, P>,
    image: &PlanImage<'_>,
    payload: Payload<'_>,
    (memory, engines): (&mut Memory<'_>, &mut impl LaneDriver),
    recorder: &mut Recorder<'_, impl Marker>,
) -> Result<Received, ConsoleError<P::Error>> {
    let bytes = payload.bytes(image);
    port.line(format_args!("ready {bytes}")).await?;
    let mut silent = false;
    loop {
        match frame::receive(port.0, image, payload, (memory, engines), silent).await {
            Ok(received) => return Ok(received),
            Err(Missed::Closed) => return Err(ConsoleError::Closed),
            Err(Missed::Failed(cause)) => {
                return stop(port, image, &RunError::Frame { cause }, recorder.marker()).await;
            }
            Err(Missed::Retry(retry)) => {
                silent = retry.is_noise();
                port.line(format_args!("retry: {retry}")).await?;
                port.line(format_args!("ready {bytes}")).await?;
            }
        }
    }
}

async fn stop<P: Write, T>(
    port: &mut Port<'_, P>,
    image: &PlanImage<'_>,
    error: &RunError,
    marker: &mut impl Marker,
) -> Result<T, ConsoleError<P::Error>> {
    let Place { card, step, layer, copy } = error.place();
    let (copy, sector) = copy.unzip();
    let marks = [
        (MarkKind::FailedCard, card.then_some(0)),
        (MarkKind::FailedStep, step),
        (MarkKind::FailedLayer, layer.map(u32::from)),
        (MarkKind::FailedCopy, copy),
        (MarkKind::FailedSector, sector),
    ];
    for (kind, value) in marks {
        if let Some(value) = value {
            marker.mark(kind, value);
        }
    }
    port.text(format_args!("error: {error}")).await?;
    let layer = error.layer_name(image);
    if !layer.is_empty() {
        port.text(format_args!(" (")).await?;
        port.name(layer).await?;
        port.text(format_args!(")")).await?;
    }
    port.line(format_args!("; {}", error.advice())).await?;
    Err(ConsoleError::Stopped)
}
