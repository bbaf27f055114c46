//! Steps: the instructions of a program, 32 bytes each.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What runs a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(rename_all = "snake_case"))]
#[repr(u16)]
pub enum LaneKind {
    /// The processor core, in thread mode.
    Core = 0,
    /// Memory-to-memory DMA.
    Dma = 1,
    /// The SD card's controller.
    Card = 2,
}

impl LaneKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Core, Self::Dma, Self::Card];

    /// The kind with this number in a plan image.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// A step that must be complete before another of the same run may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
pub struct After {
    /// Index of the lane in the program, 0..=14.
    pub lane: u8,
    /// Index of the step in that lane, below 2^24 − 1.
    pub step: u32,
}

impl After {
    /// The word that stands for no step.
    pub const NOTHING: u32 = u32::MAX;

    /// The word of a [`StepRecord`].
    #[must_use]
    pub const fn to_word(self) -> u32 {
        (self.lane as u32) << 28 | (self.step & MAX_STEPS)
    }

    /// The step that a word of a [`StepRecord`] stands for.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        if word == Self::NOTHING {
            return None;
        }
        Some(Self { lane: (word >> 28) as u8, step: word & MAX_STEPS })
    }
}

/// In which order a compute step makes its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(rename_all = "snake_case"))]
#[repr(u32)]
pub enum RowOrder {
    /// At once: output and inputs share no byte, or the step works in place.
    #[default]
    Whole = 0,
    /// Row by row, from the first to the last. Each row is a step of its own ([`crate::rows`]), so
    /// that rows may lie where earlier ones had their input.
    Down = 1,
    /// Row by row, from the last to the first.
    Up = 2,
}

impl RowOrder {
    /// All orders, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Down, Self::Up];

    /// The order with this number in a plan image.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(rename_all = "snake_case"))]
pub enum Instruction {
    /// Runs op `op` on tile `tile`; its operands are the views from `first_view` on, one for
    /// each role of the kernel.
    Compute {
        /// Index into the op table.
        op: u32,
        /// Index into the tile table.
        tile: u32,
        /// Index of the first operand in the view table.
        first_view: u32,
        /// Whether its rows are made one after the other.
        order: RowOrder,
    },
    /// Moves bytes from span `source` to span `destination`; `sum` names a checksum to compare.
    Copy {
        /// Index into the span table.
        source: u32,
        /// Index into the span table.
        destination: u32,
        /// Index into the checksums.
        sum: Option<u32>,
    },
    /// Ends the run here if a value of an output reaches a threshold: an early exit by confidence. The output is
    /// complete by then.
    Exit {
        /// Number of the output among those of the program, which works on one frame.
        output: u16,
        /// The threshold, a quantised value.
        least: i8,
    },
    /// The next rows of the program's input arrive from outside, right where a view says. The first is the first
    /// step of its program, so that nothing runs before a frame is there.
    Arrive {
        /// Index into the view table.
        view: u32,
    },
}

/// One instruction of a lane, with what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
pub struct Step {
    /// Steps of other lanes to wait for.
    pub after: [Option<After>; 3],
    /// Which of the run's frames it works on; of a copy for several the first.
    pub frame: u8,
    /// Layer that the step belongs to: an index into the plan's layers.
    pub layer: u16,
    /// What to do.
    pub instruction: Instruction,
}

/// A [`Step`] as a plan image holds it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct StepRecord {
    /// 0 compute, 1 copy, 2 exit, 3 arrive.
    pub code: u8,
    /// See [`Step::frame`].
    pub frame: u8,
    /// See [`Step::layer`].
    pub layer: u16,
    /// Lane in bits 28..32, step in bits 0..24; all ones: nothing.
    pub after: [u32; 3],
    /// Compute: op, tile, first view, order of rows. Copy: source, destination, checksum or all ones.
    /// Exit: output, threshold (i32). Arrive: the view.
    pub words: [u32; 4],
}

const _: () = assert!(size_of::<StepRecord>() == 32);

