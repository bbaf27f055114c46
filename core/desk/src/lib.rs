//! Talks with a board on a desk, without the desk: bytes and times come in, what is to be done comes out.
//!
//! * [`Lines`] makes [`Line`]s of what a board writes to its console. The emulator's worker hears its board with it too.
//! * [`Session`] is one talk: it waits for the greeting, compares it with the image, sends frames and collects the
//!   [`Answer`]. Who has the port does what its [`Action`]s say.
//! * [`Record`] is what is kept of a measurement, and who may call it one.
//!
//! Nothing here opens a port or asks for the time, so that the page can use the same code for its serial ports.

mod answer;
mod expected;
mod lines;
mod measured;
mod record;
mod session;
mod trouble;

pub use answer::{Answer, LayerTime, Outcome, Score};
pub use expected::{Expected, Patience, Unusable};
pub use lines::{Greeting, Line, Lines, PlanLine};
pub use measured::{Circumstances, Emulated, Measured};
pub use record::{
    LayerRecord, MeasuredOn, OutputRecord, PortKind, Record, RecordKinds, SCHEMA, measured_on,
};
pub use session::{Action, Note, Session};
pub use trouble::Trouble;
