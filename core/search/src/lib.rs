//! Architecture search by gradients, with the cost of cells in its loss: DEff-ARTS, chapter 3 of Sadiq's thesis, which
//! adds L_com to DARTS of Liu et al. 2019 in its first order.
//!
//! [`Training`] then gives a network of the cells weights of its own.
//!
//! A [`Search`] takes [`Samples`] and [`Settings`] and is advanced step by step; between steps it can be kept as bytes
//! and go on elsewhere, bit for bit. Layers and their gradients are written by hand: the
//! network has few kinds of layers, depthwise convolutions take most of the time, and edges that leave the same node
//! are computed side by side.

mod architecture;
mod cost_table;
mod fingerprint;
mod kernels;
mod layout;
mod optimiser;
mod random;
mod samples;
mod search;
mod settings;
mod state;
mod supernet;
mod trade_off;
mod training;

pub use architecture::Architecture;
pub use cost_table::{CostTableError, MOST_BYTES as MOST_COST_TABLE_BYTES, cost_table};
pub use samples::{Samples, SamplesError};
pub use search::{Diverged, Row, Search, SearchError};
pub use settings::{Settings, SettingsError};
pub use state::StateError;
pub use trade_off::{Observation, TradeOff, equalising_exponent};
pub use training::{DoAll, Epoch, Training, TrainingError, TrainingSettings};
