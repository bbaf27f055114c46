//! The kernels that run on this processor. Versions for a particular one (Armv7E-M's DSP
//! instructions) are chosen here by `cfg(armv7e_m)`, unless code is to be `small`; what they compute is the same.

pub use crate::portable::{
    Add, AveragePool, Axis, Bilinear, Conv, ConvMaxPool, Counted, FullyConnected,
    GATHER_DIMENSIONS, Gather, LocalResponse, LogSoftmax, Mean, Mul, Nearest, Pad, Pool, Prelu,
    Requantise, Softmax, Stride, Table, TransposeConv, arg_max, conv, conv_max_pool,
    fully_connected, gather, local_response, log_softmax, lut, maximum, minimum, mul, pad, prelu,
    requantise, resize_bilinear, resize_nearest, softmax, transpose_conv,
};

#[cfg(any(not(armv7e_m), feature = "small"))]
pub use crate::portable::{add, average_pool, depthwise, max_pool, mean, sub};
#[cfg(all(armv7e_m, not(feature = "small")))]
pub use crate::words::{add, average_pool, depthwise, max_pool, mean, sub};
