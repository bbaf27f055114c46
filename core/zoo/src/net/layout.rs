//! Pooling, and what moves values without changing them.

use tilewright_model::op::ResizeMode;
use tilewright_model::{Activation, Op, Padding, Window};

use super::weighted::ends;
use super::{Id, Net, Pad};
use crate::statistics::Statistics;

/// A pooling window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    size: usize,
    stride: usize,
    pad: Pad,
}

impl Pool {
    /// `size`×`size` windows, `stride` apart, without padding.
    pub(crate) const fn new(size: usize, stride: usize) -> Self {
        Self { size, stride, pad: Pad::Each(0) }
    }

    pub(crate) const fn pad(self, pad: Pad) -> Self {
        Self { pad, ..self }
    }
}

impl Net {
    fn pool_window(&self, x: Id, pool: Pool) -> Window {
        let [height, width, _] = self.image(x);
        let (top, bottom) = ends(pool.pad, height, pool.size, pool.stride);
        let (left, right) = ends(pool.pad, width, pool.size, pool.stride);
        Window {
            stride: [pool.stride; 2],
            padding: Padding { top, left, bottom, right },
            ..Window::dense([pool.size; 2])
        }
    }

    pub(crate) fn max_pool(&mut self, x: Id, pool: Pool) -> Id {
        let window = self.pool_window(x, pool);
        let name = self.name("max_pool");
        let after = self.statistics[x.0].largest();
        let op = Op::MaxPool { window, activation: Activation::None };
        self.node(name, op, vec![x], &[], after)
    }

    /// Means of windows; padding does not count.
    pub(crate) fn average_pool(&mut self, x: Id, pool: Pool) -> Id {
        let window = self.pool_window(x, pool);
        self.average(x, window)
    }

    /// The mean of each channel.
    pub(crate) fn global_pool(&mut self, x: Id) -> Id {
        let [height, width, _] = self.image(x);
        self.average(x, Window::dense([height, width]))
    }

    fn average(&mut self, x: Id, window: Window) -> Id {
        let name = self.name("average_pool");
        let after = self.statistics[x.0].pooled(window.size[0] * window.size[1]);
        let op = Op::AveragePool {
            window,
            count_padding: false,
            uncounted: [0, 0],
            halves_up: false,
            activation: Activation::None,
        };
        self.node(name, op, vec![x], &[], after)
    }

    /// Channels one behind the other.
    pub(crate) fn concat(&mut self, parts: &[Id]) -> Id {
        let all: Vec<_> =
            parts.iter().map(|part| (self.statistics[part.0], self.channels(*part))).collect();
        let name = self.name("concat");
        let after = Statistics::beside(&all);
        self.node(name, Op::Concat { axis: 3 }, parts.to_vec(), &[], after)
    }

    pub(crate) fn reshape(&mut self, x: Id, dims: &[usize]) -> Id {
        let name = self.name("reshape");
        self.node(name, Op::Reshape, vec![x], dims, self.statistics[x.0])
    }

    /// An image as a vector.
    pub(crate) fn flatten(&mut self, x: Id) -> Id {
        if self.model.tensor(x).shape.rank() == 2 {
            return x;
        }
        let elements = self.image(x).iter().fold(1usize, |all, n| all.saturating_mul(*n));
        self.reshape(x, &[1, elements])
    }

    /// Channels from `first` on.
    pub(crate) fn slice_channels(&mut self, x: Id, first: usize, count: usize) -> Id {
        let [height, width, _] = self.image(x);
        self.slice(x, [0, 0, 0, first], [1, height, width, count], [1; 4])
    }

    fn slice(&mut self, x: Id, begin: [usize; 4], size: [usize; 4], stride: [isize; 4]) -> Id {
        let name = self.name("slice");
        let op = Op::Slice { begin: begin.to_vec(), size: size.to_vec(), stride: stride.to_vec() };
        self.node(name, op, vec![x], &[], self.statistics[x.0])
    }

    /// Every second pixel, from row and column `first` (0 or 1) on; half the size, rounded up. A
    /// pixel behind the image is 0.
    pub(crate) fn every_second(&mut self, x: Id, first: usize) -> Id {
        let [height, width, channels] = self.image(x);
        let halves = [height.div_ceil(2), width.div_ceil(2)];
        let lacks = |size: usize| (first + size.div_ceil(2) * 2).saturating_sub(size + 1);
        let amounts = vec![(0, 0), (0, lacks(height)), (0, lacks(width)), (0, 0)];
        let mut x = x;
        if amounts.iter().any(|(_, end)| *end > 0) {
            let name = self.name("pad");
            x = self.node(
                name,
                Op::Pad { amounts, filler: 0.0 },
                vec![x],
                &[],
                self.statistics[x.0],
            );
        }
        let size = [1, halves[0], halves[1], channels];
        self.slice(x, [0, first, first, 0], size, [1, 2, 2, 1])
    }

    /// Channels `g·n + i` become `i·groups + g`: Zhang et al. 2018, section 3.1.
    pub(crate) fn shuffle(&mut self, x: Id, groups: usize) -> Id {
        let [height, width, channels] = self.image(x);
        if groups < 2 {
            return x;
        }
        let split = self.reshape(x, &[1, height, width, groups, channels / groups]);
        let name = self.name("transpose");
        let op = Op::Transpose { permutation: vec![0, 1, 2, 4, 3] };
        let mixed = self.node(name, op, vec![split], &[], self.statistics[x.0]);
        self.reshape(mixed, &[1, height, width, channels])
    }

    /// Bilinear, pixel centres at halves, to a height and width.
    pub(crate) fn resize(&mut self, x: Id, size: [usize; 2]) -> Id {
        let dims = [1, size[0], size[1], self.channels(x)];
        let name = self.name("resize");
        let op = Op::Resize {
            mode: ResizeMode::Bilinear,
            align_corners: false,
            half_pixel_centers: true,
            places: None,
        };
        self.node(name, op, vec![x], &dims, self.statistics[x.0])
    }
}
