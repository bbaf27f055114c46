//! Dimensions of the same tensor in the file and in the graph.

/// The largest rank, dimensions of one element left out, of which all orders are tried.
const MOST_DIMS: usize = 4;

/// `values`, of the shape `dims`, with their dimensions in another order: dimension `i` of the result
/// is dimension `order[i]` of what is given.
pub(crate) fn permuted(values: &[f32], dims: &[usize], order: &[usize]) -> Vec<f32> {
    if order.iter().enumerate().all(|(index, axis)| index == *axis) {
        return values.to_vec();
    }
    let mut steps = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        steps[axis - 1] = steps[axis] * dims[axis];
    }
    let sizes: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
    let steps: Vec<usize> = order.iter().map(|axis| steps[*axis]).collect();
    let mut result = Vec::with_capacity(values.len());
    let mut at = vec![0; sizes.len()];
    let mut from = 0;
    for _ in 0..values.len() {
        result.push(values[from]);
        for axis in (0..sizes.len()).rev() {
            at[axis] += 1;
            from += steps[axis];
            if at[axis] < sizes[axis] {
                break;
            }
            from -= steps[axis] * sizes[axis];
            at[axis] = 0;
        }
    }
    result
}

/// The order that undoes `order`.
pub(crate) fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (index, axis) in order.iter().enumerate() {
        inverse[*axis] = index;
    }
    inverse
}

/// Ways to lay a tensor of the file out as the graph has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    /// The file's dimensions without those of one element.
    pub(crate) dims: Vec<usize>,
    /// Orders of these that give the graph's shape: channels last, as the file has them, then others.
    pub(crate) orders: Vec<Vec<usize>>,
}

/// All ways in which a tensor of the shape `file` can have the shape `graph`. Dimensions of one
/// element say nothing and are not looked at. With `is_fixed` the two orders that inputs and outputs
/// of a graph can have, and no other.
pub(crate) fn ways(file: &[usize], graph: &[usize], is_fixed: bool) -> Ways {
    let kept: Vec<usize> = (0..file.len()).filter(|axis| file[*axis] != 1).collect();
    let dims: Vec<usize> = kept.iter().map(|axis| file[*axis]).collect();
    let wanted: Vec<usize> = graph.iter().copied().filter(|dim| *dim != 1).collect();
    let fits = |order: &Vec<usize>| {
        order.len() == wanted.len() && order.iter().zip(&wanted).all(|(a, dim)| dims[*a] == *dim)
    };
    let mut last: Vec<usize> = (0..file.len()).collect();
    if file.len() > 2 {
        last[1..].rotate_left(1);
    }
    let last = last.iter().filter_map(|axis| kept.iter().position(|kept| kept == axis)).collect();
    let mut orders: Vec<Vec<usize>> = Vec::new();
    let mut add = |order: Vec<usize>| {
        if fits(&order) && !orders.contains(&order) {
            orders.push(order);
        }
    };
    add(last);
    add((0..dims.len()).collect());
    if !is_fixed && dims.len() <= MOST_DIMS {
        let mut all = Vec::new();
        every_order(dims.len(), &mut Vec::new(), &mut all);
        all.into_iter().for_each(add);
    }
    Ways { dims, orders }
}

fn every_order(rank: usize, begun: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if begun.len() == rank {
        all.push(begun.clone());
        return;
    }
    for axis in 0..rank {
        if !begun.contains(&axis) {
            begun.push(axis);
            every_order(rank, begun, all);
            begun.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_move_with_their_dimensions() {
        let values: Vec<f32> = (0..6u8).map(f32::from).collect();
        assert_eq!(permuted(&values, &[2, 3], &[1, 0]), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        let order = [2, 0, 1];
        let there = permuted(&values, &[1, 2, 3], &order);
        assert_eq!(permuted(&there, &[3, 1, 2], &inverse(&order)), values);
    }

    #[test]
    fn images_have_their_channels_last_and_signals_too() {
        let image = ways(&[1, 3, 4, 5], &[1, 4, 5, 3], true);
        assert_eq!(image, Ways { dims: vec![3, 4, 5], orders: vec![vec![1, 2, 0]] });
        assert_eq!(ways(&[1, 3, 7], &[1, 1, 7, 3], true).orders, [[1, 0]]);
        // A pooled image, and a row of classes, whichever way.
        assert_eq!(ways(&[1, 8, 1, 1], &[1, 1, 1, 8], true).orders, [[0]]);
        assert_eq!(ways(&[1, 10], &[1, 10], true).orders, [[0]]);
        assert_eq!(ways(&[], &[1], true).orders, [Vec::<usize>::new()]);
    }

    #[test]
    fn equal_dimensions_leave_several_ways_and_others_none() {
        assert_eq!(ways(&[1, 4, 4, 4], &[1, 4, 4, 4], true).orders, [[1, 2, 0], [0, 1, 2]]);
        assert_eq!(ways(&[1, 4, 4, 4], &[1, 4, 4, 4], false).orders.len(), 6);
        assert_eq!(ways(&[1, 2, 3], &[1, 3, 2], true).orders, [[1, 0]]);
        assert!(ways(&[1, 2, 3], &[1, 6], false).orders.is_empty());
        assert!(ways(&[1, 4, 5, 3], &[1, 3, 5, 4], true).orders.is_empty());
    }
}
