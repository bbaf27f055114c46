//! Pools. Padding neither counts nor is the largest.

use super::window::Window;

/// A pool of what a window sees.
#[derive(Clone, Debug)]
pub(crate) struct Pool(pub Window);

impl Pool {
    /// Calls with each pixel of the output and each pixel of the input that it reads.
    fn each(&self, images: usize, mut call: impl FnMut(usize, usize, usize)) {
        let Window { down: rows, across: columns } = &self.0;
        for image in 0..images {
            for (row, down) in rows.reads.iter().enumerate() {
                for (column, across) in columns.reads.iter().enumerate() {
                    let to = (image * rows.outputs() + row) * columns.outputs() + column;
                    let count = down.len() * across.len();
                    for y in down {
                        let line = (image * rows.inputs() + y.other) * columns.inputs();
                        for x in across {
                            call(to, line + x.other, count);
                        }
                    }
                }
            }
        }
    }

    fn outputs(&self, images: usize, channels: usize) -> usize {
        images * self.0.pixels_out() * channels
    }

    /// The largest values, and the pixel that each is of.
    pub fn largest(&self, x: &[f32], channels: usize) -> Largest {
        let images = self.0.images(x, channels);
        let length = self.outputs(images, channels);
        let mut found = Largest { values: vec![f32::NEG_INFINITY; length], from: vec![0; length] };
        self.each(images, |to, from, _| {
            let values = &mut found.values[to * channels..][..channels];
            let pixels = &mut found.from[to * channels..][..channels];
            let x = &x[from * channels..][..channels];
            for ((value, pixel), x) in values.iter_mut().zip(pixels).zip(x) {
                let is_larger = *x > *value;
                *value = if is_larger { *x } else { *value };
                *pixel = if is_larger { from as u32 } else { *pixel };
            }
        });
        found
    }

    /// The means.
    pub fn average(&self, x: &[f32], channels: usize) -> Vec<f32> {
        let images = self.0.images(x, channels);
        let mut y = vec![0.0f32; self.outputs(images, channels)];
        self.each(images, |to, from, count| {
            let part = 1.0 / count as f32;
            let y = &mut y[to * channels..][..channels];
            let x = &x[from * channels..][..channels];
            y.iter_mut().zip(x).for_each(|(y, x)| *y += x * part);
        });
        y
    }

    /// dx += what the means' gradient gives back.
    pub fn average_back(&self, dy: &[f32], dx: &mut [f32], channels: usize) {
        self.each(self.0.images(dx, channels), |to, from, count| {
            let part = 1.0 / count as f32;
            let dx = &mut dx[from * channels..][..channels];
            let dy = &dy[to * channels..][..channels];
            dx.iter_mut().zip(dy).for_each(|(dx, dy)| *dx += dy * part);
        });
    }
}

/// The largest values of windows.
#[derive(Clone, Debug)]
pub(crate) struct Largest {
    pub values: Vec<f32>,
    from: Vec<u32>,
}

impl Largest {
    /// dx += what the largest values' gradient gives back.
    pub fn back(&self, dy: &[f32], dx: &mut [f32], channels: usize) {
        let rows = dy.chunks_exact(channels).zip(self.from.chunks_exact(channels));
        for (dy, from) in rows {
            for (channel, (dy, from)) in dy.iter().zip(from).enumerate() {
                dx[*from as usize * channels + channel] += dy;
            }
        }
    }
}
