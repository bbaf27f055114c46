//! Kernels for any processor. They read weights in their natural order.

mod add;
mod average_pool;
mod conv;
mod depthwise;
mod dot;
mod fully_connected;
mod max_pool;
mod pad;
mod requantise;
mod runs;
mod softmax;

pub use add::{Add, add};
pub use average_pool::{Pool, average_pool};
pub use conv::{Conv, conv};
pub use depthwise::depthwise;
pub use fully_connected::{FullyConnected, fully_connected};
pub use max_pool::max_pool;
pub use pad::{Pad, pad};
pub use requantise::{Requantise, requantise};
pub use softmax::{Softmax, softmax};
