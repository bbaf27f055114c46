//! What the core does, and what that costs: blocks, exceptions, sleep.

pub(crate) mod account;
pub mod block;
pub mod exception;
pub(crate) mod lines;
pub(crate) mod registers;
pub mod sleep;
pub(crate) mod table;
