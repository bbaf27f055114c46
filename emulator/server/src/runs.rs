//! Runs that the server knows: waiting, under way, and the results that are still kept.

mod admission;
mod events;
mod labour;
mod run;
mod store;

pub use admission::{Admission, Room};
pub use events::RunEvent;
pub use labour::work;
pub use run::{Kept, Listener, Phase, Run, RunProgress, fault_problem};
pub use store::Runs;
