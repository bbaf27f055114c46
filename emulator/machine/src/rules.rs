//! What boards do wrong in silence, or fault at where engines do not: each ends a run.

pub(crate) mod alignment;
pub mod border;
pub mod long_loads;
pub(crate) mod written_through;
