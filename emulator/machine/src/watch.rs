//! What is found out about the firmware while it runs: steps, profiles, its stack.

pub(crate) mod cause;
pub(crate) mod marks;
pub(crate) mod observer;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod recording;
pub(crate) mod sampling;
pub(crate) mod stack;
