//! Kernels that move values: tables, gathers, resizing.

use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, cut, tile_of};
use crate::support::{Numbers, Tensor};
use proptest::prelude::*;
use tilewright_kernels::{
    Bilinear, GATHER_DIMENSIONS, Gather, Nearest, Source, Stride, Target, gather, lut, pack,
    resize_bilinear, resize_nearest,
};

/// A dimension of a gather over a flat input, as a definition sees it: all places that it reaches.
fn places(dimensions: &[Stride]) -> Vec<i64> {
    let mut places = vec![0];
    for dimension in dimensions {
        places = places
            .iter()
            .flat_map(|place| {
                (0..dimension.size).map(move |i| place + i as i64 * dimension.step as i64)
            })
            .collect();
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn tables_are_looked_up(shape in [1usize..6, 1..6, 1..12], seed: u64) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let results = numbers.bytes(256);
        let result = |x: i8| results[(i32::from(x) + 128) as usize];
        let table = pack::table(result);
        let expected = Tensor::from_fn(shape, |y, column, c| {
            result(x.get(y as i64, column as i64, c).unwrap())
        });
        for dense in [true, false] {
            for area in areas(numbers, shape, 1) {
                let from = layout(numbers, &area, dense);
                let input = Placed::filled(numbers, &x, &area, from);
                let to = layout(numbers, &area, dense);
                let mut placed = Placed::empty(numbers, to);
                let before = placed.bytes.clone();
                let source = Source::new(&input.bytes, from).unwrap();
                let target = &mut Target::new(&mut placed.bytes, to).unwrap();
                lut(&table, &tile_of(&area), &source, target).unwrap();
                placed.check(&before, &expected, &area);
            }
        }
    }

    #[test]
    fn gathers_take_each_element_from_its_place(
        sizes in [1usize..5, 1..5, 1..5, 1..5, 1..5, 1..5], split in [0usize..4, 0..4], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        // Repeated, reversed, overlapping, dense.
        let dimensions: [Stride; GATHER_DIMENSIONS] = sizes.map(|size| {
            let step = [-7, -3, -1, 0, 1, 1, 1, 4, 9][numbers.below(9)];
            Stride { size, step }
        });
        let (rows, rest) = dimensions.split_at(split[0]);
        let (columns, channels) = rest.split_at(split[1].min(rest.len()));
        let split = [rows.len(), columns.len()];
        let groups = [rows, columns, channels].map(places);
        let reach = |pick: fn(&Vec<i64>) -> Option<&i64>| -> i64 {
            groups.iter().map(|group| pick(group).unwrap()).sum()
        };
        let lowest = reach(|group| group.iter().min());
        let highest = reach(|group| group.iter().max());
        let start = (-lowest) as usize;
        let input = numbers.bytes(start + highest as usize + 1);
        let shape = [groups[0].len(), groups[1].len(), groups[2].len()];
        let expected = Tensor::from_fn(shape, |y, x, c| {
            input[(start as i64 + groups[0][y] + groups[1][x] + groups[2][c]) as usize]
        });
        let bytes: Vec<u8> = input.iter().map(|byte| *byte as u8).collect();
        let op = Gather { start, dimensions, split };
        let area = [0..shape[0], 0..shape[1], 0..shape[2]];
        for dense in [true, false] {
            let to = layout(numbers, &area, dense);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            gather(&op, &tile_of(&area), &bytes, target).unwrap();
            placed.check(&before, &expected, &area);
            let short = &bytes[..bytes.len() - 1];
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            prop_assert!(gather(&op, &tile_of(&area), short, target).is_err());
        }
    }

    #[test]
    fn nearest_pixels_are_those_of_the_table(
        shape in [1usize..7, 1..7, 1..6], size in [1usize..9, 1..9], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let mut table = |axis: usize| -> Vec<u16> {
            (0..size[axis]).map(|_| numbers.below(shape[axis]) as u16).collect()
        };
        let (rows, columns) = (table(0), table(1));
        let expected = Tensor::from_fn([size[0], size[1], shape[2]], |y, x_, c| {
            x.get(i64::from(rows[y]), i64::from(columns[x_]), c).unwrap()
        });
        let packed = pack::nearest(&rows, &columns);
        let op = Nearest::new(&packed, size[0]).unwrap();
        for area in areas(numbers, expected.shape, 1) {
            // What the tile needs, and no more.
            let seen = |table: &[u16], range: &std::ops::Range<usize>| {
                let seen = &table[range.clone()];
                usize::from(*seen.iter().min().unwrap())..usize::from(*seen.iter().max().unwrap()) + 1
            };
            let needed = [seen(&rows, &area[0]), seen(&columns, &area[1]), area[2].clone()];
            let from = layout(numbers, &needed, false);
            let input = Placed::filled(numbers, &x, &needed, from);
            let to = layout(numbers, &area, false);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            let source = Source::new(&input.bytes, from).unwrap();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            resize_nearest(&op, &tile_of(&area), &source, target).unwrap();
            placed.check(&before, &expected, &area);
        }
    }

    #[test]
    fn bilinear_pixels_are_weighted_means(
        shape in [1usize..7, 1..7, 1..6], size in [1usize..12, 1..12], half_pixel: bool, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let step = [0, 1].map(|axis| (shape[axis] * 1024 + size[axis] / 2) / size[axis]);
        let first = step.map(|step| if half_pixel { step as i64 / 2 - 512 } else { 0 });
        let place = |axis: usize, at: usize| at as i64 * step[axis] as i64 + first[axis];
        // Neighbours and their weights along an axis.
        let around = |axis: usize, at: usize| {
            let place = place(axis, at);
            let last = shape[axis] as i64 - 1;
            let low = place.max(0) / 1024;
            let high = if place <= 0 { 0 } else { (place + 1023) / 1024 };
            [(low, 1024 - (place - low * 1024)), (high.min(last), place - low * 1024)]
        };
        let expected = Tensor::from_fn([size[0], size[1], shape[2]], |oy, ox, c| {
            let mut sum = 0;
            for (y, row_weight) in around(0, oy) {
                for (x_, column_weight) in around(1, ox) {
                    sum += i64::from(x.get(y, x_, c).unwrap()) * row_weight * column_weight;
                }
            }
            // Halves away from zero.
            ((sum.abs() + (1 << 19)) / (1 << 20) * sum.signum()) as i8
        });
        let op = Bilinear { step: step.map(|s| s as i32), first: first.map(|f| f as i32) };
        for rows in cut(numbers, size[0], 1) {
            for columns in cut(numbers, size[1], 1) {
                let area = [rows.clone(), columns.clone(), 0..shape[2]];
                let seen = |axis: usize, range: &std::ops::Range<usize>| {
                    let all = range.clone().flat_map(|at| around(axis, at)).map(|(at, _)| at as usize);
                    all.clone().min().unwrap()..all.max().unwrap() + 1
                };
                let needed = [seen(0, &rows), seen(1, &columns), 0..shape[2]];
                let from = layout(numbers, &needed, false);
                let input = Placed::filled(numbers, &x, &needed, from);
                let to = layout(numbers, &area, false);
                let mut placed = Placed::empty(numbers, to);
                let before = placed.bytes.clone();
                let source = Source::new(&input.bytes, from).unwrap();
                let target = &mut Target::new(&mut placed.bytes, to).unwrap();
                let mut tile = tile_of(&area);
                tile.valid_start = [needed[0].start as i32, needed[1].start as i32];
                tile.valid_end = [needed[0].end as i32, needed[1].end as i32];
                resize_bilinear(&op, &tile, &source, target).unwrap();
                placed.check(&before, &expected, &area);
            }
        }
    }
}
