//! What the lanes of a program have done, and which transfer an engine may make next. Engines on
//! boards ask from their interrupts.

use tilewright_plan::image::LaneRecord;
use tilewright_plan::step::MAX_LANES;
use tilewright_plan::{After, Instruction, PlanImage, Span, Step};

use crate::lanes::LaneError;

/// A copy that may be made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its step in the lane.
    pub step: u32,
    /// The step's layer.
    pub layer: u16,
    /// Where bytes come from.
    pub source: Span,
    /// Where they go; as many bytes.
    pub destination: Span,
    /// CRC-32 that the bytes must have; nothing if they are not checked.
    pub sum: Option<u32>,
}

/// The progress of a program's lanes in one frame.
#[derive(Debug)]
pub struct Schedule<'i> {
    image: PlanImage<'i>,
    lanes: [Option<LaneRecord>; MAX_LANES],
    /// Steps of each lane that are complete, the core's among them.
    complete: [u32; MAX_LANES],
}

impl<'i> Schedule<'i> {
    /// For programs of an image.
    #[must_use]
    pub const fn new(image: PlanImage<'i>) -> Self {
        Self { image, lanes: [None; MAX_LANES], complete: [0; MAX_LANES] }
    }

    /// A lane begins; the first of a program begins a frame.
    ///
    /// # Errors
    /// [`LaneError::Deadlock`] if there is no such lane.
    pub fn start(&mut self, lane: u8, record: &LaneRecord) -> Result<(), LaneError> {
        if lane == 1 {
            self.lanes = [None; MAX_LANES];
            self.complete = [0; MAX_LANES];
        }
        *self.lanes.get_mut(usize::from(lane)).ok_or(LaneError::Deadlock)? = Some(*record);
        Ok(())
    }

    /// The next transfer of a lane; nothing if it has none left, or waits. The same one until it is
    /// [completed](Self::completed).
    ///
    /// # Errors
    /// [`LaneError::Failed`] if its next step is none for an engine.
    pub fn next(&mut self, lane: u8) -> Result<Option<Transfer>, LaneError> {
        let Some(Some(record)) = self.lanes.get(usize::from(lane)).copied() else {
            return Ok(None);
        };
        loop {
            let number = self.complete.get(usize::from(lane)).copied().unwrap_or(u32::MAX);
            let Some(step) = self.image.lane_step(&record, number) else {
                return Ok(None);
            };
            let failed = LaneError::Failed { step: number };
            let step = Step::from_record(&step).ok_or(failed)?;
            if !step.after.into_iter().flatten().all(|after| self.is_complete(after)) {
                return Ok(None);
            }
            match step.instruction {
                Instruction::Mark(_) => self.completed(lane),
                Instruction::Compute { .. } => return Err(failed),
                Instruction::Copy { source, destination, sum } => {
                    let source = self.image.span(source).ok_or(failed)?;
                    let destination = self.image.span(destination).ok_or(failed)?;
                    let sum = match sum {
                        Some(index) => Some(self.image.sum(index).ok_or(failed)?),
                        None => None,
                    };
                    let layer = step.layer;
                    return Ok(Some(Transfer { step: number, layer, source, destination, sum }));
                }
            }
        }
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

    /// Whether a step that another waits for is complete. Frames run one at a time: all of an earlier
    /// period is.
    #[must_use]
    pub fn is_complete(&self, after: After) -> bool {
        after.periods > 0
            || self.complete.get(usize::from(after.lane)).is_some_and(|done| *done > after.step)
    }
}
