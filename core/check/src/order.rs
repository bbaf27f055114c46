//! The order of a program's steps over all lanes: one sequence that they can run in, and for each
//! step what has ended for certain when it starts.

use tilewright_plan::Program;
use tilewright_plan::step::MAX_LANES;

/// A step in the sequence.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its lane.
    pub lane: usize,
    /// Its number in that lane.
    pub step: usize,
    /// Of each lane, how many steps have ended for certain when it starts.
    before: [u32; MAX_LANES],
}

impl Placed {
    /// Whether a step has ended for certain when this one starts, or is this one.
    pub fn follows(&self, lane: usize, step: usize) -> bool {
        if lane == self.lane {
            return step <= self.step;
        }
        self.before.get(lane).is_some_and(|ended| *ended as usize > step)
    }
}

/// The steps of a run in a sequence in which each comes after all that it waits for: each lane
/// in its own order. Runs follow each other, so that steps of earlier ones have ended.
///
/// # Errors
/// Lane and number of a step that waits for what can never end.
pub fn sequence(program: &Program) -> Result<Vec<Placed>, (usize, usize)> {
    let mut placed: Vec<Vec<Placed>> = program.lanes.iter().map(|_| Vec::new()).collect();
    let mut all = Vec::new();
    loop {
        let mut moved = false;
        for (lane, steps) in program.lanes.iter().map(|lane| &lane.steps).enumerate() {
            while let Some(step) = steps.get(placed[lane].len()) {
                let number = placed[lane].len();
                let mut before = placed[lane].last().map_or([0; MAX_LANES], |last| last.before);
                let mut is_ready = true;
                for after in step.after.iter().flatten() {
                    let other = usize::from(after.lane);
                    let awaited = placed.get(other).and_then(|l| l.get(after.step as usize));
                    let Some(awaited) = awaited else {
                        is_ready = false;
                        break;
                    };
                    for (own, other) in before.iter_mut().zip(awaited.before) {
                        *own = (*own).max(other);
                    }
                    before[other] = before[other].max(after.step + 1);
                }
                if !is_ready {
                    break;
                }
                let step = Placed { lane, step: number, before };
                placed[lane].push(step);
                all.push(step);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let mut left = program.lanes.iter().zip(&placed).enumerate();
    match left.find(|(_, (lane, placed))| placed.len() < lane.steps.len()) {
        Some((lane, (_, placed))) => Err((lane, placed.len())),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{After, Instruction, Lane, LaneKind, Step};

    fn step(after: Option<(u8, u32)>) -> Step {
        let after = after.map(|(lane, step)| After { lane, step });
        let instruction = Instruction::Arrive { view: 0 };
        Step { after: [after, None, None], frame: 0, layer: 0, instruction }
    }

    fn program(lanes: &[&[Option<(u8, u32)>]]) -> Program {
        let lane = |steps: &&[Option<(u8, u32)>]| Lane {
            kind: LaneKind::Dma,
            steps: steps.iter().map(|after| step(*after)).collect(),
        };
        Program {
            name: "main".to_owned(),
            frames: 1,
            lanes: lanes.iter().map(lane).collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    #[test]
    fn waiting_reaches_through_lanes() {
        let program = program(&[&[None, Some((1, 1))], &[None, Some((2, 0)), None], &[None]]);
        let all = sequence(&program).unwrap();
        let of = |lane, step| *all.iter().find(|p| (p.lane, p.step) == (lane, step)).unwrap();
        let last = of(0, 1);
        assert!(last.follows(0, 0) && last.follows(1, 1) && last.follows(2, 0));
        assert!(!last.follows(1, 2) && !of(0, 0).follows(1, 0) && !of(1, 0).follows(2, 0));
    }

    #[test]
    fn a_circle_is_found() {
        let circle = program(&[&[None, Some((1, 1))], &[None, Some((0, 1))]]);
        assert_eq!(sequence(&circle).unwrap_err(), (0, 1));
        assert_eq!(sequence(&program(&[&[Some((7, 0))]])).unwrap_err(), (0, 0));
    }
}
