//! The order inside each layer: sweeps by the barycentre of neighbours (Sugiyama et al. 1981),
//! keeping the order with the fewest crossings (counted as Barth, Jünger and Mutzel 2002 do).

use super::layout::Layered;

/// Sweeps, down and up by turns.
const SWEEPS: usize = 12;
/// Sweeps without a better order after which none is expected any more.
const PATIENCE: usize = 4;

/// Orders the rows so that few edges cross.
pub(super) fn order(layered: &mut Layered) {
    let mut places = vec![0usize; layered.above.len()];
    layered.rows.iter().for_each(|row| number(row, &mut places));
    let mut best = (crossings(layered, &places), layered.rows.clone());
    let mut since = 0;
    for sweep in 0..SWEEPS {
        if best.0 == 0 || since == PATIENCE {
            break;
        }
        let rows = layered.rows.len();
        for step in 1..rows {
            let (row, neighbours) = match sweep % 2 {
                0 => (step, &layered.above),
                _ => (rows - 1 - step, &layered.below),
            };
            sort(&mut layered.rows[row], neighbours, &places);
            number(&layered.rows[row], &mut places);
        }
        let crossings = crossings(layered, &places);
        since += 1;
        if crossings < best.0 {
            best = (crossings, layered.rows.clone());
            since = 0;
        }
    }
    layered.rows = best.1;
}

fn number(row: &[usize], places: &mut [usize]) {
    row.iter().enumerate().for_each(|(place, index)| places[*index] = place);
}

/// Sorts a row by the mean place of neighbours; what has none keeps its place.
fn sort(row: &mut [usize], neighbours: &[Vec<usize>], places: &[usize]) {
    let mean = |index: usize| {
        let own = &neighbours[index];
        let sum: usize = own.iter().map(|other| places[*other]).sum();
        (!own.is_empty()).then(|| sum as f64 / own.len() as f64)
    };
    let mut keyed: Vec<(f64, usize)> =
        row.iter().filter_map(|index| Some((mean(*index)?, *index))).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sorted = keyed.into_iter().map(|(_, index)| index);
    for slot in row.iter_mut().filter(|index| !neighbours[**index].is_empty()) {
        if let Some(index) = sorted.next() {
            *slot = index;
        }
    }
}

/// Pairs of edges that cross, over all layers.
fn crossings(layered: &Layered, places: &[usize]) -> u64 {
    let mut tree: Vec<u64> = Vec::new();
    let mut all = 0;
    for rows in layered.rows.windows(2) {
        let [upper, lower] = rows else { continue };
        tree.clear();
        tree.resize(lower.len() + 1, 0);
        let mut ends: Vec<usize> = Vec::new();
        let mut seen = 0;
        for index in upper {
            ends.clear();
            ends.extend(layered.below[*index].iter().map(|below| places[*below]));
            ends.sort_unstable();
            for end in &ends {
                all += seen - before(&tree, *end + 1);
            }
            ends.iter().for_each(|end| add(&mut tree, *end + 1));
            seen += ends.len() as u64;
        }
    }
    all
}

/// How many of a Fenwick tree's entries lie at or before `place`, which counts from 1.
fn before(tree: &[u64], mut place: usize) -> u64 {
    let mut sum = 0;
    while place > 0 {
        sum += tree[place];
        place &= place - 1;
    }
    sum
}

fn add(tree: &mut [u64], mut place: usize) {
    while place < tree.len() {
        tree[place] += 1;
        place += place & place.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &[(usize, usize)], upper: usize, lower: usize) -> Layered {
        let count = upper + lower;
        let rows = vec![(0..upper).collect(), (upper..count).collect()];
        let mut layered = Layered {
            rows,
            above: vec![Vec::new(); count],
            below: vec![Vec::new(); count],
            vertices: count,
        };
        for (from, to) in edges {
            layered.below[*from].push(upper + to);
            layered.above[upper + to].push(*from);
        }
        layered
    }

    fn count(layered: &Layered) -> u64 {
        let mut places = vec![0; layered.above.len()];
        layered.rows.iter().for_each(|row| number(row, &mut places));
        crossings(layered, &places)
    }

    #[test]
    fn crossings_are_counted_as_pairs() {
        assert_eq!(count(&of(&[(0, 1), (1, 0)], 2, 2)), 1);
        assert_eq!(count(&of(&[(0, 0), (1, 0), (0, 1), (1, 1)], 2, 2)), 1);
        assert_eq!(count(&of(&[(0, 2), (1, 1), (2, 0)], 3, 3)), 3);
        assert_eq!(count(&of(&[(0, 0), (0, 1), (1, 1), (1, 1)], 2, 2)), 0);
    }

    #[test]
    fn a_twisted_ladder_is_untwisted() {
        let twisted: Vec<(usize, usize)> = (0..8).map(|i| (i, 7 - i)).collect();
        let mut layered = of(&twisted, 8, 8);
        assert_eq!(count(&layered), 28);
        order(&mut layered);
        assert_eq!(count(&layered), 0);
        let mut sorted = layered.rows[1].clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (8..16).collect::<Vec<_>>(), "nothing is lost");
    }
}
