//! Frames: "TWIN", payload length, payload, CRC-32 (ISO-HDLC) of the payload; numbers are 32 bits,
//! little-endian. The payload is all inputs of the program one behind the other, int8, NHWC; or the next rows of
//! one that arrives while it is used. Inputs that lie on a card go there in parts while the rest arrives.
//!
//! In place of a frame may come a limit for the latency of those that follow: "TWLM", microseconds, their CRC-32.

use core::fmt;

use crate::lanes::{LaneDriver, LaneError};
use crate::memory::{AccessError, Memory};
use embedded_io_async::{Error as _, ErrorKind, Read, ReadExactError};
use tilewright_plan::image::{CRC, EntryRecord, FRAME_MAGIC, LIMIT_MAGIC};
use tilewright_plan::{Arrival, Arrivals, PlanImage, View};

/// Bytes that are summed at once, while the next arrive: a port need not hold more of them meanwhile.
const PIECE: usize = 128;

/// Bytes with which both magics begin.
const SHARED: usize = 2;

/// A port that notices a host that stops in the middle of a frame. Within a frame a read may wait until
/// all bytes that it asks for have come, up to 128.
pub trait FramePort: Read {
    /// Whether a frame has begun and is not complete. While one is, a read fails with
    /// [`ErrorKind::TimedOut`] once the line has been silent for a time that no working host
    /// needs (a second); between frames a read waits for ever.
    fn in_frame(&mut self, yes: bool);
}

/// Why a frame is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry<E> {
    /// The port failed while the frame came in.
    Port(E),
    /// Nothing more came.
    Stopped,
    /// Bytes that start no frame.
    Noise,
    /// Another length than the program's inputs have.
    Length {
        /// Bytes of the frame's payload.
        frame: u32,
        /// Bytes of the inputs.
        inputs: u64,
    },
    /// The payload's checksum differs.
    Checksum {
        /// That of the frame.
        frame: u32,
        /// That of the bytes received.
        received: u32,
    },
    /// An input has no place; the image was not validated.
    Input(AccessError),
}

impl<E> Retry<E> {
    /// Whether what follows may be noise as well, which need not be said again.
    pub const fn is_noise(&self) -> bool {
        matches!(self, Self::Port(_) | Self::Noise | Self::Length { .. })
    }
}

impl<E: fmt::Debug> fmt::Display for Retry<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(error) => write!(f, "the serial port failed: {error:?}"),
            Self::Stopped => f.write_str("the frame stopped before its end; send it whole"),
            Self::Noise => f.write_str("a frame starts with TWIN; waiting for that"),
            Self::Length { frame, inputs } => {
                write!(f, "the frame's payload has {frame} bytes, the inputs have {inputs}")
            }
            Self::Checksum { frame, received } => {
                write!(f, "the frame says checksum {frame:08x}, its bytes have {received:08x}")
            }
            Self::Input(error) => error.fmt(f),
        }
    }
}

/// What a frame brings.
#[derive(Clone, Copy)]
pub enum Payload<'p> {
    /// All inputs of a program.
    Inputs(&'p EntryRecord),
    /// Rows of an input that arrives while it is used.
    Rows(View),
}

impl Payload<'_> {
    /// Its bytes.
    pub fn bytes(self, image: &PlanImage<'_>) -> u64 {
        match self {
            Self::Inputs(program) => {
                let inputs = image.entry_inputs(program).iter();
                let views = inputs.filter_map(|input| image.view(input.view));
                views.map(|view| view.elements()).sum()
            }
            Self::Rows(rows) => rows.elements(),
        }
    }
}

/// Why no frame came: to be said and tried again, or for good.
pub enum Missed<E> {
    Retry(Retry<E>),
    /// The port was closed.
    Closed,
    /// It could not be stored.
    Failed(LaneError),
}

impl<E> From<LaneError> for Missed<E> {
    fn from(error: LaneError) -> Self {
        Self::Failed(error)
    }
}

impl<E> From<Retry<E>> for Missed<E> {
    fn from(retry: Retry<E>) -> Self {
        Self::Retry(retry)
    }
}

