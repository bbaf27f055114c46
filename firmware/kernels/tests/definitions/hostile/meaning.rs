//! What kernels mean on nonsense that they accept: windows in 64 bits, one tap at a time; of kernels for
//! particular processors what the portable ones compute.

use super::calls::{Case, same_as};
use super::dense;
use crate::support::{Numbers, definition};
use tilewright_kernels::{AveragePool, Channels, Layout, Source, Target, Tile, Window};

impl Case {
    /// The elements of the target, dense; nothing where the kernel is not defined again here.
    ///
    /// # Panics
    /// If a window sees what the input's box does not have, so that nothing should have been computed.
    pub fn meaning(&self, kernel: usize, numbers: &mut Numbers, to: &Layout) -> Option<Vec<u8>> {
        let Tile { output_start, output_size, .. } = self.tile;
        let is_none = |axis: usize| output_size[axis] == 0 || output_start[axis] == i32::MAX;
        if (is_none(0) || is_none(1)) && !matches!(kernel, 2 | 31) {
            // No pixels that coordinates can tell.
            return Some(dense(&self.before, self.to).bytes);
        }
        let portable = same_as(kernel);
        if portable != kernel {
            let from = dense(&self.input, self.from);
            let mut bytes = dense(&self.before, self.to).bytes;
            let input = Source::new(&from.bytes, from.layout).unwrap();
            let target = &mut Target::new(&mut bytes, *to).unwrap();
            self.call(portable, numbers, &input, target).unwrap();
            return Some(bytes);
        }
        let channels = Channels::new(&self.constants);
        let [input_zero, weight_zero] = self.zeros.map(i64::from);
        let [height, width] = self.window.size;
        let outputs = self.tile.channels;
        let convolved = |at: [i64; 2], c: usize| {
            let channel = channels.get(c).unwrap();
            let mut sum = i64::from(channel.bias);
            for ([ky, kx], place) in self.taps(&self.window, at) {
                let inputs = self.from.channels / self.groups;
                let mut add = |input: usize, weight: usize| {
                    let weight = i64::from(self.weights[weight] as i8) - weight_zero;
                    sum += (self.value(place, input) - input_zero) * weight;
                };
                if kernel == 1 {
                    add(c / self.groups, (ky * width + kx) * outputs + c);
                } else {
                    let first = c / (outputs / self.groups) * inputs;
                    let filter = ((c * height + ky) * width + kx) * inputs;
                    (0..inputs).for_each(|input| add(first + input, filter + input));
                }
            }
            definition::finish(sum, channel.factor, &self.output)
        };
        let seen = |at: [i64; 2], c: usize| -> Vec<i64> {
            let taps = self.taps(&self.window, at);
            taps.into_iter().map(|(_, place)| self.value(place, c)).collect()
        };
        let clamp =
            |value: i64| value.clamp(i64::from(self.output.min), i64::from(self.output.max)) as i8;
        match kernel {
            0 | 1 => Some(self.each(to, convolved)),
            3 => Some(self.each(to, |at, c| {
                clamp(seen(at, c).into_iter().max().expect("the kernel saw input"))
            })),
            4 => {
                let AveragePool { counted, halves_up, .. } = self.average_pool(numbers);
                let mean = |at: [i64; 2], c: usize| {
                    let values = seen(at, c);
                    let (sum, count) = (values.iter().sum::<i64>(), values.len() as i64);
                    clamp(match halves_up {
                        true => (2 * sum + count).div_euclid(2 * count),
                        false => (2 * sum.abs() + count) / (2 * count) * sum.signum(),
                    })
                };
                counted.is_none().then(|| self.each(to, mean))
            }
            _ => None,
        }
    }

    /// The target's elements with those of the tile computed.
    fn each(&self, to: &Layout, value: impl Fn([i64; 2], usize) -> i8) -> Vec<u8> {
        let mut bytes = dense(&self.before, self.to).bytes;
        for row in 0..self.tile.output_size[0] {
            for column in 0..self.tile.output_size[1] {
                let at = [row, column].map(|at| at as i64);
                let at = [0, 1].map(|axis| at[axis] + i64::from(self.tile.output_start[axis]));
                let place = [0, 1].map(|axis| (at[axis] - i64::from(to.first[axis])) as usize);
                assert!(place[0] < to.rows && place[1] < to.columns, "the tile leaves its box");
                for c in 0..self.tile.channels {
                    let element = (place[0] * to.columns + place[1]) * to.channels + c;
                    bytes[element] = value(at, c) as u8;
                }
            }
        }
        bytes
    }

    /// Taps of a window that see valid input, and the coordinates that they see.
    fn taps(&self, window: &Window, output: [i64; 2]) -> Vec<([usize; 2], [i64; 2])> {
        let along = |axis: usize| -> Vec<(usize, i64)> {
            let origin = output[axis] * i64::from(window.stride[axis]);
            let origin = origin - i64::from(window.padding[axis]);
            let place = |tap: usize| origin + tap as i64 * i64::from(window.dilation[axis]);
            let valid =
                i64::from(self.tile.valid_start[axis])..i64::from(self.tile.valid_end[axis]);
            let taps = (0..window.size[axis]).map(|tap| (tap, place(tap)));
            taps.filter(|(_, place)| valid.contains(place)).collect()
        };
        let (rows, columns) = (along(0), along(1));
        let taps = rows
            .iter()
            .flat_map(|(ky, y)| columns.iter().map(move |(kx, x)| ([*ky, *kx], [*y, *x])));
        taps.collect()
    }

    fn value(&self, [y, x]: [i64; 2], c: usize) -> i64 {
        let l = &self.from;
        let (row, column) = (y - i64::from(l.first[0]), x - i64::from(l.first[1]));
        let inside = (0..l.rows as i64).contains(&row) && (0..l.columns as i64).contains(&column);
        assert!(inside && c < l.channels, "the window sees {y}, {x}, which the box does not have");
        let row = (row as usize + l.ring_first) % l.ring_rows;
        let offset = row * l.row_pitch + column as usize * l.column_pitch + c;
        i64::from(self.input[offset] as i8)
    }
}
