//! What is kept of a measurement. `docs/measured/README.md` describes it for people.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Cycles, Micros};
use tilewright_report::Kind;

/// Name and version of the record's form.
pub const SCHEMA: &str = "tilewright-measured-1";

/// What answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeasuredOn {
    /// A board on a desk.
    #[serde(rename = "physical board")]
    PhysicalBoard,
    /// The emulated one.
    #[serde(rename = "emulated board")]
    EmulatedBoard,
    /// Who can tell: a program stands between.
    #[serde(rename = "unknown")]
    Unknown,
}

impl MeasuredOn {
    /// Of which kind cycles are that came from there.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::PhysicalBoard => Kind::Measured,
            Self::EmulatedBoard | Self::Unknown => Kind::Modelled,
        }
    }

    /// The word that is shown.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::PhysicalBoard => "physical board",
            Self::EmulatedBoard => "emulated board",
            Self::Unknown => "unknown",
        }
    }
}

/// What a port is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// A device on USB, of this vendor and product.
    Usb {
        /// Vendor.
        vendor: u16,
        /// Product.
        product: u16,
    },
    /// A program's: what stands behind it is not known.
    Pseudo,
    /// A port of which no more is known.
    Serial,
}

impl core::fmt::Display for PortKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Usb { vendor, product } => write!(f, "usb {vendor:04x}:{product:04x}"),
            Self::Pseudo => f.write_str("pseudo-terminal"),
            Self::Serial => f.write_str("serial port"),
        }
    }
}

/// What may be said of where figures come from. Only a port that no program serves, on which nothing said that it is a
/// stand-in, counts as a physical board.
#[must_use]
pub const fn measured_on(port: &PortKind, says_emulated: bool, declared: bool) -> MeasuredOn {
    match port {
        _ if says_emulated || declared => MeasuredOn::EmulatedBoard,
        PortKind::Pseudo => MeasuredOn::Unknown,
        PortKind::Usb { .. } | PortKind::Serial => MeasuredOn::PhysicalBoard,
    }
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRecord {
    /// Position in the plan.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Cycles that the board said, of all frames of the program together.
    pub cycles: Cycles,
    /// Cycles that the planner predicts for the same; null behind the layers that the board tells apart.
    pub predicted_cycles: Option<Cycles>,
    /// Cycles of the emulated board for the same; null if it did not run.
    pub emulated_cycles: Option<Cycles>,
    /// Instructions that the emulated board executed for it; null if it did not run.
    pub emulated_instructions: Option<u64>,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// Position in the program's outputs.
    pub index: u32,
    /// Its bytes.
    pub bytes: u64,
    /// Values that differ from the reference interpreter's.
    pub differing_values: u64,
    /// Position of the first of them.
    pub first_difference: Option<u64>,
}

impl OutputRecord {
    /// Compares the board's values with the reference interpreter's.
    #[must_use]
    pub fn compare(index: u32, found: &[i8], reference: &[i8]) -> Self {
        let longest = found.len().max(reference.len());
        let mut differing = (0..longest).filter(|at| found.get(*at) != reference.get(*at));
        let first = differing.next();
        Self {
            index,
            bytes: found.len() as u64,
            differing_values: first.map_or(0, |_| 1 + differing.count() as u64),
            first_difference: first.map(|at| at as u64),
        }
    }
}

/// Of which kind the figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordKinds {
    /// What the board said: measured only on a physical board.
    pub cycles: Kind,
    /// What the planner predicts.
    pub predicted_cycles: Kind,
    /// Of the emulated board.
    pub emulated_cycles: Kind,
    /// Of the emulated board.
    pub emulated_instructions: Kind,
}

