//! Depthwise convolutions; around an image are zeros.

use super::window::{Axis, Joined, Window};

/// Calls `$run::<lanes>(first)` for pieces of channels, the widest first.
macro_rules! in_lanes {
    ($channels:expr, |$first:ident, $lanes:ident| $run:expr) => {{
        let mut $first = 0;
        while $first < $channels {
            let left = $channels - $first;
            if left >= 16 {
                const $lanes: usize = 16;
                $run;
                $first += $lanes;
            } else if left >= 8 {
                const $lanes: usize = 8;
                $run;
                $first += $lanes;
            } else if left >= 4 {
                const $lanes: usize = 4;
                $run;
                $first += $lanes;
            } else {
                const $lanes: usize = 1;
                $run;
                $first += $lanes;
            }
        }
    }};
}

impl Window {
    /// Of one image: y = the convolution of `x`. `w` is taps × channels.
    pub fn forward(&self, x: &[f32], w: &[f32], y: &mut [f32], channels: usize) {
        y.fill(0.0);
        self.gather(|axis| &axis.reads, self.across.inputs(), x, w, y, channels);
    }

    /// Of one image: dx += what `dy` gives back.
    pub fn backward(&self, dy: &[f32], w: &[f32], dx: &mut [f32], channels: usize) {
        self.gather(|axis| &axis.read_by, self.across.outputs(), dy, w, dx, channels);
    }

    fn gather(
        &self,
        joined: impl Fn(&Axis) -> &[Vec<Joined>],
        width: usize,
        from: &[f32],
        w: &[f32],
        to: &mut [f32],
        channels: usize,
    ) {
        let mut pixels = to.chunks_exact_mut(channels);
        for down in joined(&self.down) {
            for across in joined(&self.across) {
                let Some(pixel) = pixels.next() else { return };
                let around = Around { taps: self.across.taps, width, down, across, channels };
                in_lanes!(channels, |first, LANES| around.sum::<LANES>(from, w, pixel, first));
            }
        }
    }

    /// Of one image: dw += what each tap had to do with `dy`.
    pub fn weights(&self, x: &[f32], dy: &[f32], dw: &mut [f32], channels: usize) {
        for down in 0..self.down.taps {
            for across in 0..self.across.taps {
                let dw = &mut dw[(down * self.across.taps + across) * channels..][..channels];
                in_lanes!(channels, |first, LANES| {
                    let sums = self.tap::<LANES>([down, across], x, dy, channels, first);
                    dw[first..].iter_mut().zip(sums).for_each(|(dw, sum)| *dw += sum);
                });
            }
        }
    }

    fn tap<const LANES: usize>(
        &self,
        [down, across]: [usize; 2],
        x: &[f32],
        dy: &[f32],
        channels: usize,
        first: usize,
    ) -> [f32; LANES] {
        let mut sums = [0.0f32; LANES];
        let (inputs, outputs) = (self.across.inputs(), self.across.outputs());
        for (row, reads) in self.down.reads.iter().enumerate() {
            let Some(from) = reads.iter().find(|joined| joined.tap == down) else { continue };
            for (column, reads) in self.across.reads.iter().enumerate() {
                let Some(beside) = reads.iter().find(|joined| joined.tap == across) else {
                    continue;
                };
                let x = &x[(from.other * inputs + beside.other) * channels + first..][..LANES];
                let dy = &dy[(row * outputs + column) * channels + first..][..LANES];
                for ((sum, x), dy) in sums.iter_mut().zip(x).zip(dy) {
                    *sum += x * dy;
                }
            }
        }
        sums
    }
}

/// What one pixel joins.
struct Around<'j> {
    /// Taps of a row of the window.
    taps: usize,
    /// Pixels of a row of the other image.
    width: usize,
    down: &'j [Joined],
    across: &'j [Joined],
    channels: usize,
}

impl Around<'_> {
    fn sum<const LANES: usize>(&self, from: &[f32], w: &[f32], pixel: &mut [f32], first: usize) {
        let mut sums = [0.0f32; LANES];
        for down in self.down {
            for across in self.across {
                let at = (down.other * self.width + across.other) * self.channels + first;
                let from = &from[at..at + LANES];
                let at = (down.tap * self.taps + across.tap) * self.channels + first;
                let w = &w[at..at + LANES];
                for ((sum, from), w) in sums.iter_mut().zip(from).zip(w) {
                    *sum += from * w;
                }
            }
        }
        pixel[first..first + LANES].iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
    }
}
