//! Transfer engines in software: the lanes of DMA and card are run by whoever asks, for the host
//! and WASM.

use tilewright_plan::image::{CRC, LaneRecord};
use tilewright_plan::step::MAX_LANES;
use tilewright_plan::{After, Instruction, PlanImage, Space, Span, Step};

use crate::lanes::{LaneDriver, LaneError};
use crate::memory::Memory;

/// Bytes that are moved at a time.
const CHUNK: usize = 256;

/// When a copy is made that may be made now. A program that is free of races gives the same either
/// way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As soon as what it waits for is complete.
    #[default]
    Early,
    /// When another step waits for it, or at the end.
    Late,
}

/// Runs lanes of every kind, on an image's memories and a card.
#[derive(Debug)]
pub struct SoftwareEngines<'i, 'c> {
    image: PlanImage<'i>,
    card: &'c mut [u8],
    pace: Pace,
    lanes: [Option<LaneRecord>; MAX_LANES],
    /// Steps of each lane that are complete, the core's among them.
    complete: [u32; MAX_LANES],
}

impl<'i, 'c> SoftwareEngines<'i, 'c> {
    /// Engines for programs of `image`, with the contents of a card.
    #[must_use]
    pub fn new(image: PlanImage<'i>, card: &'c mut [u8], pace: Pace) -> Self {
        Self { image, card, pace, lanes: [None; MAX_LANES], complete: [0; MAX_LANES] }
    }

    /// Whether all that a step waits for is complete.
    fn is_ready(&self, step: &Step) -> bool {
        step.after.iter().flatten().all(|after| {
            self.complete.get(usize::from(after.lane)).is_some_and(|done| *done > after.step)
        })
    }

    /// Makes the next step of a lane; whether there was one that could be made.
    fn advance(&mut self, lane: usize, memory: &mut Memory<'_>) -> Result<bool, LaneError> {
        let (Some(Some(record)), Some(number)) =
            (self.lanes.get(lane), self.complete.get(lane).copied())
        else {
            return Ok(false);
        };
        let Some(step) = self.image.lane_step(record, number) else {
            return Ok(false);
        };
        let failed = LaneError::Failed { step: number };
        let step = Step::from_record(&step).ok_or(failed)?;
        if !self.is_ready(&step) {
            return Ok(false);
        }
        match step.instruction {
            Instruction::Copy { source, destination, sum } => {
                let mut spans = self.image.spans();
                let spans = spans.get(source).zip(spans.get(destination));
                let crc =
                    spans.and_then(|(from, to)| self.copy(&from, &to, memory)).ok_or(failed)?;
                if sum.is_some_and(|sum| self.image.copy_checksum(sum) != Some(crc)) {
                    return Err(failed);
                }
            }
            Instruction::Compute { .. } | Instruction::Exit { .. } | Instruction::Arrive { .. } => {
                return Err(failed);
            }
        }
        self.complete[lane] += 1;
        Ok(true)
    }

    /// Makes steps until step `step` of `lane` is complete, or nothing can be made any more.
    fn run_until(
        &mut self,
        (lane, step): (usize, u32),
        memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        let is_complete =
            |this: &Self| this.complete.get(lane).is_some_and(|complete| *complete > step);
        while !is_complete(self) {
            if self.advance(lane, memory)? {
                continue;
            }
            // It waits for another lane.
            let mut moved = false;
            for other in (1..MAX_LANES).filter(|other| *other != lane) {
                moved |= self.advance(other, memory)?;
            }
            if !moved {
                return Err(LaneError::Deadlock);
            }
        }
        Ok(())
    }

    fn run_all(&mut self, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        loop {
            let mut moved = false;
            for lane in 1..MAX_LANES {
                while self.advance(lane, memory)? {
                    moved = true;
                }
            }
            if !moved {
                return Ok(());
            }
        }
    }

    /// Moves the bytes of a span to another; gives their checksum, or nothing if some are not
    /// there.
    fn copy(&mut self, from: &Span, to: &Span, memory: &mut Memory<'_>) -> Option<u32> {
        let mut digest = CRC.digest();
        let mut chunk = [0; CHUNK];
        let mut moved = 0;
        let total = from.bytes();
        while moved < total {
            let (source, source_run) = place(from, moved)?;
            let (destination, destination_run) = place(to, moved)?;
            let length = source_run.min(destination_run).min(CHUNK as u64);
            let bytes = chunk.get_mut(..length as usize)?;
            match from.space()? {
                Space::Card => bytes.copy_from_slice(part(self.card, source, length)?),
                space => memory.read_at(&self.image, space, source, bytes)?,
            }
            digest.update(bytes);
            match to.space()? {
                Space::Card => part(self.card, destination, length)?.copy_from_slice(bytes),
                space => memory.write_at(space, destination, bytes)?,
            }
            moved += length;
        }
        Some(digest.finalize())
    }
}

fn part(bytes: &mut [u8], offset: u64, length: u64) -> Option<&mut [u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get_mut(start..start.checked_add(usize::try_from(length).ok()?)?)
}

/// Where byte `index` of a span lies, and how many follow it in its run.
fn place(span: &Span, index: u64) -> Option<(u64, u64)> {
    let run = u64::from(span.row_bytes);
    let (row, column) = (index.checked_div(run)?, index.checked_rem(run)?);
    Some((u64::from(span.offset) + row * u64::from(span.pitch) + column, run - column))
}

impl LaneDriver for SoftwareEngines<'_, '_> {
    fn start(
        &mut self,
        image: &PlanImage<'_>,
        lane: u8,
        record: &LaneRecord,
        memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        if image.plan_id() != self.image.plan_id() {
            return Err(LaneError::Deadlock);
        }
        if image.sector_checksums().is_some_and(|checksums| checksums.sealed) {
            return Err(LaneError::Sealed);
        }
        if lane == 1 {
            self.lanes = [None; MAX_LANES];
            self.complete = [0; MAX_LANES];
        }
        *self.lanes.get_mut(usize::from(lane)).ok_or(LaneError::Deadlock)? = Some(*record);
        match self.pace {
            Pace::Early => self.run_all(memory),
            Pace::Late => Ok(()),
        }
    }

    fn store(&mut self, from: &Span, to: &Span, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        if self.image.sector_checksums().is_some_and(|checksums| checksums.sealed) {
            return Err(LaneError::Sealed);
        }
        self.copy(from, to, memory).map(drop).ok_or(LaneError::Failed { step: 0 })
    }

    fn wait(&mut self, after: After, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        self.run_until((usize::from(after.lane), after.step), memory)
    }

    fn core_completed(&mut self, step: u32, memory: &mut Memory<'_>) -> Result<(), LaneError> {
        self.complete[0] = step + 1;
        match self.pace {
            Pace::Early => self.run_all(memory),
            Pace::Late => Ok(()),
        }
    }
}