impl RecordKinds {
    /// Of figures that come from there.
    #[must_use]
    pub const fn of(measured_on: MeasuredOn) -> Self {
        Self {
            cycles: measured_on.kind(),
            predicted_cycles: Kind::Modelled,
            emulated_cycles: Kind::Modelled,
            emulated_instructions: Kind::Counted,
        }
    }
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// What answered.
    pub measured_on: MeasuredOn,
    /// What stood in for the board, in its own words.
    pub stand_in: Option<String>,
    /// What the port is.
    pub port: String,
    /// Day and time, UTC, as ISO 8601 writes them.
    pub date_utc: String,
    /// Board id.
    pub board: String,
    /// What its sticker says, as the person at the desk read it.
    pub board_revision: Option<String>,
    /// What the board found on itself.
    pub board_remarks: Vec<String>,
    /// The core's clock.
    pub clock_hz: u64,
    /// Version of the firmware.
    pub firmware_version: String,
    /// Version of what firmware and plan image agree on.
    pub firmware_abi: u32,
    /// Version of the program that wrote this.
    pub tilewright_version: String,
    /// Plan id, 64 digits.
    pub plan_id: String,
    /// The model's name.
    pub model: String,
    /// SHA-256 of the model's file; null for a network of the zoo.
    pub model_sha256: Option<String>,
    /// Strategy of the plan.
    pub strategy: String,
    /// SHA-256 of the input's int8 bytes.
    pub input_sha256: String,
    /// Frames that the program works on.
    pub frames: u16,
    /// Whether all outputs are those of the reference interpreter, bit for bit.
    pub verified: bool,
    /// Outputs.
    pub outputs: Vec<OutputRecord>,
    /// Cycles of the run that the board said.
    pub cycles: Cycles,
    /// The same at the core's clock.
    pub latency_us: Micros,
    /// Cycles that the planner predicts.
    pub predicted_cycles: Cycles,
    /// Cycles of the emulated board; null if it did not run.
    pub emulated_cycles: Option<Cycles>,
    /// Instructions that the emulated board executed; null if it did not run.
    pub emulated_instructions: Option<u64>,
    /// Cycles of what the board did once, such as bringing weights to SDRAM; null if there was nothing.
    pub loaded_cycles: Option<Cycles>,
    /// Cycles of runs that the board gave up, since a card had lost something.
    pub given_up_cycles: Vec<Cycles>,
    /// Layers.
    pub layers: Vec<LayerRecord>,
    /// How often input was sent again, since the line had lost bytes.
    pub sent_again: u32,
    /// How often the board began anew in the middle.
    pub resets: u32,
    /// Of which kind the figures are.
    pub kinds: RecordKinds,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_a_port_of_a_board_gives_measured_figures() {
        let usb = PortKind::Usb { vendor: 0x0483, product: 0x374b };
        for port in [&usb, &PortKind::Serial, &PortKind::Pseudo] {
            for (says, declared) in [(true, false), (false, true), (true, true)] {
                assert_eq!(measured_on(port, says, declared), MeasuredOn::EmulatedBoard);
            }
        }
        assert_eq!(measured_on(&PortKind::Pseudo, false, false), MeasuredOn::Unknown);
        assert_eq!(measured_on(&usb, false, false), MeasuredOn::PhysicalBoard);
        let kind = |on| RecordKinds::of(on).cycles;
        assert_eq!(kind(MeasuredOn::PhysicalBoard), Kind::Measured);
        assert_eq!(kind(MeasuredOn::EmulatedBoard), Kind::Modelled);
        assert_eq!(kind(MeasuredOn::Unknown), Kind::Modelled);
    }

    #[test]
    fn what_answered_is_said_in_words() {
        for on in [MeasuredOn::PhysicalBoard, MeasuredOn::EmulatedBoard, MeasuredOn::Unknown] {
            assert_eq!(serde_json::to_string(&on).unwrap(), format!("\"{}\"", on.words()));
        }
    }

    #[test]
    fn outputs_are_compared_value_by_value() {
        let same = OutputRecord::compare(0, &[1, 2], &[1, 2]);
        assert_eq!((same.differing_values, same.first_difference), (0, None));
        let other = OutputRecord::compare(0, &[1, 3, 4], &[1, 2, 5]);
        assert_eq!((other.differing_values, other.first_difference), (2, Some(1)));
        let short = OutputRecord::compare(0, &[1], &[1, 2]);
        assert_eq!((short.bytes, short.differing_values, short.first_difference), (1, 1, Some(1)));
    }
}
