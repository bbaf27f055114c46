//! Kernels that take the channels of a pixel four at a time, made of [`dsp`](crate::dsp)'s
//! instructions. They read weights in their natural order, and leave to the
//! [`portable`](crate::portable) kernels what is outside of their domain.

mod add;
mod average_pool;
mod depthwise;
mod max_pool;
mod mean;
mod sums;

pub use add::{add, sub};
pub use average_pool::average_pool;
pub use depthwise::depthwise;
pub use max_pool::max_pool;
pub use mean::mean;
