//! A model as a drawing: what is on each node and tensor, and where it lies.

mod facts;
mod layout;
mod order;
mod place;

pub use facts::{graph, shape};
pub use layout::{Layout, Net, layout};
