//! Architecture search by gradients, with the cost of cells in its loss: chapter 3 of Sadiq's thesis (DEff-ARTS).

mod trade_off;

pub use trade_off::{Observation, TradeOff, equalising_exponent};
