//! Layers forward and backward, on rows of pixels whose channels lie side by side (NHWC). Loops over channels are
//! innermost and never reorder a sum, so that results are the same on every host.

pub(crate) mod depthwise;
pub(crate) mod entropy;
pub(crate) mod norm;
pub(crate) mod pointwise;
pub(crate) mod pool;
pub(crate) mod window;

/// Values below 0 become 0.
pub(crate) fn rectified(x: &[f32]) -> Vec<f32> {
    x.iter().map(|value| if *value < 0.0 { 0.0 } else { *value }).collect()
}

/// Where a rectifier let nothing through, nothing goes back.
pub(crate) fn rectify_back(dy: &mut [f32], rectified: &[f32]) {
    for (dy, y) in dy.iter_mut().zip(rectified) {
        *dy = if *y > 0.0 { *dy } else { 0.0 };
    }
}
