//! Runs that the server knows: waiting, under way, and the results that are still kept.

mod admission;
mod events;
mod run;
mod store;

pub use admission::Admission;
pub use events::RunEvent;
pub use run::{Done, Listener, Phase, Run, RunProgress};
pub use store::{Runs, Work};
