//! Which layers go through their rows together: those whose activations SRAM does not hold, with
//! some of those around them; where not all can, some by some ([`segments`]).

mod segments;

use std::ops::Range;

use super::arrange::Arranging;
use super::strips::{Fineness, MOST_LAYERS, Network, Strips};
use crate::PlanError;
use crate::strategy::overlay::partition::Operator;

/// Layers before and behind those that do not fit that may go with them.
const AROUND: usize = 6;
/// Runs of layers that are no further apart go together.
const APART: usize = 4;
/// Rows of the last layer that are made at once.
const ROWS: [u16; 3] = [1, 2, 4];
/// Bytes of outputs that are made at once; all, a few rows, or one.
const BYTES: [u64; 4] = [u64::MAX, 16 << 10, 8 << 10, 1];
/// Ways of a run that are tried: of those with fewest steps, and of those that need least.
const TRIED: [usize; 2] = [8, 4];

/// The ways for layers to go together so that what they hold fits `budget` bytes, of external RAM besides
/// `external`; none if all layers do without, or nothing helps.
///
/// # Errors
/// [`PlanError`] names the tensor that cannot be planned.
pub fn ways(
    arranging: &Arranging<'_>,
    [budget, external]: [u64; 2],
) -> Result<Vec<Vec<Strips>>, PlanError> {
    let draft = arranging.draft()?;
    let operators = Operator::of(&draft);
    let network = arranging.network(&draft, &operators);
    let needed: Vec<u64> = arranging.needed().collect();
    // Weights need room beside activations.
    for eighths in [8, 7, 6, 4] {
        let limit = budget / 8 * eighths;
        let is_large: Vec<bool> = needed.iter().map(|bytes| *bytes > limit).collect();
        let external = if eighths == 8 { external } else { 0 };
        let found = of_all(&network, &is_large, [budget, external]);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The ways for all runs of layers that are large.
fn of_all(
    network: &Network<'_>,
    is_large: &[bool],
    [budget, external]: [u64; 2],
) -> Vec<Vec<Strips>> {
    let mut of_runs = Vec::new();
    let mut end = 0;
    let runs = runs(is_large);
    if let [run] = runs.as_slice() {
        let ways = of_run(network, run.clone(), 0..is_large.len(), budget);
        if ways.is_empty() {
            return segments::ways(network, run, is_large.len(), [budget, external]);
        }
    }
    for run in runs {
        let ways = of_run(network, run, end..is_large.len(), budget);
        let Some(last) = ways.iter().map(|strips| strips.layers.end).max() else {
            return Vec::new();
        };
        end = last;
        of_runs.push(ways);
    }
    let count = of_runs.iter().map(Vec::len).max().unwrap_or(0);
    let way = |number: usize| {
        let of_run = |ways: &Vec<Strips>| ways[number.min(ways.len() - 1)].clone();
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

/// The ways for a run to go together with some of the layers around it, within `all`.
fn of_run(network: &Network<'_>, run: Range<usize>, all: Range<usize>, budget: u64) -> Vec<Strips> {
    let starts = (run.start.saturating_sub(AROUND).max(all.start)..=run.start).rev();
    let mut found: Vec<(usize, u64, Strips)> = Vec::new();
    for start in starts {
        if !network.makes_rows(start) {
            break;
        }
        let ends =
            (run.end..=all.end.min(run.end + AROUND)).filter(|end| end - start <= MOST_LAYERS);
        for end in ends {
            for (rows, bytes) in ROWS.iter().flat_map(|rows| BYTES.map(|bytes| (*rows, bytes))) {
                let Some(strips) = network.strips(start..end, Fineness { rows, bytes }, &[]) else {
                    break;
                };
                let needed = strips.least_bytes();
                if needed <= budget {
                    found.push((strips.made.len(), needed, strips));
                }
            }
        }
    }
    let [fewest, least] = TRIED;
    found.sort_by_key(|(steps, needed, _)| (*steps, *needed));
    found.dedup_by(|(_, _, a), (_, _, b)| a.layers == b.layers && a.made == b.made);
    let mut rest = found.split_off(fewest.min(found.len()));
    rest.sort_by_key(|(steps, needed, _)| (*needed, *steps));
    rest.truncate(least);
    found.into_iter().chain(rest).map(|(.., strips)| strips).collect()
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn what_is_near_goes_together() {
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
