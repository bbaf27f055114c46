//! 1×1 convolutions: products of rows of pixels with a matrix, in tiles that stay in registers.

/// Pixels of a tile, or input channels of a tile of weights' gradients.
const ROWS: usize = 4;
/// Output channels of a tile.
const LANES: usize = 8;

/// Sizes of a product. Rows of `x` and `y` may be parts of longer ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    /// Rows.
    pub pixels: usize,
    /// Channels read of each row of `x`.
    pub inputs: usize,
    /// Channels written of each row of `y`.
    pub outputs: usize,
    /// From a row of `x` to the next.
    pub x_stride: usize,
    /// From a row of `y` to the next.
    pub y_stride: usize,
}

impl Product {
    /// y = x · w, with `w` as inputs × outputs. What `y` held is lost.
    pub fn forward(&self, x: &[f32], w: &[f32], y: &mut [f32]) {
        let whole = self.outputs - self.outputs % LANES;
        for first in (0..whole).step_by(LANES) {
            let mut pixel = 0;
            while pixel + ROWS <= self.pixels {
                self.tile::<ROWS>(x, w, y, pixel, first);
                pixel += ROWS;
            }
            while pixel < self.pixels {
                self.tile::<1>(x, w, y, pixel, first);
                pixel += 1;
            }
        }
        for output in whole..self.outputs {
            for pixel in 0..self.pixels {
                let row = &x[pixel * self.x_stride..][..self.inputs];
                let column = w.iter().skip(output).step_by(self.outputs);
                let sum = row.iter().zip(column).fold(0.0, |sum, (x, w)| sum + x * w);
                y[pixel * self.y_stride + output] = sum;
            }
        }
    }

    fn tile<const N: usize>(
        &self,
        x: &[f32],
        w: &[f32],
        y: &mut [f32],
        pixel: usize,
        first: usize,
    ) {
        let rows: [&[f32]; N] =
            std::array::from_fn(|row| &x[(pixel + row) * self.x_stride..][..self.inputs]);
        let mut sums = [[0.0f32; LANES]; N];
        for (input, weights) in w.chunks_exact(self.outputs).take(self.inputs).enumerate() {
            let weights = &weights[first..first + LANES];
            for (sums, row) in sums.iter_mut().zip(&rows) {
                let value = row[input];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += value * weight;
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            y[(pixel + row) * self.y_stride + first..][..LANES].copy_from_slice(sums);
        }
    }

    /// dx = dy · wᵀ, with `w` as [`Self::transposed`] gives it. What `dx` held is lost.
    pub fn backward(&self, dy: &[f32], transposed: &[f32], dx: &mut [f32]) {
        let back = Self {
            pixels: self.pixels,
            inputs: self.outputs,
            outputs: self.inputs,
            x_stride: self.y_stride,
            y_stride: self.x_stride,
        };
        back.forward(dy, transposed, dx);
    }

    /// A matrix of inputs × outputs as one of outputs × inputs.
    pub fn transposed(&self, w: &[f32]) -> Vec<f32> {
        let mut transposed = vec![0.0f32; w.len()];
        for (input, row) in w.chunks_exact(self.outputs).enumerate() {
            for (output, weight) in row.iter().enumerate() {
                transposed[output * self.inputs + input] = *weight;
            }
        }
        transposed
    }

    /// dw += xᵀ · dy.
    pub fn weights(&self, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        let (rows, lanes) = (self.inputs / ROWS * ROWS, self.outputs / LANES * LANES);
        for input in (0..rows).step_by(ROWS) {
            for output in (0..lanes).step_by(LANES) {
                let mut sums = [[0.0f32; LANES]; ROWS];
                for pixel in 0..self.pixels {
                    let x = &x[pixel * self.x_stride + input..][..ROWS];
                    let dy = &dy[pixel * self.y_stride + output..][..LANES];
                    for (sums, x) in sums.iter_mut().zip(x) {
                        for (sum, dy) in sums.iter_mut().zip(dy) {
                            *sum += x * dy;
                        }
                    }
                }
                for (row, sums) in sums.iter().enumerate() {
                    let dw = &mut dw[(input + row) * self.outputs + output..][..LANES];
                    dw.iter_mut().zip(sums).for_each(|(dw, sum)| *dw += sum);
                }
            }
        }
        for input in 0..self.inputs {
            let first = if input < rows { lanes } else { 0 };
            for output in first..self.outputs {
                let of =
                    |pixel| x[pixel * self.x_stride + input] * dy[pixel * self.y_stride + output];
                let sum: f32 = (0..self.pixels).map(of).sum();
                dw[input * self.outputs + output] += sum;
            }
        }
    }
}