/// The checksum of a copy that is not checked.
const NO_SUM: u32 = u32::MAX;

/// Number of steps that a lane can hold.
pub const MAX_STEPS: u32 = (1 << 24) - 1;
/// Number of frames that a run can work on.
pub const MAX_FRAMES: u16 = 256;
/// Number of lanes that a program can hold.
pub const MAX_LANES: usize = 15;

impl Step {
    /// The record for a plan image.
    #[must_use]
    pub fn to_record(&self) -> StepRecord {
        let mut record = StepRecord {
            frame: self.frame,
            layer: self.layer,
            after: self.after.map(|after| after.map_or(After::NOTHING, After::to_word)),
            ..StepRecord::default()
        };
        match self.instruction {
            Instruction::Compute { op, tile, first_view, order } => {
                record.words = [op, tile, first_view, order as u32];
            }
            Instruction::Copy { source, destination, sum } => {
                record.code = 1;
                record.words = [source, destination, sum.unwrap_or(NO_SUM), 0];
            }
            Instruction::Exit { output, least } => {
                record.code = 2;
                record.words = [output.into(), i32::from(least).cast_unsigned(), 0, 0];
            }
            Instruction::Arrive { view } => {
                record.code = 3;
                record.words = [view, 0, 0, 0];
            }
        }
        record
    }

    /// The step that a record holds; nothing if its code, order of rows, output or threshold is unknown.
    #[must_use]
    pub fn from_record(record: &StepRecord) -> Option<Self> {
        let instruction = Instruction::from_record(record)?;
        let after = record.after.map(After::from_word);
        Some(Self { after, frame: record.frame, layer: record.layer, instruction })
    }
}

impl Instruction {
    /// What the step of a record does; nothing if its code, order of rows, output or threshold is unknown.
    #[must_use]
    pub fn from_record(record: &StepRecord) -> Option<Self> {
        let [first, second, third, fourth] = record.words;
        Some(match record.code {
            0 => Self::Compute {
                op: first,
                tile: second,
                first_view: third,
                order: RowOrder::from_number(fourth)?,
            },
            1 => Self::Copy {
                source: first,
                destination: second,
                sum: (third != NO_SUM).then_some(third),
            },
            2 => Self::Exit {
                output: u16::try_from(first).ok()?,
                least: i8::try_from(second.cast_signed()).ok()?,
            },
            3 => Self::Arrive { view: first },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_step() -> impl Strategy<Value = Step> {
        let after = proptest::option::of((0u8..15, 0u32..MAX_STEPS))
            .prop_map(|a| a.map(|(lane, step)| After { lane, step }));
        let instruction = prop_oneof![
            (any::<(u32, u32, u32)>(), 0u32..3).prop_map(|((op, tile, first_view), order)| {
                let order = RowOrder::from_number(order).unwrap_or_default();
                Instruction::Compute { op, tile, first_view, order }
            }),
            (any::<u32>(), any::<u32>(), proptest::option::of(0..u32::MAX)).prop_map(
                |(source, destination, sum)| Instruction::Copy { source, destination, sum }
            ),
            any::<(u16, i8)>().prop_map(|(output, least)| Instruction::Exit { output, least }),
            any::<u32>().prop_map(|view| Instruction::Arrive { view }),
        ];
        ([after.clone(), after.clone(), after], any::<u8>(), any::<u16>(), instruction).prop_map(
            |(after, frame, layer, instruction)| Step { after, frame, layer, instruction },
        )
    }

    proptest! {
        #[test]
        fn a_record_leads_back_to_its_step(step in any_step()) {
            prop_assert_eq!(Step::from_record(&step.to_record()), Some(step));
        }
    }

    #[test]
    fn unknown_codes_are_no_steps() {
        let record = StepRecord { code: 7, ..StepRecord::default() };
        assert_eq!(Step::from_record(&record), None);
        let record = StepRecord { words: [0, 0, 0, 3], ..StepRecord::default() };
        assert_eq!(Step::from_record(&record), None);
    }
}
