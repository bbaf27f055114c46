//! Where windows read. Both axes are alike in kind, not in size.

/// A tap of a window, and the coordinate of the other image that it joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    pub tap: usize,
    pub other: usize,
}

/// A window along one axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub taps: usize,
    /// For each output coordinate, the inputs that it reads; padding is none.
    pub reads: Vec<Vec<Joined>>,
    /// For each input coordinate, the outputs that read it.
    pub read_by: Vec<Vec<Joined>>,
}

impl Axis {
    /// `taps` taps, `dilation` pixels apart; those of each output begin `stride` pixels behind those of the one
    /// before, those of the first output `before` pixels before the image.
    pub fn new(
        taps: usize,
        dilation: usize,
        stride: usize,
        before: usize,
        [inputs, outputs]: [usize; 2],
    ) -> Self {
        let mut reads = vec![Vec::new(); outputs];
        let mut read_by = vec![Vec::new(); inputs];
        for (output, reads) in reads.iter_mut().enumerate() {
            for tap in 0..taps {
                let input = (output * stride + tap * dilation).checked_sub(before);
                if let Some(input) = input.filter(|input| *input < inputs) {
                    reads.push(Joined { tap, other: input });
                    read_by[input].push(Joined { tap, other: output });
                }
            }
        }
        Self { taps, reads, read_by }
    }

    pub const fn inputs(&self) -> usize {
        self.read_by.len()
    }

    pub const fn outputs(&self) -> usize {
        self.reads.len()
    }
}

/// A window over an image.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub down: Axis,
    pub across: Axis,
}

impl Window {
    /// `size` × `size` taps, an odd number, `dilation` pixels apart around every `stride`-th pixel of a square image.
    pub fn centred(size: usize, dilation: usize, stride: usize, side: usize) -> Self {
        let before = (size - 1) / 2 * dilation;
        let axis = Axis::new(size, dilation, stride, before, [side, side.div_ceil(stride)]);
        Self { down: axis.clone(), across: axis }
    }

    /// Taps of the whole window.
    pub const fn taps(&self) -> usize {
        self.down.taps * self.across.taps
    }

    /// Pixels of an input.
    pub const fn pixels_in(&self) -> usize {
        self.down.inputs() * self.across.inputs()
    }

    /// Pixels of an output.
    pub const fn pixels_out(&self) -> usize {
        self.down.outputs() * self.across.outputs()
    }

    /// How many images `x` is.
    pub const fn images(&self, x: &[f32], channels: usize) -> usize {
        x.len() / (self.pixels_in() * channels)
    }

    /// Calls with each pair of an output's pixel and an input's that it reads, of one image, and the tap between them.
    fn each(&self, mut call: impl FnMut(usize, usize, usize)) {
        for (row, down) in self.down.reads.iter().enumerate() {
            for (column, across) in self.across.reads.iter().enumerate() {
                for y in down {
                    for x in across {
                        call(
                            row * self.across.outputs() + column,
                            y.other * self.across.inputs() + x.other,
                            y.tap * self.across.taps + x.tap,
                        );
                    }
                }
            }
        }
    }

    /// What the window sees at each pixel of its outputs: images × pixels × taps × channels, zeros around the image.
    pub fn patches(&self, x: &[f32], channels: usize) -> Vec<f32> {
        let (size_in, taps) = (self.pixels_in() * channels, self.taps());
        let size_out = self.pixels_out() * taps * channels;
        let mut patches = vec![0.0f32; self.images(x, channels) * size_out];
        for (x, patches) in x.chunks_exact(size_in).zip(patches.chunks_exact_mut(size_out)) {
            self.each(|to, from, tap| {
                patches[(to * taps + tap) * channels..][..channels]
                    .copy_from_slice(&x[from * channels..][..channels]);
            });
        }
        patches
    }

    /// dx += what the patches' gradient gives back.
    pub fn patches_back(&self, dy: &[f32], dx: &mut [f32], channels: usize) {
        let (size_in, taps) = (self.pixels_in() * channels, self.taps());
        let size_out = self.pixels_out() * taps * channels;
        for (dx, dy) in dx.chunks_exact_mut(size_in).zip(dy.chunks_exact(size_out)) {
            self.each(|to, from, tap| {
                let dy = &dy[(to * taps + tap) * channels..][..channels];
                let dx = &mut dx[from * channels..][..channels];
                dx.iter_mut().zip(dy).for_each(|(dx, dy)| *dx += dy);
            });
        }
    }
}