/// What has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A frame, which lies in its places.
    Payload,
    /// A limit for the latency of the frames that follow, in microseconds; 0: none.
    Limit { us: u32 },
}

/// Receives a frame right into its places. Bytes before the frame are skipped: silently,
/// or with [`Retry::Noise`] at the first.
pub async fn receive<P: FramePort>(
    port: &mut P,
    image: &PlanImage<'_>,
    payload: Payload<'_>,
    (memory, engines): (&mut Memory<'_>, &mut impl LaneDriver),
    silent: bool,
) -> Result<Received, Missed<P::Error>> {
    engines.begin_frame(memory)?;
    let result = receive_from(port, image, payload, (memory, engines), silent).await;
    port.in_frame(false);
    result
}

async fn receive_from<P: FramePort>(
    port: &mut P,
    image: &PlanImage<'_>,
    payload: Payload<'_>,
    (memory, engines): (&mut Memory<'_>, &mut impl LaneDriver),
    silent: bool,
) -> Result<Received, Missed<P::Error>> {
    let (mut magic, mut matched) = (&FRAME_MAGIC, 0);
    while let Some(expected) = magic.get(matched) {
        let mut byte = [0];
        port.in_frame(matched > 0);
        exactly(port, &mut byte).await?;
        if byte == [*expected] {
            matched += 1;
        } else if LIMIT_MAGIC.get(matched) == byte.first() && matched == SHARED {
            (magic, matched) = (&LIMIT_MAGIC, matched + 1);
        } else if silent {
            // No proper prefix of a magic is repeated in it, but its first byte may come again.
            (magic, matched) = (&FRAME_MAGIC, usize::from(byte == [FRAME_MAGIC[0]]));
        } else {
            return Err(Retry::Noise.into());
        }
    }
    let length = word(port).await?;
    if *magic == LIMIT_MAGIC {
        let (frame, received) = (word(port).await?, CRC.checksum(&length.to_le_bytes()));
        if frame != received {
            return Err(Retry::Checksum { frame, received }.into());
        }
        return Ok(Received::Limit { us: length });
    }
    let inputs = payload.bytes(image);
    if u64::from(length) != inputs {
        return Err(Retry::Length { frame: length, inputs }.into());
    }
    let mut digest = CRC.digest();
    let (inputs, rows) = match payload {
        Payload::Inputs(program) => (image.entry_inputs(program), None),
        Payload::Rows(rows) => (&[][..], Some(rows)),
    };
    let inputs = inputs.iter().map(|input| image.view(input.view));
    for view in inputs.chain(rows.map(Some)) {
        let view = view.ok_or(Retry::Input(AccessError::NotWritable))?;
        for arrival in Arrivals::of(view, image.window()) {
            // Of a validated image what arrives at once is contiguous: a view's bytes are its elements.
            let part = match arrival {
                Arrival::Bytes(part) => part,
                Arrival::Store { from, to } => {
                    engines.store(&from, &to, memory)?;
                    continue;
                }
            };
            for piece in memory.bytes_mut(&part).map_err(Retry::Input)?.chunks_mut(PIECE) {
                exactly(port, piece).await?;
                digest.update(piece);
            }
        }
    }
    engines.stored(memory)?;
    let (frame, received) = (word(port).await?, digest.finalize());
    if frame == received {
        Ok(Received::Payload)
    } else {
        Err(Retry::Checksum { frame, received }.into())
    }
}

async fn word<P: Read>(port: &mut P) -> Result<u32, Missed<P::Error>> {
    let mut bytes = [0; 4];
    exactly(port, &mut bytes).await?;
    Ok(u32::from_le_bytes(bytes))
}

async fn exactly<P: Read>(port: &mut P, bytes: &mut [u8]) -> Result<(), Missed<P::Error>> {
    port.read_exact(bytes).await.map_err(|error| match error {
        ReadExactError::UnexpectedEof => Missed::Closed,
        ReadExactError::Other(error) if error.kind() == ErrorKind::TimedOut => {
            Retry::Stopped.into()
        }
        ReadExactError::Other(error) => Retry::Port(error).into(),
    })
}
