//! Depthwise convolutions of square images, padded with zeros on all sides alike.

/// A tap of a window, and the coordinate of the other image that it joins.
#[derive(Clone, Copy, Debug)]
struct Joined {
    tap: usize,
    other: usize,
}

/// A window along one axis; both axes have the same.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    size: usize,
    /// Height and width of the input, in pixels.
    pub side_in: usize,
    /// Height and width of the output, in pixels.
    pub side_out: usize,
    /// For each output coordinate, the inputs that it reads.
    reads: Vec<Vec<Joined>>,
    /// For each input coordinate, the outputs that read it.
    read_by: Vec<Vec<Joined>>,
}

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
    /// `size` taps, odd, `dilation` pixels apart, around every `stride`-th pixel.
    pub fn new(size: usize, dilation: usize, stride: usize, side_in: usize) -> Self {
        let side_out = side_in.div_ceil(stride);
        let pad = (size - 1) / 2 * dilation;
        let mut reads = vec![Vec::new(); side_out];
        let mut read_by = vec![Vec::new(); side_in];
        for (output, reads) in reads.iter_mut().enumerate() {
            for tap in 0..size {
                let input = (output * stride + tap * dilation).checked_sub(pad);
                if let Some(input) = input.filter(|input| *input < side_in) {
                    reads.push(Joined { tap, other: input });
                    read_by[input].push(Joined { tap, other: output });
                }
            }
        }
        Self { size, side_in, side_out, reads, read_by }
    }

    /// Taps of the whole window.
    pub const fn taps(&self) -> usize {
        self.size * self.size
    }

    /// Pixels of an input.
    pub const fn pixels_in(&self) -> usize {
        self.side_in * self.side_in
    }

    /// Pixels of an output.
    pub const fn pixels_out(&self) -> usize {
        self.side_out * self.side_out
    }

    /// Of one image: y = the convolution of `x`. `w` is taps × channels.
    pub fn forward(&self, x: &[f32], w: &[f32], y: &mut [f32], channels: usize) {
        y.fill(0.0);
        self.gather(&self.reads, self.side_in, x, w, y, channels);
    }

    /// Of one image: dx += what `dy` gives back.
    pub fn backward(&self, dy: &[f32], w: &[f32], dx: &mut [f32], channels: usize) {
        self.gather(&self.read_by, self.side_out, dy, w, dx, channels);
    }

    fn gather(
        &self,
        joined: &[Vec<Joined>],
        side: usize,
        from: &[f32],
        w: &[f32],
        to: &mut [f32],
        channels: usize,
    ) {
        let mut pixels = to.chunks_exact_mut(channels);
        for down in joined {
            for across in joined {
                let Some(pixel) = pixels.next() else { return };
                let around = Around { size: self.size, side, down, across, channels };
                in_lanes!(channels, |first, LANES| around.sum::<LANES>(from, w, pixel, first));
            }
        }
    }

    /// Of one image: dw += what each tap had to do with `dy`.
    pub fn weights(&self, x: &[f32], dy: &[f32], dw: &mut [f32], channels: usize) {
        for down in 0..self.size {
            for across in 0..self.size {
                let dw = &mut dw[(down * self.size + across) * channels..][..channels];
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
        for (row, reads) in self.reads.iter().enumerate() {
            let Some(from) = reads.iter().find(|joined| joined.tap == down) else { continue };
            for (column, reads) in self.reads.iter().enumerate() {
                let Some(beside) = reads.iter().find(|joined| joined.tap == across) else {
                    continue;
                };
                let x =
                    &x[(from.other * self.side_in + beside.other) * channels + first..][..LANES];
                let dy = &dy[(row * self.side_out + column) * channels + first..][..LANES];
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
    size: usize,
    side: usize,
    down: &'j [Joined],
    across: &'j [Joined],
    channels: usize,
}

impl Around<'_> {
    fn sum<const LANES: usize>(&self, from: &[f32], w: &[f32], pixel: &mut [f32], first: usize) {
        let mut sums = [0.0f32; LANES];
        for down in self.down {
            for across in self.across {
                let at = (down.other * self.side + across.other) * self.channels + first;
                let from = &from[at..at + LANES];
                let at = (down.tap * self.size + across.tap) * self.channels + first;
                let w = &w[at..at + LANES];
                for ((sum, from), w) in sums.iter_mut().zip(from).zip(w) {
                    *sum += from * w;
                }
            }
        }
        pixel[first..first + LANES].iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
    }
}
