//! Which layers form depth-first groups: those whose activations SRAM does not hold, with some of those around them.
//! Where one group cannot hold all, several follow each other ([`borders`]).

mod borders;
mod inside;
mod known;
mod times;

pub use borders::Choice;
pub use inside::ways as bordered_inside;
pub use known::KnownGroups;
pub use times::Times;

use std::ops::Range;
use std::rc::Rc;

use super::arrange::Arranging;
use crate::PlanError;
use crate::costs::CostCache;
use crate::schedule::cut::Fineness;
use crate::schedule::depth_first::{DepthFirstGroup, MOST_LAYERS};
use crate::schedule::operator::Operator;
use tilewright_board::Board;
use tilewright_plan::Cycles;

/// Layers before and behind those that do not fit that may go with them.
pub const AROUND: usize = 6;
/// Runs of layers that are no further apart are one.
const APART: usize = 4;
/// Rows of the last layer that are made at once.
const ROWS: [u16; 3] = [1, 2, 4];
/// The same where no weights need room beside what is held.
const MANY_ROWS: [u16; 6] = [1, 2, 4, 8, 16, 32];
/// Bytes of outputs that are made at once; all, a few rows, or one.
const BYTES: [u64; 4] = [u64::MAX, 16 << 10, 8 << 10, 1];
/// Ways of a run that are tried: of those with fewest steps, and of those that need least.
const TRIED: [usize; 2] = [8, 4];

