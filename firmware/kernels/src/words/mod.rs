//! Kernels that take the channels of a pixel four at a time, made of [`dsp`](crate::dsp)'s
//! instructions. They read weights in their natural order, and leave to the
//! [`portable`](crate::portable) kernels what is outside of their domain.

mod depthwise;

pub use depthwise::depthwise;
