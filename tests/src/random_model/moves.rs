//! Operators that move or combine elements.

use super::Build;
use tilewright_model::{Op, Padding, Places, ResizeMode, TensorId, Window};

impl Build {
    pub(super) fn concat(&mut self, first: TensorId, second: TensorId) -> TensorId {
        let ([h, w, c], [sh, sw, sc]) = (self.hwc(first), self.hwc(second));
        let (second, axis, shape) = if [h, w] == [sh, sw] && self.rng.bool() {
            (second, 3, [h, w, c + sc])
        } else if [h, c] == [sh, sc] && self.rng.bool() {
            (second, 2, [h, w + sw, c])
        } else {
            (first, 1, [h * 2, w, c])
        };
        let output = self.activation(shape);
        self.node(Op::Concat { axis }, &[first, second], output)
    }

    /// Convolutions of one picture side by side at one scale, so that nothing need be copied; the
    /// first of them may be a concat itself.
    pub(super) fn branches(&mut self, from: TensorId) -> TensorId {
        let first = self.conv(from);
        let [h, w, _] = self.hwc(first);
        let mut parts = vec![first];
        for _ in 0..self.rng.usize(1..4) {
            let channels = self.rng.usize(1..5);
            let depth = self.hwc(first)[2];
            let [weights, bias] = self.weights(first, &[channels, 1, 1, depth], 0);
            let output = self.like(first, &[1, h, w, channels]);
            let (size, padding) = ([1, 1], Padding::default());
            let window = Window { size, stride: [1, 1], dilation: [1, 1], padding };
            let activation = self.activation_function();
            let op = Op::Conv { window, groups: 1, activation };
            self.node(op, &[first, weights, bias], output);
            parts.push(output);
            if self.rng.usize(..3) == 0 {
                let channels = parts.iter().map(|part| self.hwc(*part)[2]).sum();
                let joined = self.like(first, &[1, h, w, channels]);
                parts = vec![self.node(Op::Concat { axis: 3 }, &parts, joined)];
            }
        }
        let channels = parts.iter().map(|part| self.hwc(*part)[2]).sum();
        let output = self.like(first, &[1, h, w, channels]);
        self.node(Op::Concat { axis: 3 }, &parts, output)
    }

    /// A convolution of one pixel, one of three by three behind it, and their picture joined to the
    /// one that they read: a step of a dense block.
    pub(super) fn dense(&mut self, from: TensorId) -> TensorId {
        let [h, w, depth] = self.hwc(from);
        let grown = self.rng.usize(1..6);
        let wide = grown * self.rng.usize(1..5);
        let narrow = self.same_size(from, depth, wide, 1);
        let made = self.same_size(narrow, wide, grown, 3);
        let joined = self.like(from, &[1, h, w, depth + grown]);
        self.node(Op::Concat { axis: 3 }, &[from, made], joined)
    }

    /// A convolution that leaves the picture's size and scale.
    fn same_size(
        &mut self,
        from: TensorId,
        depth: usize,
        channels: usize,
        taps: usize,
    ) -> TensorId {
        let [h, w, _] = self.hwc(from);
        let [weights, bias] = self.weights(from, &[channels, taps, taps, depth], 0);
        let output = self.like(from, &[1, h, w, channels]);
        let [top, left, bottom, right] = [taps / 2; 4];
        let padding = Padding { top, left, bottom, right };
        let window = Window { size: [taps; 2], stride: [1, 1], dilation: [1, 1], padding };
        let activation = self.activation_function();
        self.node(Op::Conv { window, groups: 1, activation }, &[from, weights, bias], output)
    }

    pub(super) fn pad(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let [top, bottom, left, right] = [0; 4].map(|_: usize| self.rng.usize(..3));
        let of_channels = self.rng.usize(..4) == 0;
        let channels =
            if of_channels { (self.rng.usize(..3), self.rng.usize(..4)) } else { (0, 0) };
        let channels_made = c + channels.0 + channels.1;
        let output = self.like(from, &[1, h + top + bottom, w + left + right, channels_made]);
        let amounts = vec![(0, 0), (top, bottom), (left, right), channels];
        let filler = [0.0, 0.0, -0.7, 1e9][self.rng.usize(..4)];
        self.node(Op::Pad { amounts, filler }, &[from], output)
    }

    /// A part of each dimension, forwards or backwards.
    pub(super) fn slice(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (mut begin, mut size, mut stride) = (vec![0], vec![1], vec![1]);
        for dim in [h, w, c] {
            let step = self.rng.usize(1..4);
            let most = dim.div_ceil(step);
            let count = self.rng.usize(1..=most);
            let reach = (count - 1) * step;
            let first = self.rng.usize(..dim - reach);
            if self.rng.bool() {
                begin.push(first);
                stride.push(step as isize);
            } else {
                begin.push(first + reach);
                stride.push(-(step as isize));
            }
            size.push(count);
        }
        let output = self.like(from, &size);
        self.node(Op::Slice { begin, size, stride }, &[from], output)
    }