/// The ways to form depth-first groups so that what they hold fits `budget` bytes, of external RAM besides
/// `external`; none if all layers do without, or nothing helps. Those alone that are worth a look, of which the core's
/// least time is told.
///
/// # Errors
/// [`PlanError`] names the tensor that cannot be planned.
pub fn ways(
    arranging: &Arranging<'_>,
    [budget, external]: [u64; 2],
    (board, costs): (&Board, &CostCache),
    is_worth: &mut dyn FnMut(Cycles) -> bool,
) -> Result<Vec<Vec<DepthFirstGroup>>, PlanError> {
    let draft = arranging.draft()?;
    let operators = Operator::of(&draft);
    let known = KnownGroups::new(arranging, arranging.network(&draft, &operators));
    // Weights need room beside activations.
    for eighths in [8, 7, 6, 4] {
        let is_large = larger(known.needed(), budget / 8 * eighths);
        let external = if eighths == 8 { external } else { 0 };
        let mut found = of_all(&known, &is_large, [budget, external]);
        if !found.is_empty() {
            found.retain(|way| is_worth(known.least(&operators, way, (board, costs))));
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The ways to form several groups of the layers that do not fit, with borders outside of SRAM; where the frame lies
/// outside too, from the first layer on.
///
/// # Errors
/// As [`ways`].
pub fn bordered(
    arranging: &Arranging<'_>,
    [budget, external]: [u64; 2],
    choice: Choice<'_>,
) -> Result<Vec<Vec<DepthFirstGroup>>, PlanError> {
    let draft = arranging.draft()?;
    let operators = Operator::of(&draft);
    let network = arranging.network(&draft, &operators);
    let needed: Vec<u64> = arranging.needed_beside(budget / 4).collect();
    // Weights need room beside activations.
    let all = [8, 7, 6].into_iter().filter_map(|eighths| {
        let all = all_runs(&runs(&larger(&needed, budget / 8 * eighths)))?;
        Some(if choice.takes { 0..all.end } else { all })
    });
    let mut all: Vec<Range<usize>> = all.collect();
    all.dedup();
    let found = all
        .iter()
        .map(|all| borders::ways(&network, all, needed.len(), [budget, external], choice));
    Ok(found.flatten().collect())
}

/// Of each layer whether it needs more than so many bytes.
fn larger(needed: &[u64], limit: u64) -> Vec<bool> {
    needed.iter().map(|bytes| *bytes > limit).collect()
}

/// From the first run to the last.
fn all_runs(runs: &[Range<usize>]) -> Option<Range<usize>> {
    runs.first().zip(runs.last()).map(|(first, last)| first.start..last.end)
}

/// The same where all weights lie in the plan image, from few steps to many.
pub fn ways_with_weights(
    known: &KnownGroups<'_>,
    [budget, external]: [u64; 2],
) -> Vec<Vec<DepthFirstGroup>> {
    let is_large = larger(known.needed(), budget);
    let all = is_large.len();
    let (mut found, mut end) = (vec![Vec::<DepthFirstGroup>::new()], 0);
    for run in runs(&is_large) {
        let within = end..all;
        let ways = |outside: &[usize]| {
            let given = (budget, &MANY_ROWS[..], outside);
            of_run_with(known, run.clone(), within.clone(), given)
        };
        let mut of_run = ways(&[]);
        // What programs take may be read where it arrives.
        let network = known.network();
        let taken: Vec<usize> = network.taken().collect();
        let bytes: u64 = taken.iter().map(|tensor| network.bytes(*tensor)).sum();
        if bytes <= external {
            of_run.extend(ways(&taken).into_iter().filter(|group| group.layers.start == 0));
        }
        of_run.sort_by_key(|group| (more_steps(group), group.least_bytes()));
        of_run.dedup_by(|a, b| a.layers == b.layers && a.made == b.made && a.outside == b.outside);
        of_run.truncate(TRIED[0]);
        // Of several runs the first ways go with the first.
        let count = if found.len() == 1 { of_run.len() } else { found.len() };
        let with = |number: usize| {
            let before: &Vec<DepthFirstGroup> = found.get(number).or_else(|| found.last())?;
            let own = of_run.get(number).or_else(|| of_run.last())?;
            let own = DepthFirstGroup::clone(own);
            Some(before.iter().cloned().chain([own]).collect::<Vec<DepthFirstGroup>>())
        };
        found = (0..count).filter_map(with).collect();
        let ends = found.iter().flatten().map(|group| group.layers.end);
        end = ends.max().unwrap_or(end);
    }
    found.retain(|way| !way.is_empty());
    found
}

/// Steps more than one for each layer.
fn more_steps(group: &DepthFirstGroup) -> usize {
    group.made.len() - group.layers.len()
}

/// The ways for all runs of layers that are large.
fn of_all(
    known: &KnownGroups<'_>,
    is_large: &[bool],
    [budget, external]: [u64; 2],
) -> Vec<Vec<DepthFirstGroup>> {
    let mut of_runs = Vec::new();
    let mut end = 0;
    let runs = runs(is_large);
    let all = all_runs(&runs).unwrap_or_default();
    for run in runs {
        let ways = of_run(known, run, end..is_large.len(), budget);
        let Some(last) = ways.iter().map(|group| group.layers.end).max() else {
            let choice = Choice { takes: false, times: None };
            return borders::ways(
                known.network(),
                &all,
                is_large.len(),
                [budget, external],
                choice,
            );
        };
        end = last;
        of_runs.push(ways);
    }
    let count = of_runs.iter().map(Vec::len).max().unwrap_or(0);
    let way = |number: usize| {
        let of_run = |ways: &Vec<DepthFirstGroup>| ways[number.min(ways.len() - 1)].clone();
        of_runs.iter().map(of_run).collect()
    };
    (0..count).map(way).collect()
}

/// The runs of layers that do not fit; those near each other as one.
fn runs(is_large: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for layer in (0..is_large.len()).filter(|layer| is_large[*layer]) {
        match runs.last_mut().filter(|run| layer - run.end <= APART) {
            Some(run) => run.end = layer + 1,
            None => runs.push(layer..layer + 1),
        }
    }
    runs
}

/// The ways to form a group of a run and some of the layers around it, within `all`.
fn of_run(
    known: &KnownGroups<'_>,
    run: Range<usize>,
    all: Range<usize>,
    budget: u64,
) -> Vec<DepthFirstGroup> {
    let ways = of_run_with(known, run, all, (budget, &ROWS, &[]));
    let mut found: Vec<(usize, u64, Rc<DepthFirstGroup>)> =
        ways.into_iter().map(|group| (group.made.len(), group.least_bytes(), group)).collect();
    let [fewest, least] = TRIED;
    found.sort_by_key(|(steps, needed, _)| (*steps, *needed));
    found.dedup_by(|(_, _, a), (_, _, b)| a.layers == b.layers && a.made == b.made);
    let mut rest = found.split_off(fewest.min(found.len()));
    rest.sort_by_key(|(steps, needed, _)| (*needed, *steps));
    rest.truncate(least);
    found.into_iter().chain(rest).map(|(.., group)| Rc::unwrap_or_clone(group)).collect()
}

/// All of them, with so many rows of the last layer at once, and some tensors in external RAM.
fn of_run_with(
    known: &KnownGroups<'_>,
    run: Range<usize>,
    all: Range<usize>,
    (budget, rows, outside): (u64, &[u16], &[usize]),
) -> Vec<Rc<DepthFirstGroup>> {
    let starts = (run.start.saturating_sub(AROUND).max(all.start)..=run.start).rev();
    let mut found = Vec::new();
    for start in starts {
        if !known.network().makes_rows(start) {
            break;
        }
        let ends =
            (run.end..=all.end.min(run.end + AROUND)).filter(|end| end - start <= MOST_LAYERS);
        for end in ends {
            for (rows, bytes) in rows.iter().flat_map(|rows| BYTES.map(|bytes| (*rows, bytes))) {
                let fineness = Fineness::of_rows(rows, bytes);
                let Some(group) = known.group(start..end, fineness, outside) else { break };
                if group.least_bytes() <= budget {
                    found.push(group);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_near_each_other_are_one() {
        let large = |at: &[usize]| {
            let mut all = vec![false; 20];
            at.iter().for_each(|layer| all[*layer] = true);
            runs(&all)
        };
        assert_eq!(large(&[0, 1, 6, 12]), [0..7, 12..13]);
        assert_eq!(large(&[0, 6]), [0..1, 6..7]);
        assert_eq!(large(&[]), []);
    }
}
