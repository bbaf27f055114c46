//! The lanes of a program with fewer or more steps: who waits for whom.

use tilewright_plan::step::MAX_LANES;
use tilewright_plan::{After, Program, Step};

use crate::narrow::narrow;

/// A step of a program in an order in which all could run one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its lane.
    pub lane: usize,
    /// Its number in the lane.
    pub step: usize,
    /// Of each lane the steps that have ended when it starts, by what it and those before it wait for.
    pub ended: [u32; MAX_LANES],
}

/// The steps of a program in such an order; those that wait in a circle are left out.
pub fn sequence(program: &Program) -> Vec<Placed> {
    let mut of_lanes: Vec<Vec<Placed>> = vec![Vec::new(); program.lanes.len()];
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for (lane, steps) in program.lanes.iter().map(|lane| &lane.steps).enumerate() {
            while let Some(placed) = steps
                .get(of_lanes[lane].len())
                .and_then(|step| placed(step, (lane, of_lanes[lane].len()), &of_lanes))
            {
                of_lanes[lane].push(placed);
                all.push(placed);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// A step behind those it waits for; nothing if one of these has no place yet.
fn placed(step: &Step, (lane, number): (usize, usize), known: &[Vec<Placed>]) -> Option<Placed> {
    let mut ended = known[lane].last().map_or([0; MAX_LANES], |last| last.ended);
    ended[lane] = narrow(number);
    for After { lane, step } in step.after.into_iter().flatten() {
        let awaited = known.get(usize::from(lane))?.get(step as usize)?;
        for (own, other) in ended.iter_mut().zip(awaited.ended) {
            *own = (*own).max(other);
        }
        let own = &mut ended[usize::from(lane)];
        *own = (*own).max(step + 1);
    }
    Some(Placed { lane, step: number, ended })
}

/// A program with the steps of these that are kept, each of which waits for all that it waited for: by way of those
/// that are left out, too. Lanes of engines without steps are left out.
pub fn kept(program: &Program, all: &[Placed], is_kept: &[Vec<bool>]) -> Program {
    // Of each lane, how many are kept among its first steps.
    let counts: Vec<Vec<u32>> = is_kept
        .iter()
        .map(|lane| {
            let count = lane.iter().scan(0, |count, kept| {
                *count += u32::from(*kept);
                Some(*count)
            });
            std::iter::once(0).chain(count).collect()
        })
        .collect();
    let among = |lane: usize, first: u32| counts[lane].get(first as usize).copied().unwrap_or(0);
    let mut made = Program { lanes: program.lanes.clone(), ..program.clone() };
    let mut ended: Vec<Vec<[u32; MAX_LANES]>> = vec![Vec::new(); program.lanes.len()];
    for lane in &mut made.lanes {
        lane.steps.clear();
    }
    for Placed { lane, step: number, ended: whole } in all {
        if !is_kept[*lane][*number] {
            continue;
        }
        let mut needed = [0; MAX_LANES];
        for (other, needed) in needed.iter_mut().enumerate().take(program.lanes.len()) {
            *needed = among(other, whole[other]);
        }
        let before = ended[*lane].last().copied().unwrap_or_default();
        // What the step before it, or another that it waits for, has waited for needs no wait of its own.
        let is_implied = |other: usize| {
            let by_third = (0..program.lanes.len()).any(|third| {
                third != other
                    && third != *lane
                    && needed[third]
                        .checked_sub(1)
                        .and_then(|last| ended[third].get(last as usize))
                        .is_some_and(|ended| ended[other] >= needed[other])
            });
            needed[other] <= before[other] || by_third
        };
        let waits = (0..program.lanes.len()).filter(|other| other != lane && !is_implied(*other));
        let mut after = [None; 3];
        for (after, other) in after.iter_mut().zip(waits) {
            *after = Some(After { lane: narrow(other), step: needed[other] - 1 });
        }
        let step = program.lanes[*lane].steps[*number];
        made.lanes[*lane].steps.push(Step { after, ..step });
        ended[*lane].push(needed);
    }
    without_idle(made)
}

/// The program without the lanes of engines that have no steps.
fn without_idle(mut program: Program) -> Program {
    let is_left: Vec<bool> = program
        .lanes
        .iter()
        .enumerate()
        .map(|(index, lane)| index == 0 || !lane.steps.is_empty())
        .collect();
    let number = |lane: u8| {
        let before = is_left.iter().take(lane.into()).filter(|left| **left).count();
        narrow(before)
    };
    let mut left = is_left.iter();
    program.lanes.retain(|_| left.next().copied().unwrap_or(false));
    for step in program.lanes.iter_mut().flat_map(|lane| &mut lane.steps) {
        for after in step.after.iter_mut().flatten() {
            after.lane = number(after.lane);
        }
    }
    program
}