    /// Two parts of a picture along one dimension, one after the other; now and then they share a
    /// part, or leave one out.
    pub(super) fn split(&mut self, from: TensorId) -> [TensorId; 2] {
        let sides = self.hwc(from);
        let axis = self.rng.usize(..3);
        let long = sides[axis];
        let border = self.rng.usize(1..long.max(2)).min(long);
        let second = if self.rng.usize(..4) == 0 { self.rng.usize(..long) } else { border };
        let second = second.min(long - 1);
        [(0, border), (second, long - second)].map(|(first, count)| {
            let (mut begin, mut size) = (vec![0; 4], [1, sides[0], sides[1], sides[2]]);
            (begin[axis + 1], size[axis + 1]) = (first, count);
            let output = self.like(from, &size);
            let op = Op::Slice { begin, size: size.to_vec(), stride: vec![1; 4] };
            self.node(op, &[from], output)
        })
    }

    /// Another order of dimensions, blocks to channels and back, or shuffled channels.
    pub(super) fn rearrange(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let block = self.rng.usize(2..4);
        let groups = (2..=c).find(|groups| c.is_multiple_of(*groups));
        if h.is_multiple_of(block) && w.is_multiple_of(block) && c * block * block <= 40 {
            let output = self.like(from, &[1, h / block, w / block, c * block * block]);
            return self.node(Op::SpaceToDepth { block }, &[from], output);
        }
        if c.is_multiple_of(block * block) {
            let output = self.like(from, &[1, h * block, w * block, c / (block * block)]);
            return self.node(Op::DepthToSpace { block }, &[from], output);
        }
        match groups {
            Some(groups) if self.rng.bool() => {
                let apart = self.like(from, &[1, h, w, groups, c / groups]);
                self.node(Op::Reshape, &[from], apart);
                let shuffled = self.like(from, &[1, h, w, c / groups, groups]);
                let permutation = vec![0, 1, 2, 4, 3];
                self.node(Op::Transpose { permutation }, &[apart], shuffled);
                let output = self.like(from, &[1, h, w, c]);
                self.node(Op::Reshape, &[shuffled], output)
            }
            _ => {
                let mut order = [1, 2, 3];
                self.rng.shuffle(&mut order);
                let dims = order.map(|axis| [h, w, c][axis - 1]);
                let output = self.like(from, &[1, dims[0], dims[1], dims[2]]);
                let permutation = vec![0, order[0], order[1], order[2]];
                self.node(Op::Transpose { permutation }, &[from], output)
            }
        }
    }

    pub(super) fn resize(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let size = [h, w].map(|side| self.rng.usize(1..=(2 * side + 1).min(24)));
        let output = self.like(from, &[1, size[0], size[1], c]);
        let mode = [ResizeMode::Nearest, ResizeMode::Bilinear][self.rng.usize(..2)];
        let (align_corners, half_pixel_centers) =
            [(false, false), (true, false), (false, true)][self.rng.usize(..3)];
        // As when sizes are cut: from a place before or behind the first pixel on, and not to the end.
        let by_places = self.rng.u8(..4) == 0;
        let step = |before: usize, after: usize| before as f32 / (after as f32 + 0.4);
        let places = by_places.then(|| {
            [(h, size[0]), (w, size[1])].map(|(before, after)| {
                let step = step(before, after);
                Places { first: (step - 1.0) / 2.0, step }
            })
        });
        let op = Op::Resize { mode, align_corners, half_pixel_centers, places };
        self.node(op, &[from], output)
    }

    /// A mean over some dimensions, seen as a picture again.
    pub(super) fn mean(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let axes: Vec<usize> = (1..4).filter(|_| self.rng.bool()).collect();
        let kept: Vec<usize> = [h, w, c]
            .iter()
            .zip(1..4)
            .map(|(dim, axis)| if axes.contains(&axis) { 1 } else { *dim })
            .collect();
        if self.rng.bool() {
            let output = self.activation([kept[0], kept[1], kept[2]]);
            return self.node(Op::Mean { axes, keep_dims: true }, &[from], output);
        }
        let left: Vec<usize> = [1, h, w, c]
            .into_iter()
            .zip(0..)
            .filter(|(_, axis)| !axes.contains(axis))
            .map(|(dim, _)| dim)
            .collect();
        let quantisation = self.quantisation();
        let output = self.add_tensor(&left, Some(quantisation), None);
        self.node(Op::Mean { axes, keep_dims: false }, &[from], output);
        let picture = self.like(output, &[1, kept[0], kept[1], kept[2]]);
        self.node(Op::Reshape, &[output], picture)
    }

    /// Where the largest values are; nothing can follow it.
    pub(super) fn arg_max(&mut self, from: TensorId) -> TensorId {
        let mut dims = vec![1];
        dims.extend(self.hwc(from));
        let axis = self.rng.usize(1..4);
        let keep_dims = self.rng.bool();
        if keep_dims {
            dims[axis] = 1;
        } else {
            dims.remove(axis);
        }
        let output = self.add_indices(&dims);
        self.node(Op::ArgMax { axis, keep_dims }, &[from], output)
    }
}
