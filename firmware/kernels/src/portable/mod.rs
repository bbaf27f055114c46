//! Kernels for any processor. They read weights in their natural order.

mod add;
mod arg_max;
pub(crate) mod average_pool;
mod conv;
mod conv_max_pool;
pub(crate) mod depthwise;
mod dot;
mod extremum;
mod fixed;
mod fully_connected;
mod gather;
mod local_response;
mod log_softmax;
mod lut;
mod max_pool;
mod mean;
mod mul;
mod pad;
mod prelu;
mod reached;
mod requantise;
mod resize;
pub(crate) mod runs;
mod softmax;
mod transpose_conv;

pub(crate) use add::combine;
pub use add::{Add, add, sub};
pub use arg_max::{Axis, arg_max};
pub use average_pool::{AveragePool, Counted, Pool, average_pool};
pub use conv::{Conv, conv};
pub(crate) use conv_max_pool::BLOCK;
pub use conv_max_pool::{ConvMaxPool, conv_max_pool};
pub use depthwise::depthwise;
pub use extremum::{maximum, minimum};
pub(crate) use fully_connected::as_pixel;
pub use fully_connected::{FullyConnected, fully_connected};
pub use gather::{GATHER_DIMENSIONS, Gather, Stride, gather};
pub use local_response::{LocalResponse, local_response};
pub use log_softmax::{LogSoftmax, log_softmax};
pub use lut::{Table, lut};
pub use max_pool::max_pool;
pub use mean::{Mean, mean};
pub use mul::{Mul, mul};
pub use pad::{Pad, pad};
pub use prelu::{Prelu, prelu};
pub use requantise::{Requantise, requantise};
pub use resize::{Bilinear, Nearest, resize_bilinear, resize_nearest};
pub use softmax::{Softmax, softmax};
pub use transpose_conv::{TransposeConv, transpose_conv};

/// Whether code is to be small: all convolutions then have one loop.
const SMALL: bool = cfg!(feature = "small");
