//! The kernels that run on this processor. Versions for a particular one (Armv7E-M's DSP
//! instructions) are chosen here by `cfg(target_feature)`; what they compute is the same.

pub use crate::portable::{
    Add, AveragePool, Axis, Bilinear, Conv, ConvMaxPool, Counted, FullyConnected,
    GATHER_DIMENSIONS, Gather, LocalResponse, LogSoftmax, Mean, Mul, Nearest, Pad, Pool, Prelu,
    Requantise, Softmax, Stride, Table, TransposeConv, add, arg_max, average_pool, conv,
    conv_max_pool, depthwise, fully_connected, gather, local_response, log_softmax, lut, max_pool,
    maximum, mean, minimum, mul, pad, prelu, requantise, resize_bilinear, resize_nearest, softmax,
    sub, transpose_conv,
};
