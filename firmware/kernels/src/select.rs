//! The kernels that run on this processor. Versions for a particular one (Armv7E-M's DSP
//! instructions) are chosen here by `cfg(target_feature)`; what they compute is the same.

pub use crate::portable::{
    Add, Conv, FullyConnected, Pad, Pool, Requantise, Softmax, add, average_pool, conv, depthwise,
    fully_connected, max_pool, pad, requantise, softmax,
};
