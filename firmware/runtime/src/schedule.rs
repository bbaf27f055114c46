//! What the lanes of a program have done, and which transfer an engine may make next. Engines on
//! boards ask from their interrupts.

use core::ops::Range;

use tilewright_plan::image::{Cursor, LaneRecord};
use tilewright_plan::step::MAX_LANES;
use tilewright_plan::{After, Instruction, PlanImage, Span, StepRecord};

use crate::lanes::LaneError;

/// A copy that may be made now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// Its step in the lane.
    pub step: u32,
    /// The step's layer.
    pub layer: u16,
    /// Where bytes come from.
    pub source: Span,
    /// Where they go; as many bytes.
    pub destination: Span,
    /// Number of the checksum or tag that the bytes must have; nothing if they are not checked.
    pub sum: Option<u32>,
}

/// The progress of a program's lanes in one run.
#[derive(Debug)]
pub struct Schedule<'i> {
    image: PlanImage<'i>,
    steps: Cursor<'i, StepRecord>,
    spans: Cursor<'i, Span>,
    /// What was read last.
    record: StepRecord,
    /// Steps of each lane in the image's table.
    pub(crate) lanes: [Range<u32>; MAX_LANES],
    /// What the next step of each lane was found to wait for, as in its record.
    awaited: [u32; MAX_LANES],
    /// Steps of each lane that are complete, the core's among them.
    pub(crate) complete: [u32; MAX_LANES],
}

impl<'i> Schedule<'i> {
    /// For programs of an image.
    #[must_use]
    pub fn new(image: PlanImage<'i>) -> Self {
        Self {
            image,
            steps: image.steps(),
            spans: image.spans(),
            record: StepRecord::default(),
            lanes: [const { 0..0 }; MAX_LANES],
            awaited: [After::NOTHING; MAX_LANES],
            complete: [0; MAX_LANES],
        }
    }

    /// The image whose programs these are.
    #[must_use]
    pub const fn image(&self) -> &PlanImage<'i> {
        &self.image
    }

    /// A lane begins; the first of a program begins a run.
    ///
    /// # Errors
    /// [`LaneError::Deadlock`] if there is no such lane.
    pub fn start(&mut self, lane: u8, record: &LaneRecord) -> Result<(), LaneError> {
        if lane == 1 {
            self.lanes = [const { 0..0 }; MAX_LANES];
            self.awaited = [After::NOTHING; MAX_LANES];
            self.complete = [0; MAX_LANES];
        }
        let lane = self.lanes.get_mut(usize::from(lane)).ok_or(LaneError::Deadlock)?;
        *lane = record.step_first..record.step_first.saturating_add(record.step_count);
        Ok(())
    }

    /// Whether a lane may make its next transfer, which is written to `transfer`; else it has none left, or
    /// waits. The same one until it is [completed](Self::completed).
    ///
    /// # Errors
    /// [`LaneError::Failed`] if its next step is none for an engine.
    pub fn next(&mut self, lane: u8, transfer: &mut Transfer) -> Result<bool, LaneError> {
        let at = usize::from(lane);
        let (Some(steps), Some(awaited)) = (self.lanes.get(at), self.awaited.get(at)) else {
            return Ok(false);
        };
        // Asked after each step of the core: most often it still waits.
        if self.is_awaited(*awaited) {
            return Ok(false);
        }
        let number = self.complete.get(at).copied().unwrap_or(u32::MAX);
        let index = steps.start.checked_add(number).filter(|index| *index < steps.end);
        // Read in place: this runs between the copies of an engine.
        let read = index.and_then(|index| self.steps.read(index, &mut self.record));
        if read.is_none() {
            return Ok(false);
        }
        let after = self.record.after;
        if let Some(awaited) = after.into_iter().find(|word| self.is_awaited(*word)) {
            self.awaited[at] = awaited;
            return Ok(false);
        }
        let Some(Instruction::Copy { source, destination, sum }) =
            Instruction::from_record(&self.record)
        else {
            return Err(LaneError::Failed { step: number });
        };
        let from = self.spans.read(source, &mut transfer.source);
        let to = self.spans.read(destination, &mut transfer.destination);
        if from.is_none() || to.is_none() {
            return Err(LaneError::Failed { step: number });
        }
        transfer.sum = sum;
        (transfer.step, transfer.layer) = (number, self.record.layer);
        Ok(true)
    }

    /// The next step of a lane is complete.
    pub fn completed(&mut self, lane: u8) {
        if let Some(complete) = self.complete.get_mut(usize::from(lane)) {
            *complete += 1;
        }
    }

    /// A step of the core's lane is complete.
    pub fn core_completed(&mut self, step: u32) {
        self.complete[0] = step + 1;
    }

    /// Whether the step of a word in a record is not complete.
    fn is_awaited(&self, word: u32) -> bool {
        After::from_word(word).is_some_and(|after| !self.is_complete(after))
    }

    /// Whether a step that another waits for is complete.
    #[must_use]
    pub fn is_complete(&self, after: After) -> bool {
        self.complete.get(usize::from(after.lane)).is_some_and(|done| *done > after.step)
    }
}
