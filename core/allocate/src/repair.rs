//! A placement made lower piece by piece: what reaches above a height, and what lives at the same
//! time, is placed anew by exact search, everything else staying where it is.

use super::problem::{Buffer, Solution};
use super::search::{Answer, Goal, Search, Stop};
use tilewright_plan::Bytes;

/// Buffers placed anew at a time.
const SIZES: [usize; 4] = [24, 64, 128, 256];

/// Buffers in a piece at most, with those that stay.
const MOST: usize = 2048;

/// Units of work for each buffer that is placed anew.
const WORK_EACH: u64 = 1500;

/// Attempts without success after which a lower step is tried.
const PATIENCE: u64 = 32;

/// How small a step may become: this power of a half of what lies above the bound.
const SMALLEST: u32 = 7;

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The whole placement is lower.
    Lower,
    /// There is more to try.
    Open,
    /// There is not.
    Done,
}

/// The state of a repair.
#[derive(Debug)]
pub struct Repair {
    /// The lowest placement so far, and one on its way below `target`.
    best: Solution,
    offsets: Vec<u64>,
    target: u64,
    step: u32,
    failures: u64,
    draws: u64,
}

impl Repair {
    /// A repair of `solution`, a placement of buffers that [`super::sweep::suits`].
    #[must_use]
    pub fn new(solution: Solution) -> Self {
        Self {
            offsets: solution.offsets.clone(),
            target: solution.height.0,
            best: solution,
            step: 3,
            failures: 0,
            draws: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// The lowest placement so far.
    #[must_use]
    pub const fn best(&self) -> &Solution {
        &self.best
    }

    /// Aims a step lower than the best.
    fn aim(&mut self, least: Bytes) {
        let above = self.best.height.0.saturating_sub(least.0);
        self.target = self.best.height.0 - (above >> self.step).max(1).min(above);
        self.failures = 0;
    }

    /// A number below `below`.
    fn draw(&mut self, below: u64) -> u64 {
        // Knuth's linear congruential generator.
        self.draws = self
            .draws
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.draws >> 33) % below.max(1)
    }

    /// Places one piece anew; whether there is more to try, `least` being a bound of the height.
    /// Adds the work done to `work`.
    pub fn advance(&mut self, buffers: &[Buffer], least: Bytes, work: &mut u64) -> Step {
        if self.best.height <= least || self.step > SMALLEST {
            return Step::Done;
        }
        *work += 2 * buffers.len() as u64;
        let is_used = |index: &usize| {
            let buffer = &buffers[*index];
            buffer.bytes.0 > 0 && buffer.first < buffer.end
        };
        let top = |index: usize| self.offsets[index] + buffers[index].bytes.0;
        let above: Vec<usize> =
            (0..buffers.len()).filter(is_used).filter(|index| top(*index) > self.target).collect();
        if above.is_empty() {
            self.best = Solution::of(buffers, self.offsets.clone());
            self.aim(least);
            return Step::Lower;
        }
        let culprit = above[self.draw(above.len() as u64) as usize];
        let life = &buffers[culprit];
        let time = life.first + self.draw(life.end - life.first);
        let size = SIZES[self.draw(SIZES.len() as u64) as usize];
        // What lives long stays, since all else would have to.
        let reach = |index: &usize| {
            let buffer = &buffers[*index];
            (time.abs_diff(buffer.first).max(time.abs_diff(buffer.end)), *index)
        };
        let mut near: Vec<usize> =
            (0..buffers.len()).filter(is_used).filter(|index| *index != culprit).collect();
        let last = size.min(near.len().saturating_sub(1));
        if last > 0 {
            near.select_nth_unstable_by_key(last, reach);
            near.truncate(last);
        }
        near.push(culprit);
        if let Some(found) = self.placed_anew(buffers, &near, work) {
            for (index, offset) in near.iter().zip(found) {
                self.offsets[*index] = offset;
            }
            return Step::Open;
        }
        self.failures += 1;
        if self.failures > PATIENCE {
            self.offsets.clone_from(&self.best.offsets);
            self.step += 1;
            self.aim(least);
        }
        Step::Open
    }

    /// Offsets below the target for `free`, between those that stay.
    fn placed_anew(&self, buffers: &[Buffer], free: &[usize], work: &mut u64) -> Option<Vec<u64>> {
        let mut is_free = vec![false; buffers.len()];
        free.iter().for_each(|index| is_free[*index] = true);
        let mut problem: Vec<Buffer> = free.iter().map(|index| buffers[*index].clone()).collect();
        let first = problem.iter().map(|buffer| buffer.first).min()?;
        let end = problem.iter().map(|buffer| buffer.end).max()?;
        for (index, buffer) in buffers.iter().enumerate() {
            let bytes = buffer.bytes.0.min(self.target.saturating_sub(self.offsets[index]));
            let meets = buffer.first < end && first < buffer.end;
            if meets && bytes > 0 && !is_free[index] {
                let (first, end) = (buffer.first.max(first), buffer.end.min(end));
                problem.push(Buffer::new(first, end, Bytes(bytes)).at(self.offsets[index]));
            }
        }
        // Around what lives long there is too much.
        if problem.len() > MOST {
            return None;
        }
        let limit = WORK_EACH * free.len() as u64;
        *work += 100 * problem.len() as u64;
        let mut search = Search::new(problem, Goal::Fit(Bytes(self.target))).ok()?;
        search.advance(limit);
        *work += search.units() + 2 * buffers.len() as u64;
        match search.answer(Stop::Spent) {
            Answer::Solved { mut solution, .. } => {
                solution.offsets.truncate(free.len());
                Some(solution.offsets)
            }
            _ => None,
        }
    }
}
