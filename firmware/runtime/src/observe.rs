//! Who hears of a program's progress.

/// Hears of each step of the core lane. Steps are numbered as in the lane, layers as in the image.
pub trait Observer {
    /// A compute step begins.
    fn step_begin(&mut self, step: u32, layer: u16) {
        let _ = (step, layer);
    }

    /// A compute step is complete.
    fn step_end(&mut self, step: u32, layer: u16) {
        let _ = (step, layer);
    }
}

/// Hears nothing.
impl Observer for () {}
