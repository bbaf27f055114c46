//! Runs that the server knows: waiting, under way, and the results that are still kept.

mod events;
mod run;
mod store;

pub use events::RunEvent;
pub use run::{Done, Listener, Phase, Run, RunProgress};
pub use store::{Admission, Runs, Work};
